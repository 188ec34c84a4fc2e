//! Changes to the machine and facts about it.

use std::{path::Path, thread, time::Duration};

use host::counters::{CpuTimes, Snapshot};
use kernel::{clock, link::list, privilege};
use ledger::{Cleanup, Ledger};
use model::{Bed, CoreUse, Privilege, tuning::TuningState};
use protocol::{Cleaned, Failure, FailureKind, LabState, LinkReading, Reply, Request, build_id};

use crate::{
    failure,
    route_updates::RouteUpdates,
    router,
    tuning::{self, ForeignChanges, Made, TuningError},
};

/// In a user namespace, changes and their record end with its last process.
const LEDGER_IN_USER_NAMESPACE: &str = "/run/wireproof/ledger";

/// The machine as this agent changes it.
#[derive(Default)]
pub(crate) struct Machine {
    ledger: Option<Ledger>,
    /// The first readings of counters, with their interfaces.
    counting: Option<(Snapshot, Vec<String>)>,
    /// The router of its namespace, which ends with it.
    router: Option<xdp::Router>,
    /// Updates of routes that its ledger has.
    updates: Option<RouteUpdates>,
    /// Programs that pass everything on, with which interfaces poll.
    passes: Vec<xdp::Pass>,
    /// A tuning for the time of measurements, which ends with this agent.
    tuning: Option<Made>,
}

impl Machine {
    /// Carries out a request.
    pub(crate) fn answer(&mut self, request: Request) -> Result<Reply, Failure> {
        match request {
            Request::OpenLedger { owner } => self.open(&owner),
            Request::Apply { changes } => {
                self.ledger()?.apply_all(changes).map_err(failure::change)?;
                Ok(Reply::Done)
            }
            Request::UndoLast { changes } => {
                self.updates = None;
                let undone = self.ledger()?.undo_last(changes).map_err(failure::undo)?;
                Ok(Reply::Undone(undone.iter().map(ToString::to_string).collect()))
            }
            Request::UndoAll => self.undo_all(),
            Request::Keep { bed } => self.keep(&bed),
            Request::Reopen { owner } => {
                self.ledger = Some(Ledger::reopen(directory()?, &owner).map_err(failure::change)?);
                Ok(Reply::Done)
            }
            Request::ListBeds => {
                let beds = ledger::kept(directory()?, |owner| !router::is_owner(owner) && !tuning::is_owner(owner));
                Ok(Reply::Beds(beds.map_err(failure::change)?))
            }
            Request::Route { interfaces } => {
                self.router = Some(router::attached_natively(&interfaces).map_err(|error| failure::router(&error))?);
                Ok(Reply::Done)
            }
            Request::TakeFromXdp { interfaces } => {
                let passes = interfaces.iter().map(|interface| xdp::Pass::attach(interface));
                self.passes = passes.collect::<Result<_, _>>().map_err(|error| failure::program(&error))?;
                Ok(Reply::Done)
            }
            Request::AlternateRoutes { route } => {
                self.updates = Some(RouteUpdates::start(route));
                Ok(Reply::Done)
            }
            Request::Clean => clean().map(Reply::Cleaned),
            Request::HostFacts => Ok(Reply::HostFacts(Box::new(host::facts::host(&build_id())))),
            Request::EndpointFacts { endpoint } => Ok(Reply::EndpointFacts(Box::new(host::facts::endpoint(&endpoint)))),
            Request::Link { interface } => Ok(Reply::Link(link(&interface)?)),
            Request::Load => Ok(Reply::Load(load())),
            Request::LabState { interface } => Ok(Reply::LabState(lab_state(interface.as_deref()))),
            Request::Clock => Ok(Reply::Clock(clock::now())),
            Request::SourceFor { address } => Ok(Reply::Source(host::routes::source_for(address))),
            Request::Answers { address } => Ok(Reply::Answer(host::answers::ask(address))),
            Request::CountFrom { interfaces } => {
                self.counting = Some((Snapshot::of(&interfaces), interfaces));
                Ok(Reply::Done)
            }
            Request::CountUntil => {
                let (before, interfaces) = self.counting.take().ok_or_else(not_counting)?;
                Ok(Reply::Counted(Box::new(before.until(&Snapshot::of(&interfaces)))))
            }
            Request::Uplinks => Ok(Reply::Interfaces(host::nics::uplinks().map_err(failure::kernel)?)),
            Request::Cables { interfaces } => {
                host::cabling::cabling(&interfaces).map(Reply::Cables).map_err(failure::kernel)
            }
            Request::RefusedCards => Ok(Reply::RefusedCards(host::interfaces::refused_cards())),
            Request::TuningReadings { asked } => {
                Ok(Reply::TuningReadings(Box::new(host::tuning::readings(&asked).map_err(failure::kernel)?)))
            }
            Request::ClaimTuning => {
                self.tuning = Some(tuning::claim().map_err(|error| failure::tuning(&error))?);
                Ok(Reply::Done)
            }
            Request::Tune { order } => {
                let claimed = self.tuning.as_mut();
                tuning_state(claimed.map_or_else(|| tuning::apply(&order), |it| it.make(&order)).map(Some))
            }
            Request::TuningState => tuning_state(tuning::state()),
            Request::ConfirmTuning => tuning_state(tuning::confirm().map(Some)),
            Request::UndoTuning { force, forget } => {
                let others = match (force, forget) {
                    (true, _) => ForeignChanges::Overwrite,
                    (false, true) => ForeignChanges::Forget,
                    (false, false) => ForeignChanges::Report,
                };
                let claimed = self.tuning.as_mut();
                let undone = claimed.map_or_else(|| tuning::undo(others), |it| it.undo(others));
                undone.map(Reply::TuningUndone).map_err(|error| failure::tuning(&error))
            }
            Request::NicsState => Ok(Reply::NicsState(Box::new(host::nics::nics().map_err(failure::kernel)?))),
        }
    }

    /// Undoes this agent's changes, unless they are kept.
    pub(crate) fn leave(&mut self) -> Result<(), Failure> {
        self.updates = None;
        let tuning = self.tuning.take().map_or(Ok(()), Made::leave).map_err(|error| failure::tuning(&error));
        tuning.and(match self.ledger.take() {
            Some(mut ledger) => ledger.undo_all().map(drop).map_err(failure::undo),
            None => Ok(()),
        })
    }

    fn open(&mut self, owner: &str) -> Result<Reply, Failure> {
        let cleaned = clean()?;
        self.ledger = Some(Ledger::open(directory()?, owner).map_err(failure::change)?);
        Ok(Reply::Cleaned(cleaned))
    }

    fn undo_all(&mut self) -> Result<Reply, Failure> {
        self.updates = None;
        let undone = self.ledger()?.undo_all().map_err(failure::undo)?;
        self.ledger = None;
        Ok(Reply::Undone(undone.iter().map(ToString::to_string).collect()))
    }

    fn keep(&mut self, bed: &Bed) -> Result<Reply, Failure> {
        self.ledger()?.keep(bed).map_err(failure::change)?;
        self.ledger = None;
        Ok(Reply::Done)
    }

    fn ledger(&mut self) -> Result<&mut Ledger, Failure> {
        self.ledger.as_mut().ok_or_else(not_open)
    }
}

fn tuning_state(state: Result<Option<TuningState>, TuningError>) -> Result<Reply, Failure> {
    state.map(|state| Reply::Tuning(state.map(Box::new))).map_err(|error| failure::tuning(&error))
}

fn not_counting() -> Failure {
    failure::bug("counters were asked for before they were read a first time", "please report this fault")
}

fn not_open() -> Failure {
    failure::bug("a change was asked for before the ledger was opened", "please report this fault")
}

fn clean() -> Result<Cleaned, Failure> {
    let Cleanup { undone, unknown } = ledger::undo_stale(directory()?).map_err(failure::undo)?;
    let undone = undone.iter().map(|undone| undone.change.to_string()).collect();
    Ok(Cleaned { undone, unknown: unknown.into_iter().map(failure::change).collect() })
}

fn directory() -> Result<&'static Path, Failure> {
    match privilege::current() {
        Privilege::Root => Ok(ledger::directory()),
        Privilege::UserNamespace => Ok(Path::new(LEDGER_IN_USER_NAMESPACE)),
        Privilege::User => Err(Failure::new(FailureKind::Privilege, "", "changing the machine needs root")
            .advised("run wireproof with sudo")),
    }
}

/// Long enough that a tick of the kernel's accounting (10 ms) is a few percent.
const LOOK: Duration = Duration::from_millis(400);

fn load() -> Vec<CoreUse> {
    let before = CpuTimes::read();
    thread::sleep(LOOK);
    before.usage_until(&CpuTimes::read())
}

fn link(interface: &str) -> Result<Option<LinkReading>, Failure> {
    let link = list().map_err(failure::kernel)?.into_iter().find(|link| link.name == interface);
    // Drivers that do not watch their carrier always report "unknown".
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
