//! Tuning as plain text.

use model::tuning::{AppliedChange, Deviation, LeftOut, PlannedChange, Progress, TuningPlan, TuningState, Undone};

use crate::{lang::Lang, texts::Texts};

/// Most lines of another program's profile that are named.
const MOST_NAMED: usize = 20;

/// A plan: each change with its reason and source, then what is left as it is.
pub fn tuning_plan(plan: &TuningPlan, lang: Lang) -> String {
    let t = Texts::of(lang);
    let mut lines = vec![head("tune-for", "tune-for-machine", &plan.profile, &plan.interfaces, t), String::new()];
    lines.extend(plan.changes.iter().flat_map(|planned| change(planned, t)));
    if plan.changes.is_empty() {
        lines.push(t.get("tune-nothing"));
    }
    for (head, all) in unchanged(plan, t) {
        lines.extend([String::new(), head]);
        lines.extend(all.into_iter().map(|line| format!("  {line}")));
    }
    lines.join("\n") + "\n"
}

/// Lists of all that a plan does not change, and of what may stand in its way, with their heads; none of them is empty.
pub(crate) fn unchanged(plan: &TuningPlan, t: &Texts) -> Vec<(String, Vec<String>)> {
    let kept = plan.kept.iter().map(|kept| value(&kept.setting, kept.interface.as_ref(), &kept.value));
    let by_hand = plan.by_hand.iter().flat_map(|it| [it.parameter.clone(), reason(&it.why, &it.source, t)]);
    let rivals = plan.rivals.iter().map(|program| t.with("tune-rival", &[("program", program)]));
    let mut lists: Vec<(String, Vec<String>)> = vec![
        (t.get("tune-kept"), kept.collect()),
        (t.get("tune-left-out"), plan.left_out.iter().map(|left| left_out(left, t)).collect()),
        (t.get("tune-by-hand"), by_hand.collect()),
        (t.get("tune-rivals"), rivals.collect()),
        (t.get("tune-not-understood"), plan.not_understood.iter().take(MOST_NAMED).cloned().collect()),
    ];
    lists.retain(|(_, all)| !all.is_empty());
    lists
}

/// Outcome of a plan, and how it is undone. `passing` are changes that no file makes again; `host` is another machine.
pub fn tuning_made(state: &TuningState, passing: &[String], host: Option<&str>, lang: Lang) -> String {
    let t = Texts::of(lang);
    let host = host.map(|host| format!(" {host}")).unwrap_or_default();
    let mut lines = vec![String::new(), progress(state, &host, t)];
    lines.extend(state.files.iter().map(|file| t.with("tune-file", &[("file", file)])));
    lines.extend(passing.iter().map(|change| t.with("tune-passing", &[("change", change)])));
    lines.join("\n") + "\n"
}

/// The tuning that stands.
pub fn tuning_state(state: Option<&TuningState>, lang: Lang) -> String {
    let t = Texts::of(lang);
    let Some(state) = state else { return t.get("tune-none") + "\n" };
    let mut lines = vec![head("tuned-for", "tuned-for-machine", &state.profile, &state.interfaces, t)];
    lines.extend([progress(state, "", t), String::new()]);
    lines.extend(state.changes.iter().flat_map(|change| standing(change, t)));
    lines.extend(state.files.iter().map(|file| t.with("tune-file", &[("file", file)])));
    lines.join("\n") + "\n"
}

/// An undone tuning, with what somebody else has changed since.
pub fn tuning_undone(undone: &Undone, lang: Lang) -> String {
    let t = Texts::of(lang);
    let mut lines: Vec<String> =
        undone.undone.iter().map(|change| t.with("tune-undone", &[("change", change)])).collect();
    if lines.is_empty() {
        lines.push(t.get("tune-undone-none"));
    }
    lines.extend(left(&undone.left, t));
    if !undone.left.is_empty() {
        lines.push(t.get("tune-left-advice"));
    }
    lines.join("\n") + "\n"
}

/// Changes that somebody else has changed again, a line each.
pub fn tuning_left(all: &[Deviation], lang: Lang) -> String {
    left(all, Texts::of(lang)).map(|line| line + "\n").collect()
}

pub(crate) fn left(all: &[Deviation], t: &Texts) -> impl Iterator<Item = String> {
    all.iter().map(|left| t.with("tune-left", &[("change", &left.change), ("now", &left.now)]))
}

fn head(of_interfaces: &str, of_machine: &str, profile: &str, interfaces: &[String], t: &Texts) -> String {
    match interfaces {
        [] => t.with(of_machine, &[("profile", &profile)]),
        interfaces => t.with(of_interfaces, &[("profile", &profile), ("interfaces", &interfaces.join(", "))]),
    }
}

fn progress(state: &TuningState, host: &str, t: &Texts) -> String {
    match state.progress {
        Progress::Kept => t.with("tune-is-kept", &[("host", &host)]),
        Progress::Waiting { seconds } => t.with("tune-waits", &[("seconds", &seconds), ("host", &host)]),
    }
}

fn change(planned: &PlannedChange, t: &Texts) -> Vec<String> {
    let PlannedChange { before, wanted, why, source, .. } = planned;
    let arrow = format!("{before} → {wanted}");
    let mut lines = vec![value(&planned.setting, planned.interface.as_ref(), &arrow)];
    lines.push(format!("    {}", reason(why, source, t)));
    lines.extend(planned.can_cut.then(|| format!("    {}", t.get("tune-can-cut"))));
    lines
}

fn standing(change: &AppliedChange, t: &Texts) -> Vec<String> {
    let arrow = format!("{} → {}", change.before, change.wanted);
    let mut lines = vec![value(&change.setting, change.interface.as_ref(), &arrow)];
    let changed = change.changed_to.as_ref().map(|now| t.with("tune-changed", &[("now", now)]));
    lines.extend(changed.map(|line| format!("    {line}")));
    lines
}

pub(crate) fn value(setting: &impl ToString, interface: Option<&String>, value: &str) -> String {
    let interface = interface.map(|name| format!("{name} ")).unwrap_or_default();
    format!("{interface}{}: {value}", setting.to_string())
}

/// A reason with its source. One that is no key of the texts is the words of a profile.
pub(crate) fn reason(why: &str, source: &str, t: &Texts) -> String {
    let known = t.find(&format!("tune-why-{why}"));
    t.with("tune-reason", &[("why", &known.unwrap_or_else(|| why.to_owned())), ("source", &source)])
}

fn left_out(left: &LeftOut, t: &Texts) -> String {
    value(&left.setting, left.interface.as_ref(), &t.of_value("tune-left-out", &left.why))
}

/// Reasons of the profiles that come with the program.
#[cfg(test)]
pub(crate) const WHY: [&str; 46] = [
    "autotuning",
    "backlog",
    "budget",
    "buffers",
    "busy-poll",
    "checksums",
    "collect",
    "congestion-control",
    "defer-none",
    "fair-queue",
    "forwarding",
    "governor",
    "gro",
    "huge-pages",
    "idle",
    "interrupts-near",
    "iommu",
    "isolate",
    "jit",
    "lro-off",
    "metrics",
    "mtu",
    "mtu-probing",
    "neighbours",
    "no-tick",
    "no-wait",
    "numa-balancing",
    "pacing",
    "path-mtu",
    "poll-defer",
    "queues",
    "receive-hash",
    "reverse-path",
    "rings",
    "rps",
    "segmentation",
    "selective-acks",
    "skew-tick",
    "slow-start",
    "timestamps",
    "transmit-queue",
    "tuned",
    "vlan-visible",
    "watchdog",
    "window-scaling",
    "xps",
];

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use model::{
        change::{Change, Sysctl},
        tuning::{ByHand, Deviation, Kept, Profile, WhyLeftOut},
    };

    use super::*;

    fn plan() -> TuningPlan {
        let setting = |text: &str| text.parse().expect("a setting");
        let change: Change = Sysctl { namespace: String::new(), key: "net.x".into(), value: "7".into() }.into();
        let planned = |why: &str, can_cut| PlannedChange {
            setting: setting("sysctl net.x"),
            interface: None,
            before: "1".into(),
            wanted: "7".into(),
            why: why.into(),
            source: "a manual".into(),
            can_cut,
            change: change.clone(),
        };
        TuningPlan {
            profile: "latency".into(),
            interfaces: vec!["eth1".into()],
            changes: vec![planned("governor", false), planned("my own reason", true)],
            kept: vec![Kept { setting: setting("rx-usecs"), interface: Some("eth1".into()), value: "0".into() }],
            left_out: vec![LeftOut {
                setting: setting("ring-rx"),
                interface: Some("eth1".into()),
                why: WhyLeftOut::OutOfRange { range: "0-512".into() },
            }],
            by_hand: vec![ByHand { parameter: "nohz_full=2".into(), why: "no-tick".into(), source: "b".into() }],
            rivals: vec!["irqbalance".into()],
            not_understood: vec!["[disk] readahead=4096".into()],
        }
    }

    #[test]
    fn a_plan_says_each_change_with_its_reason_and_what_is_left() {
        let text = tuning_plan(&plan(), Lang::En);
        for part in [
            "sysctl net.x: 1 → 7\n    ",
            "my own reason [a manual]",
            "eth1 rx-usecs: 0",
            "eth1 ring-rx: ",
            "0-512",
            "nohz_full=2",
            "irqbalance",
            "[disk] readahead=4096",
        ] {
            assert!(text.contains(part), "{part} in:\n{text}");
        }
        let both = text + &tuning_plan(&plan(), Lang::Ja) + &tuning_plan(&TuningPlan::default(), Lang::Ja);
        assert!(!both.contains('⟦'), "{both}");
    }

    #[test]
    fn a_state_says_how_to_go_on_and_an_undoing_what_was_left() {
        let state = TuningState {
            profile: "latency".into(),
            interfaces: vec![],
            progress: Progress::Waiting { seconds: 58 },
            changes: vec![AppliedChange {
                setting: "mtu".parse().expect("a setting"),
                interface: Some("eth1".into()),
                before: "1500".into(),
                wanted: "9000".into(),
                why: "mtu".into(),
                change: "eth1 MTU 9000".into(),
                changed_to: Some("4000".into()),
            }],
            files: vec!["/etc/x".into()],
        };
        for lang in [Lang::En, Lang::Ja] {
            let undone = Undone {
                undone: vec!["net.x = 7".into()],
                left: vec![Deviation { change: "net.y = 1".into(), now: "2".into() }],
            };
            let text = tuning_state(Some(&state), lang)
                + &tuning_made(&state, &["eth1 qdisc = fq".into()], Some("far"), lang)
                + &tuning_undone(&undone, lang)
                + &tuning_undone(&Undone::default(), lang)
                + &tuning_state(None, lang);
            assert!(!text.contains('⟦'), "{text}");
            for part in
                ["58", "wireproof tune confirm far", "4000", "/etc/x", "--force", "net.y = 1", "eth1 qdisc = fq"]
            {
                assert!(text.contains(part), "{part} in:\n{text}");
            }
        }
    }

    #[test]
    fn each_reason_of_a_profile_that_comes_with_the_program_has_its_words_and_no_other_has() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../profiles");
        let mut used: BTreeSet<String> = ["mtu", "tuned"].map(str::to_owned).into();
        for entry in fs::read_dir(folder).expect("profiles") {
            let text = fs::read_to_string(entry.expect("a file").path()).expect("text");
            used.extend(Profile::parse(&text).expect("a profile").values.into_iter().map(|value| value.why));
        }
        for why in &used {
            assert!(Texts::of(Lang::En).find(&format!("tune-why-{why}")).is_some(), "{why} has no words");
        }
        let all: BTreeSet<String> = WHY.iter().map(|why| (*why).to_owned()).collect();
        assert_eq!(all, used);
    }
}
