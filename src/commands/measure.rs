//! The commands that measure: from words to an order.

use std::{iter, path::Path};

use bed::Wanted;
use model::{Identity, Plan, RunId};
use report::Notice;
use run::{NewRun, Order};

use super::{
    beforehand::{check_machine, check_replays, fitting},
    desk::Desk,
    dry_run::dry_run,
    plans, tell,
    wanted::{obtain_privilege, stamps, wanted},
};
use crate::{
    cli::{Common, Identify, Measure, PacketsOptions, PathOptions, ProbeOptions, Timed},
    exit::Exit,
    identity, paths, references,
};

/// `wireproof verify`
pub(super) fn verify(plan: &Path, options: &Measure, identify: &Identify, common: &Common) -> anyhow::Result<Exit> {
    let identity = identity::read(identify)?;
    let plan = plans::read(plan, &options.set, &[], |plan| options.apply(Timed::Goodput, plan))?;
    measure(plan, identity, options, common)
}

/// `wireproof path`
pub(super) fn path(probe: &PathOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let mut plan = planned(probe, options)?;
    plan.path.retain(|item| probe.ip.is_none_or(|ip| item.ip == ip));
    measure(plan, None, options, common)
}

/// `wireproof latency` and `goodput`
pub(super) fn probe(probe: &impl ProbeOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    measure(planned(probe, options)?, None, options, common)
}

/// `wireproof packets`
pub(super) fn packets(probe: &PacketsOptions, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let mut plan = planned(probe, options)?;
    if let Some(file) = &probe.stream_file {
        plans::send_streams_of(file, &mut plan)?;
    }
    if let Some(file) = &probe.replay {
        plans::replay(file, &probe.replay_loads(), &mut plan)?;
    }
    measure(plan, None, options, common)
}

/// The plan of a probe's own command.
fn planned<P: ProbeOptions>(probe: &P, options: &Measure) -> anyhow::Result<Plan> {
    plans::read(Path::new(P::PLAN), &options.set, probe.stacks(), |plan| {
        probe.apply(plan)?;
        options.apply(P::TIMED, plan)
    })
}

/// For those who typed `throughput`.
pub(super) fn say_what_throughput_is(common: &Common) {
    tell(Notice::ThroughputAlias, common);
}

fn measure(mut plan: Plan, identity: Option<Identity>, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let references = references::read(common)?;
    references.check_limits(&plan)?;
    references.check_chosen(&options.files.chosen())?;
    check_machine(&plan, options)?;
    check_replays(&mut plan, options.mtu)?;
    if options.dry_run {
        return dry_run(&plan, options, common);
    }
    let desk = Desk::open(paths::store(common.store.as_deref())?, &options.files, common)?;
    let id = run::new_id();
    let _hold = desk.store().hold(&id)?;
    let wanted = Wanted { stamps: stamps(&plan), ..wanted(options, obtain_privilege(&options.bed, common)?)? };
    // Another machine is looked over once it is reached.
    if !wanted.bed.has_other_hosts() {
        fitting(&plan, &wanted)?;
    }
    desk.conduct(Order::New(Box::new(order(id, plan, identity))), &wanted)
}

/// The command line that repeats a run: where its report went is no part of that, and a report must not be written over.
fn without_out(mut words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == "--out" {
            words.next();
        } else if !word.starts_with("--out=") {
            kept.push(word);
        }
    }
    kept
}

fn order(id: RunId, plan: Plan, identity: Option<Identity>) -> NewRun {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words = without_out(words);
    NewRun {
        id,
        plan,
        command: iter::once("wireproof".to_owned()).chain(words).collect(),
        wireproof: agent::build(),
        identity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_repeats_a_run_does_not_say_where_its_report_went() {
        let words = ["verify", "--out", "there", "--out=here", "--set", "repeats=6"].map(str::to_owned);
        assert_eq!(without_out(words.into_iter()), ["verify", "--set", "repeats=6"]);
    }
}
