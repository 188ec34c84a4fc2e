//! The kernel's answers to the core, by system calls.

use std::{
    net::IpAddr,
    os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd},
    time::Duration,
};

use grant::{Returned, high_fds::high};
use kernel::{
    RouteQueries,
    diag::{self, Bound, Room},
    link::{self, Link},
    neighbour::{self, Neighbour},
    route::{self, PacketRoute},
};
use rustix::time::{ClockId, clock_gettime};

use crate::{calls, core::Kernel};

pub(crate) struct Answers {
    /// `None` without a free descriptor.
    queries: Option<RouteQueries>,
    room: Box<Room>,
}

impl Answers {
    pub(crate) fn new() -> Self {
        Self { queries: RouteQueries::open(high).ok(), room: Box::new([0; size_of::<Room>()]) }
    }

    /// Descriptor of the queries.
    pub(crate) fn descriptor(&self) -> Option<RawFd> {
        self.queries.as_ref().map(|queries| queries.as_fd().as_raw_fd())
    }
}

impl Kernel for Answers {
    fn links(&mut self) -> Option<Vec<Link>> {
        link::list().ok()
    }

    fn route(&mut self, to: IpAddr, from: Option<IpAddr>) -> Option<PacketRoute> {
        route::to(self.queries.as_mut()?, to, from).ok()
    }

    fn neighbour(&mut self, interface: u32, address: IpAddr) -> Option<Neighbour> {
        neighbour::at(self.queries.as_mut()?, interface, address).ok()?
    }

    fn udp_sockets(&mut self, port: Option<u16>, each: &mut dyn FnMut(&Bound)) -> bool {
        diag::udp_sockets(port, &mut self.room, each).is_ok()
    }

    fn pending_error(&self, fd: RawFd) -> Option<i32> {
        calls::pending_error(fd)
    }

    fn hangs_up(&self, fd: RawFd) -> bool {
        calls::hangs_up(fd)
    }

    fn deliver(&self, claim: BorrowedFd<'_>, fd: RawFd, returned: &Returned, payload: &[u8]) -> bool {
        // SAFETY: the program's own descriptor, in use at the moment.
        calls::has_room(fd) && returned.deliver(claim, unsafe { BorrowedFd::borrow_raw(fd) }, payload)
    }

    fn realtime(&self) -> Duration {
        reading(ClockId::Realtime)
    }

    fn monotonic(&self) -> Duration {
        reading(ClockId::Monotonic)
    }

    fn processor_time(&self) -> Duration {
        reading(ClockId::ThreadCPUTime)
    }
}

fn reading(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}
