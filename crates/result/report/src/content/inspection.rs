//! Inspection of the machines: settings that cost what the plan measures.

use model::{
    Assessment,
    inspection::{Finding, Inspection},
};

use crate::{
    columns::Columns,
    inspection::{goal, title},
    page::{Block, Text},
    texts::Texts,
};

/// Nothing where no machine was read for it.
pub(super) fn inspection(assessment: &Assessment, t: &Texts) -> Option<Block> {
    let blocks: Vec<Block> = assessment.inspections.iter().flat_map(|inspection| host(inspection, t)).collect();
    (!blocks.is_empty()).then(|| Block::section(t.get("inspected-heading"), blocks))
}

fn host(inspection: &Inspection, t: &Texts) -> Vec<Block> {
    let Inspection { host, goal: of_goal, before, appeared, gone } = inspection;
    let goal = goal(*of_goal, t);
    let mut blocks = Vec::new();
    if before.is_empty() {
        blocks.push(Block::Paragraph(t.with("inspected-clean", &[("host", host), ("goal", &goal)]).into()));
    } else {
        blocks.push(table(t.with("inspected-caption", &[("host", host), ("goal", &goal)]), before, t));
    }
    for (caption, findings) in [("inspected-caption-appeared", appeared), ("inspected-caption-gone", gone)] {
        if !findings.is_empty() {
            blocks.push(table(t.with(caption, &[("host", host)]), findings, t));
        }
    }
    blocks
}

fn table(caption: String, findings: &[Finding], t: &Texts) -> Block {
    let check = |finding: &Finding| match finding.object.as_str() {
        "" => title(finding.check, t),
        object => format!("{} ({object})", title(finding.check, t)),
    };
    Columns::new()
        .words(t.get("col-state"), |finding: &Finding| t.of_value("inspected-severity", &finding.severity))
        .long(t.get("col-inspected"), check)
        .long(t.get("col-read"), |finding| Text::code(finding.read.value.clone()))
        .words(t.get("col-wanted"), |finding| Text::code(finding.wanted.clone()))
        .long(t.get("col-mend"), |finding| Text::code(finding.mend.clone().unwrap_or_default()))
        .table(caption, findings)
}
