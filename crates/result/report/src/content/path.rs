//! Path MTU: what passes each way, why no more, and through which devices.

use model::{
    Culprit, Run,
    trial::{Leg, PathDevice, Refusal},
};

use crate::{
    doubts::ranges,
    groups::{PathGroup, path_groups},
    limited,
    page::{Block, Column, Text},
    show::{self, or_none},
    texts::Texts,
};

/// Nothing when no path was measured.
pub(super) fn path(run: &Run, t: &Texts) -> Vec<Block> {
    let groups = path_groups(run);
    if groups.is_empty() {
        return vec![];
    }
    let tag = groups.iter().any(passes_a_tag_more).then(|| Block::Note(t.get("path-vlan-note").into()));
    let blocks = [Some(path_table(&groups, t)), tag, Some(device_table(&groups, t))];
    vec![Block::section(t.get("path-heading"), blocks.into_iter().flatten().collect())]
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

fn path_table(groups: &[PathGroup<'_>], t: &Texts) -> Block {
    let columns = vec![
        Column::words(t.get("col-configuration")),
        Column::words(t.get("col-direction")),
        Column::figures(t.get("col-path-mtu")),
        Column::long(t.get("col-refusal")),
        Column::figures(t.get("col-routers")),
        Column::long(t.get("col-culprit")),
        Column::words(t.get("col-trial-numbers")),
    ];
    let of_group = |group| found(group, t).into_iter().map(move |found| path_row(group, found, t));
    Block::table(t.get("path-caption"), columns, groups.iter().flat_map(of_group).collect())
}

fn path_row(group: &PathGroup<'_>, found: Found<'_>, t: &Texts) -> Vec<Text> {
    vec![
        group.name(t).into(),
        found.way.into(),
        Text::strong(or_none(found.leg.mtu, |mtu| mtu.0.to_string())),
        refusal(&found.leg.refusal, t).into(),
        or_none(found.leg.routers, |routers| routers.to_string()).into(),
        found.culprit.into(),
        ranges(&found.trials).into(),
    ]
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

fn device_table(groups: &[PathGroup<'_>], t: &Texts) -> Block {
    let columns = vec![
        Column::long(t.get("col-configuration")),
        Column::words(t.get("col-endpoint")),
        Column::words(t.get("col-device")),
        Column::words(t.get("col-kind")),
        Column::figures("MTU"),
        Column::words(t.get("col-master")),
        Column::words(t.get("col-on-path")),
    ];
    let rows = alike(groups, t).into_iter().flat_map(|(names, devices)| {
        let names = names.join("; ");
        devices.into_iter().map(|device| device_row(&names, device, t)).collect::<Vec<_>>()
    });
    Block::table(t.get("devices-caption"), columns, rows.collect())
}

/// The names of configurations that go through the same devices, with these.
fn alike<'a>(groups: &[PathGroup<'a>], t: &Texts) -> Vec<(Vec<String>, Vec<&'a PathDevice>)> {
    let mut all: Vec<(Vec<String>, Vec<&PathDevice>)> = Vec::new();
    for group in groups {
        let (name, devices) = (group.name(t), devices(group));
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

fn device_row(configuration: &str, device: &PathDevice, t: &Texts) -> Vec<Text> {
    let kind = if device.kind.is_empty() { t.get("kind-card") } else { device.kind.clone() };
    vec![
        configuration.into(),
        device.host.as_str().into(),
        Text::code(&device.name),
        kind.into(),
        device.mtu.0.to_string().into(),
        device.master.as_ref().map_or(show::NO_FIGURE.into(), Text::code),
        if device.on_path { t.get("yes") } else { t.get("no") }.into(),
    ]
}
