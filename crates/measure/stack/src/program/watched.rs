//! What the program's epoll sets watch, kept right while its descriptors come and go.

use std::{
    ffi::{CStr, CString, c_int},
    fmt::Write,
    os::fd::RawFd,
};

use libc::epoll_event;

use super::{
    call::{is_single_threaded, raw},
    descriptors::{forget, kind, live},
    inside::inside,
    past::Past,
    process::{self, is_own, table},
    sets::{RIDER, Sets, What},
    table::Kind,
};
use crate::{
    SocketId,
    calls::{cookie, inode},
    glance::{Told, glance},
};

/// What the kernel says is in a set (`/proc/PID/fdinfo`).
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    fd: c_int,
    events: u32,
    data: u64,
    inode: u64,
}

/// To be called before a descriptor is waited for: it is looked at, whether it is a socket or a set that this process did not make.
pub fn is_used(fd: c_int) {
    let is_new = kind(fd) == Some(Kind::Unknown);
    live(fd);
    if is_new && kind(fd) == Some(Kind::Foreign) {
        look_at(fd);
    }
}

/// A set was made.
pub fn set_is_made(set: c_int) {
    if set >= 0 && is_own() {
        forget(set);
        with_sets(|sets| sets.set_is_closed(set));
        table().map(|table| table.replace(set, Kind::EmptySet));
        process::uses(set);
    }
}

/// Takes down what the kernel has just been told of a set.
pub fn control(set: c_int, operation: c_int, fd: c_int, event: Option<epoll_event>) {
    if matches!(kind(fd), None | Some(Kind::Foreign | Kind::Never)) || !is_own() {
        return;
    }
    if !is_known(set) {
        look_at(set);
    }
    let event = event.filter(|_| operation != libc::EPOLL_CTL_DEL);
    inside(|| {
        let (Some(what), Some(mut sets)) = (what(fd), process::some_sets()) else { return };
        sets.change(set, fd, what, event);
        // Another thread may have taken it past the kernel since it was looked at.
        if let (What::Socket { cookie, id: None }, Some(Kind::Live(id))) = (what, kind(fd)) {
            sets.is_live(cookie, SocketId(id));
        }
        settle(&mut sets);
        if event.is_some() && !is_single_threaded() {
            wakes(&sets, set, fd);
        }
    });
}

/// Who sleeps for a set is woken where what was put into it, or changed in it, is ready already: nothing else tells of that.
fn wakes(sets: &Sets, set: c_int, fd: c_int) {
    if let Some(past) = process::past()
        && sets.has_ready_member(set, fd, &past.stack)
    {
        past.stack.wake_sleepers();
    }
}

/// Whether it is a set with sockets in it that go past the kernel. One that this process has from another one is looked at.
pub(crate) fn concerns_us(set: c_int) -> bool {
    if !is_known(set) && is_own() {
        look_at(set);
    }
    kind(set) == Some(Kind::Set)
}

fn is_known(set: c_int) -> bool {
    !matches!(kind(set), Some(Kind::Unknown | Kind::Foreign))
}

/// Looks what is in a set, if it is one.
#[cold]
fn look_at(set: c_int) {
    if !is_set(set) {
        return;
    }
    let entries = inside(|| entries(set)).unwrap_or_default();
    process::uses(set);
    table().map(|table| table.replace(set, Kind::EmptySet));
    for entry in &entries {
        is_used(entry.fd);
    }
    inside(|| {
        let found: Vec<(What, Entry)> =
            entries.into_iter().filter_map(|entry| Some((what(entry.fd)?, entry))).collect();
        let Some(mut sets) = process::some_sets() else { return };
        for (what, Entry { fd, events, data, .. }) in found {
            sets.change(set, fd, what, Some(epoll_event { events, u64: data }));
        }
        settle(&mut sets);
    });
}

/// What a descriptor is to a set; none where it can never go past the kernel.
fn what(fd: c_int) -> Option<What> {
    let cookie = || cookie(fd);
    match kind(fd)? {
        Kind::Live(id) => Some(What::Socket { cookie: cookie()?, id: Some(SocketId(id)) }),
        Kind::Kernel | Kind::Refused => Some(What::Socket { cookie: cookie()?, id: None }),
        Kind::Unknown if matches!(glance(fd), Told::Unbound | Told::Udp) => {
            Some(What::Socket { cookie: cookie()?, id: None })
        }
        Kind::Set | Kind::EmptySet => Some(What::Set(process::some_sets()?.number(fd))),
        _ => None,
    }
}

/// A socket goes past the kernel from now on.
pub(crate) fn is_live(cookie: Option<u64>, id: SocketId, past: &Past) {
    if let (Some(cookie), Some(mut sets)) = (cookie, process::sets()) {
        sets.is_live(cookie, id);
        settle_for(&mut sets, past);
    }
}

/// A socket goes past the kernel no more.
pub(crate) fn is_left(id: SocketId, past: &Past) {
    if let Some(mut sets) = process::sets() {
        sets.is_left(id);
        settle_for(&mut sets, past);
    }
}

/// A socket that went past the kernel is closed.
pub(crate) fn is_gone(id: SocketId, past: &Past) {
    if let Some(mut sets) = process::sets() {
        sets.is_gone(id);
        settle_for(&mut sets, past);
    }
}

/// A descriptor of something that does not go past the kernel is closed.
pub(crate) fn is_closed(fd: c_int) {
    with_sets(|sets| sets.is_closed(fd));
}

/// A descriptor of such a thing has another name.
pub(crate) fn is_copied(fd: c_int) {
    with_sets(|sets| sets.is_copied(fd));
}

/// A name of a set is closed.
pub(crate) fn set_is_closed(set: c_int) {
    with_sets(|sets| sets.set_is_closed(set));
}

/// A set has another name.
pub(crate) fn set_is_copied(old: c_int, new: c_int) {
    inside(|| {
        if let Some(mut sets) = process::some_sets() {
            sets.set_is_copied(old, new);
        }
    });
}

fn with_sets(work: impl FnOnce(&mut Sets)) {
    if process::has_sets() {
        inside(|| {
            if let Some(mut sets) = process::sets() {
                work(&mut sets);
                settle(&mut sets);
            }
        });
    }
}

fn settle(sets: &mut Sets) {
    match process::past() {
        Some(past) => settle_for(sets, past),
        None => _ = sets.settle(&[]),
    }
}

fn settle_for(sets: &mut Sets, past: &Past) {
    // Another thread may wait for it in the kernel since before.
    if sets.settle(past.stack.descriptors()) && !is_single_threaded() {
        past.stack.rouse();
    }
}

/// Whether a descriptor is an epoll set.
fn is_set(fd: c_int) -> bool {
    const NAME: &[u8] = b"anon_inode:[eventpoll]";
    let mut name = [0; NAME.len() + 1];
    let path = path("fd", fd);
    let place = [libc::AT_FDCWD as usize, path.as_ptr() as usize, name.as_mut_ptr() as usize, name.len()];
    // SAFETY: a path that ends with NUL, and room for as many bytes as is said.
    let length = unsafe { raw(libc::SYS_readlinkat, place) };
    usize::try_from(length).is_ok_and(|length| &name[..length] == NAME)
}

/// What is in a set, as far as its descriptors still stand for it.
fn entries(set: c_int) -> Vec<Entry> {
    let text = CString::from_vec_with_nul(path("fdinfo", set).into()).map(|path| own_file(&path)).unwrap_or_default();
    let entries = text.lines().filter_map(Entry::read);
    entries.filter(|entry| entry.data != RIDER && inode(entry.fd) == Some(entry.inode)).collect()
}

/// Whether several members of a set have the same data.
#[cold]
pub(super) fn has_several(set: c_int, data: u64) -> bool {
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
    // It has memory.
    let _ = write!(path, "/proc/self/{kind}/{fd}\0");
    path
}

/// A file's text; empty where it cannot be read.
pub(super) fn own_file(path: &CStr) -> String {
    let place = [libc::AT_FDCWD as usize, path.as_ptr() as usize, (libc::O_RDONLY | libc::O_CLOEXEC) as usize];
    // SAFETY: a path that ends with NUL.
    let Ok(fd) = RawFd::try_from(unsafe { raw(libc::SYS_openat, place) }) else { return String::new() };
    let mut text = Vec::new();
    if fd >= 0 {
        let mut part = [0_u8; 4096];
        // SAFETY: room for as many bytes as is said.
        while let Ok(length @ 1..) =
            usize::try_from(unsafe { raw(libc::SYS_read, [fd as usize, part.as_mut_ptr() as usize, part.len()]) })
        {
            text.extend_from_slice(&part[..length]);
        }
        // SAFETY: the descriptor of above, which nobody else knows.
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
