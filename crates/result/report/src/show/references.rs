//! A run beside published figures, in the report's language.

use model::{
    LimitOutcome, Match, Modifier, NotComparable, Undecided,
    alike::distinct,
    plan::Bound,
    reference::{Against, Condition, Difference, FLAT_OUT, ONE_WAY, UNMODIFIED, Words},
    units::Printed,
};

use super::{NO_FIGURE, bound_value, direction, metric_value, mode, stack};
use crate::{lang::Lang, texts::Texts};

/// A reference's own words: Japanese where they are wanted and there are any.
pub(crate) fn words<'a>(words: &'a Words, t: &Texts) -> &'a str {
    match (&words.ja, t.lang) {
        (Some(japanese), Lang::Ja) => japanese,
        _ => &words.en,
    }
}

/// A value as it was printed, with the unit as this report writes it.
pub(crate) fn printed(value: &Printed) -> String {
    let text = value.to_string();
    text.strip_suffix("us").map_or_else(|| text.clone(), |number| format!("{number}µs"))
}

/// By how much ours is above theirs.
pub(crate) fn deviation(percent: f64) -> String {
    format!("{percent:+.1} %")
}

/// Bound of a limit, and the reference that gives it or why it cannot.
pub(crate) fn limit(outcome: &LimitOutcome, t: &Texts) -> String {
    reasoned(outcome, criterion(outcome, t), t)
}

/// The same of several outcomes, whose bounds differ where a reference gives them.
pub(crate) fn limit_of_several(outcome: &LimitOutcome, t: &Texts) -> String {
    reasoned(outcome, declared(outcome, t), t)
}

fn reasoned(outcome: &LimitOutcome, criterion: String, t: &Texts) -> String {
    match &outcome.against {
        Some(Against { matches: Match::NotComparable { why }, .. }) if outcome.bound.is_none() => {
            t.with("limit-not-comparable", &[("criterion", &criterion), ("why", &not_comparable(why, t))])
        }
        _ => criterion,
    }
}

/// The same as the plan declares it: the bounds that a reference gives differ from figure to figure.
pub(crate) fn declared(outcome: &LimitOutcome, t: &Texts) -> String {
    let Some(Against { reference, .. }) = &outcome.against else { return criterion(outcome, t) };
    let within = outcome.limit.within.unwrap_or_default();
    t.with("limit-within", &[("reference", reference), ("within", &within)])
}

/// Bound of a limit, and the reference that gives it, or would if it could be compared.
pub(crate) fn criterion(outcome: &LimitOutcome, t: &Texts) -> String {
    let would_be = || {
        let Against { figure, .. } = outcome.against.as_ref()?;
        let value = figure.as_ref().map(|figure| figure.value.amount() * figure.per_ours())?;
        Some(outcome.limit.metric.no_worse_than(value, outcome.limit.within?))
    };
    let bound = outcome.bound.or_else(would_be).map(|bound| {
        // A bound of the plan is as it was written; one that is computed from a reference is rounded.
        let words: fn(_, _) -> _ = if outcome.against.is_none() { bound_value } else { metric_value };
        let value = |value: f64| words(outcome.limit.metric, value);
        match bound {
            Bound::AtMost(most) => t.with("limit-at-most", &[("value", &value(most))]),
            Bound::AtLeast(least) => t.with("limit-at-least", &[("value", &value(least))]),
        }
    });
    let within = outcome.limit.within.unwrap_or_default();
    match (bound, &outcome.against) {
        (Some(bound), None) => bound,
        (Some(bound), Some(Against { reference, .. })) => {
            t.with("limit-by-reference", &[("bound", &bound), ("reference", reference), ("within", &within)])
        }
        (None, Some(Against { reference, .. })) => {
            t.with("limit-within", &[("reference", reference), ("within", &within)])
        }
        (None, None) => NO_FIGURE.to_owned(),
    }
}

/// Each condition once: with both values where these are always the same, else by its name.
pub(crate) fn in_short(differences: &[&Difference], t: &Texts) -> String {
    let word = |one: &&Difference| {
        let alike = differences.iter().filter(|it| it.condition == one.condition).all(|it| it == one);
        if alike { difference(one, t) } else { condition(one.condition, t) }
    };
    distinct(differences.iter().map(word)).join("; ")
}

fn difference(difference: &Difference, t: &Texts) -> String {
    let value = |value: &str| condition_value(difference.condition, value, t);
    let name = condition(difference.condition, t);
    let ours = difference.ours.as_deref().map_or_else(|| t.get("condition-unknown"), value);
    t.with("condition-differs", &[("name", &name), ("ours", &ours), ("theirs", &value(&difference.theirs))])
}

/// A value of a condition: choices in words, amounts as they are.
fn condition_value(condition: Condition, value: &str, t: &Texts) -> String {
    let chosen = match condition {
        Condition::Simulated if value == "simulated" => Some(t.get("world-simulated")),
        Condition::Simulated => Some(t.get("world-hardware")),
        Condition::Stack => value.parse().ok().map(|it| stack(it, t)),
        Condition::Mode => value.parse().ok().map(|it| mode(it, t)),
        Condition::Modifier if value == UNMODIFIED => Some(t.get("modifier-none")),
        Condition::Modifier => value.parse().ok().map(|it: Modifier| t.of_value("modifier", &it)),
        Condition::Direction if value == ONE_WAY => Some(t.get("condition-one-way")),
        Condition::Direction => value.parse().ok().map(|it| direction(it, t)),
        Condition::Offered if value == FLAT_OUT => Some(t.get("condition-flat-out")),
        _ => None,
    };
    chosen.unwrap_or_else(|| value.to_owned())
}

fn condition(condition: Condition, t: &Texts) -> String {
    t.of_value("condition", &condition)
}

/// Why a criterion is neither met nor missed.
pub(crate) fn undecided(why: &Undecided, t: &Texts) -> String {
    match why {
        Undecided::NotComparable { because, .. } => {
            t.of_value_with("undecided", why, &[("why", &not_comparable(because, t))])
        }
        Undecided::MtuDisproved { ip, .. } | Undecided::NoAddress { ip } => {
            t.of_value_with("undecided", why, &[("ip", ip)])
        }
        plain => t.of_value("undecided", plain),
    }
}

/// Why two figures cannot stand side by side.
pub(crate) fn not_comparable(why: &NotComparable, t: &Texts) -> String {
    let with = |name: &str, value: &str| t.of_value_with("why", why, &[(name, &value)]);
    match why {
        NotComparable::Unknown { statistic: theirs } => with("statistic", &t.of_value("statistic", theirs)),
        NotComparable::Statistic { theirs } => with("theirs", &t.of_value("statistic", theirs)),
        NotComparable::Load { theirs: None } => t.get("why-ping-pong"),
        NotComparable::Ip { theirs } => t.with("why-traffic", &[("theirs", theirs)]),
        NotComparable::Protocol { theirs } => t.with("why-traffic", &[("theirs", &theirs.name())]),
        NotComparable::Tool { theirs } => with("theirs", theirs),
        NotComparable::Metric { theirs } => with("theirs", &t.of_value("published", theirs)),
        plain => t.of_value("why", plain),
    }
}
