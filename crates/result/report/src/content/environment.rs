//! The machines, and changes in their state.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Environment, Reading, Run,
    alike::distinct,
    card::PcieLink,
    card::Readings,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
};

use super::identity::conditions;
use crate::{
    cards::{self, narrow_bus},
    columns::Columns,
    page::{Block, Item, Text},
    show,
    texts::Texts,
};

pub(super) fn environment(run: &Run, t: &Texts) -> Block {
    let Environment { hosts, endpoints, .. } = &run.before;
    let mut blocks: Vec<Block> = conditions(run, t).into_iter().collect();
    blocks.extend(stability(run, t));
    blocks.extend(hosts.iter().map(|host| machine(host, t)));
    let of_hosts = |list: fn(&HostFacts) -> &Settings| -> Vec<Named<'_>> {
        hosts.iter().map(|host| (host.hostname.as_str(), list(host))).collect()
    };
    blocks.extend(settings(t.get("settings-caption"), &of_hosts(|host| &host.sysctls), t));
    blocks.extend(settings(t.get("mitigations-caption"), &of_hosts(|host| &host.mitigations), t));
    blocks.push(interfaces(endpoints, t));
    blocks.extend(cards(endpoints, t));
    blocks.extend(readings(run, t));
    let of_ends: Vec<Named<'_>> = endpoints.iter().map(|end| (end.endpoint.as_str(), &end.sysctls)).collect();
    blocks.extend(settings(t.get("settings-endpoints-caption"), &of_ends, t));
    Block::section(t.get("environment-heading"), blocks)
}

fn stability(run: &Run, t: &Texts) -> Vec<Block> {
    if run.after.is_none() {
        return vec![Block::Paragraph(t.get("environment-unread").into())];
    }
    let differences = run.changes();
    if differences.is_empty() {
        return vec![Block::Paragraph(t.get("environment-same").into())];
    }
    let item = |difference| Item { text: Text::code(difference), note: None };
    vec![
        Block::Paragraph(Text::strong(t.get("environment-changed"))),
        Block::List(differences.into_iter().map(item).collect()),
    ]
}

fn machine(host: &HostFacts, t: &Texts) -> Block {
    let fact = |key: &str, value: &str| (t.get(key), Text::from(value));
    let read = |key: &str, value: &Reading<String>| fact(key, &show::reading(value, t, String::clone));
    let or_none = |text: &str| if text.is_empty() { t.get("none") } else { text.to_owned() };
    let facts = vec![
        read("fact-product", &host.product),
        read("fact-bios", &host.bios),
        fact("fact-hypervisor", &or_none(&show::reading(&host.hypervisor, t, |name| show::hypervisor(name, t)))),
        read("fact-cpu", &host.cpu_model),
        read("fact-microcode", &host.microcode),
        fact("fact-architecture", &host.architecture),
        fact("fact-cpus", &show::reading(&host.cpus, t, usize::to_string)),
        fact("fact-isolated", &or_none(&show::reading(&host.isolated_cpus, t, String::clone))),
        fact("fact-numa", &show::reading(&host.numa_nodes, t, usize::to_string)),
        fact("fact-memory", &show::reading(&host.memory_bytes, t, |bytes| show::memory(*bytes))),
        read("fact-governor", &host.governor),
        read("fact-clock", &host.clock_source),
        read("fact-os", &host.os),
        read("fact-kernel", &host.kernel),
        read("fact-command-line", &host.kernel_command_line),
        read("fact-file-system", &host.file_system),
        fact("fact-services", &host.services.join(", ")),
        (t.get("label-program"), host.wireproof.as_str().into()),
    ];
    Block::facts(t.with("environment-caption", &[("host", &host.hostname)]), facts)
}

/// An interface, with the end that it is at.
type Row<'r> = (&'r EndpointFacts, &'r InterfaceFacts);

fn rows(endpoints: &[EndpointFacts]) -> impl Iterator<Item = Row<'_>> {
    endpoints.iter().flat_map(|end| end.interfaces.iter().map(move |interface| (end, interface)))
}

/// Columns that name an interface.
fn named<'c>(t: &Texts) -> Columns<'c, Row<'c>> {
    Columns::new()
        .words(t.get("col-endpoint"), |(end, _): &Row<'_>| end.endpoint.clone())
        .words(t.get("endpoint-interface"), |(_, it)| it.name.clone())
}

fn interfaces(endpoints: &[EndpointFacts], t: &Texts) -> Block {
    let speed = |mbps: u32| show::rate(f64::from(mbps) * 1e6);
    named(t)
        .words(t.get("endpoint-driver"), |(_, it)| read(&it.driver, t))
        .figures("MTU", |(_, it)| show::reading_or_none(&it.mtu, t, u32::to_string))
        .words("MAC", |(_, it)| read(&it.mac, t))
        .words(t.get("col-state"), |(_, it)| show::link_state(&it.state, t))
        .figures(t.get("col-speed"), |(_, it)| show::reading_or_none(&it.speed_mbps, t, |mbps| speed(*mbps)))
        .long(t.get("endpoint-addresses"), |(_, it)| it.addresses.join(", "))
        .table(t.get("endpoint-facts-caption"), &rows(endpoints).collect::<Vec<_>>())
}

/// Facts of cards and their drivers, and of a bus that is too narrow for them; nothing where all interfaces are virtual: these
/// have at most the version of a driver.
fn cards(endpoints: &[EndpointFacts], t: &Texts) -> Vec<Block> {
    let says = |(_, it): &Row<'_>| {
        it.pcie.is_some()
            || it.card.is_some()
            || [&it.firmware_version, &it.bus].iter().any(|fact| fact.known().is_some())
    };
    let rows: Vec<Row<'_>> = rows(endpoints).filter(says).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let pcie = |link: &PcieLink| {
        let [speed, most_width, most_speed] = [&link.speed, &link.most_width, &link.most_speed].map(|it| read(it, t));
        let values: [(&str, &dyn std::fmt::Display); 4] =
            [("width", &link.width), ("speed", &speed), ("most_width", &most_width), ("most_speed", &most_speed)];
        t.with("pcie-link", &values)
    };
    let table = named(t)
        .long(t.get("col-model"), |(_, it)| said(it.card.as_ref().map_or("", |card| &card.model)))
        .words(t.get("endpoint-driver"), |(_, it)| read(&it.driver, t))
        .words(t.get("col-driver-version"), |(_, it)| read(&it.driver_version, t))
        .words(t.get("col-firmware"), |(_, it)| read(&it.firmware_version, t))
        .words(t.get("col-bus"), |(_, it)| read(&it.bus, t))
        .words(t.get("col-pcie"), |(_, it)| show::or_none(it.pcie.as_ref(), pcie))
        .table(t.get("cards-caption"), &rows);
    let cards = endpoints.iter().flat_map(|it| &it.interfaces).filter_map(|interface| interface.card.as_ref());
    let narrow: BTreeSet<String> = cards.filter_map(|card| narrow_bus(card, t.lang)).collect();
    [table].into_iter().chain(narrow.into_iter().map(|text| Block::Paragraph(Text::strong(text)))).collect()
}

/// A reading in a cell.
fn read(reading: &Reading<String>, t: &Texts) -> String {
    show::reading_or_none(reading, t, String::clone)
}

fn said(text: &str) -> Text {
    Text::from(if text.is_empty() { show::NO_FIGURE } else { text })
}

/// Readings of the cards before and after the run: optical power and temperature vary.
fn readings(run: &Run, t: &Texts) -> Option<Block> {
    let read: Vec<Row<'_>> =
        rows(&run.before.endpoints).filter(|(end, it)| end.readings.contains_key(&it.name)).collect();
    let connector = |it: &InterfaceFacts| it.card.as_ref().map(|card| cards::connector(card, t)).unwrap_or_default();
    let link =
        |it: &InterfaceFacts, readings: &Readings| cards::link(it, readings, &it.card.clone().unwrap_or_default(), t);
    let signal = |readings: &Readings| show::reading(&readings.module, t, |module| cards::signal(module, t));
    let table = named(t)
        .long(t.get("col-link"), |row| seen(row, run, &link))
        .long(t.get("col-connector"), |row| seen(row, run, &|it, _| connector(it)))
        .long(t.get("col-signal"), |row| seen(row, run, &|_, readings| signal(readings)))
        .words(t.get("col-temperature"), |row| seen(row, run, &|_, readings| cards::temperatures(readings)))
        .table(t.get("card-readings-caption"), &read);
    (!read.is_empty()).then_some(table)
}

/// A card's readings before and after the run, once if they are the same.
fn seen((end, interface): &Row<'_>, run: &Run, words: &dyn Fn(&InterfaceFacts, &Readings) -> String) -> Text {
    let of = |environment: &Environment| {
        let facts = environment.endpoints.iter().find(|facts| facts.endpoint == end.endpoint)?;
        let interface = facts.interfaces.iter().find(|it| it.name == interface.name)?;
        Some(words(interface, facts.readings.get(&interface.name)?))
    };
    let mut texts: Vec<String> = [Some(&run.before), run.after.as_ref()].into_iter().flatten().filter_map(of).collect();
    texts.dedup();
    said(&texts.join(" → "))
}

/// Names of settings with their values.
type Settings = BTreeMap<String, Reading<String>>;

/// Name of a machine or an endpoint, and its settings.
type Named<'r> = (&'r str, &'r Settings);

/// Long lists, folded away until the reader wants them: what differs side by side, all else once. Nothing where all are empty.
fn settings(caption: String, all: &[Named<'_>], t: &Texts) -> Option<Block> {
    let (_, first) = all.first()?;
    let keys: BTreeSet<&String> = all.iter().flat_map(|(_, settings)| settings.keys()).collect();
    let is_same = |key: &&String| all.iter().all(|(_, settings)| settings.get(*key) == first.get(*key));
    let (same, different): (Vec<&String>, Vec<&String>) = keys.into_iter().partition(is_same);
    let mut blocks = Vec::new();
    if !different.is_empty() {
        let names = Columns::new().words(t.get("col-item"), |key: &&String| (*key).clone());
        let columns = all.iter().fold(names, |columns, (name, settings)| {
            columns.long(*name, move |key| {
                let value = settings.get(*key).unwrap_or(&Reading::Absent);
                said(&show::reading(value, t, String::clone))
            })
        });
        blocks.push(columns.table(t.with("settings-different", &[("what", &caption)]), &different));
    }
    if !same.is_empty() {
        let names = distinct(all.iter().map(|(name, _)| *name)).join(&t.get("list-comma"));
        let of_all = || t.with("settings-same", &[("what", &caption), ("names", &names)]);
        let caption = if all.len() > 1 { of_all() } else { caption.clone() };
        let row = |key: &String| Some((key.clone(), show::reading(first.get(key)?, t, String::clone).into()));
        blocks.push(Block::facts(caption, same.into_iter().filter_map(row).collect()));
    }
    (!blocks.is_empty()).then_some(Block::Folded { summary: caption, blocks })
}
