//! Changes to the machine and facts about it.

use std::{path::Path, thread, time::Duration};

use host::counters::{CpuTimes, Reading};
use kernel::{clock, link::list, privilege};
use ledger::Ledger;
use model::{Bed, CoreUse, Privilege};
use protocol::{LabState, LinkReading, Reply, Request, build_id};

/// In a user namespace all changes end with its last process, and its record with them.
const LEDGER_IN_USER_NAMESPACE: &str = "/run/wireproof/ledger";

/// The machine as this agent changes it.
#[derive(Default)]
pub(crate) struct Machine {
    ledger: Option<Ledger>,
    /// What was read of which interfaces when counting began.
    counting: Option<(Reading, Vec<String>)>,
}

impl Machine {
    /// Does what is asked; the error is for people.
    pub(crate) fn answer(&mut self, request: Request) -> Result<Reply, String> {
        match request {
            Request::OpenLedger { owner } => self.open(&owner),
            Request::Apply { changes } => {
                self.ledger()?.apply_all(changes).map_err(text)?;
                Ok(Reply::Done)
            }
            Request::UndoLast { changes } => {
                let undone = self.ledger()?.undo_last(changes).map_err(text)?;
                Ok(Reply::Undone(undone.iter().map(ToString::to_string).collect()))
            }
            Request::UndoAll => self.undo_all(),
            Request::Keep { bed } => self.keep(&bed),
            Request::Reopen { owner } => {
                self.ledger = Some(Ledger::reopen(directory()?, &owner).map_err(text)?);
                Ok(Reply::Done)
            }
            Request::ListBeds => Ok(Reply::Beds(ledger::kept(directory()?).map_err(text)?)),
            Request::Clean => clean().map(Reply::Undone),
            Request::HostFacts => Ok(Reply::HostFacts(Box::new(host::facts::host(&build_id())))),
            Request::EndpointFacts { endpoint } => Ok(Reply::EndpointFacts(Box::new(host::facts::endpoint(&endpoint)))),
            Request::Link { interface } => Ok(Reply::Link(link(&interface)?)),
            Request::Load => Ok(Reply::Load(load())),
            Request::LabState { interface } => Ok(Reply::LabState(lab_state(interface.as_deref()))),
            Request::Clock => Ok(Reply::Clock(clock::now())),
            Request::SourceFor { address } => Ok(Reply::Source(host::routes::source_for(address))),
            Request::Answers { address } => Ok(Reply::Answer(host::answers::ask(address))),
            Request::CountFrom { interfaces } => {
                self.counting = Some((Reading::of(&interfaces), interfaces));
                Ok(Reply::Done)
            }
            Request::CountUntil => {
                let (before, interfaces) = self.counting.take().ok_or(NOT_COUNTING)?;
                Ok(Reply::Counted(Box::new(before.until(&Reading::of(&interfaces)))))
            }
            Request::Uplinks => Ok(Reply::Interfaces(host::ports::uplinks().map_err(text)?)),
            Request::Cables { interfaces } => host::cabling::cabling(&interfaces).map(Reply::Cables).map_err(text),
            Request::Cards => Ok(Reply::Cards(Box::new(host::card::cards()))),
            Request::PortsState => Ok(Reply::PortsState(Box::new(host::ports::ports().map_err(text)?))),
        }
    }

    /// Undoes what this agent changed and was not told to keep.
    pub(crate) fn leave(&mut self) -> Result<(), String> {
        match self.ledger.take() {
            Some(mut ledger) => ledger.undo_all().map(|_| ()).map_err(text),
            None => Ok(()),
        }
    }

    fn open(&mut self, owner: &str) -> Result<Reply, String> {
        let undone = clean()?;
        self.ledger = Some(Ledger::open(directory()?, owner).map_err(text)?);
        Ok(Reply::Undone(undone))
    }

    fn undo_all(&mut self) -> Result<Reply, String> {
        let undone = self.ledger()?.undo_all().map_err(text)?;
        self.ledger = None;
        Ok(Reply::Undone(undone.iter().map(ToString::to_string).collect()))
    }

    fn keep(&mut self, bed: &Bed) -> Result<Reply, String> {
        self.ledger()?.keep(bed).map_err(text)?;
        self.ledger = None;
        Ok(Reply::Done)
    }

    fn ledger(&mut self) -> Result<&mut Ledger, String> {
        self.ledger.as_mut().ok_or(NOT_OPEN.to_owned())
    }
}

const NOT_COUNTING: &str = "counters were asked for before they were read a first time; please report this fault";

const NOT_OPEN: &str = "a change was asked for before the ledger was opened; please report this fault";

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn clean() -> Result<Vec<String>, String> {
    let undone = ledger::undo_stale(directory()?).map_err(text)?;
    Ok(undone.iter().map(|undone| undone.change.to_string()).collect())
}

fn directory() -> Result<&'static Path, String> {
    match privilege::current() {
        Privilege::Root => Ok(ledger::directory()),
        Privilege::UserNamespace => Ok(Path::new(LEDGER_IN_USER_NAMESPACE)),
        Privilege::User => Err("changing the machine needs root; run wireproof with sudo".to_owned()),
    }
}

/// Long enough that a tick of the kernel's accounting (10 ms) is a few percent.
const LOOK: Duration = Duration::from_millis(400);

fn load() -> Vec<CoreUse> {
    let before = CpuTimes::read();
    thread::sleep(LOOK);
    before.usage_until(&CpuTimes::read())
}

fn link(interface: &str) -> Result<Option<LinkReading>, String> {
    let link = list().map_err(text)?.into_iter().find(|link| link.name == interface);
    // Drivers that do not watch their carrier never say more than "unknown".
    Ok(link.map(|link| LinkReading {
        set_up: link.up,
        up: matches!(link.operstate.as_str(), "up" | "unknown"),
        losses: link.carrier_losses,
        mtu: link.mtu,
    }))
}

fn lab_state(interface: Option<&str>) -> LabState {
    LabState { cpus: host::facts::cpus(interface), ipv6: host::facts::has_ipv6() }
}
