//! The order to conduct, and the start of a run's record.

use std::hash::{BuildHasher, RandomState};

use jiff::{Timestamp, tz::TimeZone};
use model::{Bed, Doubt, Endpoint, Environment, Identity, Limit, Plan, Privilege, Quantity, Run, RunId};
use stats::MIN_TRIALS_FOR_INTERVAL;

use crate::{clock::now, resume::taken_up};

/// The order to conduct.
#[derive(Clone, Debug)]
pub enum Order {
    /// A plan that has not been measured yet.
    New(Box<NewRun>),
    /// The rest of a run that was cut off (see [`crate::resumable`]).
    Rest {
        /// The run.
        run: Box<Run>,
        /// Version and build of the program that resumes it.
        wireproof: String,
    },
}

/// A run to be made.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Name; see [`new_id`].
    pub id: RunId,
    /// The plan.
    pub plan: Plan,
    /// The command line that repeats it.
    pub command: Vec<String>,
    /// Version and build of the program.
    pub wireproof: String,
    /// Document that the report is to be.
    pub identity: Option<Identity>,
}

impl Order {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        match self {
            Self::New(order) => &order.plan,
            Self::Rest { run, .. } => &run.plan,
        }
    }

    /// The run as it begins, or goes on, on this bed.
    pub(crate) fn begin(self, bed: Bed, environment: Environment) -> Run {
        match self {
            Self::New(order) => begin(*order, bed, environment),
            Self::Rest { run, wireproof } => taken_up(*run, bed, environment, wireproof),
        }
    }
}

/// A name for a run that begins now, which no other has.
pub fn new_id() -> RunId {
    let time = Timestamp::now().to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
    RunId(format!("{time}-{:04x}", RandomState::new().hash_one(()) & 0xffff))
}

/// The run of a plan as it would begin on this bed: nothing is measured, and of the machines nothing is known.
pub fn foreseen(plan: &Plan, bed: Bed) -> Run {
    let (id, plan) = (RunId(String::new()), plan.clone());
    let order = NewRun { id, plan, command: Vec::new(), wireproof: String::new(), identity: None };
    begin(order, bed, Environment::default())
}

fn begin(order: NewRun, bed: Bed, before: Environment) -> Run {
    let mut doubts = Vec::new();
    if bed.privilege == Privilege::UserNamespace {
        doubts.push(Doubt::Unprivileged);
    }
    doubts.extend(speeds_differ(&bed, &before));
    let trials = order.plan.repeats.get();
    // A count has no interval.
    let has_interval = |limit: &Limit| limit.metric.quantity() != Quantity::Count;
    if order.plan.limits.iter().any(has_interval) && trials < MIN_TRIALS_FOR_INTERVAL {
        doubts.push(Doubt::FewTrials { trials, needed: MIN_TRIALS_FOR_INTERVAL });
    }
    Run {
        id: order.id,
        started: now(),
        finished: None,
        command: order.command,
        wireproof: order.wireproof,
        identity: order.identity,
        plan: order.plan,
        bed,
        partial: true,
        before,
        after: None,
        doubts,
        resumed: Vec::new(),
        self_tests: Vec::new(),
        tester: Vec::new(),
        trials: Vec::new(),
    }
}

/// The slower end then decides, and frames may be lost between them.
fn speeds_differ(bed: &Bed, before: &Environment) -> Option<Doubt> {
    let speed = |end: &Endpoint| {
        let facts = before.endpoints.iter().find(|facts| facts.endpoint == end.name)?;
        facts.interfaces.iter().find(|link| link.name == end.interface)?.speed_mbps.copied()
    };
    match bed.endpoints.as_slice() {
        [near, far] => match (speed(near)?, speed(far)?) {
            (near_mbps, far_mbps) if near_mbps != far_mbps => Some(Doubt::SpeedsDiffer { near_mbps, far_mbps }),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Reading,
        environment::{EndpointFacts, InterfaceFacts},
    };

    use super::*;

    #[test]
    fn two_ports_of_different_speeds_are_a_doubt() {
        let (bed, end) = (model::fixture::lab(), |name: &str, speed_mbps: Option<u32>| EndpointFacts {
            endpoint: name.into(),
            interfaces: vec![InterfaceFacts {
                name: "eth0".into(),
                speed_mbps: speed_mbps.map_or(Reading::Absent, Reading::Known),
                ..InterfaceFacts::default()
            }],
            ..EndpointFacts::default()
        });
        let doubt = |near, far| {
            let mut bed = bed.clone();
            bed.endpoints.iter_mut().for_each(|end| end.interface = "eth0".into());
            let before = Environment { endpoints: vec![end("a", near), end("b", far)], ..Environment::default() };
            speeds_differ(&bed, &before)
        };
        let differ = Doubt::SpeedsDiffer { near_mbps: 10_000, far_mbps: 1_000 };
        assert_eq!(doubt(Some(10_000), Some(1_000)), Some(differ));
        assert_eq!(doubt(Some(10_000), Some(10_000)), None);
        assert_eq!(doubt(Some(10_000), None), None, "speed not readable");
    }
}
