//! Epoll sets in `/proc`.

use std::{
    ffi::{CStr, CString, c_int},
    fmt::Write,
    os::fd::RawFd,
};

use stack::inode;

use super::call::raw;

/// The mark of riders in a program's sets: neither a pointer nor a small number, and unlikely as a program's data.
pub(crate) const RIDER: u64 = 0xb5fe_57a9_9e1d_c0d3;

/// A member of a set (`/proc/PID/fdinfo`).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) fd: c_int,
    pub(crate) events: u32,
    pub(crate) data: u64,
    inode: u64,
}

/// Whether a descriptor is an epoll set.
pub(crate) fn is_set(fd: c_int) -> bool {
    const NAME: &[u8] = b"anon_inode:[eventpoll]";
    let mut name = [0; NAME.len() + 1];
    let path = path("fd", fd);
    let place = [libc::AT_FDCWD as usize, path.as_ptr() as usize, name.as_mut_ptr() as usize, name.len()];
    // SAFETY: a path that ends with NUL, and room for the given length.
    let length = unsafe { raw(libc::SYS_readlinkat, place) };
    usize::try_from(length).is_ok_and(|length| &name[..length] == NAME)
}

/// The members of a set whose descriptors still stand for them.
pub(crate) fn entries(set: c_int) -> Vec<Entry> {
    let text = CString::from_vec_with_nul(path("fdinfo", set).into()).map(|path| own_file(&path)).unwrap_or_default();
    let entries = text.lines().filter_map(Entry::read);
    entries.filter(|entry| entry.data != RIDER && inode(entry.fd) == Some(entry.inode)).collect()
}

/// Whether several members of a set have the same data.
#[cold]
pub(crate) fn has_several(set: c_int, data: u64) -> bool {
    entries(set).iter().filter(|entry| entry.data == data).count() > 1
}

impl Entry {
    /// A line like `tfd:        5 events:       19 data:                7  pos:0 ino:2a sdev:8`.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split([' ', ':']).filter(|word| !word.is_empty());
        let mut value = |name: &str| words.by_ref().skip_while(|word| *word != name).nth(1);
        let fd = value("tfd")?.parse().ok()?;
        let events = u32::from_str_radix(value("events")?, 16).ok()?;
        let data = u64::from_str_radix(value("data")?, 16).ok()?;
        Some(Self { fd, events, data, inode: u64::from_str_radix(value("ino")?, 16).ok()? })
    }
}

fn path(kind: &str, fd: c_int) -> String {
    let mut path = String::new();
    // The buffer does not allocate.
    let _ = write!(path, "/proc/self/{kind}/{fd}\0");
    path
}

/// Contents of a file; empty if it is unreadable.
pub(crate) fn own_file(path: &CStr) -> String {
    let place = [libc::AT_FDCWD as usize, path.as_ptr() as usize, (libc::O_RDONLY | libc::O_CLOEXEC) as usize];
    // SAFETY: a path that ends with NUL.
    let Ok(fd) = RawFd::try_from(unsafe { raw(libc::SYS_openat, place) }) else { return String::new() };
    let mut text = Vec::new();
    if fd >= 0 {
        let mut part = [0_u8; 4096];
        loop {
            let place = [fd as usize, part.as_mut_ptr() as usize, part.len()];
            // SAFETY: room for the given length.
            let Ok(length @ 1..) = usize::try_from(unsafe { raw(libc::SYS_read, place) }) else { break };
            text.extend_from_slice(&part[..length]);
        }
        // SAFETY: the descriptor opened above, unknown to others.
        unsafe { raw(libc::SYS_close, [fd as usize]) };
    }
    String::from_utf8(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernels_are_read() {
        let line = "tfd:        5 events: 80000019 data: ffff00000000000a  pos:0 ino:2a sdev:8";
        let entry = Entry { fd: 5, events: 0x8000_0019, data: 0xffff_0000_0000_000a, inode: 42 };
        assert_eq!(Entry::read(line), Some(entry));
        assert_eq!(Entry::read("flags:\t02"), None);
        assert_eq!(Entry::read("tfd: 5 events: 19"), None);
    }

    #[test]
    fn a_set_and_what_is_in_it_are_found() {
        use std::os::fd::AsRawFd;

        use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

        let set = epoll::create(CreateFlags::CLOEXEC).expect("a descriptor");
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("loopback");
        epoll::add(&set, &socket, EventData::new_u64(77), EventFlags::IN).expect("it takes sockets");
        assert!(is_set(set.as_raw_fd()) && !is_set(socket.as_raw_fd()));
        let found = entries(set.as_raw_fd());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].fd, found[0].data, found[0].events & 1), (socket.as_raw_fd(), 77, 1));
    }
}
