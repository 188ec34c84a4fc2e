//! Least cost of a datagram over AF_XDP: prepared headers, and one number that is written and read.

use xdp::{
    Redirect,
    socket::{Frame, FrameSize, Options, Packet, Socket, Umem},
};

use crate::{
    pingpong::End,
    wire::{PORT, Wire},
};

/// Headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 42;

/// One end.
pub(crate) struct Raw {
    socket: Socket,
    umem: Umem,
    free: Vec<Frame>,
    used: Vec<Frame>,
    _program: Redirect,
}

impl Raw {
    /// Opens the only queue of an end of the wire, in its namespace.
    pub(crate) fn open(wire: &Wire, is_near: bool) -> Self {
        let open = || {
            // Few frames, as in the stack: they stay in the cache.
            let (umem, mut frames) = Umem::new(256, FrameSize::Half).unwrap();
            for frame in &mut frames {
                write_headers(umem.bytes_mut(frame), is_near);
            }
            let program = Redirect::attach(PORT, 1).unwrap();
            let mut for_queue = frames.split_off(128);
            let socket = Socket::open(&umem, &Options::new(PORT, 0), &mut for_queue).unwrap();
            program.add(0, &socket).unwrap();
            Self { socket, umem, free: frames, used: for_queue, _program: program }
        };
        if is_near { wire.at_a(open) } else { wire.at_b(open) }
    }
}

/// To the broadcast address: the program takes all packets, and a kernel would drop them.
fn write_headers(frame: &mut [u8], is_near: bool) {
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, is_near.into()]);
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14] = 0x45;
}

impl End for Raw {
    fn send(&mut self, payload: &[u8]) {
        let sender = self.socket.sender.as_mut().unwrap();
        sender.completed(&mut self.free);
        let mut packet = Packet {
            frame: self.free.pop().unwrap(),
            offset: 0,
            length: (HEADERS + payload.len()) as u32,
            more: false,
        };
        self.umem.packet_mut(&mut packet)[HEADERS..HEADERS + 8].copy_from_slice(&payload[..8]);
        sender.put(packet).unwrap();
        sender.tell();
        sender.wake().unwrap();
    }

    fn receive(&mut self, payload: &mut [u8]) -> Option<usize> {
        let (receiver, umem, used) = (self.socket.receiver.as_mut().unwrap(), &self.umem, &mut self.used);
        let mut length = None;
        receiver.receive(1, |packet| {
            payload[..8].copy_from_slice(&umem.packet(&packet)[HEADERS..HEADERS + 8]);
            length = Some(packet.length as usize - HEADERS);
            used.push(packet.frame);
        });
        if length.is_some() {
            receiver.refill(used);
        }
        length
    }
}
