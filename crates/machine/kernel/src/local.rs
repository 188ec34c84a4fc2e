//! Local sockets between processes of root in one network namespace, found by name in a folder of root's.
//!
//! An abstract name (unix(7)) would need no file, but any user could take it first, or let those who connect wait.

use std::{
    fs::{self, DirBuilder},
    io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{
            fs::{DirBuilderExt, MetadataExt},
            net::{UnixListener, UnixStream},
        },
    },
    path::PathBuf,
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SocketFlags, accept_with},
};

use crate::{
    error::{On, Result, invalid},
    lock::FileLock,
    namespace,
};

/// Folder of the sockets. Only root writes there, and connecting takes the right to write.
const FOLDER: &str = "/run/wireproof";
/// Time that a peer has to send or take a message.
const PATIENCE: Duration = Duration::from_secs(2);

/// A name that processes of root connect to. Its file goes with it; that of a killed process is replaced by the next one.
pub struct Listener {
    socket: UnixListener,
    path: PathBuf,
    /// Locked as long as the name is taken.
    _lock: FileLock,
}

impl Listener {
    /// Takes a name in the caller's network namespace; `None` if another process has it.
    pub fn open(name: &str) -> Result<Option<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(FOLDER).on("mkdir", FOLDER)?;
        let about = fs::symlink_metadata(FOLDER).on("stat", FOLDER)?;
        if !about.is_dir() || about.uid() != 0 || about.mode() & 0o022 != 0 {
            let why = "others than root can write there; find out who made it, then move it away";
            return Err(invalid(why)).on("use", FOLDER);
        }
        let path = path(name)?;
        let Some(lock) = FileLock::try_lock(&path.with_extension("lock"))? else { return Ok(None) };
        // Left by a killed process.
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).on("unlink", path.display()),
            _ => {}
        }
        let socket = UnixListener::bind(&path).on("bind", path.display())?;
        Ok(Some(Self { socket, path, _lock: lock }))
    }

    /// The next connection; `None` after this time, or for a signal.
    pub fn accept(&self, within: Duration) -> Result<Option<UnixStream>> {
        const WHAT: &str = "a local socket";
        let timeout = Timespec { tv_sec: within.as_secs() as i64, tv_nsec: within.subsec_nanos().into() };
        let mut ready = [PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        match poll(&mut ready, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            result => result.on("poll", WHAT)?,
        };
        let peer: OwnedFd = match accept_with(&self.socket, SocketFlags::CLOEXEC) {
            Err(Errno::INTR | Errno::CONNABORTED) => return Ok(None),
            peer => peer.on("accept", WHAT)?,
        };
        let stream = UnixStream::from(peer);
        stream
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
            .on("setsockopt", WHAT)?;
        Ok(Some(stream))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Before the lock is released. What remains belongs to no process.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.path.with_extension("lock"));
    }
}

/// Connects to the process that has this name; `None` if there is none.
pub fn connect_to(name: &str) -> Result<Option<UnixStream>> {
    let path = path(name)?;
    match UnixStream::connect(&path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound) => Ok(None),
        connected => connected.map(Some).on("connect", path.display()),
    }
}

fn path(name: &str) -> Result<PathBuf> {
    Ok(PathBuf::from(format!("{FOLDER}/{name}-{}.socket", namespace::own_identity()?)))
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
    fn another_users_process_neither_connects_nor_takes_a_name() {
        let name = |end: &str| format!("wptest{}-{end}", std::process::id());
        let _listener = Listener::open(&name("ours")).expect("a socket").expect("the name is free");
        let ours = name("ours");
        assert!(as_nobody(move || connect_to(&ours)).is_err());
        let theirs = name("theirs");
        assert!(as_nobody(move || Listener::open(&theirs).map(drop)).is_err());
        assert!(connect_to(&name("theirs")).expect("a socket").is_none());
    }

    #[test]
    fn the_file_of_a_killed_process_is_replaced() {
        let name = format!("wptest{}-killed", std::process::id());
        let killed = Listener::open(&name).expect("a socket").expect("the name is free");
        let path = killed.path.clone();
        drop(killed);
        drop(UnixListener::bind(&path).expect("a socket"));
        assert!(connect_to(&name).expect("a socket").is_none(), "nobody listens");
        drop(Listener::open(&name).expect("a socket").expect("nobody has the name"));
        assert!(!path.exists() && !path.with_extension("lock").exists());
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
