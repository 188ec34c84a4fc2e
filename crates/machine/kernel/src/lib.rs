//! The one door to system calls: namespaces, netlink, sockets, clocks, pinning.
