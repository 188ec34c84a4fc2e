//! Health of a card: first page and terminal of a plan whose purpose it is.

use std::{fmt::Display, iter};

use model::{
    Assessment, Place, Verdict,
    alike::grouped,
    card_health::{CardCheck, CardFinding, CardHealth, Health},
};

use crate::{
    cards,
    columns::Columns,
    limited::place_at,
    page::{Block, Span, Text},
    show::{self, or_none},
    texts::{Texts, name_and_fields},
};

/// The conclusion, and each check.
pub(super) fn blocks(assessment: &Assessment, t: &Texts) -> Vec<Block> {
    assessment.card.iter().flat_map(|card| [conclusion(card, t), table(card, t)]).collect()
}

/// The conclusion, a line of what is fine, and a line for each advice.
pub(crate) fn lines(assessment: &Assessment, t: &Texts) -> Vec<String> {
    let Some(card) = &assessment.card else { return vec![] };
    let (fine, others): (Vec<_>, Vec<_>) = by_advice(card, t).into_iter().partition(|row| row.advice.is_empty());
    let fine: Vec<&CardCheck> = fine.into_iter().flat_map(|row| row.checks).collect();
    let fine = (!fine.is_empty()).then(|| t.with("card-health-good", &[("checks", &findings(&fine, t))]));
    let other = |row: Row<'_>| {
        let (word, finding) = (check_word(row.checks[0], t), findings(&row.checks, t));
        t.with("card-health-check", &[("word", &word), ("finding", &finding), ("advice", &row.advice)])
    };
    let word = t.with("card-health-line", &[("word", &word(card.health, t)), ("meaning", &meaning(card.health, t))]);
    [word].into_iter().chain(fine).chain(others.into_iter().map(other)).collect()
}

/// Each check: its verdict, a name that stays the same from run to run, and its finding with its advice.
pub(crate) fn cases(assessment: &Assessment, t: &Texts) -> Vec<(Verdict, String, String)> {
    let case = |check: &CardCheck| {
        let words = match check.health {
            Health::Fine => finding(&check.finding, t),
            _ => format!("{}: {}", finding(&check.finding, t), advice(check, t)),
        };
        let (kind, fields) = name_and_fields(&check.finding);
        let endpoint = fields.get("endpoint").and_then(|it| it.as_str()).map(|it| format!(" of {it}"));
        (verdict(check.health), kind + endpoint.as_deref().unwrap_or_default(), words)
    };
    assessment.card.iter().flat_map(|card| &card.checks).map(case).collect()
}

/// Checks with one result and one advice, which is empty for those that are fine.
struct Row<'c> {
    checks: Vec<&'c CardCheck>,
    advice: String,
}

/// A row for each check that is fine, and one for each advice.
fn by_advice<'c>(card: &'c CardHealth, t: &Texts) -> Vec<Row<'c>> {
    let is_fine = |check: &CardCheck| check.health == Health::Fine;
    let with_advice = card.checks.iter().map(|check| {
        let advice = if is_fine(check) { String::new() } else { advice(check, t) };
        (check, advice)
    });
    let alike = grouped(with_advice, |(a, of_a), (b, of_b)| !is_fine(a) && a.health == b.health && of_a == of_b);
    let row = |all: Vec<(&'c CardCheck, String)>| Row {
        checks: all.iter().map(|(check, _)| *check).collect(),
        advice: all.into_iter().next().map(|(_, advice)| advice).unwrap_or_default(),
    };
    alike.into_iter().map(row).collect()
}

fn findings(checks: &[&CardCheck], t: &Texts) -> String {
    let findings: Vec<String> = checks.iter().map(|check| finding(&check.finding, t)).collect();
    findings.join(&t.get("list-semicolon"))
}

fn conclusion(card: &CardHealth, t: &Texts) -> Block {
    let meaning = vec![Text::from(meaning(card.health, t))];
    Block::Verdict { verdict: Some(verdict(card.health)), word: word(card.health, t), meaning }
}

/// A check and its advice.
type Said<'c> = (&'c CardCheck, String);

fn said_once<'c>(Row { checks, advice }: Row<'c>, t: &Texts) -> Vec<Said<'c>> {
    let same = if advice.is_empty() { String::new() } else { t.get("card-advice-same") };
    checks.into_iter().zip([advice].into_iter().chain(iter::repeat(same))).collect()
}

/// A row for each check; an advice that several have is said beside the first of them.
fn table(card: &CardHealth, t: &Texts) -> Block {
    let rows: Vec<Said<'_>> = by_advice(card, t).into_iter().flat_map(|row| said_once(row, t)).collect();
    let mark = |(check, _): &Said<'_>| Text::from(Span::Verdict(verdict(check.health), check_word(check, t)));
    Columns::new()
        .words(t.get("col-check-result"), mark)
        .long(t.get("col-check-finding"), |(check, _): &Said<'_>| finding(&check.finding, t))
        .long(t.get("col-check-advice"), |(_, advice)| advice.clone())
        .only_if(rows.iter().any(|(_, advice)| !advice.is_empty()))
        .table(t.get("card-health-caption"), &rows)
}

/// The verdict whose colour it has.
fn verdict(health: Health) -> Verdict {
    match health {
        Health::Fine => Verdict::Pass,
        Health::Undecided => Verdict::Inconclusive,
        Health::OtherSlot | Health::NotFine => Verdict::Fail,
    }
}

fn word(health: Health, t: &Texts) -> String {
    t.of_value("card-health", &health)
}

fn meaning(health: Health, t: &Texts) -> String {
    t.of_value("card-health-meaning", &health)
}

fn check_word(check: &CardCheck, t: &Texts) -> String {
    t.of_value("card-check-word", &check.health)
}

fn advice(check: &CardCheck, t: &Texts) -> String {
    match &check.finding {
        CardFinding::Goodput { line_bps: None, .. } => t.get("card-advice-no-rate"),
        CardFinding::Goodput {
            limited_by: Some(Place::SenderCpu | Place::ReceiverCpu | Place::SoftirqCore), ..
        } => t.get("card-advice-cores"),
        finding => t.of_value("card-advice", finding),
    }
}

fn finding(finding: &CardFinding, t: &Texts) -> String {
    let speed = |mbps: &Option<u32>| or_none(*mbps, |mbps| show::rate(f64::from(mbps) * 1e6));
    match finding {
        CardFinding::NoCard { .. } | CardFinding::LinkLost { .. } | CardFinding::Missing => {
            t.of_value("card-check", finding)
        }
        CardFinding::Link { endpoint, speed_mbps, full_duplex: Some(false), .. } => {
            t.with("card-check-link-half-duplex", &[("endpoint", endpoint), ("speed", &speed(speed_mbps))])
        }
        CardFinding::Link { endpoint, speed_mbps, top_speed_mbps, .. } => {
            let (speed, top) = (speed(speed_mbps), speed(top_speed_mbps));
            t.with("card-check-link", &[("endpoint", endpoint), ("speed", &speed), ("top", &top)])
        }
        CardFinding::Module { endpoint, module } => {
            t.with("card-check-module", &[("endpoint", endpoint), ("module", &cards::module(module, t))])
        }
        CardFinding::Pcie { endpoint, hop, has_bps, needs_bps } => {
            let (has, needs) = (show::rate(*has_bps), show::rate(*needs_bps));
            let speed = show::reading_or_none(&hop.link.speed, t, String::clone);
            let values: [(&str, &dyn Display); 5] = [
                ("endpoint", endpoint),
                ("lanes", &hop.link.width),
                ("speed", &speed),
                ("has", &has),
                ("needs", &needs),
            ];
            t.with("card-check-pcie", &values)
        }
        CardFinding::Damage { endpoint, counters } if counters.is_empty() => {
            t.with("card-check-damage-none", &[("endpoint", endpoint)])
        }
        CardFinding::Damage { endpoint, counters } => {
            let counters = counters.iter().map(ToString::to_string).collect::<Vec<_>>().join(&t.get("list-comma"));
            t.with("card-check-damage", &[("endpoint", endpoint), ("counters", &counters)])
        }
        CardFinding::Mtu { mtu, passes } => {
            t.with("card-check-mtu", &[("mtu", &mtu.0), ("passes", &format!("{passes:.0}"))])
        }
        CardFinding::Goodput { direction, mtu, bps, line_bps, limited_by } => {
            let mtu = mtu.map(|mtu| format!("MTU {}", mtu.0));
            let traffic = show::joined([show::direction(*direction, t)].into_iter().chain(mtu), t);
            let rate = show::rate(*bps);
            let carried = match line_bps.map(show::rate) {
                Some(line) => t.with("card-check-goodput", &[("traffic", &traffic), ("rate", &rate), ("line", &line)]),
                None => t.with("card-check-goodput-alone", &[("traffic", &traffic), ("rate", &rate)]),
            };
            let place = limited_by.map(|place| t.with("limited-by", &[("place", &place_at(place, None, t))]));
            show::joined([carried].into_iter().chain(place), t)
        }
        CardFinding::Packets { frame_size, pps } => {
            t.with("card-check-packets", &[("size", frame_size), ("rate", &show::packet_rate(*pps))])
        }
    }
}
