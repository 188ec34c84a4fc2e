//! Tables of path MTU: what passes each way, why no more, and through which devices.

use model::{
    Culprit,
    alike::{distinct, grouped},
    trial::{Leg, PathDevice, Refusal},
};

use super::{culprit, group::PathGroup, hops};
use crate::{
    columns::Columns,
    doubts::ranges,
    page::{Block, Text},
    show::{self, or_none},
    texts::Texts,
};

/// All of them.
pub(super) fn section(groups: &[PathGroup<'_>], t: &Texts) -> Block {
    let tag = groups.iter().any(passes_a_tag_more).then(|| Block::Note(t.get("path-vlan-note").into()));
    let blocks = [Some(path_table(groups, t)), tag, Some(device_table(groups, t))];
    let blocks = blocks.into_iter().flatten().chain(hops::blocks(groups, t));
    Block::section(t.get("path-heading"), blocks.collect())
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
    for ((trial, result), assessed) in group.trials.iter().zip(&group.assessed) {
        let (from, to) = (&trial.endpoint_from, &trial.endpoint_to);
        for (way, leg) in [(show::way(from, to), &result.forward), (show::way(to, from), &result.reverse)] {
            let culprit = keeps_down(leg, &result.devices, assessed.culprit.as_ref(), t);
            let same = |it: &&mut Found<'_>| (&it.way, it.leg, &it.culprit) == (&way, leg, &culprit);
            match all.iter_mut().find(same) {
                Some(known) => known.trials.push(trial.number),
                None => all.push(Found { way, leg, culprit, trials: vec![trial.number] }),
            }
        }
    }
    all
}

/// Cause of one direction's path MTU, in words: nothing where it is as large as every device on the way is set to.
fn keeps_down(leg: &Leg, devices: &[PathDevice], culprit: Option<&Culprit>, t: &Texts) -> String {
    let mut on_path = devices.iter().filter(|device| device.on_path);
    match culprit {
        _ if leg.mtu.is_some() && on_path.all(|device| leg.mtu >= Some(device.mtu)) => t.get("culprit-none"),
        Some(culprit) => culprit::words(culprit, t),
        None => t.get("not-known"),
    }
}

fn path_table(groups: &[PathGroup<'_>], t: &Texts) -> Block {
    let mut rows: Vec<(String, Found<'_>)> = Vec::new();
    for group in groups {
        rows.extend(found(group, t).into_iter().map(|found| (group.name(t), found)));
    }
    Columns::new()
        .words(t.get("col-configuration"), |(name, _): &(String, Found<'_>)| name.clone())
        .words(t.get("col-direction"), |(_, it)| it.way.clone())
        .figures(t.get("col-path-mtu"), |(_, it)| Text::strong(or_none(it.leg.mtu, |mtu| mtu.0.to_string())))
        .long(t.get("col-refusal"), |(_, it)| refusal(&it.leg.refusal, t))
        .figures(t.get("col-routers"), |(_, it)| or_none(it.leg.routers, |routers| routers.to_string()))
        .long(t.get("col-culprit"), |(_, it)| it.culprit.clone())
        .words(t.get("col-trial-numbers"), |(_, it)| ranges(&it.trials))
        .table(t.get("path-caption"), &rows)
}

fn refusal(refusal: &Refusal, t: &Texts) -> String {
    match refusal {
        Refusal::Silent { last_router: Some(router), .. } => t.with("refusal-silent-after", &[("router", router)]),
        Refusal::Silent { last_router: None, routers_answer: Some(false) } => t.get("refusal-silent-filtered"),
        plain => t.of_value("refusal", plain),
    }
}

fn device_table(groups: &[PathGroup<'_>], t: &Texts) -> Block {
    type Row<'r> = (String, &'r PathDevice);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (names, devices) in alike(groups, t) {
        rows.extend(devices.into_iter().map(|device| (names.join("; "), device)));
    }
    Columns::new()
        .long(t.get("col-configuration"), |(names, _): &Row<'_>| names.clone())
        .words(t.get("col-endpoint"), |(_, it)| it.host.clone())
        .words(t.get("col-device"), |(_, it)| Text::code(&it.name))
        .words(t.get("col-kind"), |(_, it)| super::kind(it, t))
        .figures("MTU", |(_, it)| it.mtu.0.to_string())
        .words(t.get("col-master"), |(_, it)| it.master.as_ref().map_or(show::NO_FIGURE.into(), Text::code))
        .words(t.get("col-on-path"), |(_, it)| if it.on_path { t.get("yes") } else { t.get("no") })
        .table(t.get("devices-caption"), &rows)
}

/// The names of configurations that go through the same devices, with these.
fn alike<'a>(groups: &[PathGroup<'a>], t: &Texts) -> Vec<(Vec<String>, Vec<&'a PathDevice>)> {
    let named = groups.iter().map(|group| (group.name(t), devices(group)));
    let together = grouped(named, |(_, a), (_, b)| a == b);
    together.into_iter().map(|all| (all.iter().map(|(name, _)| name.clone()).collect(), all[0].1.clone())).collect()
}

/// Each device once, though every trial has it.
fn devices<'a>(group: &PathGroup<'a>) -> Vec<&'a PathDevice> {
    distinct(group.trials.iter().flat_map(|(_, result)| &result.devices))
}
