//! The side that begins and ends.

use std::{
    net::SocketAddr,
    thread,
    time::{Duration, Instant},
};

use kernel::link;
use model::{PacketsSide, PacketsSpec, SideFigures, SideSetup};

use super::{
    QUIET,
    account::{Account, InterimGuard},
    receiving::Receiving,
    sending::{Ready, Sending},
    trial_socket::{Message, TrialSocket},
};
use crate::{Control, Prepared, ProbeError, Window, far_address};

/// Interval of checks whether packets still come.
const GLANCE: Duration = Duration::from_millis(10);

/// A prepared near side.
pub(super) struct Near {
    spec: PacketsSpec,
    interface: String,
    peer: SocketAddr,
    trial_socket: TrialSocket,
    sending: Option<Sending>,
    receiving: Option<Receiving>,
}

impl Near {
    /// Attaches its receiver, and makes its frames.
    pub(super) fn prepare(spec: &PacketsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        Ok(Self {
            spec: spec.clone(),
            interface: setup.interface.clone(),
            peer: far_address(setup)?,
            trial_socket: TrialSocket::open(setup.local, setup.token)?,
            receiving: spec.sends_back().then(|| Receiving::attach(spec, setup)).transpose()?,
            sending: spec.sends_forward().then(|| Sending::prepare(spec, setup)).transpose()?,
        })
    }

    fn measure(mut self, control: &Control, window: &dyn Window) -> Result<PacketsSide, ProbeError> {
        let account = Account::of(&self.spec);
        let _guard = InterimGuard::by(control, &account, self.receiving.as_ref());
        let hello = Message::Hello { port: self.receiving.as_ref().map_or(0, Receiving::port) };
        let port = self.trial_socket.ask(hello, self.peer, control, |word| match word {
            Message::Welcome { port } => Some(port),
            _ => None,
        })?;
        let ready = self.sending.take().map(|sending| sending.open(self.peer.ip(), port)).transpose()?;
        window.opened();
        let began = Instant::now();
        let sent = ready.map_or(Ok(Vec::new()), |ready: Ready| ready.send(&account, control))?;
        self.wait_for_the_other_way(began, &account, control)?;
        let settled =
            self.trial_socket.ask(Message::Over, self.peer, control, |word| (word == Message::Settled).then_some(()));
        settled.map_err(|error| self.link_down().unwrap_or(error))?;
        let received = self.receiving.take().map_or(Ok(Vec::new()), |receiving| receiving.end(QUIET))?;
        window.closed();
        Ok(PacketsSide { sent, received })
    }

    /// An explanation of silence that is better than the silence: this side's link is not up any more.
    fn link_down(&self) -> Option<ProbeError> {
        let down = link::list().ok()?.into_iter().find(|link| link.name == self.interface && link.operstate != "up")?;
        let why = format!("it is {} (ip link); see to cable, module and the other end, and repeat", down.operstate);
        Some(ProbeError::Unable {
            what: format!("{}: the link went down while packets were sent", self.interface),
            why,
        })
    }

    /// Until the far side's time to send is over.
    fn wait_for_the_other_way(&self, began: Instant, account: &Account, control: &Control) -> Result<(), ProbeError> {
        let duration = Duration::from(self.spec.duration);
        while self.receiving.is_some() && began.elapsed() < duration {
            if control.stopped() {
                return Err(ProbeError::Cancelled);
            }
            account.passed(control);
            thread::sleep(GLANCE.min(duration.saturating_sub(began.elapsed())));
        }
        Ok(())
    }
}

impl Prepared for Near {
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Packets(Box::new(self.measure(control, window)?)))
    }
}
