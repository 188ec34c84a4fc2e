//! The launcher: hands the grant to one program at a time, watches for changes, and cleans up after each program.

mod cards;
mod outside;
mod programs;
mod server;

use std::{
    collections::hash_map::RandomState,
    ffi::CStr,
    hash::{BuildHasher, Hasher},
    io,
    os::fd::OwnedFd,
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::Sender,
    },
    thread::{self, JoinHandle},
};

use rustix::{
    event::{EventfdFlags, eventfd},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, listen, socket_with},
};

use kernel::watch::Watch;
use model::bypass::{Claim, Health, Hindrance, NotSet, Program, Steering, UngrantedSockets};

use crate::{Attachment, Control, GrantError};
use cards::Cards;
use outside::PageServer;
use server::{EventSources, Server};

pub use outside::page;

/// Environment variable with the name of the launcher's socket.
pub const LAUNCHER_VARIABLE: &CStr = c"WIREPROOF_BYPASS";
/// Environment variable with the way calls wait, in the words of [`Wait`](model::bypass::Wait).
pub const WAIT_VARIABLE: &CStr = c"WIREPROOF_BYPASS_WAIT";

/// Requests that wait at a time.
const BACKLOG: usize = 64;

/// A launcher that runs in its own thread.
pub struct Launcher {
    name: String,
    held: Arc<AtomicBool>,
    stop: OwnedFd,
    thread: JoinHandle<Result<Steering, GrantError>>,
}

/// An event of the launcher.
#[derive(Debug)]
pub enum Event {
    /// A program has claimed the grant.
    Claimed(Program),
    /// A program was refused; its sockets go through the kernel.
    Refused {
        /// The program.
        program: Program,
        /// The reason.
        why: Hindrance,
    },
    /// A program has ended or returned the grant.
    Ended(Claim),
    /// An interface has become usable or unusable.
    Interface {
        /// Name.
        name: String,
        /// State.
        health: Health,
    },
    /// The launcher stops: sockets of processes without a grant.
    UngrantedSockets {
        /// Sockets with records of their own, by process.
        programs: Vec<UngrantedSockets>,
        /// Number of further sockets.
        beyond: u32,
    },
    /// A card rejected a setting for polling programs, or its restoration.
    NotSet(NotSet),
    /// An error; everything that does not depend on it goes on.
    Trouble(GrantError),
}

impl Launcher {
    /// Starts to listen for programs that the caller starts from now on, and reports events.
    pub fn start(mut attachment: Attachment, tell: Sender<Event>) -> Result<Self, GrantError> {
        let call = |call| move |error: rustix::io::Errno| GrantError::Call { call, io: error.into() };
        let ready = attachment.grant()?;
        let name = format!("wireproof-bypass-{}-{:016x}", process::id(), RandomState::new().build_hasher().finish());
        let listening = |name: &[u8]| listener(name).map_err(call("bind of the launcher's socket"));
        let listener = listening(name.as_bytes())?;
        let page = Control::new().map_err(|io| GrantError::Call { call: "memfd_create", io })?;
        let outside = PageServer::new(listening(&outside::name(&name))?, page);
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(call("eventfd"))?;
        let ours = stop.try_clone().map_err(|io| GrantError::Call { call: "dup", io })?;
        let sources = EventSources { listener, outside, watch: Watch::open()?, stop: ours };
        let held = Arc::new(AtomicBool::new(false));
        let cards = Cards::prepare(&ready, attachment.wait, &name, tell.clone());
        let server = Server::new(attachment, cards, ready, sources, tell, Arc::clone(&held));
        let thread = thread::Builder::new().name("launcher".to_owned()).spawn(move || server.serve());
        let thread = thread.map_err(|io| GrantError::Call { call: "starting a thread", io })?;
        Ok(Self { name, held, stop, thread })
    }

    /// Name of its socket, for [`crate::claim`].
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a program has the grant.
    pub fn is_held(&self) -> bool {
        self.held.load(Relaxed)
    }

    /// Stops, detaches everything from the interfaces, and returns the steering program's counters. The flows of a held
    /// grant go through the kernel.
    pub fn end(self) -> Result<Steering, GrantError> {
        rustix::io::write(&self.stop, &1_u64.to_ne_bytes())
            .map_err(|error| GrantError::Call { call: "write to an eventfd", io: error.into() })?;
        let died = |_| GrantError::Call { call: "the launcher's thread", io: io::Error::other("it panicked") };
        self.thread.join().map_err(died)?
    }
}

/// An abstract socket: found by name in its network namespace, independent of root directory, user and descriptors.
fn listener(name: &[u8]) -> Result<OwnedFd, rustix::io::Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    bind(&socket, &SocketAddrUnix::new_abstract_name(name)?)?;
    listen(&socket, BACKLOG as i32)?;
    Ok(socket)
}
