//! The machines: what they are, and whether they stayed so.

use std::collections::{BTreeMap, BTreeSet};

use model::{
    Environment, Reading, Run,
    card::PcieLink,
    card::Readings,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
};

use crate::{
    cards::{self, narrow_bus},
    page::{Block, Column, Item, Text},
    show,
    texts::Texts,
};

pub(super) fn environment(run: &Run, t: &Texts) -> Block {
    let Environment { hosts, endpoints, .. } = &run.before;
    let mut blocks = stability(run, t);
    blocks.extend(hosts.iter().flat_map(|host| machine(host, t)));
    blocks.push(interfaces(endpoints, t));
    blocks.extend(cards(endpoints, t));
    blocks.extend(readings(run, t));
    blocks.extend(endpoints.iter().filter_map(|endpoint| {
        let caption = t.with("settings-endpoint-caption", &[("name", &endpoint.endpoint)]);
        settings(caption, &endpoint.sysctls)
    }));
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

fn machine(host: &HostFacts, t: &Texts) -> Vec<Block> {
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
        fact("fact-cpus", &host.cpus.to_string()),
        fact("fact-isolated", &or_none(&show::reading(&host.isolated_cpus, t, String::clone))),
        fact("fact-numa", &host.numa_nodes.to_string()),
        fact("fact-memory", &show::reading(&host.memory_bytes, t, |bytes| show::memory(*bytes))),
        read("fact-governor", &host.governor),
        read("fact-clock", &host.clock_source),
        fact("fact-os", &host.os),
        fact("fact-kernel", &host.kernel),
        fact("fact-command-line", &host.kernel_command_line),
        read("fact-file-system", &host.file_system),
        fact("fact-services", &host.services.join(", ")),
        (t.get("label-program"), host.wireproof.as_str().into()),
    ];
    let caption = t.with("environment-caption", &[("host", &host.hostname)]);
    let lists =
        [settings(t.get("settings-caption"), &host.sysctls), settings(t.get("mitigations-caption"), &host.mitigations)];
    [Block::facts(caption, facts)].into_iter().chain(lists.into_iter().flatten()).collect()
}

fn interfaces(endpoints: &[EndpointFacts], t: &Texts) -> Block {
    let columns = vec![
        Column::words(t.get("col-endpoint")),
        Column::words(t.get("endpoint-interface")),
        Column::words(t.get("endpoint-driver")),
        Column::figures("MTU"),
        Column::words("MAC"),
        Column::words(t.get("col-state")),
        Column::figures(t.get("col-speed")),
        Column::long(t.get("endpoint-addresses")),
    ];
    let rows = endpoints
        .iter()
        .flat_map(|endpoint| endpoint.interfaces.iter().map(|interface| interface_row(&endpoint.endpoint, interface)));
    Block::table(t.get("endpoint-facts-caption"), columns, rows.collect())
}

/// What is known of cards and their drivers, and of a bus that is too narrow for them; nothing where all interfaces are virtual
/// and say nothing.
fn cards(endpoints: &[EndpointFacts], t: &Texts) -> Vec<Block> {
    let columns = vec![
        Column::words(t.get("col-endpoint")),
        Column::words(t.get("endpoint-interface")),
        Column::long(t.get("col-model")),
        Column::words(t.get("endpoint-driver")),
        Column::words(t.get("col-driver-version")),
        Column::words(t.get("col-firmware")),
        Column::words(t.get("col-bus")),
        Column::words(t.get("col-pcie")),
    ];
    let says = |it: &&InterfaceFacts| {
        it.pcie.is_some() || [&it.driver_version, &it.firmware_version, &it.bus].iter().any(|text| !text.is_empty())
    };
    let of_endpoint = |it: &EndpointFacts| -> Vec<Vec<Text>> {
        it.interfaces.iter().filter(says).map(|interface| card_row(&it.endpoint, interface, t)).collect()
    };
    let rows: Vec<Vec<Text>> = endpoints.iter().flat_map(of_endpoint).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let cards = endpoints.iter().flat_map(|it| &it.interfaces).filter_map(|interface| interface.card.as_ref());
    let narrow: BTreeSet<String> = cards.filter_map(|card| narrow_bus(card, t.lang)).collect();
    let table = Block::table(t.get("cards-caption"), columns, rows);
    [table].into_iter().chain(narrow.into_iter().map(|text| Block::Paragraph(Text::strong(text)))).collect()
}

fn card_row(endpoint: &str, interface: &InterfaceFacts, t: &Texts) -> Vec<Text> {
    let said = |text: &str| Text::from(if text.is_empty() { show::NO_FIGURE } else { text });
    let pcie = |link: &PcieLink| {
        let values: [(&str, &dyn std::fmt::Display); 4] = [
            ("width", &link.width),
            ("speed", &link.speed),
            ("most_width", &link.most_width),
            ("most_speed", &link.most_speed),
        ];
        t.with("pcie-link", &values)
    };
    vec![
        endpoint.into(),
        interface.name.as_str().into(),
        said(interface.card.as_ref().map_or("", |card| &card.model)),
        interface.driver.as_str().into(),
        said(&interface.driver_version),
        said(&interface.firmware_version),
        said(&interface.bus),
        show::or_none(interface.pcie.as_ref(), pcie).into(),
    ]
}

/// What the cards read before the run and after it: light and heat come and go.
fn readings(run: &Run, t: &Texts) -> Option<Block> {
    let columns = vec![
        Column::words(t.get("col-endpoint")),
        Column::words(t.get("endpoint-interface")),
        Column::long(t.get("col-link")),
        Column::long(t.get("col-connector")),
        Column::long(t.get("col-signal")),
        Column::words(t.get("col-temperature")),
    ];
    let of_endpoint = |it: &EndpointFacts| -> Vec<Vec<Text>> {
        let cards = it.interfaces.iter().filter(|interface| it.readings.contains_key(&interface.name));
        cards.map(|interface| reading_row(&it.endpoint, interface, run, t)).collect()
    };
    let rows: Vec<Vec<Text>> = run.before.endpoints.iter().flat_map(of_endpoint).collect();
    (!rows.is_empty()).then(|| Block::table(t.get("card-readings-caption"), columns, rows))
}

fn reading_row(endpoint: &str, interface: &InterfaceFacts, run: &Run, t: &Texts) -> Vec<Text> {
    let of = |environment: &Environment| -> Option<(InterfaceFacts, Readings)> {
        let facts = environment.endpoints.iter().find(|facts| facts.endpoint == endpoint)?;
        let interface = facts.interfaces.iter().find(|it| it.name == interface.name)?;
        Some((interface.clone(), facts.readings.get(&interface.name)?.clone()))
    };
    let seen: Vec<_> = [Some(&run.before), run.after.as_ref()].into_iter().flatten().filter_map(of).collect();
    let cell = |said: &dyn Fn(&InterfaceFacts, &Readings) -> String| {
        let mut texts: Vec<String> = seen.iter().map(|(interface, readings)| said(interface, readings)).collect();
        texts.dedup();
        let text = texts.join(" → ");
        Text::from(if text.is_empty() { show::NO_FIGURE.to_owned() } else { text })
    };
    let connector = |it: &InterfaceFacts| it.card.as_ref().map(|card| cards::connector(card, t)).unwrap_or_default();
    let link =
        |it: &InterfaceFacts, readings: &Readings| cards::link(it, readings, &it.card.clone().unwrap_or_default(), t);
    vec![
        endpoint.into(),
        interface.name.as_str().into(),
        cell(&link),
        cell(&|it, _| connector(it)),
        cell(&|_, readings| show::reading(&readings.module, t, |module| cards::signal(module, t))),
        cell(&|_, readings| cards::temperatures(readings)),
    ]
}

fn interface_row(endpoint: &str, interface: &InterfaceFacts) -> Vec<Text> {
    vec![
        endpoint.into(),
        interface.name.as_str().into(),
        interface.driver.as_str().into(),
        interface.mtu.to_string().into(),
        interface.mac.as_str().into(),
        interface.state.as_str().into(),
        show::or_none(interface.speed_mbps, |mbps| show::rate(f64::from(mbps) * 1e6)).into(),
        interface.addresses.join(", ").into(),
    ]
}

/// Long lists, folded away until the reader wants them; nothing for an empty one.
fn settings(caption: String, settings: &BTreeMap<String, String>) -> Option<Block> {
    if settings.is_empty() {
        return None;
    }
    let rows = settings.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    Some(Block::Folded { summary: caption.clone(), blocks: vec![Block::facts(caption, rows)] })
}
