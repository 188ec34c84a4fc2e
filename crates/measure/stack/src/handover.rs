//! A grant on its way from the launcher to a program: words about it, and the descriptors beside them (`SCM_RIGHTS`).
//!
//! The program connects, and the launcher answers at once: a message with the [`Answer`] and three descriptors, then
//! one for each [`MOST_DESCRIPTORS`] AF_XDP sockets. The connection is the claim: it ends when the program closes it,
//! however that comes.

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    io::Errno,
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, recvmsg, sendmsg, socket_with,
    },
};
use serde::{Deserialize, Serialize};
use xdp::{
    socket::{FrameSize, Socket, Umem},
    steer::FlowTable,
};

use crate::{Control, Grant, Granted, NoGrant, aside::aside, grant::options};

/// Descriptors that go with one message; the kernel takes 253 (`SCM_MAX_FD`).
const MOST_DESCRIPTORS: usize = 64;
/// More than any answer has.
const LONGEST: usize = 64 << 10;

/// What the launcher says to a program that asks for a grant.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Refused(String),
    Granted(Description),
}

#[derive(Debug, Serialize, Deserialize)]
struct Description {
    frames: u32,
    frame_size: usize,
    /// Frames that are in no ring: the first ones.
    free: u32,
    ring: u32,
    interfaces: Vec<Interface>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Interface {
    name: String,
    index: u32,
    mac: [u8; 6],
    mtu: u32,
    partial_checksums: bool,
    queues: u32,
}

/// Says why there is no grant.
pub(crate) fn refuse(program: &impl AsFd, why: &str) -> io::Result<()> {
    send(program, &serde_json::to_vec(&Answer::Refused(why.to_owned()))?, &[])
}

/// Hands a grant over, of which the launcher keeps its own descriptors.
pub(crate) fn hand_over(program: &impl AsFd, grant: &Grant, table: BorrowedFd<'_>) -> io::Result<()> {
    let umem = grant.umem.file().ok_or_else(|| io::Error::other("the memory for packets is not shared"))?;
    let interface = |it: &Granted| Interface {
        name: it.name.clone(),
        index: it.index,
        mac: it.mac,
        mtu: it.mtu,
        partial_checksums: it.partial_checksums,
        queues: it.queues.len() as u32,
    };
    let description = Description {
        frames: grant.umem.frames(),
        frame_size: grant.umem.frame_size(),
        free: grant.frames.len() as u32,
        ring: grant.ring,
        interfaces: grant.interfaces.iter().map(interface).collect(),
    };
    let words = serde_json::to_vec(&Answer::Granted(description))?;
    send(program, &words, &[file(&grant.control)?, umem, table])?;
    let sockets: Vec<_> = grant.interfaces.iter().flat_map(|it| it.queues.iter().map(AsFd::as_fd)).collect();
    sockets.chunks(MOST_DESCRIPTORS).try_for_each(|chunk| send(program, b"sockets", chunk))
}

/// Gives a program without a grant the page where such programs write down their sockets.
pub(crate) fn lend(program: &impl AsFd, page: &Control) -> io::Result<()> {
    send(program, b"sockets", &[file(page)?])
}

/// Takes that page.
pub(crate) fn borrow(connection: &impl AsFd) -> io::Result<Control> {
    let page = receive(connection)?.1.into_iter().next();
    Control::open(page.ok_or_else(|| io::Error::other("the launcher lends no page"))?)
}

fn file(page: &Control) -> io::Result<BorrowedFd<'_>> {
    page.file().ok_or_else(|| io::Error::other("the page is one of another process"))
}

/// Takes over what the launcher at the other end hands out; what cannot be used is told there.
pub(crate) fn take_over(connection: OwnedFd) -> Result<Grant, NoGrant> {
    let taken = take(&connection);
    if let Err(NoGrant::Unusable(why)) = &taken {
        // Where it cannot be told it has ended.
        let _ = send(&connection, why.as_bytes(), &[]);
    }
    taken.map(|grant| Grant { claim: Some(connection), ..grant })
}

/// What the program at the other end, which has gone, could not do with its grant.
pub(crate) fn complaint(connection: &impl AsFd) -> Option<String> {
    let mut words = [0; 1024];
    let mut hear = || recv(connection, &mut words[..], RecvFlags::DONTWAIT);
    // That it went without having read all comes first.
    let (length, _) = hear().or_else(|error| if error == Errno::CONNRESET { hear() } else { Err(error) }).ok()?;
    (length > 0).then(|| String::from_utf8_lossy(&words[..length]).into_owned())
}

fn take(connection: &OwnedFd) -> Result<Grant, NoGrant> {
    let unusable = |error: &dyn std::fmt::Display| NoGrant::Unusable(error.to_string());
    let (words, descriptors) = receive(connection).map_err(|error| unusable(&error))?;
    let description = match serde_json::from_slice(&words).map_err(|error| unusable(&error))? {
        Answer::Refused(why) => return Err(NoGrant::Refused(why)),
        Answer::Granted(description) => description,
    };
    let three: Result<[OwnedFd; 3], _> = descriptors.try_into();
    let [control, umem, table] = three.map_err(|_| unusable(&"descriptors are missing"))?;
    let control = Control::open(control).map_err(|error| unusable(&error))?;
    let flows = FlowTable::map(&table).map_err(|error| unusable(&error))?;
    let size = [FrameSize::Half, FrameSize::Page].into_iter().find(|size| size.bytes() == description.frame_size);
    let size = size.ok_or_else(|| unusable(&"frames of an unknown size"))?;
    let (umem, frames) =
        Umem::adopt(umem, description.frames, size, 0..description.free).map_err(|error| unusable(&error))?;
    let mut sockets = Vec::new();
    let wanted: u32 = description.interfaces.iter().map(|it| it.queues).sum();
    while sockets.len() < wanted as usize {
        sockets.extend(receive(connection).map_err(|error| unusable(&error))?.1);
    }
    let mut sockets = sockets.into_iter();
    let mut interfaces = Vec::new();
    for it in description.interfaces {
        let adopt = |(queue, fd)| Socket::adopt(&umem, &options(&it.name, queue, description.ring), fd);
        let queues = (0..it.queues).zip(sockets.by_ref()).map(adopt).collect::<Result<_, _>>();
        let queues = queues.map_err(|error| unusable(&error))?;
        let Interface { name, index, mac, mtu, partial_checksums, .. } = it;
        interfaces.push(Granted { name, index, mac, mtu, partial_checksums, queues });
    }
    Ok(Grant { control, flows, umem, frames, interfaces, ring: description.ring, claim: None })
}

/// A connection to what listens by this name.
pub(crate) fn connected(name: &[u8]) -> io::Result<OwnedFd> {
    let connection = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    connect(&connection, &SocketAddrUnix::new_abstract_name(name)?)?;
    Ok(connection)
}

fn send(to: &impl AsFd, words: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(to, &[IoSlice::new(words)], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
    Ok(())
}

fn receive(from: &impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut words = vec![0; LONGEST];
    let came = loop {
        // A signal may come in the midst of it.
        match recvmsg(from, &mut [IoSliceMut::new(&mut words)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(rustix::io::Errno::INTR) => {}
            came => break came?,
        }
    };
    if came.bytes == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the launcher has ended"));
    }
    words.truncate(came.bytes);
    let rights = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((words, rights.flatten().map(aside).collect()))
}
