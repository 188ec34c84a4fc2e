//! Told of changes: links, addresses, routes, rules and neighbours of a network namespace.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd},
};

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::error::{On, Result};

/// Multicast groups of linux/rtnetlink.h.
const GROUPS: [u32; 9] = [
    libc::RTNLGRP_LINK,
    libc::RTNLGRP_NEIGH,
    libc::RTNLGRP_IPV4_IFADDR,
    libc::RTNLGRP_IPV4_ROUTE,
    libc::RTNLGRP_IPV4_RULE,
    libc::RTNLGRP_IPV6_IFADDR,
    libc::RTNLGRP_IPV6_ROUTE,
    libc::RTNLGRP_IPV6_RULE,
    libc::RTNLGRP_NEXTHOP,
];

/// An ear for changes; readable where there is news.
pub struct Watch(Socket);

impl Watch {
    /// Listens to the caller's network namespace from now on.
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

    /// Whether anything changed since it was last asked. More changes than there was room for are one, too.
    pub fn has_news(&self) -> Result<bool> {
        let mut news = false;
        loop {
            // What does not fit is cut off: what the change is does not matter.
            match self.0.recv(&mut [0_u8; 64].as_mut_slice(), 0) {
                Ok(_) => news = true,
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => news = true,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(news),
                Err(error) => return Err(error).on("recv", "rtnetlink's news"),
            }
        }
    }
}

/// To be polled beside others.
impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
