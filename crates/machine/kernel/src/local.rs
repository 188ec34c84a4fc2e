//! Local sockets between processes of root in one network namespace, found by name (abstract sockets of unix(7)).
//!
//! They need no file, and end with their process. Peers of other users are refused: anybody may take a name or connect to one.

use std::{
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        AddressFamily, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect, listen, socket_with,
        sockopt::socket_peercred,
    },
};

use crate::error::{On, Result};

/// Limit of connections that wait.
const WAITING: i32 = 8;
/// Time that a peer has to send or take a message.
const PATIENCE: Duration = Duration::from_secs(2);

/// A name that processes of root connect to.
pub struct Listener(OwnedFd);

impl Listener {
    /// Takes a name in the caller's network namespace; `None` if another process has it.
    pub fn open(name: &str) -> Result<Option<Self>> {
        let socket = opened(name)?;
        match address(name).and_then(|address| bind(&socket, &address)) {
            Err(Errno::ADDRINUSE) => return Ok(None),
            bound => bound.on("bind", shown(name))?,
        }
        listen(&socket, WAITING).on("listen", shown(name))?;
        Ok(Some(Self(socket)))
    }

    /// The next connection of a process of root; `None` after this time, or for a signal or another user's.
    pub fn accept(&self, within: Duration) -> Result<Option<UnixStream>> {
        const WHAT: &str = "a local socket";
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        let mut ready = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            result => result.on("poll", WHAT)?,
        };
        let peer = match accept_with(&self.0, SocketFlags::CLOEXEC) {
            Err(Errno::INTR | Errno::CONNABORTED) => return Ok(None),
            peer => peer.on("accept", WHAT)?,
        };
        if !is_root(&peer).on("getsockopt(SO_PEERCRED)", WHAT)? {
            return Ok(None);
        }
        let stream = UnixStream::from(peer);
        stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .on("setsockopt", WHAT)?;
        Ok(Some(stream))
    }
}

/// Connects to the process of root that has this name; `None` if there is none.
pub fn connect_to(name: &str) -> Result<Option<UnixStream>> {
    let socket = opened(name)?;
    match address(name).and_then(|address| connect(&socket, &address)) {
        Err(Errno::CONNREFUSED) => return Ok(None),
        connected => connected.on("connect", shown(name))?,
    }
    let is_root = is_root(&socket).on("getsockopt(SO_PEERCRED)", shown(name))?;
    Ok(is_root.then(|| UnixStream::from(socket)))
}

fn opened(name: &str) -> Result<OwnedFd> {
    socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).on("socket", shown(name))
}

fn address(name: &str) -> rustix::io::Result<SocketAddrUnix> {
    SocketAddrUnix::new_abstract_name(name.as_bytes())
}

fn is_root(socket: &impl AsFd) -> io::Result<bool> {
    Ok(socket_peercred(socket)?.uid.is_root())
}

fn shown(name: &str) -> String {
    format!("local socket {name}")
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        thread,
    };

    use rustix::{fs::Uid, thread::set_thread_res_uid};

    use super::*;

    /// Runs this in a thread of another user.
    fn as_nobody<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> T {
        let become_nobody = move || {
            let nobody = Uid::from_raw(65_534);
            set_thread_res_uid(nobody, nobody, nobody).expect("this test needs root");
            f()
        };
        thread::spawn(become_nobody).join().expect("it ends")
    }

    #[test]
    fn another_users_process_is_neither_answered_nor_believed() {
        let name = |end: &str| format!("wptest{}-{end}", std::process::id());
        let listener = Listener::open(&name("ours")).expect("a socket").expect("the name is free");
        let _stranger = as_nobody({
            let ours = name("ours");
            move || connect_to(&ours).expect("a socket").expect("root listens")
        });
        assert!(listener.accept(PATIENCE).expect("poll").is_none());
        let _theirs = as_nobody({
            let theirs = name("theirs");
            move || Listener::open(&theirs).expect("a socket").expect("the name is free")
        });
        assert!(connect_to(&name("theirs")).expect("a socket").is_none());
    }

    #[test]
    fn one_process_has_a_name_and_others_talk_to_it() {
        let name = format!("wptest{}-local", std::process::id());
        assert!(connect_to(&name).expect("a socket").is_none(), "nobody has the name yet");
        let listener = Listener::open(&name).expect("a socket").expect("the name is free");
        assert!(Listener::open(&name).expect("a socket").is_none(), "it has the name");
        assert!(listener.accept(Duration::from_millis(1)).expect("poll").is_none());
        let mut here = connect_to(&name).expect("a socket").expect("this test needs root");
        here.write_all(b"hello").expect("it goes");
        let mut there = listener.accept(PATIENCE).expect("poll").expect("it has connected");
        let mut said = [0; 5];
        there.read_exact(&mut said).expect("it comes");
        assert_eq!(&said, b"hello");
    }
}
