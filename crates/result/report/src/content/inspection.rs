//! Inspection of the machines: settings that cost what the plan measures.

use model::{
    Assessment,
    inspection::{Finding, Inspection},
};

use crate::{
    columns::Columns,
    inspection::{goal, read, title},
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

pub(super) fn table(caption: String, findings: &[Finding], t: &Texts) -> Block {
    let check = |finding: &Finding| match finding.object.as_str() {
        "" => title(finding.check, t),
        object => format!("{} ({object})", title(finding.check, t)),
    };
    Columns::new()
        .words(t.get("col-state"), |finding: &Finding| t.of_value("inspected-severity", &finding.severity))
        .long(t.get("col-inspected"), check)
        .long(t.get("col-read"), |finding| Text::code(read(finding, t)))
        .words(t.get("col-wanted"), |finding| Text::code(finding.wanted.clone()))
        .long(t.get("col-mend"), |finding| Text::code(finding.mend.clone().unwrap_or_default()))
        .table(caption, findings)
}

#[cfg(test)]
mod tests {
    use model::inspection::{Check, Goal, Read, Severity};

    use super::*;
    use crate::lang::Lang;

    #[test]
    fn findings_before_a_run_and_those_that_came_or_went_have_tables() {
        let finding = |check, value: &str| {
            let finding = Finding::of(check, "eth1", Read::of(value, "ethtool -g eth1"), ">= 4096", &[]);
            finding.unless(false, Severity::Warn, Some("ethtool -G eth1 rx 4096".into()))
        };
        let of = |before, appeared, gone| {
            let inspection = Inspection { host: "bench1".into(), goal: Goal::Router, before, appeared, gone };
            let assessment = Assessment { inspections: vec![inspection], ..Assessment::default() };
            let Some(Block::Section(section)) = inspection_of(&assessment) else { panic!("no section") };
            (section.blocks.len(), format!("{:?}", section.blocks))
        };
        let (count, said) = of(vec![finding(Check::RingReceive, "64")], vec![finding(Check::LinkDown, "0")], vec![]);
        assert_eq!(count, 2);
        for words in ["receive ring (eth1)", "ethtool -G eth1 rx 4096", "found after the run and not before", "MEND"] {
            assert!(said.contains(words), "{words}: {said}");
        }
        let (count, said) = of(vec![], vec![], vec![]);
        assert!(count == 1 && said.contains("bench1: nothing that was read costs forwarding"), "{said}");
        assert!(inspection_of(&Assessment::default()).is_none(), "a run of before machines were read for it");
    }

    fn inspection_of(assessment: &Assessment) -> Option<Block> {
        inspection(assessment, Texts::of(Lang::En))
    }
}
