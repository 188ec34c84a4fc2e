//! Where it was measured.

use model::{Endpoint, Run, trial::PathDevice};

use crate::{
    figure,
    page::{Block, Span, Text},
    probes, show,
    texts::Texts,
};

pub(super) fn topology(run: &Run, t: &Texts) -> Block {
    let mut blocks = vec![Block::Figure(figure::topology(run, &devices(run), t))];
    blocks.extend(dut_cores(run, t).map(|words| Block::Note(words.into())));
    blocks.extend(run.bed.endpoints.iter().filter_map(|endpoint| why_these_cores(endpoint, t)));
    Block::section(t.get("topology-heading"), blocks)
}

/// Cores of a device under test that has its own.
fn dut_cores(run: &Run, t: &Texts) -> Option<String> {
    let dut = run.bed.dut.as_ref().filter(|dut| !dut.cpus.is_empty())?;
    let cpus: Vec<String> = dut.cpus.iter().map(ToString::to_string).collect();
    let special = format!("dut-cpus-{}", run.bed.layout());
    let key = if t.has(&special) { &special } else { "dut-cpus" };
    Some(t.with(key, &[("cpus", &cpus.join(", "))]))
}

/// Devices that packets of a path search went through.
fn devices(run: &Run) -> Vec<&PathDevice> {
    run.trials.iter().flat_map(|trial| probes::devices(&trial.measured)).filter(|device| device.on_path).collect()
}

fn why_these_cores(endpoint: &Endpoint, t: &Texts) -> Option<Block> {
    let cpus: Vec<String> = endpoint.cpus.iter().map(ToString::to_string).collect();
    let words = t.with("endpoint-cpu-why", &[("name", &endpoint.name), ("cpus", &cpus.join(", "))]);
    let said = |words: String| Span::Plain(words);
    let unknown = || Span::Code(endpoint.cpus_why.clone());
    let why = || {
        let why = show::why_these_cores(&endpoint.cpus_why, t).map_or_else(unknown, said);
        Text::from(format!("{words} ")).and(why)
    };
    (!endpoint.cpus_why.is_empty()).then(|| Block::Note(why()))
}
