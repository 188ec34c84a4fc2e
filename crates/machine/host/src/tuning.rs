//! Readings that a plan of tuning is made from.

use std::collections::BTreeMap;

use kernel::{
    device, irqbalance,
    link::{self, Link},
};
use model::{
    BitRate, Reading,
    tuning::{InterfaceReading, QdiscReading, SettingsToRead, TuningReadings},
};

use crate::{
    facts, interface_settings, nics, placement, processor,
    services::services,
    source::{LocalSource, Source, answer},
};

/// Programs that set what a tuning sets, by service and by process.
const RIVALS: [&str; 5] = ["tuned", "irqbalance", "power-profiles-daemon", "power-profiles-", "thermald"];

/// Reads what a plan needs.
pub fn readings(asked: &SettingsToRead) -> kernel::Result<TuningReadings> {
    let source = &LocalSource;
    let uplinks = nics::uplinks()?;
    let cores: Vec<usize> = placement::cpus(None).cores.iter().map(|core| core.cpu).collect();
    let idle_states = cores.iter().map(|core| processor::idle_states(source, *core)).collect::<Reading<Vec<_>>>();
    let interface = |link: Link| {
        let is_tuned = asked.interfaces.contains(&link.name);
        let carries_us = uplinks.contains(&link.name);
        interface_reading(source, &link, is_tuned.then_some(asked), carries_us)
    };
    Ok(TuningReadings {
        interfaces: link::list()?.into_iter().map(interface).collect::<kernel::Result<_>>()?,
        sysctls: asked.sysctls.iter().map(|key| (key.clone(), facts::setting(source, key))).collect(),
        governors: processor::governors(source),
        known_governors: known_governors(source, &cores),
        idle_states: idle_states.map(|all| all.into_iter().flatten().collect()),
        huge_pages: processor::huge_pages(source),
        command_line: source.read("/proc/cmdline"),
        rivals: rivals(&services(source)),
        banned_interrupts: irqbalance::banned().ok().flatten().map_or(Reading::Absent, Reading::Known),
        cores,
    })
}

/// Governors that the first core with such a list knows.
fn known_governors(source: &dyn Source, cores: &[usize]) -> Vec<String> {
    let path = |core| format!("/sys/devices/system/cpu/cpu{core}/cpufreq/scaling_available_governors");
    let known = cores.iter().find_map(|core| source.read(&path(core)).into_known());
    known.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

fn rivals(services: &[String]) -> Vec<String> {
    let mut found: Vec<String> = services
        .iter()
        .map(|service| service.trim_end_matches(".service"))
        .filter(|service| RIVALS.contains(service))
        .map(str::to_owned)
        .collect();
    found.dedup();
    found
}

/// An interface; with details if it is tuned.
fn interface_reading(
    source: &dyn Source,
    link: &Link,
    tuned: Option<&SettingsToRead>,
    carries_us: bool,
) -> kernel::Result<InterfaceReading> {
    let name = &link.name;
    let reading = InterfaceReading {
        name: name.clone(),
        mac: link.mac.clone(),
        is_virtual: source.resolve(&format!("/sys/class/net/{name}/device")) == Reading::Absent,
        mtu: link.mtu,
        mtus: device::mtus(name)?,
        master: link.master.clone(),
        lower: link.lower.clone(),
        carries_us,
        ..InterfaceReading::default()
    };
    let Some(asked) = tuned else { return Ok(reading) };
    let speed = source.link_settings(name).and_then(|settings| settings.speed_mbps);
    let qdisc = device::queueing(name)
        .and_then(|queueing| Ok(QdiscReading { kind: queueing.kind, lasting: device::lasting_queueing(name)? }));
    Ok(InterfaceReading {
        driver: source.driver(name).map(|driver| driver.name),
        speed: speed.into_known().map(|mbps| BitRate(u64::from(mbps) * 1_000_000)),
        settings: interface_settings::of(source, link),
        qdisc: answer(&format!("tc qdisc show dev {name}"), qdisc),
        files: files(source, name, &asked.files),
        ..reading
    })
}

/// Files of an interface that a profile names, and those of the cores of each queue.
fn files(source: &dyn Source, interface: &str, asked: &[String]) -> BTreeMap<String, Reading<String>> {
    let of_queues = [("rx", "rps_cpus"), ("tx", "xps_cpus")]
        .into_iter()
        .flat_map(|(direction, file)| interface_settings::queue_cores(source, interface, direction, file));
    let read = |name: &String| (name.clone(), answer(name, kernel::interface::read(interface, name)));
    of_queues.chain(asked.iter().map(read)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_read_with_the_details_of_what_is_tuned() {
        let asked = SettingsToRead {
            interfaces: vec!["lo".into()],
            sysctls: vec!["net.core.rmem_max".into(), "net.no.such".into()],
            files: vec!["gro_flush_timeout".into()],
        };
        let readings = readings(&asked).expect("rtnetlink");
        let lo = readings.interfaces.iter().find(|it| it.name == "lo").expect("there is always lo");
        assert!(
            lo.is_virtual
                && lo.settings.offloads.known().is_some_and(|all| all.len() > 10)
                && lo.qdisc.known().is_some(),
            "{lo:?}"
        );
        assert!(lo.files["gro_flush_timeout"].known().is_some(), "{lo:?}");
        assert!(readings.sysctls["net.core.rmem_max"].known().is_some());
        assert_eq!(readings.sysctls["net.no.such"], Reading::Absent);
        assert!(!readings.cores.is_empty() && readings.command_line.known().is_some());
    }

    #[test]
    fn rivals_are_known_by_service_and_by_program() {
        let services = ["cron.service", "irqbalance.service", "tuned"].map(str::to_owned);
        assert_eq!(rivals(&services), ["irqbalance", "tuned"]);
    }
}
