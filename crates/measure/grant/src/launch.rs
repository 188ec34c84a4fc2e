//! The launcher's half: it hands a grant to one program at a time, watches what changes under it, and clears up behind
//! each.

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
use model::bypass::{Claim, Health, Hindrance, NotSet, Outside, Program, Steering};

use crate::{Attachment, Control, GrantError};
use cards::Cards;
use outside::Lender;
use server::{Hears, Server};

pub use outside::page;

/// What a program finds in its environment: the name of the launcher's socket.
pub const LAUNCHER_VARIABLE: &CStr = c"WIREPROOF_BYPASS";
/// And how its calls wait, in the words of [`Wait`](model::bypass::Wait).
pub const WAIT_VARIABLE: &CStr = c"WIREPROOF_BYPASS_WAIT";

/// A launcher at work in a thread of its own.
pub struct Launcher {
    name: String,
    held: Arc<AtomicBool>,
    stop: OwnedFd,
    thread: JoinHandle<Result<Steering, GrantError>>,
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// A program has the grant.
    Claimed(Program),
    /// A program was refused, and goes through the kernel.
    Refused {
        /// The program.
        program: Program,
        /// Why.
        why: Hindrance,
    },
    /// A program has ended, or has given the grant back.
    Ended(Claim),
    /// An interface can be used, or not, from now on.
    Interface {
        /// Its name.
        name: String,
        /// How it is.
        health: Health,
    },
    /// The launcher stops. What the sockets of processes without a grant were, those that had none yet among them.
    Outside {
        /// Those that were written down one by one.
        programs: Vec<Outside>,
        /// How many more there were.
        beyond: u32,
    },
    /// A card did not take what it was to be told for programs that poll it, or could not be told what it was told before.
    NotSet(NotSet),
    /// Something failed; what can be done without it goes on.
    Trouble(GrantError),
}

impl Launcher {
    /// Begins to listen, for programs that the caller starts from now on, and tells what happens.
    pub fn start(mut attachment: Attachment, tell: Sender<Event>) -> Result<Self, GrantError> {
        let call = |call| move |error: rustix::io::Errno| GrantError::Call { call, io: error.into() };
        let ready = attachment.grant()?;
        let name = format!("wireproof-bypass-{}-{:016x}", process::id(), RandomState::new().build_hasher().finish());
        let listening = |name: &[u8]| listener(name).map_err(call("bind of the launcher's socket"));
        let listener = listening(name.as_bytes())?;
        let page = Control::new().map_err(|io| GrantError::Call { call: "memfd_create", io })?;
        let outside = Lender::new(listening(&outside::name(&name))?, page);
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(call("eventfd"))?;
        let ours = stop.try_clone().map_err(|io| GrantError::Call { call: "dup", io })?;
        let hears = Hears { listener, outside, watch: Watch::open()?, stop: ours };
        let held = Arc::new(AtomicBool::new(false));
        let cards = Cards::prepare(&ready, attachment.wait, &name, tell.clone());
        let server = Server::new(attachment, cards, ready, hears, tell, Arc::clone(&held));
        let thread = thread::Builder::new().name("launcher".to_owned()).spawn(move || server.serve());
        let thread = thread.map_err(|io| GrantError::Call { call: "starting a thread", io })?;
        Ok(Self { name, held, stop, thread })
    }

    /// The name of its socket, by which [`crate::claim`] finds it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a program has the grant.
    pub fn is_held(&self) -> bool {
        self.held.load(Relaxed)
    }

    /// Stops, takes everything from the interfaces, and gives what the steering program counted. A grant that is still
    /// held is worth nothing afterwards: its flows go through the kernel.
    pub fn end(self) -> Result<Steering, GrantError> {
        rustix::io::write(&self.stop, &1_u64.to_ne_bytes())
            .map_err(|error| GrantError::Call { call: "write to an eventfd", io: error.into() })?;
        let died = |_| GrantError::Call { call: "the launcher's thread", io: io::Error::other("it panicked") };
        self.thread.join().map_err(died)?
    }
}

/// An abstract socket: it is found by name in its network namespace, whatever a program's root, user and descriptors
/// are.
fn listener(name: &[u8]) -> Result<OwnedFd, rustix::io::Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    bind(&socket, &SocketAddrUnix::new_abstract_name(name)?)?;
    listen(&socket, 64)?;
    Ok(socket)
}
