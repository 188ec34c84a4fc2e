//! The side that acknowledges packets, and sends those that it is asked for. It keeps nothing in mind but their number.

use std::net::SocketAddr;

use kernel::error_queue::Sent;
use model::{SideFigures, SideSetup};

use super::{
    devices::devices,
    message::Message,
    message_socket::{Event, MessageSocket},
    search::Outcome,
};
use crate::{Control, Prepared, ProbeError, Window, socket::STOP_CHECK};

/// A prepared far side.
pub(super) struct Far {
    setup: SideSetup,
    socket: MessageSocket,
    address: SocketAddr,
    sent: u32,
}

impl Far {
    /// Listens on a free port.
    pub(super) fn prepare(setup: &SideSetup) -> Result<Self, ProbeError> {
        let socket = MessageSocket::open(setup)?;
        let address = socket.local()?;
        Ok(Self { setup: setup.clone(), socket, address, sent: 0 })
    }

    /// Serves the first side that says hello, until stopped.
    pub(super) fn serve(&mut self, control: &Control) -> Result<(), ProbeError> {
        loop {
            if control.stopped() {
                return Ok(());
            }
            if let Some(peer) = self.socket.caller()? {
                self.socket.connect(peer)?;
                break;
            }
            self.socket.wait(STOP_CHECK)?;
        }
        while !control.stopped() {
            while let Some(event) = self.socket.next()? {
                self.answer(event)?;
            }
            self.socket.wait(STOP_CHECK)?;
        }
        Ok(())
    }

    fn answer(&mut self, event: Event) -> Result<(), ProbeError> {
        match event {
            Event::Message(Message::Hello { id }, _) => {
                self.socket.say(Message::Welcome { id, mtu: self.setup.mtu.0, sent: self.sent })
            }
            Event::Message(Message::Probe { id, .. }, ttl) => self.socket.say(Message::Ack { id, ttl }),
            Event::Message(Message::Request { id, size, ttl }, _) => self.send(id, size, ttl),
            Event::Outcome(id, outcome) => self.socket.say(Message::Report { id, outcome }),
            Event::Message(Message::Welcome { .. } | Message::Ack { .. } | Message::Report { .. }, _) => Ok(()),
        }
    }

    fn send(&mut self, id: u32, size: u32, ttl: u8) -> Result<(), ProbeError> {
        let size = size.clamp(self.socket.smallest(), model::probe::LARGEST_PATH_MTU.0);
        match self.socket.probe(id, size, ttl)? {
            Sent::Yes => self.sent += 1,
            Sent::TooBig(mtu) => {
                self.socket.say(Message::Report { id, outcome: Outcome::Refused { mtu: mtu.0 } })?;
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
        Ok(SideFigures::PathFar { devices: devices(&self.setup)? })
    }
}
