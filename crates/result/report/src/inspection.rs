//! Findings of an inspection in words.

use std::collections::BTreeMap;
use std::fmt::Display;

use model::inspection::{Check, Finding, Goal, Group, REBOOT, ROOT, Severity};
use unicode_width::UnicodeWidthStr;

use crate::{
    lang::Lang,
    show,
    texts::{Texts, name_and_fields},
};

/// The title of a check.
pub(crate) fn title(check: Check, t: &Texts) -> String {
    t.of_value("inspected", &check)
}

/// The value that was read, in words where the system has none for it.
pub(crate) fn read(finding: &Finding, t: &Texts) -> String {
    let value = &finding.read.value;
    if finding.check == Check::Hypervisor { show::hypervisor(value, t) } else { value.clone() }
}

/// The reason of a finding; a reading that failed has its own.
pub(crate) fn why(finding: &Finding, t: &Texts) -> String {
    if finding.severity == Severity::Unknown {
        let key =
            if finding.values.contains_key(ROOT) { "inspected-unreadable-as-root" } else { "inspected-unreadable" };
        return t.with(key, &[("why", &finding.read.value)]);
    }
    let values: Vec<(&str, &dyn Display)> =
        finding.values.iter().map(|(name, value)| (name.as_str(), value as &dyn Display)).collect();
    t.with(&format!("inspected-{}-why", name_and_fields(&finding.check).0), &values)
}

/// The command that mends a finding; empty without one.
pub(crate) fn mend(finding: &Finding, t: &Texts) -> String {
    match &finding.mend {
        Some(mend) if finding.values.contains_key(REBOOT) => t.with("inspected-mend-reboot", &[("mend", mend)]),
        mend => mend.clone().unwrap_or_default(),
    }
}

/// The goal in words.
pub(crate) fn goal(goal: Goal, t: &Texts) -> String {
    t.of_value("inspected-goal", &goal)
}

/// Findings of a host as text for a terminal: groups, that with the worst finding first.
pub fn inspected(host: &str, of_goal: Goal, findings: &[Finding], lang: Lang) -> String {
    let t = Texts::of(lang);
    if findings.is_empty() {
        return format!("{}\n", t.with("inspected-none", &[("host", &host)]));
    }
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let head = t.with(
        "inspected-head",
        &[
            ("host", &host),
            ("goal", &goal(of_goal, t)),
            ("fail", &count(Severity::Fail)),
            ("warn", &count(Severity::Warn)),
            ("unknown", &count(Severity::Unknown)),
            ("info", &count(Severity::Info)),
            ("ok", &count(Severity::Ok)),
        ],
    );
    let mut groups: BTreeMap<Group, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry(finding.check.group()).or_default().push(finding);
    }
    let mut groups: Vec<(Group, Vec<&Finding>)> = groups.into_iter().collect();
    groups.sort_by_key(|(group, findings)| (findings.iter().map(|finding| finding.severity).min(), *group));
    let groups: String = groups.iter().map(|(group, findings)| self::group(*group, findings, t)).collect();
    format!("{head}\n{groups}")
}

fn group(group: Group, findings: &[&Finding], t: &Texts) -> String {
    let (fine, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().copied().partition(|finding| finding.severity == Severity::Ok);
    let others: String = others.iter().map(|finding| self::finding(finding, t)).collect();
    let mut names: Vec<String> = fine.iter().map(|finding| title(finding.check, t)).collect();
    names.dedup();
    let fine = (!names.is_empty())
        .then(|| format!("  {}\n", t.with("inspected-fine", &[("checks", &names.join(&t.get("list-comma")))])));
    format!("\n{}\n{others}{}", t.of_value("inspected-group", &group), fine.unwrap_or_default())
}

fn finding(finding: &Finding, t: &Texts) -> String {
    let object = if finding.object.is_empty() { String::new() } else { format!("  {}", finding.object) };
    let word = t.of_value("inspected-severity", &finding.severity);
    let head = format!("  {word}  {}{object}\n", title(finding.check, t));
    let value = if finding.severity == Severity::Unknown { String::new() } else { self::read(finding, t) };
    let read = format!("{value} ({})", finding.read.place);
    let sources: Vec<String> =
        finding.sources.iter().map(|source| format!("{}, {}", source.title, source.section)).collect();
    let rows = [
        ("inspected-read", read.trim().to_owned()),
        ("inspected-wanted", finding.wanted.clone()),
        ("inspected-why", why(finding, t)),
        ("inspected-source", sources.join("; ")),
        ("inspected-mend", mend(finding, t)),
    ];
    let width = rows.iter().map(|(key, _)| t.get(key).width()).max().unwrap_or_default();
    let row = |(key, value): &(&str, String)| {
        let label = t.get(key);
        format!("    {label}{}  {value}\n", " ".repeat(width - label.width()))
    };
    head + &rows.iter().filter(|(_, value)| !value.is_empty() && value != "–").map(row).collect::<String>()
}

/// Differences between two hosts, or those since a run.
pub fn inspected_differences(of: &Compared<'_>, differences: &[String], lang: Lang) -> String {
    let t = Texts::of(lang);
    let head = match (of, differences.is_empty()) {
        (Compared::Hosts { one, other }, false) => t.with("inspected-differences", &[("one", one), ("other", other)]),
        (Compared::Hosts { one, other }, true) => t.with("inspected-no-differences", &[("one", one), ("other", other)]),
        (Compared::Run(run), false) => t.with("inspected-since", &[("run", run)]),
        (Compared::Run(run), true) => t.with("inspected-unchanged", &[("run", run)]),
    };
    let lines: String = differences.iter().map(|difference| format!("  {difference}\n")).collect();
    format!("{head}\n{lines}")
}

/// The other side of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum Compared<'a> {
    /// Another host.
    Hosts {
        /// The first host.
        one: &'a str,
        /// The other one.
        other: &'a str,
    },
    /// The same host at the time of a run.
    Run(&'a str),
}

#[cfg(test)]
mod tests {
    use model::inspection::Read;

    use super::*;

    fn finding_of(check: Check, severity: Severity) -> Finding {
        let sources = [("RFC 7323", "section 2")];
        let names = [
            "better", "card", "device", "has", "link", "lower", "master", "needs", "packets", "peer", "ports",
            "queues", "rate", "rtt", "slot",
        ];
        let finding = Finding::of(check, "eth1", Read::of("512", "ethtool -g eth1"), ">= 4096", &sources);
        let finding = names.iter().fold(finding, |finding, name| finding.with(name, "7"));
        finding.unless(severity == Severity::Ok, severity, Some("ethtool -G eth1 rx 4096".into()))
    }

    #[test]
    fn each_check_has_its_words_in_both_languages() {
        for lang in [Lang::En, Lang::Ja] {
            let findings: Vec<Finding> = Check::ALL.iter().map(|check| finding_of(*check, Severity::Warn)).collect();
            let text = inspected("bench1", Goal::Throughput, &findings, lang);
            assert!(!text.contains('⟦'), "{text}");
            assert_eq!(text.matches("ethtool -G eth1 rx 4096").count(), Check::ALL.len());
        }
    }

    #[test]
    fn the_group_with_the_worst_finding_comes_first_and_fine_checks_are_one_line() {
        let findings = [
            finding_of(Check::MtuMember, Severity::Warn),
            finding_of(Check::RingReceive, Severity::Info),
            finding_of(Check::LinkDown, Severity::Ok),
            finding_of(Check::HalfDuplex, Severity::Ok),
        ];
        let text = inspected("bench1", Goal::Latency, &findings, Lang::En);
        let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words}: {text}"));
        assert!(at("MTU\n") < at("Rings,") && at("Rings,") < at("Links and modules"));
        assert!(text.contains("as wanted: link, duplex") && text.contains("1 to mend"), "{text}");
        let unknown = Finding::unknown(Check::BusyPoll, "net.core.busy_poll", "/proc/sys/x", "Permission denied");
        let text = inspected("bench1", Goal::Latency, &[unknown], Lang::En);
        assert!(text.contains("could not be read: Permission denied") && !text.contains("    wanted"), "{text}");
    }
}
