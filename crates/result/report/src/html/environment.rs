//! The machines: what they are, and whether they stayed so.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::{
    Run,
    environment::{EndpointFacts, HostFacts, InterfaceFacts},
};

use super::table::{figures, items, table, words};
use crate::{show, texts::Texts};

pub(super) fn environment(run: &Run, t: &Texts) -> Markup {
    html! {
        section {
            h2 { (t.get("environment-heading")) }
            (stability(run, t))
            @for host in &run.before.hosts { (machine(host, t)) }
            (interfaces(&run.before.endpoints, t))
            @for endpoint in &run.before.endpoints {
                @let caption = t.with("settings-endpoint-caption", &[("name", &endpoint.endpoint)]);
                (settings(&caption, &endpoint.sysctls))
            }
        }
    }
}

fn stability(run: &Run, t: &Texts) -> Markup {
    let Some(after) = &run.after else { return html! { p { (t.get("environment-unread")) } } };
    let differences = run.before.differences(after);
    html! {
        @if differences.is_empty() { p { (t.get("environment-same")) } }
        @else {
            p { strong { (t.get("environment-changed")) } }
            ul { @for difference in &differences { li { code lang="en" { (difference) } } } }
        }
    }
}

fn machine(host: &HostFacts, t: &Texts) -> Markup {
    let fact = |key: &str, value: &str| (t.get(key), value.to_owned());
    let or_none = |text: &str| if text.is_empty() { t.get("none") } else { text.to_owned() };
    let facts = [
        fact("fact-product", &host.product),
        fact("fact-hypervisor", &or_none(&host.hypervisor)),
        fact("fact-cpu", &host.cpu_model),
        fact("fact-microcode", &host.microcode),
        fact("fact-architecture", &host.architecture),
        fact("fact-cpus", &host.cpus.to_string()),
        fact("fact-isolated", &or_none(&host.isolated_cpus)),
        fact("fact-numa", &host.numa_nodes.to_string()),
        fact("fact-memory", &show::memory(host.memory_bytes)),
        fact("fact-governor", &host.governor),
        fact("fact-clock", &host.clock_source),
        fact("fact-os", &host.os),
        fact("fact-kernel", &host.kernel),
        fact("fact-command-line", &host.kernel_command_line),
        (t.get("label-program"), host.wireproof.clone()),
    ];
    html! {
        (items(&t.with("environment-caption", &[("host", &host.hostname)]), &facts))
        (settings(&t.get("settings-caption"), &host.sysctls))
        (settings(&t.get("mitigations-caption"), &host.mitigations))
    }
}

fn interfaces(endpoints: &[EndpointFacts], t: &Texts) -> Markup {
    let head = html! {
        (words(&t.get("col-endpoint")))
        (words(&t.get("endpoint-interface")))
        (words(&t.get("endpoint-driver")))
        (figures("MTU"))
        (words("MAC"))
        (words(&t.get("col-state")))
        (figures(&t.get("col-speed")))
        (words(&t.get("endpoint-addresses")))
    };
    let rows = html! {
        @for endpoint in endpoints {
            @for interface in &endpoint.interfaces { (interface_row(&endpoint.endpoint, interface)) }
        }
    };
    table(&t.get("endpoint-facts-caption"), &head, &rows)
}

fn interface_row(endpoint: &str, interface: &InterfaceFacts) -> Markup {
    let speed = interface.speed_mbps.map_or(show::NO_FIGURE.to_owned(), |mbps| show::rate(f64::from(mbps) * 1e6));
    html! {
        tr {
            th scope="row" { (endpoint) }
            td { (interface.name) }
            td { (interface.driver) }
            td.n { (interface.mtu) }
            td { (interface.mac) }
            td { (interface.state) }
            td.n { (speed) }
            td.long { (interface.addresses.join(", ")) }
        }
    }
}

/// Long lists, folded away until the reader wants them.
fn settings(caption: &str, settings: &BTreeMap<String, String>) -> Markup {
    if settings.is_empty() {
        return html! {};
    }
    let rows: Vec<_> = settings.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    html! { details { summary { (caption) } (items(caption, &rows)) } }
}
