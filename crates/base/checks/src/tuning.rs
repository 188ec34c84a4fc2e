//! A plan of tuning: a profile applied to the readings of a machine.

mod mtu;
mod persist;

use std::collections::BTreeMap;

use model::{
    Mtu, Reading,
    change::{Change, DriverNumber, DriverSetting, InterfaceSetting, MachineSetting, OffloadSwitch, RootQdisc, Sysctl},
    tuning::{
        ByHand, Condition, InterfaceReading, Kept, LeftOut, PlannedChange, Profile, ProfileValue, Setting, TuningPlan,
        TuningReadings, WhyLeftOut,
    },
};

pub use persist::{Persisted, persisted};

/// Kinds of settings in the order in which they are made: rings belong to queues, and interrupts too.
const ORDER: [fn(&Setting) -> bool; 7] = [
    |setting| matches!(setting, Setting::Driver(number) if number.is_of_channels()),
    |setting| matches!(setting, Setting::Driver(_)),
    |setting| matches!(setting, Setting::Mtu),
    |setting| matches!(setting, Setting::Offload(_) | Setting::Qdisc | Setting::Interface(_)),
    |setting| matches!(setting, Setting::Rps | Setting::Xps | Setting::Interrupts),
    |setting| matches!(setting, Setting::Sysctl(_)),
    |_| true,
];

/// Settings with which the kernel sets others: IP forwarding sets that of each interface, `accept_redirects` and LRO.
const SETS_OTHERS: [&str; 1] = ["net.ipv4.ip_forward"];

/// Outcome of a value.
enum Outcome {
    Change { before: String, wanted: String, change: Change },
    Kept(String),
    LeftOut(WhyLeftOut),
    ByHand(String),
}

/// The plan of a profile for these interfaces. An MTU reaches each device that theirs has to pass.
pub fn plan(name: &str, profile: &Profile, interfaces: &[String], readings: &TuningReadings) -> TuningPlan {
    let mut plan = TuningPlan {
        profile: name.to_owned(),
        interfaces: interfaces.to_vec(),
        rivals: readings.rivals.clone(),
        ..TuningPlan::default()
    };
    let tuned = readings.interfaces.iter().filter(|it| interfaces.contains(&it.name));
    let profile = profile.on_path(tuned.filter_map(|it| it.speed).max(), None);
    let mut values: Vec<&ProfileValue> = profile.values.iter().collect();
    values.sort_by_key(|value| ORDER.iter().position(|is_of| is_of(&value.setting)));
    for value in values {
        if value.setting == Setting::Mtu {
            mtu::plan(value, readings, &mut plan);
        } else if value.setting.is_of_interface() {
            for name in interfaces {
                let found = readings.interfaces.iter().find(|it| it.name == *name);
                let outcomes = found.map_or_else(Vec::new, |interface| of_interface(value, interface, readings, &plan));
                outcomes.into_iter().for_each(|outcome| add(&mut plan, value, found, outcome));
            }
        } else {
            let outcome = match is_wanted(value, interfaces, readings) {
                true => of_machine(value, readings),
                false => Outcome::LeftOut(WhyLeftOut::Condition),
            };
            add(&mut plan, value, None, outcome);
        }
    }
    plan
}

/// Whether the condition of a setting of the machine holds: for one of the interfaces, where it is about interfaces.
fn is_wanted(value: &ProfileValue, interfaces: &[String], readings: &TuningReadings) -> bool {
    let cores = readings.cores.len();
    let of_cores = Condition { cores_at_least: value.when.cores_at_least, ..Condition::default() };
    let mut tuned = readings.interfaces.iter().filter(|it| interfaces.contains(&it.name));
    match value.when == of_cores {
        true => of_cores.holds_for(&InterfaceReading::default(), cores),
        false => tuned.any(|interface| value.when.holds_for(interface, cores)),
    }
}

fn add(plan: &mut TuningPlan, value: &ProfileValue, interface: Option<&InterfaceReading>, outcome: Outcome) {
    let (setting, of) = (value.setting.clone(), interface.map(|it| it.name.clone()));
    let (why, source) = (value.why.clone(), value.source.clone());
    match outcome {
        Outcome::Change { before, wanted, change } => {
            let can_cut = interface.is_some_and(|it| it.carries_us) && can_cut(&setting);
            plan.changes.push(PlannedChange { setting, interface: of, before, wanted, why, source, can_cut, change });
        }
        Outcome::Kept(now) => plan.kept.push(Kept { setting, interface: of, value: now }),
        Outcome::LeftOut(why) => plan.left_out.push(LeftOut { setting, interface: of, why }),
        Outcome::ByHand(parameter) => plan.by_hand.push(ByHand { parameter, why, source }),
    }
}

/// Whether a change of it can take the link down, or stop packets.
fn can_cut(setting: &Setting) -> bool {
    !matches!(setting, Setting::Rps | Setting::Xps | Setting::Interrupts)
}

fn of_interface(
    value: &ProfileValue,
    interface: &InterfaceReading,
    readings: &TuningReadings,
    plan: &TuningPlan,
) -> Vec<Outcome> {
    if !value.when.holds_for(interface, readings.cores.len()) {
        return vec![Outcome::LeftOut(WhyLeftOut::Condition)];
    }
    let name = || interface.name.clone();
    match &value.setting {
        Setting::Driver(number) => vec![driver(value, *number, interface, readings.cores.len())],
        Setting::Offload(feature) => vec![offload(value, feature, interface)],
        Setting::Qdisc => vec![qdisc(value, interface)],
        Setting::Interface(setting) => vec![file(interface, setting, value)],
        Setting::Rps => queues(value, interface, readings, "rps_cpus"),
        Setting::Xps => queues(value, interface, readings, "xps_cpus"),
        Setting::Interrupts => {
            let renumbers = |change: &PlannedChange| {
                change.interface == Some(name())
                    && matches!(change.setting, Setting::Driver(number) if number.is_of_channels())
            };
            match plan.changes.iter().any(renumbers) {
                true => vec![Outcome::LeftOut(WhyLeftOut::Renumbered)],
                false => vec![interrupts(value, interface, readings)],
            }
        }
        _ => vec![],
    }
}

fn driver(value: &ProfileValue, number: DriverNumber, interface: &InterfaceReading, cores: usize) -> Outcome {
    let Some(reading) = interface.numbers.get(&number) else { return Outcome::LeftOut(WhyLeftOut::Absent) };
    let near = if interface.local_cores.is_empty() { cores } else { interface.local_cores.len() };
    let Some(wanted) = value.of_driver(reading.most, near) else { return Outcome::LeftOut(WhyLeftOut::Absent) };
    if let Some(most) = reading.most.filter(|most| wanted > *most) {
        return Outcome::LeftOut(WhyLeftOut::OutOfRange { range: format!("0-{most}") });
    }
    let exact = ProfileValue { value: wanted.to_string(), ..value.clone() };
    if exact.instead(&reading.now.to_string()).is_none() {
        return Outcome::Kept(reading.now.to_string());
    }
    let (namespace, interface) = (String::new(), interface.name.clone());
    let change = DriverSetting { namespace, interface, number, value: wanted }.into();
    Outcome::Change { before: reading.now.to_string(), wanted: wanted.to_string(), change }
}

fn offload(value: &ProfileValue, feature: &str, interface: &InterfaceReading) -> Outcome {
    let on = value.value == "on";
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    match interface.offloads.get(feature) {
        None => Outcome::LeftOut(WhyLeftOut::Absent),
        Some(reading) if reading.on == on => Outcome::Kept(word(on)),
        Some(reading) if !reading.changeable => Outcome::LeftOut(WhyLeftOut::Fixed),
        Some(reading) => {
            let (namespace, interface) = (String::new(), interface.name.clone());
            let change = OffloadSwitch { namespace, interface, feature: feature.to_owned(), on }.into();
            Outcome::Change { before: word(reading.on), wanted: word(on), change }
        }
    }
}

fn qdisc(value: &ProfileValue, interface: &InterfaceReading) -> Outcome {
    let Some(reading) = &interface.qdisc else { return Outcome::LeftOut(WhyLeftOut::Absent) };
    if reading.kind == value.value {
        return Outcome::Kept(reading.kind.clone());
    }
    if !reading.lasting.is_empty() {
        return Outcome::LeftOut(WhyLeftOut::Lasting { objects: reading.lasting.join(", ") });
    }
    if ["mq", "mqprio"].contains(&reading.kind.as_str()) {
        return Outcome::LeftOut(WhyLeftOut::Queues);
    }
    let change =
        RootQdisc { namespace: String::new(), interface: interface.name.clone(), kind: value.value.clone() }.into();
    Outcome::Change { before: reading.kind.clone(), wanted: value.value.clone(), change }
}

/// A file of an interface.
fn file(interface: &InterfaceReading, setting: &str, value: &ProfileValue) -> Outcome {
    let now = match interface.settings.get(setting) {
        Some(Reading::Known(now)) => now,
        Some(Reading::Unreadable { why, .. }) => {
            return Outcome::LeftOut(WhyLeftOut::Unreadable { cause: why.clone() });
        }
        Some(Reading::Absent) | None => return Outcome::LeftOut(WhyLeftOut::Absent),
    };
    let Some(wanted) = value.instead(now) else { return Outcome::Kept(now.clone()) };
    let (namespace, interface) = (String::new(), interface.name.clone());
    let change = InterfaceSetting { namespace, interface, setting: setting.to_owned(), value: wanted.clone() }.into();
    Outcome::Change { before: now.clone(), wanted, change }
}

/// The cores of each queue.
fn queues(
    value: &ProfileValue,
    interface: &InterfaceReading,
    readings: &TuningReadings,
    file_name: &str,
) -> Vec<Outcome> {
    let cores = cores(value, interface, readings);
    let files: Vec<&String> = interface.settings.keys().filter(|name| name.ends_with(file_name)).collect();
    if files.is_empty() || cores.is_empty() {
        return vec![Outcome::LeftOut(WhyLeftOut::Absent)];
    }
    let one = |(number, setting): (usize, &&String)| {
        // A transmit queue for each core, in turn; receive work for all of them.
        let own: Vec<usize> = match value.setting {
            Setting::Xps => cores.iter().copied().skip(number).step_by(files.len()).collect(),
            _ => cores.clone(),
        };
        let now = interface.settings[*setting].known().cloned().unwrap_or_default();
        let wanted = mask(if own.is_empty() { &cores } else { &own });
        match bits(&now) == bits(&wanted) {
            true => Outcome::Kept(now),
            false => file(interface, setting, &ProfileValue { value: wanted, ..value.clone() }),
        }
    };
    files.iter().enumerate().map(one).collect()
}

fn cores(value: &ProfileValue, interface: &InterfaceReading, readings: &TuningReadings) -> Vec<usize> {
    let is_local = value.value == "local" && !interface.local_cores.is_empty();
    if is_local { interface.local_cores.clone() } else { readings.cores.clone() }
}

/// Cores as a mask in groups of 32, as the kernel takes it.
fn mask(cores: &[usize]) -> String {
    let groups = cores.iter().max().map_or(1, |most| most / 32 + 1);
    let group = |group: usize| {
        let bits = cores.iter().filter(|core| *core / 32 == group).fold(0_u32, |bits, core| bits | 1 << (core % 32));
        format!("{bits:08x}")
    };
    (0..groups).rev().map(group).collect::<Vec<_>>().join(",")
}

/// A mask without its leading zeros.
fn bits(mask: &str) -> String {
    mask.replace(',', "").trim_start_matches('0').to_lowercase()
}

fn interrupts(value: &ProfileValue, interface: &InterfaceReading, readings: &TuningReadings) -> Outcome {
    let cores = cores(value, interface, readings);
    if interface.interrupts.is_empty() || cores.is_empty() {
        return Outcome::LeftOut(WhyLeftOut::Absent);
    }
    let wanted: BTreeMap<u32, String> = interface
        .interrupts
        .keys()
        .enumerate()
        .map(|(number, irq)| (*irq, cores[number % cores.len()].to_string()))
        .collect();
    let words = |of: &BTreeMap<u32, String>| {
        of.iter().map(|(irq, cores)| format!("{irq}: {cores}")).collect::<Vec<_>>().join(", ")
    };
    if wanted == interface.interrupts {
        return Outcome::Kept(words(&wanted));
    }
    let files = wanted.iter().map(|(irq, core)| (format!("/proc/irq/{irq}/smp_affinity_list"), core.clone())).collect();
    let setting = format!("interrupts of {}", interface.name);
    let change = MachineSetting { setting, value: words(&wanted), files }.into();
    Outcome::Change { before: words(&interface.interrupts), wanted: words(&wanted), change }
}

fn of_machine(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    match &value.setting {
        Setting::Sysctl(key) => sysctl(value, key, readings),
        Setting::Governor => governor(value, readings),
        Setting::IdleLatency => idle_latency(value, readings),
        Setting::HugePages => huge_pages(value, readings),
        Setting::Boot(name) => boot(value, name, readings),
        _ => Outcome::LeftOut(WhyLeftOut::Absent),
    }
}

fn sysctl(value: &ProfileValue, key: &str, readings: &TuningReadings) -> Outcome {
    let now = match readings.sysctls.get(key) {
        Some(Reading::Known(now)) => now,
        Some(Reading::Unreadable { why, .. }) => {
            return Outcome::LeftOut(WhyLeftOut::Unreadable { cause: why.clone() });
        }
        Some(Reading::Absent) | None => return Outcome::LeftOut(WhyLeftOut::Absent),
    };
    let Some(wanted) = value.instead(now) else { return Outcome::Kept(spaced(now)) };
    if SETS_OTHERS.contains(&key) {
        return Outcome::LeftOut(WhyLeftOut::SetsOthers);
    }
    let change = Sysctl { namespace: String::new(), key: key.to_owned(), value: wanted.clone() }.into();
    Outcome::Change { before: spaced(now), wanted, change }
}

fn governor(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    if readings.governors.is_empty() {
        return Outcome::LeftOut(WhyLeftOut::Absent);
    }
    if !readings.known_governors.contains(&value.value) {
        return Outcome::LeftOut(WhyLeftOut::NoGovernor { known: readings.known_governors.join(", ") });
    }
    let wanted = readings.governors.keys().map(|path| (path.clone(), value.value.clone()));
    let before = distinct(readings.governors.values().cloned());
    files("governor", before, &value.value, wanted.collect(), &readings.governors)
}

fn idle_latency(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    let Ok(most) = value.value.parse::<u64>() else { return Outcome::LeftOut(WhyLeftOut::Absent) };
    // A state that is disabled already stays so.
    let deep = readings.idle_states.iter().filter(|state| state.latency_us > most);
    let wanted: BTreeMap<String, String> = deep.map(|state| (state.path.clone(), "1".to_owned())).collect();
    let now = readings.idle_states.iter().map(|state| (state.path.clone(), u8::from(state.disabled).to_string()));
    if readings.idle_states.is_empty() {
        return Outcome::LeftOut(WhyLeftOut::Absent);
    }
    let open = readings.idle_states.iter().filter(|state| !state.disabled).map(|state| state.latency_us).max();
    let before = format!("{} µs", open.unwrap_or_default());
    files("idle-latency", before, &format!("{most} µs"), wanted, &now.collect())
}

fn huge_pages(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled".to_owned();
    match readings.huge_pages.known() {
        None => Outcome::LeftOut(WhyLeftOut::Absent),
        Some(now) if value.instead(now).is_none() => Outcome::Kept(now.clone()),
        Some(now) => {
            let (wanted, known) = ([(path.clone(), value.value.clone())].into(), [(path, now.clone())].into());
            files("transparent-hugepages", now.clone(), &value.value, wanted, &known)
        }
    }
}

/// A change of files, of which those that are as wanted are left out.
fn files(
    setting: &str,
    before: String,
    wanted: &str,
    files: BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Outcome {
    let files: BTreeMap<String, String> =
        files.into_iter().filter(|(path, value)| now.get(path) != Some(value)).collect();
    if files.is_empty() {
        return Outcome::Kept(before);
    }
    let change = MachineSetting { setting: setting.to_owned(), value: wanted.to_owned(), files }.into();
    Outcome::Change { before, wanted: wanted.to_owned(), change }
}

fn distinct(values: impl Iterator<Item = String>) -> String {
    let mut values: Vec<String> = values.collect();
    values.sort();
    values.dedup();
    values.join(", ")
}

fn boot(value: &ProfileValue, name: &str, readings: &TuningReadings) -> Outcome {
    let Some(line) = readings.command_line.known() else { return Outcome::LeftOut(WhyLeftOut::Absent) };
    let there = line.split_whitespace().find(|word| *word == name || word.starts_with(&format!("{name}=")));
    match there {
        Some(there) => Outcome::Kept(there.to_owned()),
        None => Outcome::ByHand(format!("{name}={}", value.value)),
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Least MTU with which IPv6 works (RFC 8200, section 5).
pub const LEAST_MTU: Mtu = Mtu(1280);

#[cfg(test)]
mod tests;
