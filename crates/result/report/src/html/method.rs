//! Where and how it was measured.

use maud::{Markup, html};
use model::{
    Amount, Batch, ClockRelation, FrameSize, GoodputSpec, LatencySpec, PathSpec, ProbeSpec, Protocol, ReceiveWay, Run,
    SendWay, WaitMode,
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

/// What the plan asks for, each configuration once.
#[derive(Default)]
struct Asked {
    /// Configurations that differ in frame size alone, with these sizes.
    latency: Vec<(LatencySpec, Vec<FrameSize>)>,
    goodput: Vec<GoodputSpec>,
    path: Vec<PathSpec>,
}

impl Asked {
    fn of(run: &Run) -> Self {
        let mut asked = Self::default();
        for spec in run.plan.specs() {
            match spec {
                ProbeSpec::Latency(spec) => asked.add_latency(spec),
                ProbeSpec::Goodput(spec) if !asked.goodput.contains(&spec) => asked.goodput.push(spec),
                ProbeSpec::Path(spec) if !asked.path.contains(&spec) => asked.path.push(spec),
                ProbeSpec::Goodput(_) | ProbeSpec::Path(_) => {}
            }
        }
        asked
    }

    fn add_latency(&mut self, spec: LatencySpec) {
        let same = |known: &LatencySpec| LatencySpec { frame_size: known.frame_size, ..spec.clone() } == *known;
        match self.latency.iter_mut().find(|(known, _)| same(known)) {
            Some((_, sizes)) => sizes.push(spec.frame_size),
            None => {
                let sizes = vec![spec.frame_size];
                self.latency.push((spec, sizes));
            }
        }
    }
}

/// What was done, and the command that repeats it. Only ways of measuring that the run used are explained.
pub(super) fn method(run: &Run, t: &Texts) -> Markup {
    let asked = Asked::of(run);
    html! {
        section {
            h2 { (t.get("method-heading")) }
            p { (t.count("method-repeats", run.plan.repeats.get())) }
            @if !asked.latency.is_empty() {
                h3 { (t.get("method-latency-heading")) }
                @for text in latency_texts(run, &asked) { p { (t.get(text)) } }
                p { (clock_cost(run, t)) }
                ul { @for (spec, sizes) in &asked.latency { li { (latency_item(spec, sizes, t)) } } }
            }
            @if !asked.goodput.is_empty() {
                h3 { (t.get("method-goodput-heading")) }
                @for text in goodput_texts(&asked.goodput) { p { (t.get(text)) } }
                ul { @for spec in &asked.goodput { li { (goodput_item(spec, t)) } } }
            }
            @if !asked.path.is_empty() {
                h3 { (t.get("path-heading")) }
                p { (t.get("method-path")) }
                ul { @for spec in &asked.path { li { (path_item(spec, t)) } } }
            }
            (ends(run, t))
            p.command { (t.get("method-command")) }
            pre tabindex="0" { code { (show::command(&run.command)) } }
        }
    }
}

/// Clocks of the two ends, and the program that they were started through.
fn ends(run: &Run, t: &Texts) -> Markup {
    let clocks = match run.bed.clocks {
        ClockRelation::Same => t.get("clocks-same"),
        ClockRelation::Estimated { error_ns } => {
            t.with("clocks-estimated", &[("error", &show::micros(error_ns as f64))])
        }
    };
    html! {
        h3 { (t.get("method-ends-heading")) }
        p { (clocks) }
        @if !run.bed.wrap.is_empty() {
            p { (t.get("method-wrap")) }
            pre tabindex="0" { code { (show::command(&run.bed.wrap)) } }
        }
    }
}

/// Keys of those among the texts that hold.
fn that_hold(texts: &[(&'static str, bool)]) -> Vec<&'static str> {
    texts.iter().filter(|(_, holds)| *holds).map(|(text, _)| *text).collect()
}

fn latency_texts(run: &Run, asked: &Asked) -> Vec<&'static str> {
    let any = |holds: fn(&LatencySpec) -> bool| asked.latency.iter().any(|(spec, _)| holds(spec));
    let groups = latency_groups(run);
    let one_way = groups.iter().flat_map(|group| &group.trials).any(|(_, result)| result.one_way.is_some());
    that_hold(&[
        ("method-latency", any(|spec| spec.rate.is_none())),
        ("method-load", any(|spec| spec.rate.is_some())),
        ("method-latency-sample", true),
        ("method-busy-poll", any(|spec| spec.mode == WaitMode::BusyPoll)),
        ("method-one-way", one_way),
        ("method-stages", any(|spec| spec.stamps)),
    ])
}

fn goodput_texts(specs: &[GoodputSpec]) -> Vec<&'static str> {
    let any = |holds: fn(&GoodputSpec) -> bool| specs.iter().any(holds);
    that_hold(&[
        ("method-goodput", true),
        ("method-udp", any(|spec| spec.protocol == Protocol::Udp)),
        ("method-gso", any(|spec| spec.batch == Batch::Gso)),
        ("method-zerocopy", any(|spec| spec.send == SendWay::ZeroCopy)),
        ("method-sendfile", any(|spec| spec.send == SendWay::Sendfile)),
        ("method-truncate", any(|spec| spec.receive == ReceiveWay::Truncate)),
    ])
}

fn clock_cost(run: &Run, t: &Texts) -> String {
    let groups = latency_groups(run);
    let costs: Vec<f64> =
        groups.iter().flat_map(|group| &group.trials).map(|(_, result)| result.clock_cost_ns).collect();
    let words = |cost: Spread| t.with("method-clock", &[("cost", &format!("{:.0}", cost.median))]);
    Spread::of(&costs).map(words).unwrap_or_default()
}

fn latency_item(spec: &LatencySpec, sizes: &[FrameSize], t: &Texts) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| size.0.to_string()).collect();
    let amount = match spec.amount {
        Amount::Count(count) => t.with("amount-count", &[("count", &show::grouped(count))]),
        Amount::Duration(duration) => t.with("amount-duration", &[("duration", &duration)]),
    };
    t.with(
        "method-latency-item",
        &[
            ("traffic", &show::latency_traffic(spec, t)),
            ("frames", &sizes.join(", ")),
            ("amount", &amount),
            ("warmup", &show::grouped(spec.warmup)),
            ("timeout", &spec.timeout),
        ],
    )
}

fn goodput_item(spec: &GoodputSpec, t: &Texts) -> String {
    let traffic = show::goodput_configuration(spec, t);
    let values: [(&str, &dyn std::fmt::Display); 3] =
        [("traffic", &traffic), ("duration", &spec.duration), ("warmup", &spec.warmup)];
    t.with("method-goodput-item", &values)
}

fn path_item(spec: &PathSpec, t: &Texts) -> String {
    t.with("method-path-item", &[("path", &show::path_configuration(spec, t)), ("timeout", &spec.timeout)])
}
