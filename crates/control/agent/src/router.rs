//! The XDP router of a network namespace: what it needs, the process that owns it, and its end.
//!
//! The programs are attached by descriptors of the owner, so the kernel detaches them when it dies. Settings are in the ledger. A kept
//! router has no owner: files of a BPF file system hold its programs, and the ledger has these too.

mod errors;
mod kept;
mod message;
mod ports;
mod prepare;

use std::{
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    path::Path,
    process,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use kernel::{link, local::Listener, namespace, neighbour, privilege, watch::Watch};
use ledger::Ledger;
use model::{
    Change, Privilege, Router, RouterPort,
    router::{Mode, PortCounters},
};

pub use errors::RouterError;
use message::{Answer, DOWN, STATISTICS};
use ports::Port;
pub(crate) use ports::attached_natively;

/// Name of the owner's socket; its network namespace tells it from others.
const SOCKET: &str = "wireproof-router";
/// Beginning of its name in the ledger. No bed has an underscore in its name.
const LEDGER: &str = "router_";

/// Time between two looks at changed interfaces.
const LOOK: Duration = Duration::from_millis(500);
/// Time between two requests to probe neighbours: shorter than the kernel needs to take one for lost.
const PROBING: Duration = Duration::from_secs(5);

/// The requested router.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Interfaces.
    pub interfaces: Vec<String>,
    /// Whether its programs run on the kernel's packets, whatever the drivers have.
    pub generic: bool,
    /// Whether one of them may be the uplink or carry the caller's session.
    pub uplink: bool,
}

/// A router with its programs attached and its settings made. Dropping it detaches the programs, and leaves the settings to the ledger.
struct AttachedRouter {
    program: xdp::Router,
    ports: Vec<Port>,
    /// Indexes of the ports and of their VLAN interfaces.
    interfaces: Vec<u32>,
    ledger: Ledger,
}

/// Runs a router until [`down`] or an interrupt, then undoes it. `ready` is called as soon as it forwards; its error ends the router. Call it
/// while the process has one thread.
pub fn run<E: From<RouterError>>(
    asked: &Asked,
    ready: impl FnOnce(&Router) -> Result<(), E>,
    interrupt: &AtomicBool,
) -> Result<(), E> {
    need_root()?;
    privilege::give_up_unused().map_err(RouterError::from)?;
    let listener = Listener::open(SOCKET).map_err(RouterError::from)?.ok_or(RouterError::Stands)?;
    let mut made = AttachedRouter::new(asked, None)?;
    let served = made.described().map_err(E::from).and_then(|router| {
        ready(&router)?;
        made.serve(&listener, interrupt).map_err(E::from)
    });
    let undone = made.undo();
    if let Some(peer) = served? {
        answer(peer, &undone.as_ref().map_or_else(Answer::failed, |done| Answer::Undone(done.clone())));
    }
    Ok(undone.map(drop)?)
}

/// Makes a router that outlives this process.
pub fn keep(asked: &Asked) -> Result<Router, RouterError> {
    need_root()?;
    // Held until it is made: two routers of one namespace would undo each other.
    let _listener = Listener::open(SOCKET)?.ok_or(RouterError::Stands)?;
    let folder = kept::folder()?;
    let mut made = AttachedRouter::new(asked, Some(&folder))?;
    let kept = kept::Kept { folder, ports: made.ports.clone() };
    match made.ledger.keep(&kept).map_err(RouterError::from).and_then(|()| made.described()) {
        Ok(router) => Ok(Router { owner: None, ..router }),
        Err(error) => Err(error.and_then(made.undo())),
    }
}

/// Takes the router of this namespace down; returns what was undone, in words.
pub fn down() -> Result<Vec<String>, RouterError> {
    need_root()?;
    match message::ask(DOWN)? {
        Some(Answer::Undone(undone)) => return Ok(undone),
        Some(Answer::Failed(why)) => return Err(RouterError::Owner(why)),
        Some(Answer::Router(_)) => return Err(RouterError::Confused),
        None => {}
    }
    undo_left()?.ok_or(RouterError::Nothing)
}

/// Takes a router down that was kept in this namespace, if any; returns what was undone, in words.
pub fn clean() -> Result<Vec<String>, RouterError> {
    need_root()?;
    Ok(if kept::read()?.is_some() { undo_left()?.unwrap_or_default() } else { Vec::new() })
}

/// The router of this namespace and its counters.
pub fn statistics() -> Result<Router, RouterError> {
    need_root()?;
    match message::ask(STATISTICS)? {
        Some(Answer::Router(router)) => Ok(router),
        Some(Answer::Failed(why)) => Err(RouterError::Owner(why)),
        Some(Answer::Undone(_)) => Err(RouterError::Confused),
        None => kept::read()?.ok_or(RouterError::Nothing)?.described(),
    }
}

/// Whether the ledger of this owner is a router's.
pub(crate) fn is_owner(owner: &str) -> bool {
    owner.starts_with(LEDGER)
}

/// Name of the ledger of this namespace's router.
fn owner() -> Result<String, RouterError> {
    Ok(format!("{LEDGER}{}", namespace::own_identity()?))
}

/// Undoes a router that has no owner; `None` without one.
fn undo_left() -> Result<Option<Vec<String>>, RouterError> {
    let mut ledger = match Ledger::reopen(ledger::directory(), &owner()?) {
        Err(ledger::Error::Nothing { .. }) => return Ok(None),
        ledger => ledger?,
    };
    Ok(Some(words(&ledger.undo_all()?)))
}

fn words(undone: &[Change]) -> Vec<String> {
    undone.iter().map(ToString::to_string).collect()
}

fn need_root() -> Result<(), RouterError> {
    match privilege::current() {
        Privilege::Root => Ok(()),
        Privilege::UserNamespace | Privilege::User => Err(RouterError::NoRoot),
    }
}

impl AttachedRouter {
    /// Makes a router, and pins it in a folder if there is one. After a failure, what was changed before is undone.
    fn new(asked: &Asked, folder: Option<&Path>) -> Result<Self, RouterError> {
        let owner = owner()?;
        if kept::read()?.is_some() {
            return Err(RouterError::Stands);
        }
        let found = ports::choose(asked)?;
        // A crashed router's settings would pass for the user's own.
        ledger::undo_stale(ledger::directory())?;
        let mut ledger = Ledger::open(ledger::directory(), &owner)?;
        let made = prepare::changes(&found, folder)
            .and_then(|changes| Ok(changes.into_iter().try_for_each(|change| ledger.apply(change))?))
            .and_then(|()| ports::attached(found, folder));
        match made {
            Ok((program, ports)) => Ok(Self { program, ports, interfaces: Vec::new(), ledger }),
            Err(error) => Err(error.and_then(ledger.undo_all().map(|done| words(&done)).map_err(Into::into))),
        }
    }

    fn described(&self) -> Result<Router, RouterError> {
        let counters = self.ports.iter().map(|port| self.program.counters(port.place));
        let counters = counters.collect::<Result<Vec<_>, _>>()?;
        Ok(described(Some(process::id()), &self.ports, counters))
    }

    /// Answers requests; returns a peer that asked for the end.
    fn serve(&mut self, listener: &Listener, interrupt: &AtomicBool) -> Result<Option<UnixStream>, RouterError> {
        let watch = Watch::open()?;
        let (mut probed, mut has_news) = (Instant::now(), true);
        while !interrupt.load(Relaxed) {
            has_news |= watch.has_changes()?;
            // A list that changes while it is read is read again.
            has_news = has_news && self.follow().is_err();
            if probed.elapsed() > PROBING {
                // Without it, a neighbour that has gone is found out later.
                let _ = neighbour::probe_stale(&self.interfaces);
                probed = Instant::now();
            }
            let Some(mut peer) = listener.accept(LOOK)? else { continue };
            let mut word = [0; 16];
            // A peer that says nothing is none.
            let length = peer.read(&mut word).unwrap_or_default();
            match &word[..length] {
                word if word == DOWN => return Ok(Some(peer)),
                word if word == STATISTICS => {
                    let router = self.described();
                    answer(peer, &router.as_ref().map_or_else(Answer::failed, |router| Answer::Router(router.clone())));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Tells the program the MAC addresses that its interfaces have now, and their VLAN interfaces.
    fn follow(&mut self) -> Result<(), RouterError> {
        let links = link::list()?;
        for link in &links {
            if let Ok(mac) = link.mac.parse() {
                self.program.follow(link.index, mac)?;
            }
        }
        let vlans = ports::vlans(&links, &self.ports);
        self.interfaces = self.ports.iter().map(|port| port.index).chain(vlans.iter().map(|vlan| vlan.index)).collect();
        Ok(self.program.follow_vlans(vlans)?)
    }

    /// Detaches the programs, then undoes the changes; returns them in words.
    fn undo(self) -> Result<Vec<String>, RouterError> {
        let Self { program, mut ledger, .. } = self;
        drop(program);
        Ok(words(&ledger.undo_all()?))
    }
}

fn described(owner: Option<u32>, ports: &[Port], counters: Vec<PortCounters>) -> Router {
    let port = |(port, counters): (&Port, PortCounters)| RouterPort {
        name: port.name.clone(),
        mode: if port.why_generic.is_some() { Mode::Generic } else { Mode::Native },
        why_generic: port.why_generic,
        counters,
    };
    Router { owner, ports: ports.iter().zip(counters).map(port).collect() }
}

/// The peer may have ended.
fn answer(mut peer: UnixStream, answer: &Answer) {
    let text = serde_json::to_string(answer).unwrap_or_default();
    let _ = peer.write_all(text.as_bytes()).and_then(|()| peer.shutdown(Shutdown::Write));
}
