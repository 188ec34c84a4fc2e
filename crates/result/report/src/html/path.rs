//! Path MTU: what passes each way, why no more, and through which devices.

use maud::{Markup, html};
use model::{
    Culprit, Run,
    trial::{Leg, PathDevice, Refusal},
};

use super::table::{figures, table, words};
use crate::{
    doubts::ranges,
    groups::{PathGroup, path_groups},
    limited, show,
    show::or_none,
    texts::Texts,
};

/// Nothing when no path was measured.
pub(super) fn path(run: &Run, t: &Texts) -> Markup {
    let groups = path_groups(run);
    if groups.is_empty() {
        return html! {};
    }
    html! {
        h3 { (t.get("path-heading")) }
        (path_table(&groups, t))
        @if groups.iter().any(passes_a_tag_more) { p.note { (t.get("path-vlan-note")) } }
        (device_table(&groups, t))
    }
}

/// Whether a little more passes than some interface's MTU.
fn passes_a_tag_more(group: &PathGroup<'_>) -> bool {
    let more = |leg: &Leg, device: &PathDevice| {
        let most = device.mtu.0 + 4;
        device.on_path && leg.mtu.is_some_and(|mtu| (device.mtu.0 + 1..=most).contains(&mtu.0))
    };
    group.trials.iter().any(|(_, result)| {
        [&result.forward, &result.reverse].iter().any(|leg| result.devices.iter().any(|device| more(leg, device)))
    })
}

/// Trials of one direction that came to the same end.
struct Found<'a> {
    way: String,
    leg: &'a Leg,
    culprit: String,
    trials: Vec<u32>,
}

fn found<'a>(group: &PathGroup<'a>, t: &Texts) -> Vec<Found<'a>> {
    let mut all: Vec<Found<'a>> = Vec::new();
    for (trial, result) in &group.trials {
        let (from, to) = (&trial.endpoint_from, &trial.endpoint_to);
        let culprit = verdict::culprit(result, from, to);
        for (way, leg) in [(show::way(from, to), &result.forward), (show::way(to, from), &result.reverse)] {
            let culprit = keeps_down(leg, &result.devices, culprit.as_ref(), t);
            let same = |it: &&mut Found<'_>| (&it.way, it.leg, &it.culprit) == (&way, leg, &culprit);
            match all.iter_mut().find(same) {
                Some(known) => known.trials.push(trial.number),
                None => all.push(Found { way, leg, culprit, trials: vec![trial.number] }),
            }
        }
    }
    all
}

/// What keeps one direction's path MTU down, in words: nothing where it is as large as every device on the way is set to.
fn keeps_down(leg: &Leg, devices: &[PathDevice], culprit: Option<&Culprit>, t: &Texts) -> String {
    let mut on_path = devices.iter().filter(|device| device.on_path);
    match culprit {
        _ if leg.mtu.is_some() && on_path.all(|device| leg.mtu >= Some(device.mtu)) => t.get("culprit-none"),
        Some(culprit) => limited::culprit(culprit, t),
        None => t.get("not-known"),
    }
}

fn path_table(groups: &[PathGroup<'_>], t: &Texts) -> Markup {
    let head = html! {
        (words(&t.get("col-configuration")))
        (words(&t.get("col-direction")))
        (figures(&t.get("col-path-mtu")))
        (words(&t.get("col-refusal")))
        (figures(&t.get("col-routers")))
        (words(&t.get("col-culprit")))
        (words(&t.get("col-trial-numbers")))
    };
    let rows = html! {
        @for group in groups {
            @for found in found(group, t) {
                tr {
                    th scope="row" { (show::path_configuration(group.spec, t)) }
                    td { (found.way) }
                    td.n { strong { (or_none(found.leg.mtu, |mtu| mtu.0.to_string())) } }
                    td.long { (refusal(&found.leg.refusal, t)) }
                    td.n { (or_none(found.leg.routers, |routers| routers.to_string())) }
                    td.long { (found.culprit) }
                    td { (ranges(&found.trials)) }
                }
            }
        }
    };
    table(&t.get("path-caption"), &head, &rows)
}

fn refusal(refusal: &Refusal, t: &Texts) -> String {
    match refusal {
        Refusal::Largest => t.get("refusal-largest"),
        Refusal::Interface => t.get("refusal-interface"),
        Refusal::TooBig { by, mtu } => t.with("refusal-too-big", &[("router", by), ("mtu", &mtu.0)]),
        Refusal::Silent { last_router: Some(router), .. } => t.with("refusal-silent-after", &[("router", router)]),
        Refusal::Silent { last_router: None, routers_answer: Some(false) } => t.get("refusal-silent-filtered"),
        Refusal::Silent { last_router: None, .. } => t.get("refusal-silent"),
    }
}

fn device_table(groups: &[PathGroup<'_>], t: &Texts) -> Markup {
    let head = html! {
        (words(&t.get("col-configuration")))
        (words(&t.get("col-endpoint")))
        (words(&t.get("col-device")))
        (words(&t.get("col-kind")))
        (figures("MTU"))
        (words(&t.get("col-master")))
        (words(&t.get("col-on-path")))
    };
    let rows = html! {
        @for (names, devices) in alike(groups, t) {
            @for device in devices { (device_row(&names.join("; "), device, t)) }
        }
    };
    table(&t.get("devices-caption"), &head, &rows)
}

/// The names of configurations that go through the same devices, with these.
fn alike<'a>(groups: &[PathGroup<'a>], t: &Texts) -> Vec<(Vec<String>, Vec<&'a PathDevice>)> {
    let mut all: Vec<(Vec<String>, Vec<&PathDevice>)> = Vec::new();
    for group in groups {
        let (name, devices) = (show::path_configuration(group.spec, t), devices(group));
        match all.iter_mut().find(|(_, known)| *known == devices) {
            Some((names, _)) => names.push(name),
            None => all.push((vec![name], devices)),
        }
    }
    all
}

/// Each device once, though every trial has it.
fn devices<'a>(group: &PathGroup<'a>) -> Vec<&'a PathDevice> {
    let mut all: Vec<&PathDevice> = Vec::new();
    for device in group.trials.iter().flat_map(|(_, result)| &result.devices) {
        if !all.contains(&device) {
            all.push(device);
        }
    }
    all
}

fn device_row(configuration: &str, device: &PathDevice, t: &Texts) -> Markup {
    let kind = if device.kind.is_empty() { t.get("kind-card") } else { device.kind.clone() };
    html! {
        tr {
            th.long scope="row" { (configuration) }
            td { (device.host) }
            td { code { (device.name) } }
            td { (kind) }
            td.n { (device.mtu.0) }
            td { @if let Some(master) = &device.master { code { (master) } } @else { (show::NO_FIGURE) } }
            td { @if device.on_path { (t.get("yes")) } @else { (t.get("no")) } }
        }
    }
}
