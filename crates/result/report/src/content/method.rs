//! How it was measured.

use model::{
    Batch, ClockRelation, FrameSize, GoodputSpec, LatencySpec, PacketsSpec, PathSpec, ProbeSpec, Protocol, ReceiveWay,
    Run, SendWay, Stack, WaitMode, run::Resumption,
};

use crate::{
    groups::{Spread, goodput_groups, latency_groups},
    page::{Block, Item},
    show,
    texts::Texts,
};

/// What the plan asks for, each configuration once.
#[derive(Default)]
struct Asked {
    /// Configurations that differ in frame size alone, with these sizes.
    latency: Vec<(LatencySpec, Vec<FrameSize>)>,
    goodput: Vec<GoodputSpec>,
    path: Vec<PathSpec>,
    packets: Vec<PacketsSpec>,
}

impl Asked {
    fn of(run: &Run) -> Self {
        let mut asked = Self::default();
        for spec in run.plan.specs() {
            match spec {
                ProbeSpec::Latency(spec) => asked.add_latency(spec),
                ProbeSpec::Goodput(spec) if !asked.goodput.contains(&spec) => asked.goodput.push(spec),
                ProbeSpec::Path(spec) if !asked.path.contains(&spec) => asked.path.push(spec),
                ProbeSpec::Packets(spec) if !asked.packets.contains(&spec) => asked.packets.push(spec),
                ProbeSpec::Goodput(_) | ProbeSpec::Path(_) | ProbeSpec::Packets(_) => {}
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
pub(super) fn method(run: &Run, t: &Texts) -> Block {
    let asked = Asked::of(run);
    let paragraph = |key: &str| Block::Paragraph(t.get(key).into());
    let mut blocks = vec![Block::Paragraph(t.count("method-repeats", run.plan.repeats.get().into()).into())];
    if !asked.latency.is_empty() {
        let mut latency: Vec<Block> = latency_texts(run, &asked).into_iter().map(paragraph).collect();
        latency.extend(clock_cost(run, t).map(|words| Block::Paragraph(words.into())));
        latency.push(list(asked.latency.iter().map(|(spec, sizes)| latency_item(spec, sizes, t))));
        blocks.push(Block::section(t.get("method-latency-heading"), latency));
    }
    if !asked.goodput.is_empty() {
        let mut goodput: Vec<Block> = goodput_texts(run, &asked.goodput).into_iter().map(paragraph).collect();
        goodput.push(list(asked.goodput.iter().map(|spec| goodput_item(spec, t))));
        blocks.push(Block::section(t.get("method-goodput-heading"), goodput));
    }
    if !asked.packets.is_empty() {
        let items = list(asked.packets.iter().map(|spec| packets_item(spec, t)));
        blocks.push(Block::section(t.get("method-packets-heading"), vec![paragraph("method-packets"), items]));
    }
    if !asked.path.is_empty() {
        let items = list(asked.path.iter().map(|spec| path_item(spec, t)));
        blocks.push(Block::section(t.get("path-heading"), vec![paragraph("method-path"), items]));
    }
    blocks.extend(resumed(run, t));
    blocks.push(ends(run, t));
    let command = Block::Command(show::command(&run.command));
    blocks.push(Block::section(t.get("method-command-heading"), vec![paragraph("method-command"), command]));
    Block::section(t.get("method-heading"), blocks)
}

/// When and how often the run was gone on with; `None` for one made in one go.
fn resumed(run: &Run, t: &Texts) -> Option<Block> {
    let item = |resumed: &Resumption| {
        let values: [(&str, &dyn std::fmt::Display); 3] =
            [("at", &show::time(&resumed.at)), ("kept", &resumed.kept), ("wireproof", &resumed.wireproof)];
        t.with("method-resumed-item", &values)
    };
    let blocks = || vec![Block::Paragraph(t.get("method-resumed").into()), list(run.resumed.iter().map(item))];
    (!run.resumed.is_empty()).then(|| Block::section(t.get("method-resumed-heading"), blocks()))
}

fn list(items: impl Iterator<Item = String>) -> Block {
    Block::List(items.map(Item::from).collect())
}

/// Clocks of the two ends, and the program that they were started through.
fn ends(run: &Run, t: &Texts) -> Block {
    let clocks = match run.bed.clocks {
        ClockRelation::Same => t.get("clocks-same"),
        ClockRelation::Estimated { error_ns } => {
            t.with("clocks-estimated", &[("error", &show::micros(error_ns as f64))])
        }
    };
    let mut blocks = vec![Block::Paragraph(clocks.into())];
    if !run.bed.wrap.is_empty() {
        blocks.push(Block::Paragraph(t.get("method-wrap").into()));
        blocks.push(Block::Command(show::command(&run.bed.wrap)));
    }
    Block::section(t.get("method-ends-heading"), blocks)
}

/// Keys of those among the texts that hold.
fn that_hold(texts: &[(&'static str, bool)]) -> Vec<&'static str> {
    texts.iter().filter(|(_, holds)| *holds).map(|(text, _)| *text).collect()
}

fn latency_texts(run: &Run, asked: &Asked) -> Vec<&'static str> {
    let any = |holds: fn(&LatencySpec) -> bool| asked.latency.iter().any(|(spec, _)| holds(spec));
    let groups = latency_groups(run);
    let modes = groups.iter().flat_map(|group| &group.trials).filter_map(|(_, result)| result.zero_copy);
    let one_way = groups.iter().flat_map(|group| &group.trials).any(|(_, result)| result.one_way.is_some());
    that_hold(&[
        ("method-latency", any(|spec| spec.rate.is_none())),
        ("method-load", any(|spec| spec.rate.is_some())),
        ("method-latency-sample", true),
        ("method-busy-poll", any(|spec| spec.mode == WaitMode::BusyPoll)),
        ("method-bypass", any(|spec| spec.stack == Stack::Bypass)),
        ("method-zero-copy", modes.clone().any(|zero_copy| zero_copy)),
        ("method-copy", modes.clone().any(|zero_copy| !zero_copy)),
        ("method-one-way", one_way),
        ("method-stages", any(|spec| spec.stamps)),
    ])
}

fn goodput_texts(run: &Run, specs: &[GoodputSpec]) -> Vec<&'static str> {
    let any = |holds: fn(&GoodputSpec) -> bool| specs.iter().any(holds);
    let groups = goodput_groups(run);
    let flows = groups.iter().flat_map(|group| &group.trials).flat_map(|(_, result)| &result.flows);
    let modes = flows.filter_map(|flow| flow.sent.datagrams.as_ref()?.zero_copy);
    that_hold(&[
        ("method-goodput", true),
        ("method-udp", any(|spec| spec.protocol == Protocol::Udp)),
        ("method-bypass", any(|spec| spec.stack == Stack::Bypass)),
        ("method-zero-copy", modes.clone().any(|zero_copy| zero_copy)),
        ("method-copy", modes.clone().any(|zero_copy| !zero_copy)),
        ("method-gso", any(|spec| spec.batch == Batch::Gso)),
        ("method-zerocopy", any(|spec| spec.send == SendWay::ZeroCopy)),
        ("method-sendfile", any(|spec| spec.send == SendWay::Sendfile)),
        ("method-truncate", any(|spec| spec.receive == ReceiveWay::Truncate)),
    ])
}

/// `None` where nothing was timed.
fn clock_cost(run: &Run, t: &Texts) -> Option<String> {
    let groups = latency_groups(run);
    let costs: Vec<f64> =
        groups.iter().flat_map(|group| &group.trials).map(|(_, result)| result.clock_cost_ns).collect();
    let words = |cost: Spread| t.with("method-clock", &[("cost", &format!("{:.0}", cost.median))]);
    Spread::of(&costs).map(words)
}

fn latency_item(spec: &LatencySpec, sizes: &[FrameSize], t: &Texts) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| size.0.to_string()).collect();
    let amount = show::amount(spec.amount, t);
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

fn packets_item(spec: &PacketsSpec, t: &Texts) -> String {
    let traffic = show::packets_configuration(spec, t);
    t.with("method-packets-item", &[("traffic", &traffic), ("duration", &spec.duration)])
}

fn path_item(spec: &PathSpec, t: &Texts) -> String {
    t.with("method-path-item", &[("path", &show::path_configuration(spec, t)), ("timeout", &spec.timeout)])
}
