//! Where and how it was measured.

use maud::{Markup, html};
use model::{
    Run,
    plan::{GoodputItem, LatencyItem},
};

use crate::{
    figure,
    groups::{Spread, latency_groups},
    show,
    texts::Texts,
};

pub(super) fn topology(run: &Run, t: &Texts) -> Markup {
    html! {
        section {
            h2 { (t.get("topology-heading")) }
            (figure::topology(&run.bed, t))
        }
    }
}

/// What was done, and the command that repeats it.
pub(super) fn method(run: &Run, t: &Texts) -> Markup {
    let plan = &run.plan;
    html! {
        section {
            h2 { (t.get("method-heading")) }
            p { (t.count("method-repeats", plan.repeats.get())) }
            @if !plan.latency.is_empty() {
                h3 { (t.get("method-latency-heading")) }
                p { (t.get("method-latency")) }
                p { (clock_cost(run, t)) }
                ul { @for item in &plan.latency { li { (latency_item(item, t)) } } }
            }
            @if !plan.goodput.is_empty() {
                h3 { (t.get("method-goodput-heading")) }
                p { (t.get("method-goodput")) }
                ul { @for item in &plan.goodput { li { (goodput_item(item, t)) } } }
            }
            p.command { (t.get("method-command")) }
            pre tabindex="0" { code { (show::command(&run.command)) } }
        }
    }
}

fn clock_cost(run: &Run, t: &Texts) -> String {
    let groups = latency_groups(run);
    let costs: Vec<f64> =
        groups.iter().flat_map(|group| &group.trials).map(|(_, result)| result.clock_cost_ns).collect();
    let words = |cost: Spread| t.with("method-clock", &[("cost", &format!("{:.0}", cost.median))]);
    Spread::of(&costs).map(words).unwrap_or_default()
}

fn latency_item(item: &LatencyItem, t: &Texts) -> String {
    let frames: Vec<String> = item.frame_sizes.iter().map(|size| size.0.to_string()).collect();
    t.with(
        "method-latency-item",
        &[
            ("traffic", &show::traffic_words(item.protocol, item.ip, &show::mode(item.mode, t), t)),
            ("frames", &frames.join(", ")),
            ("count", &show::grouped(item.count.get())),
            ("warmup", &show::grouped(item.warmup)),
            ("timeout", &item.timeout),
        ],
    )
}

fn goodput_item(item: &GoodputItem, t: &Texts) -> String {
    let streams = t.count("streams", item.streams.get().into());
    let traffic = show::traffic_words(item.protocol, item.ip, &streams, t);
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("traffic", &traffic), ("duration", &item.duration), ("warmup", &item.warmup)];
    t.with("method-goodput-item", &values)
}
