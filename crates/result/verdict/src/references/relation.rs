//! Whether one of our configurations and one published figure can stand side by side.

use std::fmt::Display;

use model::{
    BitRate, Direction, Match, Modifier, NotComparable, ProbeSpec, Reference, ReferenceFigure,
    reference::{Condition, Conditions, Difference, FLAT_OUT, FigureMetric, ONE_WAY, UNMODIFIED},
};

use super::{not_comparable, ours::OurConfiguration};

/// A figure with the conditions that hold for it written out.
pub(super) fn theirs(reference: &Reference, figure: &ReferenceFigure) -> ReferenceFigure {
    ReferenceFigure { conditions: reference.conditions_of(figure), ..figure.clone() }
}

/// Relation of the two. Conditions that the reference does not give count as equal.
/// `across_worlds` lets simulated and real stand side by side, as a difference.
pub(super) fn relate(
    ours: &OurConfiguration,
    reference: &Reference,
    figure: &ReferenceFigure,
    across_worlds: bool,
) -> Match {
    let theirs = reference.conditions_of(figure);
    if let Some(why) = obstacle(ours, figure, &theirs, across_worlds) {
        return not_comparable(why);
    }
    match differences(ours, figure.metric, &theirs) {
        none if none.is_empty() => Match::Comparable,
        conditions => Match::Differs { conditions },
    }
}

/// Reasons why they are figures of different things, the gravest first.
fn obstacle(
    ours: &OurConfiguration,
    figure: &ReferenceFigure,
    theirs: &Conditions,
    across_worlds: bool,
) -> Option<NotComparable> {
    let is = &ours.conditions;
    if figure.inside_host {
        return Some(NotComparable::InsideHost);
    }
    let simulated = theirs.simulated.unwrap_or(false);
    if is.simulated != Some(simulated) && !across_worlds {
        return Some(if simulated { NotComparable::Hardware } else { NotComparable::Simulated });
    }
    if figure.tx_and_rx {
        return Some(NotComparable::TxAndRx);
    }
    if !same_quantity(&ours.spec, figure) {
        return Some(NotComparable::Metric { theirs: figure.metric });
    }
    if let Some(theirs) = other_tool(figure, is, theirs) {
        return Some(NotComparable::Tool { theirs });
    }
    if let Some(theirs) = other(is.protocol, theirs.protocol) {
        return Some(NotComparable::Protocol { theirs });
    }
    if let Some(theirs) = other(is.ip, theirs.ip) {
        return Some(NotComparable::Ip { theirs });
    }
    if figure.metric != FigureMetric::Goodput && is.rate != theirs.rate {
        return Some(NotComparable::Load { theirs: theirs.rate });
    }
    if matches!(figure.metric, FigureMetric::Goodput | FigureMetric::Transfer) { None } else { other_size(is, theirs) }
}

/// Theirs, where it moved the file otherwise.
fn other_tool(figure: &ReferenceFigure, ours: &Conditions, theirs: &Conditions) -> Option<String> {
    let theirs = theirs.tool.clone().filter(|_| figure.metric == FigureMetric::Transfer)?;
    (ours.tool.as_deref() != Some(&*method(&theirs))).then_some(theirs)
}

/// Our word for a way to move a file.
fn method(theirs: &str) -> String {
    // The buffer of `nc -j` is about the payload of a jumbo frame.
    if theirs == "nc -j" { "tcp-jumbo".to_owned() } else { theirs.replace(' ', "-") }
}

/// Round trips of other sizes are other round trips.
fn other_size(is: &Conditions, theirs: &Conditions) -> Option<NotComparable> {
    match (theirs.frame_size, theirs.payload_size) {
        (Some(size), _) => other(is.frame_size, Some(size)).map(|theirs| NotComparable::FrameSize { theirs }),
        (None, Some(size)) => other(is.payload_size, Some(size)).map(|theirs| NotComparable::PayloadSize { theirs }),
        (None, None) => Some(NotComparable::SizeNotStated),
    }
}

fn same_quantity(spec: &ProbeSpec, figure: &ReferenceFigure) -> bool {
    figure.ours().is_some_and(|metric| spec.probe().metrics().contains(&metric))
}

/// Theirs, where both are known and not the same.
fn other<T: PartialEq>(ours: Option<T>, theirs: Option<T>) -> Option<T> {
    if ours.is_some() && ours != theirs { theirs } else { None }
}

/// Differences although the quantity is the same.
fn differences(ours: &OurConfiguration, metric: FigureMetric, theirs: &Conditions) -> Vec<Difference> {
    let is = &ours.conditions;
    let world = |simulated: Option<bool>| simulated.map(|it| if it { "simulated" } else { "hardware" });
    let bytes = |size: model::PayloadSize| format!("{} B", size.0);
    let of_both = [
        difference(Condition::Simulated, world(is.simulated), world(theirs.simulated)),
        difference(Condition::Stack, is.stack, theirs.stack),
        difference(Condition::PayloadSize, is.payload_size.map(bytes), theirs.payload_size.map(bytes)),
        difference(Condition::Mtu, is.mtu.map(|mtu| mtu.0), theirs.mtu.map(|mtu| mtu.0)),
        difference(Condition::LinkRate, is.link_rate, theirs.link_rate),
    ];
    let of_kind = match metric {
        FigureMetric::Rtt | FigureMetric::HalfRtt => vec![difference(Condition::Mode, is.mode, theirs.mode)],
        _ => vec![
            direction(is.direction, theirs),
            difference(Condition::Modifier, Some(modifier(is)), Some(modifier(theirs))),
            difference(Condition::Streams, is.streams, theirs.streams),
            difference(Condition::Duration, is.duration, theirs.duration),
            difference(Condition::Window, is.window, theirs.window),
            difference(Condition::Offered, Some(load(is.offered)), Some(load(theirs.offered))),
        ],
    };
    of_both.into_iter().chain(of_kind).flatten().collect()
}

/// Traffic one way, whichever, differs only from traffic both ways.
fn direction(ours: Option<Direction>, theirs: &Conditions) -> Option<Difference> {
    match (theirs.one_way, ours) {
        (Some(true), Some(Direction::Both)) => {
            difference(Condition::Direction, ours.map(Direction::word), Some(ONE_WAY))
        }
        (Some(true), _) => None,
        _ => difference(Condition::Direction, ours, theirs.direction),
    }
}

/// Here silence has a meaning of its own.
fn modifier(of: &Conditions) -> &'static str {
    of.modifier.map_or(UNMODIFIED, Modifier::word)
}

/// Here silence has a meaning of its own.
fn load(offered: Option<BitRate>) -> String {
    offered.map_or_else(|| FLAT_OUT.to_owned(), |rate| rate.to_string())
}

fn difference<T: PartialEq + Display>(condition: Condition, ours: Option<T>, theirs: Option<T>) -> Option<Difference> {
    let theirs = theirs?;
    let differs = ours.as_ref() != Some(&theirs);
    differs.then(|| Difference { condition, ours: ours.map(|it| it.to_string()), theirs: theirs.to_string() })
}
