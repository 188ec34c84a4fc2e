//! The side that acknowledges packets, and sends those that it is asked for. It keeps nothing in mind but their number.

use std::net::SocketAddr;

use kernel::error_queue::Sent;
use model::{Seat, SideFigures};

use super::{
    devices::devices,
    message::Message,
    post::{Event, Post},
    search::Outcome,
};
use crate::{Control, Prepared, ProbeError, Window, socket::STOP_CHECK};

/// A prepared far side.
pub(super) struct Far {
    seat: Seat,
    post: Post,
    address: SocketAddr,
    sent: u32,
}

impl Far {
    /// Listens on a free port.
    pub(super) fn prepare(seat: &Seat) -> Result<Self, ProbeError> {
        let post = Post::open(seat)?;
        let address = post.local()?;
        Ok(Self { seat: seat.clone(), post, address, sent: 0 })
    }

    /// Serves the first side that says hello, until stopped.
    pub(super) fn serve(&mut self, control: &Control) -> Result<(), ProbeError> {
        loop {
            if control.stopped() {
                return Ok(());
            }
            if let Some(peer) = self.post.caller()? {
                self.post.connect(peer)?;
                break;
            }
            self.post.wait(STOP_CHECK)?;
        }
        while !control.stopped() {
            while let Some(event) = self.post.next()? {
                self.answer(event)?;
            }
            self.post.wait(STOP_CHECK)?;
        }
        Ok(())
    }

    fn answer(&mut self, event: Event) -> Result<(), ProbeError> {
        match event {
            Event::Message(Message::Hello { id }, _) => {
                self.post.say(Message::Welcome { id, mtu: self.seat.mtu.0, sent: self.sent })
            }
            Event::Message(Message::Probe { id, .. }, ttl) => self.post.say(Message::Ack { id, ttl }),
            Event::Message(Message::Request { id, size, ttl }, _) => self.send(id, size, ttl),
            Event::Outcome(id, outcome) => self.post.say(Message::Report { id, outcome }),
            Event::Message(Message::Welcome { .. } | Message::Ack { .. } | Message::Report { .. }, _) => Ok(()),
        }
    }

    fn send(&mut self, id: u32, size: u32, ttl: u8) -> Result<(), ProbeError> {
        let size = size.clamp(self.post.smallest(), model::probe::LARGEST_PATH_MTU.0);
        match self.post.probe(id, size, ttl)? {
            Sent::Yes => self.sent += 1,
            Sent::TooBig(mtu) => {
                self.post.say(Message::Report { id, outcome: Outcome::Refused { mtu: mtu.0 } })?;
            }
            Sent::Dropped => {}
        }
        Ok(())
    }
}

impl Prepared for Far {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn run(mut self: Box<Self>, control: &Control, _window: &dyn Window) -> Result<SideFigures, ProbeError> {
        self.serve(control)?;
        Ok(SideFigures::PathFar { devices: devices(&self.seat)? })
    }
}
