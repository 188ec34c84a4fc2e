//! Notifications of changes: links, addresses, routes, rules and neighbours of a network namespace.

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
        let mut news = false;
        loop {
            // Messages are truncated: their contents do not matter.
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

/// For polling beside other descriptors.
impl AsFd for Watch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
