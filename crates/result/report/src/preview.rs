//! A dry run: the steps of a plan.

use model::{Doubt, IpVersion, LimitOutcome, ProbeSpec, Run};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{doubts::advice, lang::Lang, outcome, probes, show, texts::Texts};

/// The steps of a plan.
#[derive(Clone, Debug)]
pub struct Preview<'a> {
    /// Name of the plan.
    pub plan: &'a str,
    /// Name of the bed.
    pub bed: &'a str,
    /// Changes to the machine for the bed, in the ledger's words; empty for a standing bed.
    pub set_up: &'a [String],
    /// Changes for single trials, in the ledger's words.
    pub for_trials: &'a [String],
    /// Each configuration once, in the order of the plan.
    pub items: &'a [PreviewItem],
    /// The run as it would begin.
    pub run: &'a Run,
    /// Each limit of the plan, for each configuration that it speaks of.
    pub limits: &'a [PreviewLimit],
}

/// A limit of the plan.
#[derive(Clone, Debug)]
pub struct PreviewLimit {
    /// The limit, of which nothing is measured yet.
    pub outcome: LimitOutcome,
    /// Why it cannot be judged, as far as that is known before.
    pub obstacle: Option<Obstacle>,
}

/// Why a limit cannot be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The plan measures nothing that it speaks of.
    NothingMeasured,
    /// An end of the bed has no address of this IP version.
    NoAddress {
        /// The IP version.
        ip: IpVersion,
    },
    /// The reference's figure cannot be compared with this bed.
    NotComparable,
}

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct PreviewItem {
    /// The measurement.
    pub spec: ProbeSpec,
    /// How often.
    pub times: usize,
    /// About how long each time takes, in seconds.
    pub seconds: f64,
    /// The most that it may become, where a search decides how often and at which loads; the spec has the highest one.
    pub most: Option<PreviewMost>,
}

/// The longest course of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PreviewMost {
    /// How often it measures.
    pub times: usize,
    /// How long all its trials take, in seconds.
    pub seconds: f64,
}

impl PreviewItem {
    /// About how long all its trials take, in seconds.
    pub fn total(&self) -> f64 {
        self.times as f64 * self.seconds
    }

    /// The same if searches last as long as they may.
    pub fn most_total(&self) -> f64 {
        self.most.map_or_else(|| self.total(), |most| most.seconds)
    }
}

/// The preview as text for a terminal.
pub fn preview(preview: &Preview<'_>, lang: Lang) -> String {
    let t = &Texts::naming(lang, preview.items.iter().map(|item| item.spec.clone()));
    let lines = |lines: &[String]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    let set_up = match preview.set_up {
        [] => format!("{}\n", t.with("preview-stands", &[("bed", &preview.bed)])),
        changes => format!("{}\n{}", t.get("preview-set-up"), lines(changes)),
    };
    let for_trials = match preview.for_trials {
        [] => String::new(),
        changes => format!("{}\n{}", t.get("preview-for-trials"), lines(changes)),
    };
    let steps: Vec<String> = preview.items.iter().map(|item| step(item, t)).collect();
    let total: f64 = preview.items.iter().map(PreviewItem::total).sum();
    let most: f64 = preview.items.iter().map(PreviewItem::most_total).sum();
    let total = match preview.items.iter().any(|item| item.most.is_some()) {
        true => t.with("preview-total-searched", &[("time", &time(total)), ("most", &time(most))]),
        false => t.with("preview-total", &[("time", &time(total))]),
    };
    let heading = t.with("preview-steps", &[("plan", &preview.plan)]);
    let limits = limits(preview, t);
    format!("{set_up}{for_trials}{heading}\n{}{limits}{total}\n", lines(&steps))
}

/// The limits, and whether there are repeats enough to decide them; nothing without any.
fn limits(preview: &Preview<'_>, t: &Texts) -> String {
    if preview.limits.is_empty() {
        return String::new();
    }
    let few = preview.run.doubts.iter().filter(|doubt| matches!(doubt, Doubt::FewTrials { .. }));
    let few: String = few.map(|doubt| format!("  {}\n", advice(doubt, t.lang))).collect();
    let mut limits: Vec<(String, Vec<String>)> = Vec::new();
    for PreviewLimit { outcome, obstacle } in preview.limits {
        let (name, criterion) = (outcome::name(preview.run, outcome, t), criterion(outcome, *obstacle, t));
        match limits.last_mut() {
            Some((last, names)) if *last == criterion => names.push(name),
            _ => limits.push((criterion, vec![name])),
        }
    }
    let limits: String =
        limits.iter().map(|(criterion, names)| format!("  {}: {criterion}\n", named(names, t))).collect();
    format!("{}\n{limits}{few}", t.get("preview-limits"))
}

/// The limit of a figure, and why it cannot be judged.
fn criterion(outcome: &LimitOutcome, obstacle: Option<Obstacle>, t: &Texts) -> String {
    let criterion = format!("{} {}", show::metric(outcome.limit.metric, t), show::limit(outcome, t));
    let Some(obstacle) = obstacle else { return criterion };
    let ip = if let Obstacle::NoAddress { ip } = obstacle { ip.to_string() } else { String::new() };
    format!("{criterion} {}", t.of_value_with("preview-limit", &obstacle, &[("ip", &ip)]))
}

/// More configurations are only counted.
const MOST_NAMES: usize = 2;

fn named(names: &[String], t: &Texts) -> String {
    match names.len() {
        0..=MOST_NAMES => names.join("; "),
        count => t.with("preview-limit-several", &[("count", &count)]),
    }
}

fn step(item: &PreviewItem, t: &Texts) -> String {
    let what = probes::measurement(&item.spec, t);
    if let Some(most) = item.most {
        let values: [(&str, &dyn std::fmt::Display); 5] = [
            ("what", &what),
            ("times", &item.times),
            ("time", &time(item.total())),
            ("most", &most.times),
            ("longest", &time(most.seconds)),
        ];
        return t.with("preview-search", &values);
    }
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("times", &item.times), ("what", &what), ("time", &time(item.total()))];
    t.with("preview-step", &values)
}

fn time(seconds: f64) -> String {
    show::time_left(seconds.ceil() as u64)
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::*;

    #[test]
    fn a_preview_says_what_is_done_how_often_and_for_how_long() {
        let plan = "name = \"t\"\n[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]";
        let spec = Plan::parse(plan, &[]).unwrap().specs().remove(0);
        let mut items = [PreviewItem { spec, times: 6, seconds: 30.4, most: None }];
        let set_up = ["namespace wp1-a".to_owned()];
        let run = model::fixture::run(Plan::parse(plan, &[]).unwrap());
        let of = |items: &[PreviewItem], set_up, for_trials, lang| {
            preview(&Preview { plan: "t", bed: "rack", set_up, for_trials, items, run: &run, limits: &[] }, lang)
        };
        let english = of(&items, &set_up, &[], Lang::En);
        assert_eq!(
            english,
            "Set up on this machine, and undone at the end:\n  namespace wp1-a\nSteps of plan \u{201c}t\u{201d}:\n  \
             6 × latency, UDP IPv4, spin, 64 B: about 4 min\nIn total about 4 min, plus a few seconds for the bed.\n"
        );
        let standing = of(&items, &[], &set_up, Lang::Ja);
        assert!(
            standing.contains("rack")
                && standing.contains("namespace wp1-a")
                && standing.contains("スピン待ち")
                && !standing.contains('⟦'),
            "{standing}"
        );
        items[0].most = Some(PreviewMost { times: 40, seconds: 1300.0 });
        let search = of(&items, &[], &[], Lang::En);
        let line = "  Search from latency, UDP IPv4, spin, 64 B down: about 6 trials in about 4 min, at most 40 trials in 22 min";
        assert!(
            search.contains(line) && search.contains("In total about 4 min, at most 22 min with the longest searches")
        );
        assert!(of(&items, &[], &[], Lang::Ja).contains("最大 40 試行、22 min"));
    }
}
