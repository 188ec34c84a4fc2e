//! Round-trip times: the tables and their figures.

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::{IpVersion, Protocol, Run, TimeSummary, WaitMode, frame_size::Headers, trial::StageName};

use super::{
    schedule::{self, Schedule},
    table::{figures, table, words},
};
use crate::{
    figure,
    groups::{LatencyGroup, latency_groups},
    show::{self, NO_FIGURE, WIRE_EXTRA, grouped, micros, micros_or_none, or_none},
    texts::Texts,
};

/// Nothing when no round-trip time was measured.
pub(super) fn latency(run: &Run, t: &Texts) -> Markup {
    let groups = latency_groups(run);
    if groups.is_empty() {
        return html! {};
    }
    html! {
        h3 { (t.get("latency-heading")) }
        (latency_table(&groups, t))
        (polled(&groups, t))
        (overflowed(&groups, t))
        div.charts {
            @if let Some(figure) = figure::rtt_by_frame_size(&groups, t) { (figure) }
            @if let Some(figure) = figure::distribution(&groups, t) { (figure) }
        }
        (schedule::table(&groups.iter().filter_map(|group| schedule_of(group, t)).collect::<Vec<_>>(), t))
        (ways_table(run, &groups, t))
        (stages_table(&groups, t))
        (frames_table(&groups, t))
    }
}

fn latency_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let intervals = groups.iter().any(|group| group.rtt(|rtt| rtt.p50).is_some_and(|p50| p50.interval.is_some()));
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-frame")))
        (figures(&t.get("col-payload")))
        (figures(&t.get("col-trials")))
        (figures(&t.get("col-min")))
        (figures("p50"))
        (figures(&t.get("col-spread")))
        @if intervals { (figures(&t.get("col-interval-p50"))) }
        (figures("p99"))
        (figures("p99.9"))
        (figures(&t.get("col-max")))
        (figures(&t.get("col-lost")))
        (figures(&t.get("col-half")))
    };
    let rows = html! { @for group in groups { (row(group, intervals, t)) } };
    table(&t.get("latency-caption"), &head, &rows)
}

fn row(group: &LatencyGroup<'_>, intervals: bool, t: &Texts) -> Markup {
    let p50 = group.rtt(|rtt| rtt.p50);
    let range = |low: f64, high: f64| format!("{} – {}", micros(low), micros(high));
    let missing =
        [group.sum(|it| it.lost), group.sum(|it| it.late), group.sum(|it| it.reordered), group.sum(|it| it.duplicated)];
    html! {
        tr {
            th scope="row" { (show::latency_traffic(group.spec, t)) }
            td.n { (frame(group)) }
            td.n { (payload(group)) }
            td.n { (group.trials.len()) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.min).map(|min| min.low))) }
            td.n { strong { (micros_or_none(p50.map(|p50| p50.median))) } }
            td.n { (or_none(p50.and_then(|p50| p50.range()), |(low, high)| range(low, high))) }
            @if intervals { td.n { (or_none(p50.and_then(|p50| p50.interval), |it| range(it.low, it.high))) } }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.p99).map(|it| it.median))) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.p999).map(|it| it.median))) }
            td.n { (micros_or_none(group.rtt(|rtt| rtt.max).map(|max| max.high))) }
            td.n { (missing.map(grouped).join(" / ")) }
            td.n.derived { (micros_or_none(p50.map(|p50| p50.median / 2.0))) }
        }
    }
}

/// The size of the frames, after the one asked for where they are larger.
fn frame(group: &LatencyGroup<'_>) -> String {
    let (asked, is) = (group.spec.frame_size.0, group.first().frame_size.0);
    if asked == is { is.to_string() } else { format!("{asked} → {is}") }
}

/// The payload that made these frames; a mark where trials differ.
fn payload(group: &LatencyGroup<'_>) -> String {
    let mut sizes = group.trials.iter().map(|(_, result)| result.payload_size);
    match sizes.next() {
        Some(first) if sizes.all(|size| size == first) => first.0.to_string(),
        _ => NO_FIGURE.to_owned(),
    }
}

/// What busy polling polled.
fn polled(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let polling = || groups.iter().filter(|group| group.spec.mode == WaitMode::BusyPoll);
    let queues: BTreeSet<u32> = polling().flat_map(|group| &group.trials).filter_map(|(_, it)| it.napi).collect();
    let queues: Vec<String> = queues.iter().map(ToString::to_string).collect();
    html! {
        @if polling().next().is_some() {
            p.note {
                @if queues.is_empty() { (t.get("polled-none")) }
                @else { (t.with("polled", &[("queues", &queues.join(", "))])) }
            }
        }
    }
}

/// Replies that never came because this side's own buffer was full.
fn overflowed(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let full = groups.iter().map(|group| (group, group.sum(|it| it.overflowed))).filter(|(_, count)| *count > 0);
    html! {
        @for (group, count) in full {
            @let name = show::latency_configuration(group.spec, t);
            p.note { (t.with("overflowed", &[("name", &name), ("count", &grouped(count))])) }
        }
    }
}

fn schedule_of<'a>(group: &LatencyGroup<'a>, t: &Texts) -> Option<Schedule<'a>> {
    let paced: Vec<_> = group.trials.iter().filter_map(|(_, result)| result.pacing.as_ref()).collect();
    Some(Schedule {
        name: show::latency_configuration(group.spec, t),
        intended: show::packet_rate(group.over(|result| result.intended_pps)?.median),
        achieved: or_none(group.over(|result| Some(result.achieved_pps)), |it| show::packet_rate(it.median)),
        paced,
    })
}

/// Delays of each way and how they vary; nothing when neither was measured.
fn ways_table(run: &Run, groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let [near, far] = run.bed.endpoints.as_slice() else { return html! {} };
    let (there, back) = (show::way(&near.name, &far.name), show::way(&far.name, &near.name));
    let one_way = groups.iter().any(|group| group.trials.iter().any(|(_, result)| result.one_way.is_some()));
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-frame")))
        @if one_way {
            @for way in [&there, &back] { (figures(&t.with("col-one-way", &[("way", way)]))) }
        }
        (figures(&t.get("col-variation-rtt")))
        @if one_way {
            @for way in [&there, &back] { (figures(&t.with("col-variation", &[("way", way)]))) }
        }
    };
    let rows = html! {
        @for group in groups {
            tr {
                th scope="row" { (show::latency_traffic(group.spec, t)) }
                td.n { (frame(group)) }
                @if one_way {
                    td.n { (both(group, |it| it.one_way.as_ref().map(|it| &it.forward_ns))) }
                    td.n { (both(group, |it| it.one_way.as_ref().map(|it| &it.reverse_ns))) }
                }
                td.n { (both(group, |it| Some(&it.variation.rtt_ns))) }
                @if one_way {
                    td.n { (both(group, |it| it.variation.forward_ns.as_ref())) }
                    td.n { (both(group, |it| it.variation.reverse_ns.as_ref())) }
                }
            }
        }
    };
    let (heading, caption) = if one_way {
        (t.get("ways-heading"), t.get("ways-caption"))
    } else {
        (t.get("variation-heading"), t.get("variation-caption"))
    };
    html! { h4 { (heading) } (table(&caption, &head, &rows)) }
}

/// p50 and p99 of a sample, medians over the trials.
fn both(group: &LatencyGroup<'_>, sample: impl Fn(&model::LatencyResult) -> Option<&TimeSummary>) -> String {
    let figure = |of: fn(&TimeSummary) -> Option<u64>| {
        group.over(|result| sample(result).and_then(of).map(|ns| ns as f64)).map(|it| it.median)
    };
    match (figure(|it| it.p50), figure(|it| it.p99)) {
        (None, None) => NO_FIGURE.to_owned(),
        (p50, p99) => format!("{} / {}", micros_or_none(p50), micros_or_none(p99)),
    }
}

/// The round trip split by the kernel's stamps; nothing when they were not asked for.
fn stages_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let stages = [StageName::NearSend, StageName::WireAndFar, StageName::NearReceive];
    let stamped: Vec<_> = groups.iter().filter(|group| !group.first().stages.is_empty()).collect();
    if stamped.is_empty() {
        return html! {};
    }
    let head = html! {
        (words(&t.get("col-traffic")))
        (figures(&t.get("col-frame")))
        @for stage in stages { (figures(&show::stage(stage, t))) }
        (words(&t.get("col-stamped-by")))
    };
    let time = |group: &LatencyGroup<'_>, name: StageName| {
        both(group, |it| it.stages.iter().find(|stage| stage.stage == name).map(|stage| &stage.time_ns))
    };
    let rows = html! {
        @for group in stamped {
            tr {
                th scope="row" { (show::latency_traffic(group.spec, t)) }
                td.n { (frame(group)) }
                @for stage in stages { td.n { (time(group, stage)) } }
                td { (stamped_by(group, t)) }
            }
        }
    };
    html! { h4 { (t.get("stages-heading")) } (table(&t.get("stages-caption"), &head, &rows)) }
}

fn stamped_by(group: &LatencyGroup<'_>, t: &Texts) -> String {
    if group.first().hardware_stamps { t.get("stamped-by-card") } else { t.get("stamped-by-kernel") }
}

/// What each frame is made of, once for each kind of frame.
fn frames_table(groups: &[LatencyGroup<'_>], t: &Texts) -> Markup {
    let mut frames: Vec<(Protocol, IpVersion, bool, u32)> = Vec::new();
    for group in groups {
        let result = group.first();
        let kind = (group.spec.protocol, group.spec.ip, result.tcp_timestamps, result.frame_size.0);
        if !frames.contains(&kind) {
            frames.push(kind);
        }
    }
    let head = html! {
        (words(&t.get("col-headers")))
        (figures(&t.get("col-ethernet")))
        (figures(&t.get("col-ip")))
        (figures(&t.get("col-transport")))
        (figures(&t.get("col-payload")))
        (figures("FCS (B)"))
        (figures(&t.get("col-frame-sum")))
        (figures(&t.get("col-wire")))
    };
    let rows = html! { @for frame in frames { (frame_row(frame, t)) } };
    let caption = t.with("frames-caption", &[("extra", &WIRE_EXTRA)]);
    html! { h4 { (t.get("frames-heading")) } (table(&caption, &head, &rows)) }
}

fn frame_row((protocol, ip, tcp_timestamps, frame): (Protocol, IpVersion, bool, u32), t: &Texts) -> Markup {
    use model::frame_size::{ETHERNET_HEADER, FCS};
    let headers = Headers { ip, protocol, tcp_timestamps }.bytes();
    let ip_header = if ip == IpVersion::V4 { 20 } else { 40 };
    html! {
        tr {
            th scope="row" {
                (protocol.name()) " " (ip) @if tcp_timestamps { " " (t.get("with-timestamps")) }
            }
            td.n { (ETHERNET_HEADER) }
            td.n { "+ " (ip_header) }
            td.n { "+ " (headers - ip_header) }
            td.n { "+ " (frame.saturating_sub(ETHERNET_HEADER + headers + FCS)) }
            td.n { "+ " (FCS) }
            td.n { "= " strong { (frame) } }
            td.n { (frame + WIRE_EXTRA) }
        }
    }
}
