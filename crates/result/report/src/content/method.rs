//! How it was measured.

use model::{ClockRelation, Run, run::Resumption};

use crate::{material::Material, method::list, page::Block, probes, show, texts::Texts};

/// The procedure, and the command that repeats it. Only methods that the run used are explained.
pub(super) fn method(material: &Material<'_>, t: &Texts) -> Block {
    let run = material.run;
    let paragraph = |key: &str| Block::Paragraph(t.get(key).into());
    let mut blocks = vec![Block::Paragraph(t.count("method-repeats", run.plan.repeats.get().into()).into())];
    blocks.extend(probes::ALL.iter().filter_map(|probe| probe.method(material, t)));
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
