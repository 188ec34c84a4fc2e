//! Correctness of a forwarding device.

mod document;
mod merged;

use model::{CheckOutcome, ForwardingSpec, Verdict};

pub use self::document::ForwardingFigures;
use self::merged::{ForwardingGroup, Merged, counts, merged};
use super::{MainFigure, Probe, Spec};
use crate::{
    columns::Columns,
    doubts::ranges,
    groups::groups,
    material::Material,
    method,
    page::{Block, Span, Text},
    show::{self, grouped},
    terminal::{self, Row},
    texts::Texts,
};

/// Frames of the flow that a name does not tell.
const ORDINARY_FRAMES: u32 = 1_000;

/// The probe.
pub(super) struct Forwarding;

impl Probe for Forwarding {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = super::asked::<ForwardingSpec>(material.run);
        let item = |spec: &ForwardingSpec| {
            let values: [(&str, &dyn std::fmt::Display); 2] =
                [("name", &spec.configuration(t)), ("frames", &grouped(spec.frames.into()))];
            t.with("method-forwarding-item", &values)
        };
        let mut blocks = method::paragraphs(&["method-forwarding", "method-forwarding-lost"], t);
        blocks.push(method::list(asked.iter().map(item)));
        (!asked.is_empty()).then(|| Block::section(t.get("forwarding-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<ForwardingSpec>(material);
        let tables = groups.iter().map(|group| table(group, t)).collect();
        (!groups.is_empty()).then(|| Block::section(t.get("forwarding-heading"), tables))
    }

    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let line = |group: &ForwardingGroup<'_>| {
            let [passed, failed, left_out] = counts(&merged(group));
            let name = group.name(t);
            let values: [(&str, &dyn std::fmt::Display); 4] =
                [("name", &name), ("passed", &passed), ("failed", &failed), ("left_out", &left_out)];
            t.with("headline-forwarding", &values)
        };
        groups::<ForwardingSpec>(material).iter().map(line).collect()
    }

    fn failures(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let of_group = |group: &ForwardingGroup<'_>| {
            let name = group.name(t);
            let failed = merged(group).into_iter().filter(|it| !it.failed_in.is_empty());
            failed.map(|it| format!("{name}: {}: {}", it.name(t), it.found(t))).collect::<Vec<_>>()
        };
        groups::<ForwardingSpec>(material).iter().flat_map(of_group).collect()
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &ForwardingGroup<'_>| {
            let [passed, failed, _] = counts(&merged(group));
            MainFigure {
                spec: group.spec.clone().into(),
                name: group.name(t),
                value: t.with("forwarding-failed-of", &[("failed", &failed), ("made", &(passed + failed))]),
            }
        };
        groups::<ForwardingSpec>(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let head =
            ["forwarding-heading", "col-trials", "forwarding-passed", "forwarding-failed", "forwarding-not-applicable"];
        let row = |group: &ForwardingGroup<'_>| {
            let checks = merged(group);
            let [passed, failed, left_out] = counts(&checks).map(|count| count.to_string());
            let failures = checks.iter().filter(|it| !it.failed_in.is_empty());
            let lines = failures.map(|it| format!("{}: {}", it.name(t), it.found(t))).collect();
            Row([group.name(t), group.trials.len().to_string(), passed, failed, left_out], lines)
        };
        terminal::table(head.map(|key| t.get(key)), groups::<ForwardingSpec>(material).iter().map(row).collect())
    }

    fn terms(&self, _: &Material<'_>) -> Vec<&'static str> {
        Vec::new()
    }
}

impl Spec for ForwardingSpec {
    fn configuration(&self, t: &Texts) -> String {
        let frames = (self.frames != ORDINARY_FRAMES)
            .then(|| t.with("forwarding-frames", &[("count", &grouped(self.frames.into()))]));
        show::joined([t.with("forwarding-of", &[("ip", &self.ip)])].into_iter().chain(frames), t)
    }

    fn rate(&self, per_second: f64) -> String {
        show::packet_rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::packet_rate_unit(per_second)
    }
}

/// The checks of one configuration.
fn table(group: &ForwardingGroup<'_>, t: &Texts) -> Block {
    let checks = merged(group);
    let is_routed = group.trials.iter().any(|(_, result)| result.routed);
    let caption = if is_routed { "forwarding-caption-router" } else { "forwarding-caption-bridge" };
    let (sent, arrived) = (group.sum(|result| result.sent), group.sum(|result| result.arrived));
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("name", &group.name(t)), ("sent", &grouped(sent)), ("arrived", &grouped(arrived))];
    Columns::new()
        .long(t.get("forwarding-col-check"), |it: &Merged<'_>| it.name(t))
        .words(t.get("forwarding-col-outcome"), |it| outcome(it.outcome, t))
        .figures(t.get("forwarding-col-frames"), |it| grouped(it.frames))
        .figures(t.get("forwarding-col-wrong"), |it| grouped(it.wrong))
        .long(t.get("forwarding-col-found"), |it| it.found(t))
        .words(t.get("col-trial-numbers"), |it| ranges(&it.failed_in))
        .only_if(group.trials.len() > 1)
        .table(t.with(caption, &values), &checks)
}

fn outcome(outcome: &CheckOutcome, t: &Texts) -> Text {
    match outcome {
        CheckOutcome::Passed => Span::Verdict(Verdict::Pass, t.get("forwarding-passed")).into(),
        CheckOutcome::Failed { .. } => Span::Verdict(Verdict::Fail, t.get("forwarding-failed")).into(),
        CheckOutcome::NotApplicable { .. } => Text::quiet(t.get("forwarding-not-applicable")),
    }
}
