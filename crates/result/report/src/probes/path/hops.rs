//! The hops of a path over all trials of a configuration.

use std::net::IpAddr;

use model::{
    Nanos,
    trial::{Hop, HopTimes},
};

use super::group::PathGroup;
use crate::{
    columns::Columns,
    page::{Block, Text},
    show::{self, or_none},
    texts::Texts,
};

/// One hop in all trials.
pub(super) struct Pooled {
    number: u8,
    addresses: Vec<IpAddr>,
    sent: u32,
    answered: u32,
    times: Vec<HopTimes>,
}

impl Pooled {
    fn add(&mut self, hop: &Hop) {
        self.addresses
            .extend(hop.addresses.iter().filter(|it| !self.addresses.contains(it)).copied().collect::<Vec<_>>());
        self.sent = self.sent.saturating_add(hop.sent);
        self.answered = self.answered.saturating_add(hop.answered);
        self.times.extend(hop.times);
    }

    fn names(&self, t: &Texts) -> String {
        let names: Vec<String> = self.addresses.iter().map(IpAddr::to_string).collect();
        if names.is_empty() { t.get("hop-silent") } else { show::joined(names, t) }
    }

    fn unanswered(&self) -> String {
        show::percent(f64::from(self.sent - self.answered) / f64::from(self.sent.max(1)))
    }

    /// The shortest, the median of the trials' medians, and the longest.
    fn times(&self) -> Option<[Nanos; 3]> {
        let mut medians: Vec<Nanos> = self.times.iter().map(|times| times.median).collect();
        medians.sort_unstable();
        let shortest = self.times.iter().map(|times| times.shortest).min()?;
        let longest = self.times.iter().map(|times| times.longest).max()?;
        Some([shortest, *medians.get(medians.len() / 2)?, longest])
    }

    fn time(&self, which: usize) -> String {
        or_none(self.times(), |times| time(times[which]))
    }
}

fn time(nanos: Nanos) -> String {
    format!("{} µs", show::micros(nanos.0 as f64))
}

/// The hops of a configuration; none where they were not asked for.
pub(super) fn pooled(group: &PathGroup<'_>) -> Vec<Pooled> {
    let mut all: Vec<Pooled> = Vec::new();
    for hop in group.trials.iter().flat_map(|(_, result)| &result.hops) {
        match all.iter_mut().find(|it| it.number == hop.number) {
            Some(known) => known.add(hop),
            None => {
                let mut new = Pooled { number: hop.number, addresses: vec![], sent: 0, answered: 0, times: vec![] };
                new.add(hop);
                all.push(new);
            }
        }
    }
    all
}

/// All hops, with a note on answers that routers do not give; nothing where no hops were asked for.
pub(super) fn blocks(groups: &[PathGroup<'_>], t: &Texts) -> Vec<Block> {
    let of = |group: &PathGroup<'_>| pooled(group).into_iter().map(|hop| (group.name(t), hop)).collect::<Vec<_>>();
    let rows: Vec<(String, Pooled)> = groups.iter().flat_map(of).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let table = Columns::new()
        .words(t.get("col-configuration"), |(name, _): &(String, Pooled)| name.clone())
        .figures(t.get("hop-col-number"), |(_, it)| it.number.to_string())
        .words(t.get("hop-col-address"), |(_, it)| it.names(t))
        .figures(t.get("hop-col-sent"), |(_, it)| it.sent.to_string())
        .figures(t.get("hop-col-unanswered"), |(_, it)| it.unanswered())
        .figures(t.get("hop-col-shortest"), |(_, it)| it.time(0))
        .figures(t.get("hop-col-median"), |(_, it)| Text::strong(it.time(1)))
        .figures(t.get("hop-col-longest"), |(_, it)| it.time(2))
        .table(t.get("hops-caption"), &rows);
    vec![table, Block::Note(t.get("hops-note").into())]
}

/// A line of the terminal for each hop.
pub(super) fn lines(group: &PathGroup<'_>, t: &Texts) -> Vec<String> {
    let line = |hop: &Pooled| {
        let number = format!("{:>2}", hop.number);
        let address = match hop.addresses.as_slice() {
            [] => t.get("hop-silent"),
            [one] => one.to_string(),
            [first, more @ ..] => format!("{first} +{}", more.len()),
        };
        let values: [(&str, &dyn std::fmt::Display); 5] = [
            ("number", &number),
            ("address", &address),
            ("sent", &hop.sent),
            ("unanswered", &hop.unanswered()),
            ("median", &hop.time(1)),
        ];
        t.with(if hop.answered == 0 { "hop-line-silent" } else { "hop-line" }, &values)
    };
    pooled(group).iter().map(line).collect()
}
