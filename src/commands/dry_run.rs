//! The effects of a command, without carrying it out.

use std::path::Path;

use kernel::privilege;
use model::{
    LimitOutcome, Mtu, Plan, ProbeSpec, Reference, Run, plan::Method, reference::Match, search::PlannedSearch,
};
use procedure::ExpectedTrials;
use report::{DryRunDocument, Obstacle, Preview, PreviewItem, PreviewLimit, PreviewMost};
use run::estimate;
use store::{Store, StoreError};

use super::{
    beforehand::fitting,
    language, print, print_json,
    wanted::{dut_note, wanted},
};
use crate::{
    cli::{Common, Measure},
    exit::Exit,
    paths,
};

/// Prints the steps. Nothing on the machine is changed, and nothing is stored.
pub(super) fn dry_run(
    plan: &Plan,
    references: &[Reference],
    options: &Measure,
    common: &Common,
) -> anyhow::Result<Exit> {
    check_store(&paths::store(common.store.as_deref())?)?;
    let wanted = wanted(options, plan, privilege::current())?;
    let planned = fitting(plan, &wanted)?;
    let (items, for_trials) = (items(plan), planned.for_mtus(&mtus(plan)));
    let run = run::foreseen(plan, planned.bed.clone());
    let limits = limits(&run, references);
    let preview = Preview {
        plan: &plan.name,
        bed: &planned.bed.name,
        set_up: &planned.set_up,
        for_trials: &for_trials,
        items: &items,
        run: &run,
        limits: &limits,
    };
    if common.json {
        print_json(&DryRunDocument::of(&preview, &options.bed.commands_for_dut(wanted.networks)))?;
        return Ok(Exit::Done);
    }
    print(&report::preview(&preview, language(common)))?;
    dut_note(&options.bed, wanted.networks, language(common)).map_or(Ok(()), |note| print(&format!("{note}\n")))?;
    Ok(Exit::Done)
}

/// Refuses a file that is no store, as the run would; a store that is not there yet is made by the run.
fn check_store(path: &Path) -> Result<(), StoreError> {
    match Store::open_to_read(path) {
        Err(StoreError::Absent { .. }) => Ok(()),
        opened => opened.map(drop),
    }
}

/// Each limit for each configuration, with what keeps it from being judged whatever is measured.
fn limits(run: &Run, references: &[Reference]) -> Vec<PreviewLimit> {
    let judged = verdict::judge(run, references);
    judged.into_iter().map(|outcome| PreviewLimit { obstacle: obstacle(&outcome, run), outcome }).collect()
}

fn obstacle(outcome: &LimitOutcome, run: &Run) -> Option<Obstacle> {
    let specs: Vec<_> = run.plan.specs().into_iter().filter(|spec| outcome.limit.matches(spec)).collect();
    if specs.is_empty() {
        return Some(Obstacle::NothingMeasured);
    }
    let probe = outcome.probe.split(LimitOutcome::FROM).next().unwrap_or_default();
    let ip = specs.iter().find(|spec| spec.to_string() == probe).map(|spec| (spec, spec.profile().ip));
    if let Some((_, ip)) = ip.filter(|(spec, _)| procedure::lacks_address(spec, &run.bed).is_some()) {
        return Some(Obstacle::NoAddress { ip });
    }
    let against = outcome.against.as_ref();
    against.filter(|it| matches!(it.matches, Match::NotComparable { .. })).map(|_| Obstacle::NotComparable)
}

/// Each configuration once, with how often it is measured; of a search its highest load.
fn items(plan: &Plan) -> Vec<PreviewItem> {
    let mut items: Vec<PreviewItem> = Vec::new();
    let repeats = plan.repeats.get() as usize;
    for section in plan.sections() {
        for spec in section.specs {
            match &section.method {
                Method::Search(planned) if spec.probe().without_load().is_some() => {
                    items.push(searched(spec, planned, repeats));
                }
                _ => match items.iter_mut().find(|item| item.spec == spec && item.most.is_none()) {
                    Some(item) => item.times += repeats,
                    None => items.push(PreviewItem { seconds: estimate(&spec), spec, times: repeats, most: None }),
                },
            }
        }
    }
    items
}

/// A configuration that is searched in each repeat.
fn searched(spec: ProbeSpec, planned: &PlannedSearch, repeats: usize) -> PreviewItem {
    let ExpectedTrials { expected, longest } = procedure::foreseen(planned, &spec);
    let seconds = |specs: &[ProbeSpec]| specs.iter().map(estimate).sum::<f64>();
    let most = PreviewMost { times: longest.len() * repeats, seconds: seconds(&longest) * repeats as f64 };
    let each = seconds(&expected) / expected.len().max(1) as f64;
    PreviewItem { spec, times: expected.len() * repeats, seconds: each, most: Some(most) }
}

/// Each MTU that the bed is set to for single trials.
fn mtus(plan: &Plan) -> Vec<Mtu> {
    let mut mtus: Vec<Mtu> = plan.specs().iter().filter_map(|spec| spec.profile().mtu).collect();
    mtus.sort_unstable();
    mtus.dedup();
    mtus
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_is_no_store_is_refused_and_no_store_is_made() {
        let folder = tempfile::TempDir::new().unwrap();
        let [foreign, absent] = ["notes.txt", "runs.db"].map(|name| folder.path().join(name));
        let text = "these are notes\n".repeat(100);
        fs::write(&foreign, &text).unwrap();
        assert!(check_store(&foreign).unwrap_err().to_string().contains("notes.txt"));
        assert_eq!(fs::read_to_string(&foreign).unwrap(), text);
        check_store(&absent).unwrap();
        assert!(!absent.exists());
    }

    #[test]
    fn limits_that_no_measurement_could_decide_are_told() {
        let limit = |rest: &str| format!("[[limits]]\nmetric = {rest}\n");
        let plan = [
            "name = \"t\"\nrepeats = 6\n[[path]]\n[[path]]\nip = 6\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n",
            &limit("\"path_mtu\"\nat_least = \"1500\""),
            &limit("\"rtt_p50\"\nat_most = \"1 ms\"\nframe_size = 128"),
            &limit("\"rtt_mean\"\nreference = \"rx2540-exanic-2015\"\nwithin = \"20 %\""),
        ];
        let run = run::foreseen(&Plan::parse(&plan.concat(), &[]).unwrap(), model::fixture::lab());
        let found: Vec<_> = limits(&run, &crate::references::built_in().known)
            .into_iter()
            .map(|it| (it.outcome.probe, it.obstacle))
            .collect();
        let [v4, v6, frame, rtt] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(v4.1, None);
        assert_eq!(v6.1, Some(Obstacle::NoAddress { ip: model::IpVersion::V6 }));
        assert_eq!(frame.1, Some(Obstacle::NothingMeasured));
        assert_eq!((rtt.0.as_str(), rtt.1), ("latency UDP IPv4 spin 64 B", Some(Obstacle::NotComparable)));
    }

    #[test]
    fn a_search_stands_once_with_what_it_is_expected_to_take_and_what_it_may_take() {
        let plan = "name = \"t\"\nrepeats = 2\n[[packets]]\nframe_sizes = [64]\nduration = \"60 s\"\nmtus = [9000]\n\
                    rate = \"100 kpps..10 Mpps\"\nsearch = \"mlr\"";
        let plan = Plan::parse(plan, &[]).unwrap();
        let [proof, search]: [PreviewItem; 2] = items(&plan).try_into().unwrap();
        assert_eq!((proof.times, proof.most), (2, None));
        assert_eq!(search.spec.to_string(), "packets IPv4 64 B at 10 Mpps MTU 9000");
        let most = search.most.unwrap();
        // Confirming a lower bound takes a minute, and a device may have one at either end.
        assert!(search.times >= 8 && search.total() > 120.0, "{search:?}");
        assert!(most.times >= search.times && most.seconds > search.total(), "{search:?}");
        assert!(most.times < 1_000, "{search:?}");
    }

    #[test]
    fn each_configuration_stands_once_with_all_its_trials() {
        let plan = "name = \"t\"\nrepeats = 3\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"\nmtus = [9000]\n\
                    [[goodput]]\nprotocol = \"tcp\"\nduration = \"2 s\"\nmtus = [1500, 9000]";
        let plan = Plan::parse(plan, &[]).unwrap();
        let shown: Vec<_> = items(&plan).iter().map(|item| (item.times, item.spec.to_string())).collect();
        let [path, goodput] = ["path IPv4 MTU", "goodput TCP IPv4 1 stream MTU"];
        assert_eq!(
            shown,
            [
                // Before each transfer with this MTU.
                (6, format!("{path} 9000")),
                (3, format!("{goodput} 9000")),
                (3, format!("{path} 1500")),
                (3, format!("{goodput} 1500")),
                (3, format!("{goodput} 9000")),
            ]
        );
        assert_eq!(mtus(&plan), [Mtu(1500), Mtu(9000)]);
    }
}
