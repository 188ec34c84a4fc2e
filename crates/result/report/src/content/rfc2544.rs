//! Results of tests of RFC 2544: tables and figures over the frame sizes, and where the tests differ from the RFC.

mod figures;

use std::fmt::Display;

use model::{
    Assessment, Modifier, UPDATE_EVERY, UPDATED_ROUTES, Verdict,
    frame_size::FrameSize,
    rfc2544::{
        AtThroughput, BackToBack, Deviation, LatencyAtLoad, PortRates, Recovery, Reset, Rfc2544, TestedLatency,
        TestedLoss, TestedSize,
    },
    search::AssessedGoal,
    stream::Sizes,
};

use super::searches::figure as search_course;
use crate::{
    columns::Columns,
    method::list,
    page::{Block, Text},
    show::{self, grouped, micros, micros_or_none, or_none, packet_rate, percent},
    terminal::{self, Row},
    texts::Texts,
};

/// A section for each section of the plan and repeat.
pub(super) fn sections(assessment: &Assessment, t: &Texts) -> Vec<Block> {
    let several = assessment.rfc2544.len() > 1;
    assessment.rfc2544.iter().map(|tests| section(tests, several, t)).collect()
}

/// The throughput of each frame size in a line each.
pub(super) fn headlines(assessment: &Assessment, t: &Texts) -> Vec<String> {
    let line = |size: &TestedSize| {
        let at = size.throughput.as_ref()?;
        let modifier = size.modifier.map(|modifier| t.of_value("modifier", &modifier)).unwrap_or_default();
        let values: [(&str, &dyn Display); 4] = [
            ("size", &frame_with_unit(size)),
            ("modifier", &modifier),
            ("throughput", &rate_of(at, t)),
            ("forwarded", &show::rate(at.forwarded_l1_bps)),
        ];
        let line = t.with(if modifier.is_empty() { "rfc2544-headline" } else { "rfc2544-headline-modified" }, &values);
        Some(if size.is_vouched == Some(false) { format!("{line} {}", beyond_tester(t)) } else { line })
    };
    let reset =
        |size: &TestedSize| Some(t.with("rfc2544-reset-headline", &[("outage", &outage(size.reset.as_ref()?, t))]));
    all_sizes(assessment).filter_map(line).chain(all_sizes(assessment).filter_map(reset)).collect()
}

/// A row for each frame size, for the terminal.
pub(crate) fn terminal_table(assessment: &Assessment, t: &Texts) -> Vec<String> {
    let head = ["col-frame", "rfc2544-throughput", "rfc2544-col-latency", "rfc2544-col-loss", "rfc2544-col-burst"];
    let row = |size: &TestedSize| {
        let latency = size.latency.iter().filter_map(|latency| latency.mean_ns).reduce(f64::max);
        let cells = [
            show::joined([frame(size)].into_iter().chain(size.modifier.map(|it| t.of_value("modifier", &it))), t),
            or_none(size.throughput.as_ref(), |at| rate_of(at, t)),
            latency.map_or_else(|| show::NO_FIGURE.to_owned(), |ns| format!("{} µs", micros(ns))),
            or_none(size.loss.iter().find(|loss| loss.share == 1.0), |loss| percent(loss.loss_ratio)),
            or_none(size.back_to_back.as_ref(), |bursts| burst(bursts, t)),
        ];
        Row(cells, vec![])
    };
    terminal::table(head.map(|key| t.get(key)), all_sizes(assessment).map(row).collect())
}

fn all_sizes(assessment: &Assessment) -> impl Iterator<Item = &TestedSize> {
    assessment.rfc2544.iter().flat_map(|tests| &tests.sizes)
}

fn section(tests: &Rfc2544, several: bool, t: &Texts) -> Block {
    let sizes = &tests.sizes;
    let mut blocks = vec![
        Block::Notice { word: t.get("rfc2544-isolated"), text: t.get("rfc2544-isolated-meaning").into() },
        Block::Paragraph(t.get("rfc2544-ways").into()),
    ];
    if !tests.deviations.is_empty() {
        blocks.push(Block::Paragraph(t.get("rfc2544-deviations").into()));
        blocks.push(list(tests.deviations.iter().map(|deviation| words(deviation, t))));
    }
    if !tests.filters.is_empty() {
        blocks.push(Block::Paragraph(t.get("rfc2544-filters").into()));
        blocks.extend(tests.filters.iter().cloned().map(Block::Command));
    }
    if sizes.iter().any(|size| size.modifier == Some(Modifier::RouteUpdates)) {
        let values: [(&str, &dyn Display); 2] = [("routes", &UPDATED_ROUTES), ("every", &UPDATE_EVERY)];
        blocks.push(Block::Paragraph(t.with("rfc2544-route-updates", &values).into()));
    }
    blocks.extend(throughput(sizes, t));
    blocks.extend(figures::by_size(sizes, t).map(Block::Figure));
    blocks.extend(goals(sizes, t));
    let courses = sizes.iter().filter_map(|size| search_course(size.search.as_ref()?, t)).map(Block::Figure);
    let courses: Vec<Block> = courses.collect();
    let summary = t.get("rfc2544-courses");
    blocks.extend((!courses.is_empty()).then_some(Block::Folded { summary, blocks: courses }));
    blocks.extend(latency(sizes, t));
    blocks.extend(figures::spread(sizes, t).into_iter().map(Block::Figure));
    blocks.extend(latency_at_loads(sizes, t));
    blocks.extend(loss(sizes, t));
    blocks.extend(figures::loss_curve(sizes, t).map(Block::Figure));
    blocks.extend(bursts(sizes, t));
    blocks.extend(recovery(sizes, t));
    blocks.extend(reset(sizes, t));
    let title = match several {
        true => t.with("rfc2544-heading-of", &[("section", &tests.section), ("repeat", &tests.repeat)]),
        false => t.get("rfc2544-heading"),
    };
    Block::section(title, blocks)
}

/// A deviation in words.
fn words(deviation: &Deviation, t: &Texts) -> String {
    match deviation {
        Deviation::LossAllowed { loss_ratio, exceed_ratio } => {
            let shares: [(&str, &dyn Display); 2] =
                [("loss_ratio", &percent(*loss_ratio)), ("exceed_ratio", &percent(*exceed_ratio))];
            t.of_value_with("deviation", deviation, &shares)
        }
        Deviation::FewModifiers { missing } => {
            let missing = missing.iter().map(|modifier| t.of_value("modifier", modifier));
            let missing = [t.get("modifier-management")].into_iter().chain(missing);
            t.of_value_with("deviation", deviation, &[("missing", &show::joined(missing, t))])
        }
        _ => t.of_value("deviation", deviation),
    }
}

/// The size that was asked for, or the mix; the size that was sent behind an arrow, where the smaller one has no room for the number.
fn frame(size: &TestedSize) -> String {
    let Some(FrameSize(asked)) = size.frame_size else {
        return or_none(size.mix.as_ref(), |mix| if *mix == Sizes::Imix { mix.words() } else { mix.to_string() });
    };
    match size.sent_size.filter(|sent| sent.0 != asked) {
        Some(sent) => format!("{asked} → {}", sent.0),
        None => asked.to_string(),
    }
}

/// The same with its unit, and with the modifier of the tests.
fn with_unit(size: &TestedSize, t: &Texts) -> String {
    let modifier = size.modifier.as_ref().map(|modifier| t.of_value("modifier", modifier));
    show::joined([frame_with_unit(size)].into_iter().chain(modifier), t)
}

fn frame_with_unit(size: &TestedSize) -> String {
    if size.frame_size.is_some() { format!("{} B", frame(size)) } else { frame(size) }
}

/// The throughput; where no higher load was shown to fail, the device may forward more.
fn rate_of(at: &AtThroughput, t: &Texts) -> String {
    let rate = packet_rate(at.load_pps);
    if at.is_bounded { rate } else { t.with("rfc2544-or-more", &[("value", &rate)]) }
}

/// Lost frames of those that the trial sent. No bound of the loss rate follows from none: the search chose the trial by its result.
fn lost_of(at: &AtThroughput, t: &Texts) -> String {
    t.with("rfc2544-lost-of", &[("lost", &grouped(at.lost)), ("frames", &grouped(at.frames))])
}

/// A result at a frame size.
type Of<'s, R> = (&'s TestedSize, &'s R);

/// Columns that tell rows apart: the frames, and the modifier where there is one.
fn columns<'c, 's: 'c, R>(rows: &[Of<'s, R>], t: &'c Texts) -> Columns<'c, Of<'s, R>> {
    Columns::new()
        .figures(t.get("col-frame"), |(size, _): &Of<'s, R>| frame(size))
        .words(t.get("rfc2544-col-modifier"), |(size, _)| {
            or_none(size.modifier.as_ref(), |it| t.of_value("modifier", it))
        })
        .only_if(rows.iter().any(|(size, _)| size.modifier.is_some()))
}

/// Ports as a generator shows them, and what the device forwarded.
fn throughput(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, AtThroughput>> =
        sizes.iter().filter_map(|size| Some((size, size.throughput.as_ref()?))).collect();
    let ports = &rows.first()?.1.ports;
    let columns = columns(&rows, t)
        .figures(t.get("rfc2544-col-cores"), |(size, _)| or_none(size.dut_cores, |cores| cores.to_string()))
        .only_if(rows.iter().any(|(size, _)| size.dut_cores.is_some()))
        .figures(t.get("rfc2544-col-throughput"), |(_, at)| Text::strong(rate_of(at, t)));
    let columns = ports.iter().enumerate().fold(columns, |columns, (place, port)| {
        let head = |key: &str| t.with(key, &[("port", &port.port)]);
        let rate = move |at: &AtThroughput, of: fn(&PortRates) -> f64| {
            or_none(at.ports.get(place).map(of).filter(|bps| *bps > 0.0), show::rate)
        };
        columns
            .figures(head("col-port-tx"), move |(_, at): &Of<'_, AtThroughput>| rate(at, |port| port.tx_l1_bps))
            .figures(head("col-port-rx"), move |(_, at)| rate(at, |port| port.rx_l1_bps))
    });
    let share = |size: &TestedSize, at: &AtThroughput| or_none(size.line_pps, |line| percent(at.load_pps / line));
    let table = columns
        .figures(t.get("rfc2544-col-forwarded"), |(_, at)| show::rate(at.forwarded_l1_bps))
        .figures(t.get("col-forwarded-sum"), |(_, at)| packet_rate(at.forwarded_pps))
        .figures(t.get("rfc2544-col-share"), move |(size, at)| share(size, at))
        .only_if(rows.iter().any(|(size, _)| size.line_pps.is_some()))
        .figures(t.get("rfc2544-col-lost-of"), |(_, at)| lost_of(at, t))
        .figures(t.get("col-trial"), |(_, at)| at.trial.to_string())
        .table(t.get("rfc2544-throughput-caption"), &rows);
    Some(table)
}

/// The bounds that each goal of the search has.
fn goals(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, AssessedGoal>> =
        sizes.iter().flat_map(|size| size.goals.iter().map(move |goal| (size, goal))).collect();
    let rate = |pps: Option<f64>| or_none(pps, packet_rate);
    let table = columns(&rows, t)
        .words(t.get("rfc2544-col-goal"), |(_, it)| it.goal.name.clone())
        .figures(t.get("rfc2544-col-lower"), move |(_, it)| rate(it.result.relevant_lower_bound))
        .figures(t.get("rfc2544-col-upper"), move |(_, it)| rate(it.result.relevant_upper_bound))
        .figures(t.get("rfc2544-col-conditional"), move |(_, it)| rate(it.result.conditional_throughput))
        .figures(t.get("col-search-tester"), move |row| rate(row.0.tester_pps.filter(|_| is_first(row))))
        .only_if(rows.iter().any(|(size, _)| size.tester_pps.is_some()))
        .long(t.get("rfc2544-col-remark"), |it| {
            let remarks = remarks(it, t);
            if remarks.is_empty() { show::NO_FIGURE.to_owned() } else { remarks }
        })
        .only_if(rows.iter().any(|row| !remarks(row, t).is_empty()))
        .table(t.get("rfc2544-goals-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

/// An irregular result, and loads that contradict each other.
fn remarks(row: &Of<'_, AssessedGoal>, t: &Texts) -> String {
    let ((size, it), is_first) = (row, is_first(row));
    let beyond = (size.is_vouched == Some(false) && is_first).then(|| beyond_tester(t));
    let irregular = it.result.irregular.map(|why| t.of_value("irregular", &why));
    let contradictory = (size.is_contradictory && is_first).then(|| t.get("rfc2544-contradictory"));
    beyond.into_iter().chain(irregular).chain(contradictory).collect::<Vec<_>>().join(" ")
}

/// Whether this goal gives the throughput.
fn is_first((size, it): &Of<'_, AssessedGoal>) -> bool {
    size.goals.first() == Some(*it)
}

/// Words for a throughput that the tester does not vouch for.
fn beyond_tester(t: &Texts) -> String {
    t.with("search-beyond-tester", &[("verdict", &show::verdict(Verdict::Inconclusive, t))])
}

fn latency(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, TestedLatency>> =
        sizes.iter().flat_map(|size| size.latency.iter().map(move |latency| (size, latency))).collect();
    let whole = |ns: Option<u64>| micros_or_none(ns.map(|ns| ns as f64));
    let table = columns(&rows, t)
        .words(t.get("col-direction"), |(_, it)| show::way(&it.from, &it.to))
        .figures(t.get("rfc2544-col-load"), |(_, it)| packet_rate(it.load_pps))
        .figures(t.get("col-trials"), |(_, it)| it.trials.to_string())
        .figures(t.get("col-min"), move |(_, it)| whole(it.min_ns))
        .figures(t.get("col-mean"), |(_, it)| Text::strong(micros_or_none(it.mean_ns)))
        .figures("p50", |(_, it)| micros_or_none(it.p50_ns))
        .figures("p90", |(_, it)| micros_or_none(it.p90_ns))
        .figures("p99", |(_, it)| micros_or_none(it.p99_ns))
        .figures("p99.9", |(_, it)| micros_or_none(it.p999_ns))
        .figures(t.get("col-max"), move |(_, it)| whole(it.max_ns))
        .table(t.get("rfc2544-latency-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

fn latency_at_loads(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, LatencyAtLoad>> =
        sizes.iter().flat_map(|size| size.latency_loads.iter().map(move |at| (size, at))).collect();
    let table = columns(&rows, t)
        .words(t.get("col-direction"), |(_, it)| show::way(&it.latency.from, &it.latency.to))
        .figures(t.get("rfc2544-col-of-throughput"), |(_, it)| format!("{:.0} %", it.share * 100.0))
        .figures(t.get("rfc2544-col-load"), |(_, it)| packet_rate(it.latency.load_pps))
        .figures("p50", |(_, it)| Text::strong(micros_or_none(it.latency.p50_ns)))
        .figures("p90", |(_, it)| micros_or_none(it.latency.p90_ns))
        .figures("p99", |(_, it)| micros_or_none(it.latency.p99_ns))
        .table(t.get("rfc2544-latency-loads-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

fn loss(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, TestedLoss>> =
        sizes.iter().flat_map(|size| size.loss.iter().map(move |loss| (size, loss))).collect();
    let table = columns(&rows, t)
        .figures(t.get("rfc2544-col-of-max"), |(_, it)| format!("{:.0} %", it.share * 100.0))
        .figures(t.get("col-offered-load"), |(_, it)| packet_rate(it.offered_pps))
        .figures(t.get("col-loss"), |(_, it)| Text::strong(percent(it.loss_ratio)))
        .figures(t.get("col-trial"), |(_, it)| it.trial.to_string())
        .table(t.get("rfc2544-loss-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

/// Frames of the longest burst without loss.
fn burst(bursts: &BackToBack, t: &Texts) -> String {
    let frames = grouped(bursts.mean_frames.round() as u64);
    if bursts.is_unlimited { t.with("rfc2544-or-more", &[("value", &frames)]) } else { frames }
}

fn bursts(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, BackToBack>> =
        sizes.iter().filter_map(|size| Some((size, size.back_to_back.as_ref()?))).collect();
    let table = columns(&rows, t)
        .figures(t.get("rfc2544-col-load"), |(_, it)| packet_rate(it.rate_pps))
        .figures(t.get("rfc2544-col-bursts"), |(_, it)| it.repeats.to_string())
        .figures(t.get("rfc2544-col-burst"), |(_, it)| Text::strong(burst(it, t)))
        .figures(t.get("col-min"), |(_, it)| grouped(it.min_frames))
        .figures(t.get("col-max"), |(_, it)| grouped(it.max_frames))
        .figures(t.get("rfc2544-col-deviation"), |(_, it)| format!("{:.1}", it.deviation_frames))
        .figures(t.get("rfc2544-col-buffer"), |(_, it)| micros_or_none(it.buffer_s.map(|seconds| seconds * 1e9)))
        .table(t.get("rfc2544-bursts-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

fn recovery(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, Recovery>> = sizes.iter().filter_map(|size| Some((size, size.recovery.as_ref()?))).collect();
    let table = columns(&rows, t)
        .figures(t.get("rfc2544-col-overload"), |(_, it)| packet_rate(it.overload_pps))
        .figures(t.get("rfc2544-col-after"), |(_, it)| packet_rate(it.after_pps))
        .figures(t.get("rfc2544-col-each"), |(_, it)| show::seconds(it.seconds))
        .figures(t.get("col-trials"), |(_, it)| it.trials.to_string())
        .figures(t.get("rfc2544-col-overloaded"), |(_, it)| it.overloaded.to_string())
        .figures(t.get("rfc2544-col-recovery"), |(_, it)| Text::strong(or_none(it.mean_s, show::seconds)))
        .figures(t.get("col-max"), |(_, it)| or_none(it.max_s, show::seconds))
        .figures(t.get("rfc2544-col-not-recovered"), |(_, it)| it.not_recovered.to_string())
        .only_if(rows.iter().any(|(_, it)| it.not_recovered > 0))
        .table(t.get("rfc2544-recovery-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

/// The outage; a bound where the device did not come back.
fn outage(reset: &Reset, t: &Texts) -> String {
    match reset.by_time_s.or(reset.by_loss_s) {
        _ if !reset.is_seen => t.get("rfc2544-no-outage"),
        _ if !reset.is_back => t.get("rfc2544-not-back"),
        outage => or_none(outage, show::seconds),
    }
}

fn reset(sizes: &[TestedSize], t: &Texts) -> Option<Block> {
    let rows: Vec<Of<'_, Reset>> = sizes.iter().filter_map(|size| Some((size, size.reset.as_ref()?))).collect();
    let seconds = |it: &Reset, of: Option<f64>| or_none(of.filter(|_| it.is_seen), show::seconds);
    let table = columns(&rows, t)
        .figures(t.get("rfc2544-col-load"), |(_, it)| packet_rate(it.load_pps))
        .words(t.get("rfc2544-col-outage"), |(_, it)| Text::strong(outage(it, t)))
        .figures(t.get("rfc2544-col-by-time"), move |(_, it)| seconds(it, it.by_time_s))
        .figures(t.get("rfc2544-col-by-loss"), move |(_, it)| seconds(it, it.by_loss_s))
        .figures(t.get("col-trial"), |(_, it)| it.trial.to_string())
        .table(t.get("rfc2544-reset-caption"), &rows);
    (!rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests;
