//! Going on with a run that was interrupted, killed or lost power.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use anyhow::bail;
use bed::{BedRef, Wanted};
use model::{Bed, Run, RunId};
use run::Order;
use store::Store;

use super::{
    beforehand::check_replays,
    desk::Desk,
    own_program, repeat,
    wanted::{obtain_privilege, stamps},
};
use crate::{
    cli::{Common, Reach, ReportFiles, TakePorts},
    exit::{Exit, Words},
    paths,
};

/// Time for the agents of a killed program to undo their changes.
const FAREWELL: Duration = Duration::from_secs(10);

/// Where network namespaces have their names.
const NAMESPACES: &str = "/run/netns";

/// Programs and ports that this command line allows. A stored run allows none: users other than root may write the
/// store.
pub(super) struct Allowed {
    pub(super) reach: Reach,
    pub(super) ports: TakePorts,
    /// The program that measuring processes are started through.
    pub(super) wrap: Vec<String>,
}

/// `wireproof resume RUN`
pub(super) fn resume(id: &RunId, files: &ReportFiles, allowed: &Allowed, common: &Common) -> anyhow::Result<Exit> {
    let store_path = paths::store(common.store.as_deref())?;
    // There has to be one already.
    drop(Store::open_to_read(&store_path)?);
    let desk = Desk::open(store_path, files, common)?;
    let run = if id.0 == "last" { desk.store().last()? } else { desk.store().load(id)? };
    // Whoever can write the store can have changed it.
    run.plan.check()?;
    allowed.compare(&run.id, &run.bed.wrap, &run.command)?;
    desk.check_room(&run.id, &run.plan, run.bed.senders().len())?;
    let _hold = desk.store().hold(&run.id)?;
    let reference: BedRef = run.bed.name.parse()?;
    let wanted = Wanted {
        mtu: run.bed.endpoints.first().map(|end| end.mtu),
        cpus: cores(&run.bed),
        wrap: allowed.wrap.clone(),
        taking: allowed.ports.taking(),
        stamps: stamps(&run.plan),
        privilege: obtain_privilege(&reference, common)?,
        program: own_program()?,
        reach: allowed.reach.of_bed(),
        bed: reference,
    };
    wait_for_its_agents(&run, &wanted)?;
    // It may have come to its end by itself meanwhile.
    let run = desk.store().load(&run.id)?;
    let run = Run { command: repeat::command(&run.command), ..run };
    let run = run::resumable(run, &bed::survey(&wanted.program)?.host)?;
    // As the calling user: agents read them as root.
    check_replays(&run.plan, wanted.mtu)?;
    desk.conduct(Order::Rest { run: Box::new(run), wireproof: agent::build() }, &wanted)
}

impl Allowed {
    /// Whether the permitted programs and ports include those of a run with this wrapper and command line.
    fn compare(&self, run: &RunId, wrap: &[String], command: &[String]) -> Result<(), Words> {
        if wrap != self.wrap {
            let how = match wrap {
                [] => "without --wrap; leave it out".to_owned(),
                words => format!("with --wrap {}; say so again", report::command(&[words.join(" ")])),
            };
            return Err(Words(format!("run {run} was begun {how}: a store is not trusted with what is executed")));
        }
        match self.ports.lacks(command) {
            Some(option) => Err(Words(format!("run {run} was begun with {option}; say so again to allow it"))),
            None => Ok(()),
        }
    }
}

/// The cores that it was measured on so far.
fn cores(bed: &Bed) -> Option<[Vec<usize>; 2]> {
    let (near, far) = (bed.senders().first()?.cpus.clone(), bed.receiver()?.cpus.clone());
    let is_alike = bed.senders().iter().all(|end| end.cpus == near);
    (is_alike && !near.is_empty() && !far.is_empty()).then_some([near, far])
}

/// The agents of a program that was killed may still be at work on the bed that was made for the run.
fn wait_for_its_agents(run: &Run, wanted: &Wanted) -> anyhow::Result<()> {
    if !wanted.bed.is_made_here() {
        return Ok(());
    }
    let until = Instant::now() + FAREWELL;
    loop {
        bed::clean(&wanted.program)?;
        if !run.bed.endpoints.iter().any(|end| Path::new(NAMESPACES).join(&end.namespace).exists()) {
            return Ok(());
        }
        if Instant::now() > until {
            bail!("the bed that run {} was measured on is still being taken down; try again in a moment", run.id);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    fn allowed(words: &[&str]) -> Allowed {
        let cli = crate::cli::Cli::parse_from([&["wireproof", "resume"], words].concat());
        let crate::cli::Command::Resume { reach, ports, wrap, .. } = cli.command else { panic!("resume") };
        Allowed { reach, ports, wrap: wrap.words() }
    }

    fn compared(words: &[&str], wrap: &[&str], command: &[&str]) -> Result<(), String> {
        let [wrap, command] =
            [wrap, command].map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        allowed(words).compare(&RunId("r1".to_owned()), &wrap, &command).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_store_says_is_neither_executed_nor_allowed() {
        let stored = ["sh", "-c", "id"];
        let unsaid = compared(&[], &stored, &[]).unwrap_err();
        assert!(unsaid.contains("with --wrap 'sh -c id'; say so again"), "{unsaid}");
        assert!(compared(&["--wrap", "onload"], &stored, &[]).unwrap_err().contains("say so again"));
        assert_eq!(compared(&["--wrap", "sh -c id"], &stored, &[]), Ok(()));
        assert!(compared(&["--wrap", "onload"], &[], &[]).unwrap_err().contains("leave it out"));
        for option in ["--take-ports-in-use", "--i-know-this-is-my-uplink"] {
            let command = ["wireproof", "verify", option];
            assert!(compared(&[], &[], &command).unwrap_err().contains(option));
            assert_eq!(compared(&[option], &[], &command), Ok(()));
        }
    }
}
