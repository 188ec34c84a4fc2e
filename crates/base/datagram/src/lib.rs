//! UDP as the socket of a program sees it: datagrams in Ethernet frames, read and written in place, and which socket each is for. Nothing is
//! allocated for a datagram.
//!
//! [`read`] reads what came, [`Bindings::receiver`] says whose it is ([`Input`] does both), and [`write()`] writes what goes. What these do not
//! take (fragments, IP options, extension headers, other protocols) is the kernel's, to which an XDP program passes it before it comes here.

mod arrived;
mod bindings;
mod identified;
mod input;
mod outgoing;

pub use self::{
    arrived::{Arrived, Refusal, Sums, read},
    bindings::{Binding, Bindings, SocketId, Versions},
    identified::Identifications,
    input::Input,
    outgoing::{DatagramHeader, NextHop, WriteError, flow_label, write},
};
