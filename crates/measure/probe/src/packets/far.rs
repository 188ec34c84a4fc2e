//! The side that answers, and receives until it is told that all is over.

use std::{net::SocketAddr, thread, time::Instant};

use model::{PacketsSent, PacketsSide, PacketsSpec, Seat, SideFigures};

use super::{
    QUIET,
    account::{Account, Kept},
    meeting::{Meeting, Word},
    receiving::Receiving,
    sending::Sending,
};
use crate::{Control, Prepared, ProbeError, Window, socket::STOP_CHECK};

/// A prepared far side.
pub(super) struct Far {
    spec: PacketsSpec,
    meeting: Meeting,
    sending: Option<Sending>,
    receiving: Option<Receiving>,
}

impl Far {
    /// Attaches its receiver, and listens on a free port.
    pub(super) fn prepare(spec: &PacketsSpec, seat: &Seat) -> Result<Self, ProbeError> {
        Ok(Self {
            spec: spec.clone(),
            meeting: Meeting::open(seat.local, seat.token)?,
            receiving: spec.sends_forward().then(|| Receiving::attach(spec, seat)).transpose()?,
            sending: spec.sends_back().then(|| Sending::prepare(spec, seat)).transpose()?,
        })
    }

    fn serve(mut self, control: &Control, window: &dyn Window) -> Result<PacketsSide, ProbeError> {
        let account = Account::of(&self.spec);
        let _kept = Kept::by(control, &account, self.receiving.as_ref());
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
            if let Some((Word::Hello { port }, near)) = self.meeting.hear(STOP_CHECK)? {
                self.meeting.say(self.welcome(), near)?;
                return Ok(Some((near, port)));
            }
        }
        Ok(None)
    }

    fn welcome(&self) -> Word {
        Word::Welcome { port: self.receiving.as_ref().map_or(0, Receiving::port) }
    }

    /// Answers until it is stopped. All has arrived when this side has sent all, and nothing came for a while.
    fn answer(&self, control: &Control, account: &Account, all_sent: impl Fn() -> bool) -> Result<(), ProbeError> {
        let (mut counted, mut last_came) = (0, Instant::now());
        while !control.stopped() {
            account.passed(control);
            match self.meeting.hear(STOP_CHECK / 4)? {
                Some((Word::Hello { .. }, near)) => self.meeting.say(self.welcome(), near)?,
                Some((Word::Over, near)) if all_sent() && last_came.elapsed() > QUIET => {
                    self.meeting.say(Word::Settled, near)?;
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
        Some(self.meeting.address())
    }

    fn run(self: Box<Self>, control: &Control, window: &dyn Window) -> Result<SideFigures, ProbeError> {
        Ok(SideFigures::Packets(Box::new(self.serve(control, window)?)))
    }
}
