//! Requests and their responses.

mod cost;
mod document;
mod names;
mod tables;

use model::{TransactionsResult, TransactionsSpec, WaitMode};
use stats::TimeHistogram;

pub use self::document::TransactionsFigures;
use super::{MainFigure, Probe, Spec};
use crate::{
    figure,
    groups::{Group, groups},
    histogram::Times,
    material::Material,
    method,
    page::Block,
    show::{self, micros, micros_or_none, or_none, transaction_rate},
    terminal::{self, Row},
    texts::Texts,
};

/// The probe.
pub(super) struct Transactions;

type TransactionsGroup<'a> = Group<'a, TransactionsSpec>;

impl TransactionsGroup<'_> {
    fn name(&self, t: &Texts) -> String {
        show::with_way(self.spec.configuration(t), self.way, t)
    }

    /// The response times of all trials; `None` when one cannot be read.
    fn sample(&self) -> Option<TimeHistogram> {
        figure::merged(self.trials.iter().map(|(_, result)| result.histogram.as_str()))
    }

    /// A percentile of response time over all trials, in nanoseconds.
    fn response(&self, figure: impl Fn(&model::TimeSummary) -> Option<u64>) -> Option<crate::groups::Spread> {
        self.over(|result| figure(&result.response_ns).map(|ns| ns as f64))
    }
}

impl Probe for Transactions {
    fn method(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let asked = super::asked::<TransactionsSpec>(material.run);
        let any = |holds: fn(&TransactionsSpec) -> bool| asked.iter().any(holds);
        let texts = method::that_hold(&[
            ("method-transactions", true),
            ("method-transactions-closed", any(|spec| spec.rate.is_none())),
            ("method-transactions-open", any(|spec| spec.rate.is_some())),
            ("method-transactions-failed", true),
            ("method-busy-poll", any(|spec| spec.mode == WaitMode::BusyPoll)),
        ]);
        let item = |spec: &TransactionsSpec| {
            let traffic = spec.configuration(t);
            let values: [(&str, &dyn std::fmt::Display); 4] = [
                ("traffic", &traffic),
                ("duration", &show::span(spec.duration, t)),
                ("warmup", &spec.warmup),
                ("timeout", &spec.timeout),
            ];
            t.with("method-transactions-item", &values)
        };
        let mut blocks = method::paragraphs(&texts, t);
        blocks.push(method::list(asked.iter().map(item)));
        (!asked.is_empty()).then(|| Block::section(t.get("method-transactions-heading"), blocks))
    }

    fn results(&self, material: &Material<'_>, t: &Texts) -> Option<Block> {
        let groups = groups::<TransactionsSpec>(material);
        (!groups.is_empty()).then(|| tables::section(&groups, t))
    }

    fn headlines(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        groups::<TransactionsSpec>(material).iter().filter_map(|group| headline(group, t)).collect()
    }

    fn main_figures(&self, material: &Material<'_>, t: &Texts) -> Vec<MainFigure> {
        let figure = |group: &TransactionsGroup<'_>| MainFigure {
            spec: group.spec.clone().into(),
            name: group.name(t),
            value: or_none(group.over(TransactionsResult::per_second), |it| transaction_rate(it.median)),
        };
        groups::<TransactionsSpec>(material).iter().map(figure).collect()
    }

    fn terminal_table(&self, material: &Material<'_>, t: &Texts) -> Vec<String> {
        let head = ["transactions-heading", "col-trials", "col-transactions"].map(|key| t.get(key));
        let [name, trials, rate] = head;
        let head = [name, trials, rate, "p50 (µs)".to_owned(), "p99 (µs)".to_owned(), t.get("col-failed")];
        let row = |group: &TransactionsGroup<'_>| {
            let limits = material.limits(&group.spec.clone().into(), group.way, t);
            Row(terminal_row(group, t), limits)
        };
        terminal::table(head, groups::<TransactionsSpec>(material).iter().map(row).collect())
    }

    fn times(&self, material: &Material<'_>, t: &Texts) -> Vec<Times> {
        let times = |group: &TransactionsGroup<'_>| {
            Some(Times { name: group.name(t), axis: t.get("axis-response"), sample: group.sample()? })
        };
        groups::<TransactionsSpec>(material).iter().filter_map(times).collect()
    }

    fn terms(&self, material: &Material<'_>) -> Vec<&'static str> {
        let needed = ["term-transaction", "term-response", "term-loops", "term-mode"];
        if groups::<TransactionsSpec>(material).is_empty() { vec![] } else { needed.to_vec() }
    }
}

impl Spec for TransactionsSpec {
    fn configuration(&self, t: &Texts) -> String {
        super::told_apart(self, names::configuration(self, t), t)
    }

    fn rate(&self, per_second: f64) -> String {
        transaction_rate(per_second)
    }

    fn load_unit(&self, per_second: f64) -> (f64, &'static str) {
        show::transaction_rate_unit(per_second)
    }
}

/// The rate that a self-test made, and p99 of its response time.
pub(super) fn made_alone(result: &TransactionsResult) -> [String; 2] {
    let p99 = result.response_ns.p99.map(|ns| ns as f64);
    [or_none(result.per_second(), transaction_rate), micros_or_none(p99)]
}

fn headline(group: &TransactionsGroup<'_>, t: &Texts) -> Option<String> {
    let rate = group.over(TransactionsResult::per_second)?;
    let name = group.name(t);
    let (median, spread) = (transaction_rate(rate.median), rate.words(transaction_rate, t));
    let failed = show::grouped(group.sum(TransactionsResult::failures));
    let times = [group.response(|it| it.p50), group.response(|it| it.p99)];
    let [p50, p99] = times.map(|time| or_none(time, |it| format!("{} µs", micros(it.median))));
    let values: [(&str, &dyn std::fmt::Display); 6] =
        [("name", &name), ("median", &median), ("spread", &spread), ("p50", &p50), ("p99", &p99), ("failed", &failed)];
    Some(t.with("headline-transactions", &values))
}

fn terminal_row(group: &TransactionsGroup<'_>, t: &Texts) -> [String; 6] {
    [
        group.name(t),
        group.trials.len().to_string(),
        or_none(group.over(TransactionsResult::per_second), |it| transaction_rate(it.median)),
        micros_or_none(group.response(|it| it.p50).map(|it| it.median)),
        micros_or_none(group.response(|it| it.p99).map(|it| it.median)),
        show::grouped(group.sum(TransactionsResult::failures)),
    ]
}
