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
    own_program, repeat,
    run_output::RunOutput,
    wanted::{Privileged, networks, obtain_privilege, stamps},
};
use crate::{
    cli::{Common, Reach, ReportFiles, TakePorts},
    exit::{Exit, Words},
    paths,
};

/// Time for the agents of a killed program to undo their changes.
const FAREWELL: Duration = Duration::from_secs(10);

/// Folder of named network namespaces.
const NAMESPACES: &str = "/run/netns";

/// Permissions of this command line. A stored run allows nothing: users other than root may write the store.
pub(super) struct Allowed {
    pub(super) bed: Option<BedRef>,
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
    let run_output = RunOutput::open(store_path, files, common)?;
    let run = checked(if id.0 == "last" { run_output.store().last()? } else { run_output.store().load(id)? })?;
    if repeat::is_of_tuning(&run.command) {
        let why = "was made while the machine was tuned, which it is no longer; measure again with verify --tune";
        return Err(Words(format!("run {} {why}", run.id)).into());
    }
    let reference = allowed.bed(&run, &repeat::typed())?;
    run_output.check_room(&run.id, &run.plan, run.bed.senders().len(), 1)?;
    let _lock = run_output.store().lock_run(&run.id)?;
    let dut_cpus = run.bed.dut.as_ref().map(|dut| dut.cpus.len()).filter(|count| *count > 0);
    let wanted = Wanted {
        mtu: run.bed.endpoints.first().map(|end| end.mtu),
        cpus: cores(&run.bed),
        dut_cpus,
        wrap: allowed.wrap.clone(),
        taking: allowed.ports.taking(),
        stamps: stamps(&run.plan),
        networks: networks(&run.plan),
        privilege: obtain_privilege(&reference, dut_cpus.is_some(), common)?,
        program: own_program()?,
        reach: allowed.reach.of_bed(),
        bed: reference,
    };
    wait_for_its_agents(&run, &wanted)?;
    // It may have come to its end by itself meanwhile.
    let run = checked(run_output.store().load(&run.id)?)?;
    let run = Run { command: repeat::command(&run.command), ..run };
    let run = run::resumable(run, &bed::survey(&wanted.program)?.host)?;
    // As the calling user: agents read them as root.
    check_replays(&run.plan, wanted.mtu)?;
    let (exit, _) = run_output.conduct(Order::Rest { run: Box::new(run), wireproof: agent::build() }, &wanted)?;
    Ok(exit)
}

impl Allowed {
    /// The bed of a run, if this command line, in these words, has all that the run was begun with and that a store does not decide.
    fn bed(&self, run: &Run, typed: &[String]) -> anyhow::Result<BedRef> {
        let taking = TakePorts::in_words(&run.command);
        let begun = Privileged { bed: run.bed.name.parse()?, taking, wrap: run.bed.wrap.clone() };
        let differences = self.differences(&begun);
        if differences.is_empty() {
            return Ok(begun.bed);
        }
        let command = report::command(&repeat::with(typed, &Privileged::OPTIONS, begun.words()));
        Err(Words(format!(
            "run {} was begun {}; the store does not decide what is taken, reached or executed. To confirm it, run: \
             {command}",
            run.id,
            differences.join(" and ")
        ))
        .into())
    }

    /// Differences of a run's beginning from this command line, as far as they matter: more may be permitted than was then.
    fn differences(&self, begun: &Privileged) -> Vec<String> {
        let here = self.ports.taking();
        let is_other_bed = self.bed.as_ref().map_or(begun.has_bed(), |bed| *bed != begun.bed);
        let bed = is_other_bed.then(|| format!("with --bed {}", report::command(&[begun.bed.to_string()])));
        let flags = [
            (begun.taking.in_use && !here.in_use, TakePorts::IN_USE),
            (begun.taking.uplink && !here.uplink, TakePorts::UPLINK),
        ];
        let flags = flags.into_iter().filter(|(lacks, _)| *lacks).map(|(_, option)| format!("with --{option}"));
        let wrap = (begun.wrap != self.wrap).then(|| match begun.wrap.as_slice() {
            [] => "without --wrap".to_owned(),
            words => format!("with --wrap {}", report::command(&[words.join(" ")])),
        });
        bed.into_iter().chain(flags).chain(wrap).collect()
    }
}

/// A run whose plan may be measured: users other than root may write the store, also while it is read.
fn checked(run: Run) -> anyhow::Result<Run> {
    run.plan.check()?;
    Ok(run)
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

    /// The outcome for a command line with these words and a stored run of this bed, wrapper and command line.
    fn compared(words: &[&str], bed: &str, wrap: &[&str], command: &[&str]) -> Result<(), String> {
        let strings = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let typed = [&["wireproof", "resume"], words].concat();
        let cli = crate::cli::Cli::parse_from(&typed);
        let crate::cli::Command::Resume { bed: given, reach, ports, wrap: wrapper, .. } = cli.command else {
            panic!("resume")
        };
        let allowed = Allowed { bed: given, reach, ports, wrap: wrapper.words() };
        let plan = model::Plan::parse("name = \"t\"\n[[path]]", &[]).unwrap();
        let id = RunId("r1".to_owned());
        let mut run = Run { id, command: strings(command), ..model::fixture::run(plan) };
        (run.bed.name, run.bed.wrap) = (bed.to_owned(), strings(wrap));
        let allowed = allowed.bed(&run, &strings(&typed)).map_err(|error| error.to_string())?;
        assert_eq!(allowed.to_string(), bed);
        Ok(())
    }

    #[test]
    fn what_a_store_says_is_neither_executed_nor_allowed() {
        let stored = ["sh", "-c", "id"];
        let unsaid = compared(&["--json"], "lab", &stored, &[]).unwrap_err();
        assert!(unsaid.contains("begun with --wrap 'sh -c id';"), "{unsaid}");
        assert!(unsaid.ends_with("run: wireproof resume --json --wrap 'sh -c id'"), "{unsaid}");
        assert!(compared(&["--wrap", "onload"], "lab", &stored, &[]).unwrap_err().ends_with("--wrap 'sh -c id'"));
        assert_eq!(compared(&["--wrap", "sh -c id"], "lab", &stored, &[]), Ok(()));
        let without = compared(&["--wrap", "onload"], "lab", &[], &[]).unwrap_err();
        assert!(without.contains("without --wrap") && without.ends_with("wireproof resume"), "{without}");
        assert!(compared(&["--wrap", "sh -c id"], "lab", &["sh", "-c id"], &[]).is_err(), "other words");
        for option in ["--take-ports-in-use", "--i-know-this-is-my-uplink"] {
            let command = ["wireproof", "verify", option];
            assert!(compared(&[], "lab", &[], &command).unwrap_err().ends_with(&format!("wireproof resume {option}")));
            assert_eq!(compared(&[option], "lab", &[], &command), Ok(()));
            assert_eq!(compared(&[option], "lab", &[], &[]), Ok(()), "more than then");
        }
    }

    #[test]
    fn what_a_store_says_is_neither_taken_nor_reached() {
        for lab in ::bed::layout_names().filter(|name| name.starts_with("lab")) {
            let lab = &lab.replace('=', "=2");
            assert_eq!(compared(&[], lab, &[], &[]), Ok(()), "{lab} is made of nothing that is there");
            assert_eq!(compared(&["--bed", lab], lab, &[], &[]), Ok(()));
        }
        for bed in ["ports:eth1,eth2", "hosts:ssh://me@far?dev=eth1", "kept", "ports:eth1,eth2,dut=ssh://far"] {
            let unsaid = compared(&["r1"], bed, &[], &[]).unwrap_err();
            let word = report::command(&[bed.to_owned()]);
            assert!(unsaid.contains(&format!("begun with --bed {word};")), "{unsaid}");
            assert!(unsaid.ends_with(&format!("wireproof resume r1 --bed {word}")), "{unsaid}");
            for other in ["lab", "ports:eth1,eth3", "other"] {
                assert_eq!(compared(&["r1", "--bed", other], bed, &[], &[]), Err(unsaid.clone()), "{other}");
            }
            assert_eq!(compared(&["--bed", bed], bed, &[], &[]), Ok(()));
        }
        let lab = compared(&["--bed", "ports:eth1,eth2"], "lab", &[], &[]).unwrap_err();
        assert!(lab.contains("begun with --bed lab;") && lab.ends_with("run: wireproof resume"), "{lab}");
        let all = ["wireproof", "verify", "--take-ports-in-use"];
        let all = compared(&[], "ports:eth1,eth2", &["onload"], &all).unwrap_err();
        assert!(
            all.contains("with --bed ports:eth1,eth2 and with --take-ports-in-use and with --wrap onload;"),
            "{all}"
        );
        let whole = "wireproof resume --bed ports:eth1,eth2 --take-ports-in-use --wrap onload";
        assert!(all.ends_with(whole), "{all}");
        assert!(compared(&[], "rack:7", &[], &[]).unwrap_err().contains("no bed \"rack:7\""));
    }
}
