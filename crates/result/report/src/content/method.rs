//! How it was measured.

use model::{ClockRelation, Run, run::Resumption};

use crate::{material::Material, method::list, page::Block, probes, show, texts::Texts};

/// Name by which the command that repeats a run calls a plan that does not come with the program.
pub const PLAN_FILE: &str = "plan.toml";

/// The procedure, and the command that repeats it. Only methods that the run used are explained.
pub(super) fn method(material: &Material<'_>, t: &Texts) -> Block {
    let run = material.run;
    let mut blocks = vec![Block::Paragraph(t.count("method-repeats", run.plan.repeats.get().into()).into())];
    blocks.extend(probes::ALL.iter().filter_map(|probe| probe.method(material, t)));
    blocks.extend(resumed(run, t));
    blocks.push(ends(run, t));
    blocks.push(repetition(run, t));
    Block::section(t.get("method-heading"), blocks)
}

/// The command that repeats the run, after the one that makes a kept bed, and with the plan where that is a file.
fn repetition(run: &Run, t: &Texts) -> Block {
    let mut blocks = Vec::new();
    if let Some(arguments) = run.bed.arguments_of_up() {
        let up = ["wireproof", "bed", "up"].map(str::to_owned);
        blocks.push(Block::Paragraph(t.with("method-command-bed", &[("bed", &run.bed.name)]).into()));
        blocks.push(Block::Command(show::command(&[up.to_vec(), arguments].concat())));
    }
    blocks.push(Block::Paragraph(t.get("method-command").into()));
    blocks.push(Block::Command(show::command(&run.command)));
    if run.command.iter().any(|word| word == PLAN_FILE) {
        let captures = run.plan.captures();
        blocks.push(Block::Paragraph(t.with("method-command-plan", &[("file", &PLAN_FILE)]).into()));
        if !captures.is_empty() {
            let names = captures.join(&t.get("list-comma"));
            blocks.push(Block::Paragraph(t.with("method-command-captures", &[("names", &names)]).into()));
        }
        let summary = t.with("method-plan", &[("plan", &run.plan.name), ("file", &PLAN_FILE)]);
        blocks.push(Block::Folded { summary, blocks: vec![Block::Command(run.plan.to_toml())] });
    }
    Block::section(t.get("method-command-heading"), blocks)
}

/// When and how often the run was gone on with; `None` for one made in one go.
fn resumed(run: &Run, t: &Texts) -> Option<Block> {
    let item = |resumed: &Resumption| {
        let values: [(&str, &dyn std::fmt::Display); 3] =
            [("at", &show::time(&resumed.at, t)), ("kept", &resumed.kept), ("wireproof", &resumed.wireproof)];
        t.with("method-resumed-item", &values)
    };
    let blocks = || vec![Block::Paragraph(t.get("method-resumed").into()), list(run.resumed.iter().map(item))];
    (!run.resumed.is_empty()).then(|| Block::section(t.get("method-resumed-heading"), blocks()))
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
