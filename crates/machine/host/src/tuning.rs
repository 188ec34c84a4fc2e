//! Readings that a plan of tuning is made from.

use std::collections::BTreeMap;

use kernel::{device, ethtool, interface, link, machine_file, sysctl};
use model::{
    BitRate, Reading,
    change::DriverNumber,
    tuning::{IdleState, InterfaceReading, NumberReading, QdiscReading, TuningReadings, Wanted},
};

use crate::{
    counters::interrupt_numbers,
    nics, parse, placement,
    services::services,
    source::{LocalSource, Source, answer},
};

const CPUS: &str = "/sys/devices/system/cpu";
const HUGE_PAGES: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

/// Programs that set what a tuning sets, by service and by process.
const RIVALS: [&str; 5] = ["tuned", "irqbalance", "power-profiles-daemon", "power-profiles-", "thermald"];

/// Most queues of an interface whose files are read.
const MOST_QUEUES: usize = 1_024;

/// Reads what a plan needs.
pub fn readings(wanted: &Wanted) -> kernel::Result<TuningReadings> {
    let source = &LocalSource;
    let uplinks = nics::uplinks()?;
    let cpus = placement::cpus(None);
    let mut readings = TuningReadings {
        cores: cpus.cores.iter().map(|core| core.cpu).collect(),
        huge_pages: answer(HUGE_PAGES, machine_file::read(HUGE_PAGES)),
        command_line: source.read("/proc/cmdline"),
        rivals: rivals(&services(source)),
        ..TuningReadings::default()
    };
    for link in link::list()? {
        let is_tuned = wanted.interfaces.contains(&link.name);
        let carries_us = uplinks.contains(&link.name);
        readings.interfaces.push(interface_reading(source, &link, is_tuned.then_some(wanted), carries_us)?);
    }
    for key in &wanted.sysctls {
        readings.sysctls.insert(key.clone(), answer(key, sysctl::read(key)));
    }
    for cpu in readings.cores.clone() {
        let folder = format!("{CPUS}/cpu{cpu}");
        let governor = format!("{folder}/cpufreq/scaling_governor");
        if let Reading::Known(now) = source.read(&governor) {
            readings.governors.insert(governor, now);
        }
        if readings.known_governors.is_empty() {
            let known = source.read(&format!("{folder}/cpufreq/scaling_available_governors")).or_default();
            readings.known_governors = known.split_whitespace().map(str::to_owned).collect();
        }
        readings.idle_states.extend(idle_states(source, &folder));
    }
    Ok(readings)
}

fn idle_states(source: &dyn Source, core: &str) -> Vec<IdleState> {
    let states = source.list(&format!("{core}/cpuidle")).or_default();
    let state = |folder: String| {
        let number = |file: &str| source.read(&format!("{folder}/{file}")).into_known()?.parse::<u64>().ok();
        Some(IdleState {
            latency_us: number("latency")?,
            disabled: number("disable")? != 0,
            path: format!("{folder}/disable"),
        })
    };
    states.into_iter().filter_map(state).collect()
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
    link: &link::Link,
    tuned: Option<&Wanted>,
    carries_us: bool,
) -> kernel::Result<InterfaceReading> {
    let device = source.resolve(&format!("/sys/class/net/{}/device", link.name)).into_known();
    let mut reading = InterfaceReading {
        name: link.name.clone(),
        mac: link.mac.clone(),
        is_virtual: device.is_none(),
        mtu: link.mtu,
        mtus: device::mtus(&link.name)?,
        master: link.master.clone(),
        lower: link.lower.clone(),
        carries_us,
        ..InterfaceReading::default()
    };
    let Some(wanted) = tuned else { return Ok(reading) };
    reading.driver = source.driver(&link.name).map(|driver| driver.name).or_default();
    let speed = source.link_settings(&link.name).and_then(|settings| settings.speed_mbps);
    reading.speed = speed.into_known().map(|mbps| BitRate(u64::from(mbps) * 1_000_000));
    for word in DriverNumber::WORDS {
        let Ok(number) = word.parse::<DriverNumber>() else { continue };
        if let Ok(Some((now, most))) = ethtool::driver_number(&link.name, number) {
            reading.numbers.insert(number, NumberReading { now, most });
        }
    }
    reading.offloads = ethtool::offload_states(&link.name).unwrap_or_default();
    if let Ok(queueing) = device::queueing(&link.name) {
        let lasting = device::lasting_queueing(&link.name).unwrap_or_default();
        reading.qdisc = Some(QdiscReading { kind: queueing.kind, lasting });
    }
    for setting in wanted.settings.iter().chain(&queue_files(&link.name)) {
        let value = answer(setting, interface::read(&link.name, setting));
        reading.settings.insert(setting.clone(), value);
    }
    if let Some(device) = device {
        reading.interrupts = interrupts(source, &device);
        reading.local_cores = parse::list(&source.read(&format!("{device}/local_cpulist")).or_default())
            .or_else(|| {
                let above = device.rsplit_once('/')?.0;
                parse::list(&source.read(&format!("{above}/local_cpulist")).or_default())
            })
            .unwrap_or_default();
    }
    Ok(reading)
}

/// Files of the cores of each queue.
fn queue_files(interface: &str) -> Vec<String> {
    let queues = ethtool::queues(interface);
    let of = |way: &'static str, count: u32, file: &'static str| {
        (0..(count as usize).min(MOST_QUEUES)).map(move |queue| format!("queues/{way}-{queue}/{file}"))
    };
    of("rx", queues.receiving, "rps_cpus").chain(of("tx", queues.sending, "xps_cpus")).collect()
}

fn interrupts(source: &dyn Source, device: &str) -> BTreeMap<u32, String> {
    let cores = |irq: u32| {
        let cores = source.read(&format!("/proc/irq/{irq}/smp_affinity_list")).into_known()?;
        Some((irq, cores))
    };
    interrupt_numbers(source, device).into_iter().filter_map(cores).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_read_with_the_details_of_what_is_tuned() {
        let wanted = Wanted {
            interfaces: vec!["lo".into()],
            sysctls: vec!["net.core.rmem_max".into(), "net.no.such".into()],
            settings: vec!["gro_flush_timeout".into()],
        };
        let readings = readings(&wanted).expect("rtnetlink");
        let lo = readings.interfaces.iter().find(|it| it.name == "lo").expect("there is always lo");
        assert!(lo.is_virtual && lo.offloads.len() > 10 && lo.qdisc.is_some(), "{lo:?}");
        assert!(lo.settings["gro_flush_timeout"].known().is_some(), "{lo:?}");
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
