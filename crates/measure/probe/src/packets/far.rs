//! The side that answers, and receives until it learns that all is over.

use std::{net::SocketAddr, thread, time::Instant};

use model::{PacketsSent, PacketsSide, PacketsSpec, SideFigures, SideSetup};

use super::{
    LATEST, QUIET,
    account::{Account, InterimGuard},
    receiving::Receiving,
    sending::Sending,
    trial_socket::{Message, TrialSocket},
};
use crate::{Control, Prepared, ProbeError, Window, socket::STOP_CHECK};

/// A prepared far side.
pub(super) struct Far {
    spec: PacketsSpec,
    trial_socket: TrialSocket,
    sending: Option<Sending>,
    receiving: Option<Receiving>,
}

impl Far {
    /// Attaches its receiver, and listens on a free port.
    pub(super) fn prepare(spec: &PacketsSpec, setup: &SideSetup) -> Result<Self, ProbeError> {
        Ok(Self {
            spec: spec.clone(),
            trial_socket: TrialSocket::open(setup.local, setup.token)?,
            receiving: spec.sends_forward().then(|| Receiving::attach(spec, setup)).transpose()?,
            sending: spec.sends_back().then(|| Sending::prepare(spec, setup)).transpose()?,
        })
    }

    fn serve(mut self, control: &Control, window: &dyn Window) -> Result<PacketsSide, ProbeError> {
        let account = Account::of(&self.spec);
        let _guard = InterimGuard::by(control, &account, self.receiving.as_ref());
        let Some((near, port)) = self.greeted(control)? else { return Err(ProbeError::Cancelled) };
        let ready = self.sending.take().map(|sending| sending.open(near.ip(), port)).transpose()?;
        window.opened();
        let sent = thread::scope(|scope| {
            let account = &account;
            let sender = ready.map(|ready| scope.spawn(move || ready.send(account, control)));
            self.answer(control, account, || sender.as_ref().is_none_or(|sender| sender.is_finished()))?;
            sender.map_or(Ok(Vec::<PacketsSent>::new()), |sender| {
                sender.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        let received = self.receiving.take().map_or(Ok(Vec::new()), |receiving| receiving.end(QUIET))?;
        window.closed();
        Ok(PacketsSide { sent, received })
    }

    /// Waits for the near side: where it speaks, and where packets for it go. `None` where this side was stopped.
    fn greeted(&self, control: &Control) -> Result<Option<(SocketAddr, u16)>, ProbeError> {
        while !control.stopped() {
            if let Some((Message::Hello { port }, near)) = self.trial_socket.receive(STOP_CHECK)? {
                self.trial_socket.send(self.welcome(), near)?;
                return Ok(Some((near, port)));
            }
        }
        Ok(None)
    }

    fn welcome(&self) -> Message {
        Message::Welcome { port: self.receiving.as_ref().map_or(0, Receiving::port) }
    }

    /// Answers until it is stopped. All has arrived when this side has sent all, and nothing came for a while; somebody else's copies
    /// put that off for a limited time.
    fn answer(&self, control: &Control, account: &Account, all_sent: impl Fn() -> bool) -> Result<(), ProbeError> {
        let (mut counted, mut last_came, mut over) = (0, Instant::now(), None);
        while !control.stopped() {
            account.passed(control);
            match self.trial_socket.receive(STOP_CHECK / 4)? {
                Some((Message::Hello { .. }, near)) => self.trial_socket.send(self.welcome(), near)?,
                Some((Message::Over, near)) if all_sent() => {
                    let since = *over.get_or_insert_with(Instant::now);
                    if last_came.elapsed() > QUIET || since.elapsed() > LATEST {
                        self.trial_socket.send(Message::Settled, near)?;
                    }
                }
                _ => {}
            }
            let frames = self.receiving.as_ref().map_or(0, Receiving::frames);
            if frames != counted {
                (counted, last_came) = (frames, Instant::now());
            }
        }
        Ok(())
    }
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.trial_socket.address())
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Packets(Box::new(self.serve(control, window)?)))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        net::UdpSocket,
        sync::atomic::{AtomicBool, Ordering::Relaxed},
    };

    use frame::tag::Tag;
    use model::{Direction, Engine, IpVersion, Nanos, Stream, fixture::setup};

    use super::*;
    use crate::control::NoWindow;

    #[test]
    fn copies_without_end_do_not_put_off_the_end_without_end() {
        let setup = setup(IpVersion::V4, None);
        let spec = PacketsSpec {
            streams: vec![Stream::default()],
            direction: Direction::Forward,
            duration: Nanos(0),
            engine: Some(Engine::Udp),
            mtu: None,
            modifier: None,
        };
        let far = Far::prepare(&spec, &setup).expect("sockets need no right");
        let (address, control) = (far.trial_socket.address(), Control::default());
        let near = TrialSocket::open(setup.local, setup.token).expect("loopback");
        let (asking, copying) = (Control::default(), AtomicBool::new(true));
        let received = thread::scope(|scope| {
            let far = scope.spawn(|| far.serve(&control, &NoWindow));
            let asked = |word, answers: fn(Message) -> Option<u16>| near.ask(word, address, &asking, answers);
            let port = asked(Message::Hello { port: 0 }, |word| match word {
                Message::Welcome { port } => Some(port),
                _ => None,
            });
            let port = port.expect("it answers");
            let (setup, copying) = (&setup, &copying);
            scope.spawn(move || {
                let socket = UdpSocket::bind((setup.local, 0)).expect("loopback");
                let tag = Tag::of(setup.token, 0, 3, 0);
                while copying.load(Relaxed) {
                    let _ = socket.send_to(&tag.to_bytes(), (setup.local, port));
                    thread::sleep(QUIET / 20);
                }
            });
            let settled = asked(Message::Over, |word| (word == Message::Settled).then_some(0));
            control.stop();
            let received = far.join().expect("no panic");
            copying.store(false, Relaxed);
            settled.expect("it ends");
            received.expect("it counted").received
        });
        assert!(received[0].frames == 1 && received[0].duplicated > 10, "{received:?}");
    }
}
