//! A minimal XDP program for AF_XDP sockets: packets go to the socket of their queue, or to the kernel without one.

pub(crate) mod bpf;

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use kernel::link;

use bpf::Instruction;

pub use bpf::RedirectError;

/// The attached program, until this is dropped or the process ends.
pub struct Redirect {
    map: OwnedFd,
    _link: OwnedFd,
}

impl Redirect {
    /// Attaches the program in native mode to an interface of the caller's network namespace, for `queues` queues. It
    /// accepts multi-buffer packets.
    pub fn attach(interface: &str, queues: u32) -> Result<Self, RedirectError> {
        let index = link::index(interface).map_err(|_| RedirectError::NoInterface(interface.to_owned()))?;
        let map = bpf::socket_map(queues)?;
        let program = bpf::load_xdp(&instructions(&map))?;
        let link = bpf::attach_xdp(&program, index, interface)?;
        Ok(Self { map, _link: link })
    }

    /// Directs a queue's packets to a socket, which has to be bound to the queue.
    pub fn add(&self, queue: u32, socket: &impl AsFd) -> Result<(), RedirectError> {
        bpf::put_socket(&self.map, queue, socket.as_fd())
    }
}

/// The `XSKMAP`.
impl AsFd for Redirect {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }
}

/// `return bpf_redirect_map(&map, ctx->rx_queue_index, XDP_PASS);`
fn instructions(map: &OwnedFd) -> [Instruction; 6] {
    const QUEUE_OF_CONTEXT: i16 = 16;
    const XDP_PASS: i32 = 2;
    const REDIRECT_MAP: i32 = 51;
    let [map, map_end] = Instruction::load_map(1, map.as_raw_fd());
    [
        Instruction::load_u32(2, 1, QUEUE_OF_CONTEXT),
        map,
        map_end,
        Instruction::set(3, XDP_PASS),
        Instruction::call(REDIRECT_MAP),
        Instruction::exit(),
    ]
}
