//! Transfer of a grant from the launcher to a program: a description and descriptors (`SCM_RIGHTS`).
//!
//! The program connects, and the launcher answers at once. Its first message holds the [`Answer`] and three
//! descriptors.
//!
//! The AF_XDP sockets follow, [`MOST_DESCRIPTORS`] to a message. The connection is the claim: it ends when the program
//! closes it, in whatever way.
//!
//! Messages of a program begin with [`REQUEST`], with [`UNANSWERED`], or with a letter of the reason why it cannot use its
//! grant.

use std::{
    ffi::c_int,
    io::{self, IoSlice, IoSliceMut},
    mem::{MaybeUninit, size_of},
    os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

use model::{bypass::Hindrance, plain::one_line};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::{Errno, retry_on_intr},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
        SendFlags, SocketAddrUnix, SocketFlags, SocketType, connect, recv, recvmsg, sendmsg, socket_with,
    },
    process::{Pid, PidfdFlags, pidfd_open},
};
use serde::{Deserialize, Serialize};
use xdp::{
    socket::{FrameSize, Socket, Umem},
    steer::FlowTable,
};

use crate::{
    Control, Grant, Granted, NoGrant,
    grant::options,
    high_fds::high,
    time_left::{PATIENCE, TimeLeft, is_late},
};

/// First byte of a request of a program with a grant.
pub(crate) const REQUEST: u8 = 0;
/// The message of a program that has waited for its answer as long as it may.
const UNANSWERED: u8 = 1;
/// Descriptors per message; the kernel accepts 253 (`SCM_MAX_FD`).
const MOST_DESCRIPTORS: usize = 64;
/// Longer than any answer.
const LONGEST: usize = 64 << 10;

/// The launcher's answer to a request for a grant.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Refused(String),
    Granted(Description),
}

#[derive(Debug, Serialize, Deserialize)]
struct Description {
    frames: u32,
    frame_size: usize,
    /// Frames in no ring: the first ones.
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

/// Refuses a grant, with the reason.
pub(crate) fn refuse(program: &impl AsFd, why: &str) -> io::Result<()> {
    send(program, &serde_json::to_vec(&Answer::Refused(why.to_owned()))?, &[])
}

/// Hands over a grant; the launcher keeps its own descriptors.
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

/// Gives a program without a grant the page on which such programs record their sockets.
pub(crate) fn lend(program: &impl AsFd, page: &Control) -> io::Result<()> {
    send(program, b"sockets", &[file(page)?])
}

/// Requests that page of the launcher with this name.
pub(crate) fn borrow(name: &[u8]) -> Result<Control, NoGrant> {
    let mut left = TimeLeft::default();
    let connection = connected(name, &mut left).map_err(no_launcher)?;
    let answer = receive_within(&connection, &mut left).map_err(unusable);
    let (_, descriptors) = answer.inspect_err(|why| complain(&connection, why))?;
    let page = descriptors.into_iter().next();
    let page = page.ok_or_else(|| NoGrant::Unusable("the launcher lends no page".to_owned()))?;
    Control::open(page).map_err(unusable)
}

fn file(page: &Control) -> io::Result<BorrowedFd<'_>> {
    page.file().ok_or_else(|| io::Error::other("the page is one of another process"))
}

/// Claims the grant of a launcher in the caller's network namespace, by the name of its socket. Children do not inherit
/// it.
///
/// It ends when this is dropped, or when the process ends or executes another program.
///
/// # Errors
/// The reason for having no grant. If the grant is unusable, or did not come in time, the launcher is informed.
pub fn claim(name: &str) -> Result<Grant, NoGrant> {
    let mut left = TimeLeft::default();
    let connection = high(connected(name.as_bytes(), &mut left).map_err(no_launcher)?);
    let taken = take(&connection, &mut left).inspect_err(|why| complain(&connection, why));
    taken.map(|grant| Grant { claim: Some(connection), ..grant })
}

fn no_launcher(error: io::Error) -> NoGrant {
    if is_late(&error) { NoGrant::Silent(PATIENCE) } else { NoGrant::NoLauncher(error) }
}

fn unusable(error: io::Error) -> NoGrant {
    if is_late(&error) { NoGrant::Silent(PATIENCE) } else { NoGrant::Unusable(error.to_string()) }
}

/// Tells the launcher why its answer is not used.
fn complain(connection: &OwnedFd, why: &NoGrant) {
    let words: &[u8] = match why {
        NoGrant::Unusable(why) => why.as_bytes(),
        NoGrant::Silent(_) => &[UNANSWERED],
        NoGrant::NoLauncher(_) | NoGrant::Refused(_) => return,
    };
    // If this fails, the launcher has ended. One that was stopped reads it later.
    let _ = send(connection, words, &[]);
}

/// A program's reason for not using an answer.
pub(crate) fn complaint(connection: &impl AsFd) -> Option<Hindrance> {
    let mut words = [0; 1024];
    let mut hear = || recv(connection, &mut words[..], RecvFlags::DONTWAIT);
    // A program that left unread data causes a reset first.
    let (length, _) = hear().or_else(|error| if error == Errno::CONNRESET { hear() } else { Err(error) }).ok()?;
    match &words[..length] {
        // A request that was not served is none.
        [] | [REQUEST, ..] => None,
        [UNANSWERED, ..] => Some(Hindrance::Unanswered { seconds: PATIENCE.as_secs() }),
        words => Some(Hindrance::Unusable { why: one_line(&String::from_utf8_lossy(words)) }),
    }
}

fn take(connection: &OwnedFd, left: &mut TimeLeft) -> Result<Grant, NoGrant> {
    let other = |error: &dyn std::fmt::Display| NoGrant::Unusable(error.to_string());
    let (words, descriptors) = receive_within(connection, left).map_err(unusable)?;
    let description = match serde_json::from_slice(&words).map_err(|error| other(&error))? {
        Answer::Refused(why) => return Err(NoGrant::Refused(why)),
        Answer::Granted(description) => description,
    };
    let three: Result<[OwnedFd; 3], _> = descriptors.try_into();
    let [control, umem, table] = three.map_err(|_| other(&"descriptors are missing"))?;
    let control = Control::open(control).map_err(|error| other(&error))?;
    let flows = FlowTable::map(&table).map_err(|error| other(&error))?;
    let size = [FrameSize::Half, FrameSize::Page].into_iter().find(|size| size.bytes() == description.frame_size);
    let size = size.ok_or_else(|| other(&"frames of an unknown size"))?;
    let (umem, frames) =
        Umem::adopt(umem, description.frames, size, 0..description.free).map_err(|error| other(&error))?;
    let mut sockets = Vec::new();
    let wanted: u32 = description.interfaces.iter().map(|it| it.queues).sum();
    while sockets.len() < wanted as usize {
        sockets.extend(receive_within(connection, left).map_err(unusable)?.1);
    }
    let mut sockets = sockets.into_iter();
    let mut interfaces = Vec::new();
    for it in description.interfaces {
        let adopt = |(queue, fd)| Socket::adopt(&umem, &options(&it.name, queue, description.ring), fd);
        let queues = (0..it.queues).zip(sockets.by_ref()).map(adopt).collect::<Result<_, _>>();
        let queues = queues.map_err(|error| other(&error))?;
        let Interface { name, index, mac, mtu, partial_checksums, .. } = it;
        interfaces.push(Granted { name, index, mac, mtu, partial_checksums, queues });
    }
    Ok(Grant { control, flows, umem, frames, interfaces, ring: description.ring, claim: None })
}

/// Connects to the launcher with this name.
///
/// # Errors
/// If the kernel's credentials show another process: once a launcher has ended, any process may listen under its name.
pub(crate) fn connected(name: &[u8], left: &mut TimeLeft) -> io::Result<OwnedFd> {
    let connection = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let address = SocketAddrUnix::new_abstract_name(name)?;
    left.wait(&connection, || Ok(connect(&connection, &address)?))?;
    let peer = credentials(&connection)?;
    if is_launcher(name, peer.uid, peer.pid) {
        return Ok(connection);
    }
    let why = format!("process {} of user {} listens by the launcher's name", peer.pid, peer.uid);
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

/// Whether a process is the launcher of this name: root, with the process number in the name. A program in its own PID
/// namespace sees 0.
fn is_launcher(name: &[u8], user: u32, process: i32) -> bool {
    let number = str::from_utf8(name).ok().and_then(|name| name.split('-').nth(2)?.parse().ok());
    user == 0 && (process == 0 || number == Some(process))
}

/// The process at the other end of a connection, as of its connect or listen.
pub(crate) fn credentials(connection: &impl AsFd) -> io::Result<libc::ucred> {
    let mut credentials = MaybeUninit::<libc::ucred>::zeroed();
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    let fd = connection.as_fd().as_raw_fd();
    // SAFETY: the kernel writes no more than `length` bytes.
    let answer = unsafe {
        libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, credentials.as_mut_ptr().cast(), &raw mut length)
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: zeros are valid, and so is the kernel's output.
    Ok(unsafe { credentials.assume_init() })
}

/// A descriptor of the process at the other end of a connection, as of its connect; `None` if it is gone. `number` is its
/// process number.
pub(crate) fn process(connection: &impl AsFd, number: i32) -> Option<OwnedFd> {
    let (mut process, mut length): (c_int, _) = (-1, size_of::<c_int>() as libc::socklen_t);
    let (fd, option) = (connection.as_fd().as_raw_fd(), libc::SO_PEERPIDFD);
    // SAFETY: the kernel writes no more than `length` bytes.
    let answer = unsafe { libc::getsockopt(fd, libc::SOL_SOCKET, option, (&raw mut process).cast(), &raw mut length) };
    if answer == 0 {
        // SAFETY: the kernel has just opened it, and nothing else owns it.
        return Some(unsafe { OwnedFd::from_raw_fd(process) });
    }
    // The option came with Linux 6.5. Before, another process may have the number of one that is gone.
    let is_unknown = io::Error::last_os_error().raw_os_error() == Some(libc::ENOPROTOOPT);
    let number = Pid::from_raw(number).filter(|_| is_unknown)?;
    pidfd_open(number, PidfdFlags::empty()).ok()
}

/// Events of a descriptor at the moment: these, errors and the end of a connection.
pub(crate) fn events(fd: &impl AsFd, of: PollFlags) -> PollFlags {
    let mut polled = [PollFd::new(fd, of)];
    // Without an answer there are none.
    let _ = retry_on_intr(|| poll(&mut polled, Some(&Timespec::default())));
    polled[0].revents()
}

fn send(to: &impl AsFd, words: &[u8], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    send_pieces(to, &[IoSlice::new(words)], descriptors)
}

/// Sends a message in pieces.
pub(crate) fn send_pieces(to: &impl AsFd, pieces: &[IoSlice<'_>], descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(descriptors));
    }
    sendmsg(to, pieces, &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?;
    Ok(())
}

/// Receives a message of the launcher: however many messages and signals come, they take no longer together.
fn receive_within(from: &impl AsFd, left: &mut TimeLeft) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    left.wait(from, || receive_once(from))
}

/// Receives a message, with its descriptors.
pub(crate) fn receive(from: &impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    loop {
        match receive_once(from) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            came => return came,
        }
    }
}

fn receive_once(from: &impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut words = vec![0; LONGEST];
    let came = recvmsg(from, &mut [IoSliceMut::new(&mut words)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if came.bytes == 0 {
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the launcher has ended"));
    }
    words.truncate(came.bytes);
    let rights = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(rights) => Some(rights),
        _ => None,
    });
    Ok((words, rights.flatten().map(high).collect()))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use rustix::net::{bind, listen, socketpair};

    use super::*;

    /// A listener that never answers.
    fn listener(name: &str) -> OwnedFd {
        let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None);
        let socket = socket.expect("a socket");
        let address = SocketAddrUnix::new_abstract_name(name.as_bytes()).expect("a name");
        bind(&socket, &address).expect("nobody has it");
        listen(&socket, 1).expect("bound");
        socket
    }

    #[test]
    fn only_root_with_the_number_of_the_name_is_the_launcher() {
        let name = b"wireproof-bypass-77-0123456789abcdef";
        assert!(is_launcher(name, 0, 77) && is_launcher(name, 0, 0));
        assert!(!is_launcher(name, 0, 78) && !is_launcher(name, 65_534, 77) && !is_launcher(b"other", 0, 77));
    }

    #[test]
    fn another_process_by_the_name_of_a_launcher_that_ended_gets_no_program() {
        // No process has this number.
        let name = "wireproof-bypass-4194305-other";
        let _listener = listener(name);
        let refused = claim(name).err().expect("it is not the launcher");
        assert!(matches!(refused, NoGrant::NoLauncher(why) if why.kind() == io::ErrorKind::PermissionDenied));
    }

    #[test]
    fn a_launcher_that_does_not_answer_is_waited_for_a_while() {
        let name = format!("wireproof-bypass-{}-silent", std::process::id());
        let _listener = listener(&name);
        let begun = Instant::now();
        let silent = claim(&name).err().expect("nobody answers");
        assert_eq!(silent.to_string(), "the launcher did not answer for 5 s");
        assert!((PATIENCE..PATIENCE + Duration::from_secs(5)).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_launcher_is_waited_for_no_longer_where_it_has_begun_to_answer() {
        let (program, launcher) =
            socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
        let (begun, mut left) = (Instant::now(), TimeLeft::default());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..2 {
                    std::thread::sleep(Duration::from_millis(1_500));
                    send(&launcher, b"sockets", &[]).expect("the program waits");
                }
            });
            let heard = [(); 3].map(|()| receive_within(&program, &mut left));
            assert!(heard[0].is_ok() && heard[1].is_ok() && heard[2].as_ref().is_err_and(is_late));
        });
        assert!((5..8).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    }

    #[test]
    fn what_a_program_says_at_last_is_read_as_it_is_meant() {
        let said = |words: &[u8]| {
            let (program, launcher) =
                socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).expect("a pair");
            if !words.is_empty() {
                send(&program, words, &[]).expect("there is room");
            }
            drop(program);
            complaint(&launcher)
        };
        assert_eq!((said(b""), said(&[REQUEST, b'{'])), (None, None), "a request that was not served");
        assert_eq!(said(&[UNANSWERED]), Some(Hindrance::Unanswered { seconds: 5 }));
        let why = "mmap: no\u{1b}[2J memory";
        assert!(matches!(said(why.as_bytes()), Some(Hindrance::Unusable { why }) if !why.contains('\u{1b}')));
    }
}
