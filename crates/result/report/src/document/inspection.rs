//! Inspection of a host as JSON.

use model::{
    Cards,
    inspection::{Conditions, Finding, Group, HostReadings, Inspection},
};

use crate::{
    inspection::{title, why},
    lang::Lang,
    shape::{document, schema},
    texts::Texts,
};

document! {
    /// JSON document of `inspect`.
    InspectionDocument of (
        conditions: &Conditions,
        host: InspectedHost,
        other: Option<InspectedHost>,
        since: Option<String>,
        differences: Option<Vec<String>>
    ) {
        /// Name and version of this shape.
        schema: InspectionSchemaName = InspectionSchemaName::V1,
        /// Conditions under which it was judged.
        conditions: Conditions = conditions.clone(),
        /// The host.
        #[serde(flatten)]
        host: InspectedHost = host,
        /// The other host; null where only one was inspected.
        other: Option<InspectedHost> = other,
        /// The run that the host is compared with; null without one.
        since: Option<String> = since,
        /// Differences from the host to the other one, or from the run to the host, in words; null where nothing was compared.
        differences: Option<Vec<String>> = differences,
    }
}

schema!("wireproof-inspect/1": InspectionSchemaName, inspection_schema of InspectionDocument);

document! {
    /// A host with its findings and cards.
    InspectedHost of (readings: &HostReadings, cards: Cards, findings: &[Finding]) {
        /// Its name.
        host: String = readings.host.hostname.clone(),
        /// Findings, the worst first.
        findings: Vec<FindingEntry> = findings.iter().map(FindingEntry::of).collect(),
        /// Its cards.
        #[serde(flatten)]
        cards: Cards = cards,
    }
}

document! {
    /// A finding with its words.
    FindingEntry of (finding: &Finding) {
        /// The finding.
        #[serde(flatten)]
        finding: Finding = finding.clone(),
        /// Its subject.
        group: Group = finding.check.group(),
        /// Title of the check.
        title: String = title(finding.check, Texts::of(Lang::En)),
        /// Reason why the wanted value is wanted, or why nothing was read.
        why: String = why(finding, Texts::of(Lang::En)),
    }
}

document! {
    /// Inspection of a machine of a run; findings that are as wanted are left out.
    InspectionEntry of (inspection: &Inspection) {
        /// Name of the machine.
        host: String = inspection.host.clone(),
        /// Goal, by what the plan measures.
        goal: model::inspection::Goal = inspection.goal,
        /// Findings before the first trial, the worst first.
        before: Vec<FindingEntry> = inspection.before.iter().map(FindingEntry::of).collect(),
        /// Findings after the last trial that were none before.
        appeared: Vec<FindingEntry> = inspection.appeared.iter().map(FindingEntry::of).collect(),
        /// Findings before the first trial that were none after the last one.
        gone: Vec<FindingEntry> = inspection.gone.iter().map(FindingEntry::of).collect(),
    }
}
