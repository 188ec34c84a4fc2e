//! The effects of a command, without carrying it out.

use bed::Wanted;
use kernel::privilege;
use model::{Mtu, Plan};
use report::{Preview, PreviewItem, preview};
use run::estimate;
use serde_json::json;

use super::{
    beforehand::fitting,
    language, print, print_json,
    wanted::{dut_note, stamps, wanted},
};
use crate::{
    cli::{Common, Measure},
    exit::Exit,
};

/// Prints the steps. Nothing on the machine is changed, and nothing is stored.
pub(super) fn dry_run(plan: &Plan, options: &Measure, common: &Common) -> anyhow::Result<Exit> {
    let wanted = Wanted { stamps: stamps(plan), ..wanted(options, privilege::current())? };
    let planned = fitting(plan, &wanted)?;
    let (items, for_trials) = (items(plan), planned.for_mtus(&mtus(plan)));
    if common.json {
        let steps: Vec<_> = items.iter().map(step).collect();
        let seconds: f64 = items.iter().map(PreviewItem::total).sum();
        let set_up = &planned.set_up;
        print_json(&json!({
            "plan": plan, "steps": steps, "dut_commands": options.bed.commands_for_dut(), "changes": set_up, "changes_for_trials": for_trials, "seconds": seconds
        }))?;
        return Ok(Exit::Done);
    }
    let (name, bed) = (plan.name.as_str(), planned.bed.name.as_str());
    let what = Preview { plan: name, bed, set_up: &planned.set_up, for_trials: &for_trials, items: &items };
    print(&preview(&what, language(common)))?;
    dut_note(&options.bed, language(common)).map_or(Ok(()), |note| print(&format!("{note}\n")))?;
    Ok(Exit::Done)
}

/// Each configuration once, with how often it is measured.
fn items(plan: &Plan) -> Vec<PreviewItem> {
    let mut items: Vec<PreviewItem> = Vec::new();
    let repeats = plan.repeats.get() as usize;
    for spec in plan.specs() {
        match items.iter_mut().find(|item| item.spec == spec) {
            Some(item) => item.times += repeats,
            None => items.push(PreviewItem { seconds: estimate(&spec), spec, times: repeats }),
        }
    }
    items
}

fn step(item: &PreviewItem) -> serde_json::Value {
    json!({ "spec": item.spec, "times": item.times, "seconds_each": item.seconds, "seconds": item.total() })
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
    use super::*;

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
