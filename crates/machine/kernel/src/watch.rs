//! Notifications of changes: links, addresses, routes, rules, neighbours and queueing disciplines of a network namespace, and the
//! time of day.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, eventfd, poll},
    io::{Errno, read, write},
    time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime},
};

use crate::error::{On, Result};

/// Multicast groups of linux/rtnetlink.h.
const GROUPS: [u32; 10] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_TC,
    libc::RTNLGRP_NEIGH,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV6_RULE,
    libc::RTNLGRP_NEXTHOP,
];

/// A subscription to changes; readable when there are any.
pub struct Watch(Socket);

impl Watch {
    /// Subscribes to changes of the caller's network namespace.
    pub fn open() -> Result<Self> {
        Self::opened().map(Self).on("bind", "rtnetlink's groups")
    }

    fn opened() -> io::Result<Socket> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        socket.set_non_blocking(true)?;
        for group in GROUPS {
            socket.add_membership(group)?;
        }
        Ok(socket)
    }

    /// Whether anything has changed since the last call. An overflow counts as a change, too.
    pub fn has_news(&self) -> Result<bool> {
        self.take(|_| true)
    }

    /// The same without neighbours that only became older or were confirmed, as happens all the time.
    pub fn has_changes(&self) -> Result<bool> {
        self.take(|message| !is_ordinary(message))
    }

    fn take(&self, matters: impl Fn(&[u8]) -> bool) -> Result<bool> {
        let mut news = false;
        loop {
            // Messages are truncated: their heads are enough.
            let mut head = [0_u8; 64];
            match self.0.recv(&mut head.as_mut_slice(), 0) {
                Ok(_) => news |= matters(&head),
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => news = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(news),
                Err(error) => return Err(error).on("recv", "rtnetlink's news"),
            }
        }
    }
}

/// For polling beside other descriptors.
impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// `RTM_NEWNEIGH` with a state in which the neighbour can be sent to: `NUD_REACHABLE`, `NUD_STALE`, `NUD_DELAY` or `NUD_PROBE`.
fn is_ordinary(message: &[u8]) -> bool {
    const NEW_NEIGHBOUR: u16 = 28;
    const IN_USE: u16 = 0x02 | 0x04 | 0x08 | 0x10;
    // `struct nlmsghdr` has its type at 4; `struct ndmsg` follows at 16, with the state at 8.
    let number = |at: usize| message.get(at..at + 2).map(|bytes| u16::from_ne_bytes([bytes[0], bytes[1]]));
    number(4) == Some(NEW_NEIGHBOUR) && number(24).is_some_and(|state| state & IN_USE != 0)
}

/// A wait for the next change, which another thread can end.
pub struct Monitor {
    news: Watch,
    /// Is cancelled when somebody sets the time of day.
    clock: OwnedFd,
    stop: OwnedFd,
}

/// Reason for the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WakeOutcome {
    /// Something changed in the network namespace, or the time of day was set.
    Changed,
    /// [`Monitor::stop`] was called.
    Stopped,
}

impl Monitor {
    /// Watches the caller's network namespace from now on.
    pub fn open() -> Result<Self> {
        let clock = cancelled_clock().on("timerfd_create", "the time of day")?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).on("eventfd", "a monitor")?;
        Ok(Self { news: Watch::open()?, clock, stop })
    }

    /// Sleeps until something changes. Ordinary news of neighbours end no wait.
    pub fn wait(&self) -> Result<WakeOutcome> {
        loop {
            let mut ready = [&self.news.as_fd(), &self.clock.as_fd(), &self.stop.as_fd()]
                .map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN));
            match poll(&mut ready, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error).on("poll", "a monitor"),
            }
            let [_, clock, stop] = ready.map(|fd| !fd.revents().is_empty());
            if stop {
                return Ok(WakeOutcome::Stopped);
            }
            let set = clock && matches!(read(&self.clock, &mut [0; 8]), Err(Errno::CANCELED));
            if self.news.has_changes()? || set {
                return Ok(WakeOutcome::Changed);
            }
        }
    }

    /// Ends the wait, now or as soon as it begins.
    pub fn stop(&self) {
        // The counter of a new eventfd has room for it.
        let _ = write(&self.stop, &1_u64.to_ne_bytes());
    }

    /// Sleeps, unless it is stopped meanwhile.
    pub fn rest(&self, time: Duration) -> Result<()> {
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        match poll(&mut [PollFd::new(&self.stop, PollFlags::IN)], Some(&time)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error).on("poll", "a monitor"),
        }
    }
}

/// A timer that never comes, and is cancelled when the time of day is set.
fn cancelled_clock() -> rustix::io::Result<OwnedFd> {
    let timer = timerfd_create(TimerfdClockId::Realtime, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
    let never = Timespec { tv_sec: i64::from(i32::MAX) * 4, tv_nsec: 0 };
    let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: never };
    timerfd_settime(&timer, TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET, &once)?;
    Ok(timer)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_wait_is_ended_from_another_thread() {
        let monitor = Monitor::open().expect("needs no rights");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| while monitor.wait().expect("watches") != WakeOutcome::Stopped {});
            thread::sleep(Duration::from_millis(20));
            monitor.stop();
            waiting.join().expect("no panic");
        });
        monitor.rest(Duration::from_secs(3600)).expect("ends at once");
    }

    #[test]
    fn neighbours_that_are_confirmed_are_no_change() {
        let message = |kind: u16, state: u16| {
            let mut message = [0_u8; 64];
            message[4..6].copy_from_slice(&kind.to_ne_bytes());
            message[24..26].copy_from_slice(&state.to_ne_bytes());
            message
        };
        assert!(is_ordinary(&message(28, 0x02)) && is_ordinary(&message(28, 0x04)));
        assert!(!is_ordinary(&message(28, 0x20)), "failed");
        assert!(!is_ordinary(&message(28, 0x80)), "set by hand");
        assert!(!is_ordinary(&message(24, 0x02)), "a route");
    }
}
