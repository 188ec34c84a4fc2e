//! A plan of tuning: a profile applied to the readings of a machine.

mod mtu;
mod persist;

use std::collections::{BTreeMap, BTreeSet};

use model::{
    BitRate, Mtu, Reading,
    change::{
        BannedInterrupts, Change, DriverNumber, DriverSetting, InterfaceSetting, MachineSetting, OffloadSwitch,
        RootQdisc, Sysctl,
    },
    core_list,
    settings::Interrupt,
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

/// Longest ban list that each version of irqbalance reads whole, in bytes.
const LONGEST_BAN_LIST: usize = 250;

const CPUS: &str = "/sys/devices/system/cpu";

/// A value of a profile as it is planned.
enum Planned {
    Change { before: String, wanted: String, change: Change },
    Kept(String),
    ByHand(String),
}

type Outcome = Result<Planned, WhyLeftOut>;

/// A value that is known, or why its setting is left out.
fn known<T>(reading: Reading<T>) -> Result<T, WhyLeftOut> {
    match reading {
        Reading::Known(value) => Ok(value),
        Reading::Absent => Err(WhyLeftOut::Absent),
        Reading::Unreadable { why, .. } => Err(WhyLeftOut::Unreadable { cause: why }),
    }
}

/// The path that a machine is tuned for, as far as somebody says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathAsked {
    /// Rate, in place of that of the links.
    pub speed: Option<BitRate>,
    /// Round-trip time in seconds, in place of that of the profile.
    pub rtt_s: Option<f64>,
}

/// The plan of a profile for these interfaces and this path. An MTU reaches each device that theirs has to pass.
pub fn plan(
    name: &str,
    profile: &Profile,
    interfaces: &[String],
    path: PathAsked,
    readings: &TuningReadings,
) -> TuningPlan {
    let mut readings = readings.clone();
    readings.interfaces.iter_mut().for_each(|interface| interface.speed = path.speed.or(interface.speed));
    let readings = &readings;
    let mut plan = TuningPlan {
        profile: name.to_owned(),
        interfaces: interfaces.to_vec(),
        rivals: readings.rivals.clone(),
        ..TuningPlan::default()
    };
    let tuned = readings.interfaces.iter().filter(|it| interfaces.contains(&it.name));
    let profile = profile.on_path(path.speed.or_else(|| tuned.filter_map(|it| it.speed).max()), path.rtt_s);
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
                false => Err(WhyLeftOut::Condition),
            };
            add(&mut plan, value, None, outcome);
        }
    }
    // It leaves alone what it is told to.
    if plan.changes.iter().any(|planned| matches!(planned.change, Change::BannedInterrupts(_))) {
        plan.rivals.retain(|rival| rival != "irqbalance");
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
        Ok(Planned::Change { before, wanted, change }) => {
            let can_cut = interface.is_some_and(|it| it.carries_us) && can_cut(&setting);
            plan.changes.push(PlannedChange { setting, interface: of, before, wanted, why, source, can_cut, change });
        }
        Ok(Planned::Kept(now)) => plan.kept.push(Kept { setting, interface: of, value: now }),
        Ok(Planned::ByHand(parameter)) => plan.by_hand.push(ByHand { parameter, why, source }),
        Err(why) => plan.left_out.push(LeftOut { setting, interface: of, why }),
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
        return vec![Err(WhyLeftOut::Condition)];
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
                true => vec![Err(WhyLeftOut::Renumbered)],
                false => match interrupts(value, interface, readings) {
                    placed @ Ok(_) => ban(interface, readings, plan).into_iter().chain([placed]).collect(),
                    why => vec![why],
                },
            }
        }
        _ => vec![],
    }
}

fn driver(value: &ProfileValue, number: DriverNumber, interface: &InterfaceReading, cores: usize) -> Outcome {
    let (now, most) = known(interface.settings.number(number))?;
    let local = &interface.settings.node_cores;
    let near = if local.is_empty() { cores } else { local.len() };
    let Some(wanted) = value.of_driver(most, near) else { return Err(WhyLeftOut::Absent) };
    if let Some(most) = most.filter(|most| wanted > *most) {
        return Err(WhyLeftOut::OutOfRange { range: format!("0-{most}") });
    }
    let exact = ProfileValue { value: wanted.to_string(), ..value.clone() };
    if exact.instead(&now.to_string()).is_none() {
        return Ok(Planned::Kept(now.to_string()));
    }
    let (namespace, interface) = (String::new(), interface.name.clone());
    let change = DriverSetting { namespace, interface, number, value: wanted }.into();
    Ok(Planned::Change { before: now.to_string(), wanted: wanted.to_string(), change })
}

fn offload(value: &ProfileValue, feature: &str, interface: &InterfaceReading) -> Outcome {
    let on = value.value == "on";
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    match known(interface.settings.offload(feature))? {
        reading if reading.on == on => Ok(Planned::Kept(word(on))),
        reading if !reading.changeable => Err(WhyLeftOut::Fixed),
        reading => {
            let (namespace, interface) = (String::new(), interface.name.clone());
            let change = OffloadSwitch { namespace, interface, feature: feature.to_owned(), on }.into();
            Ok(Planned::Change { before: word(reading.on), wanted: word(on), change })
        }
    }
}

fn qdisc(value: &ProfileValue, interface: &InterfaceReading) -> Outcome {
    let reading = known(interface.qdisc.as_ref())?;
    if reading.kind == value.value {
        return Ok(Planned::Kept(reading.kind.clone()));
    }
    if !reading.lasting.is_empty() {
        return Err(WhyLeftOut::Lasting { objects: reading.lasting.join(", ") });
    }
    if ["mq", "mqprio"].contains(&reading.kind.as_str()) {
        return Err(WhyLeftOut::Queues);
    }
    let change =
        RootQdisc { namespace: String::new(), interface: interface.name.clone(), kind: value.value.clone() }.into();
    Ok(Planned::Change { before: reading.kind.clone(), wanted: value.value.clone(), change })
}

/// A file of an interface.
fn file(interface: &InterfaceReading, setting: &str, value: &ProfileValue) -> Outcome {
    let now = known(interface.files.get(setting).map_or(Reading::Absent, Reading::as_ref))?;
    let Some(wanted) = value.instead(now) else { return Ok(Planned::Kept(now.clone())) };
    let (namespace, interface) = (String::new(), interface.name.clone());
    let change = InterfaceSetting { namespace, interface, setting: setting.to_owned(), value: wanted.clone() }.into();
    Ok(Planned::Change { before: now.clone(), wanted, change })
}

/// The cores of each queue.
fn queues(
    value: &ProfileValue,
    interface: &InterfaceReading,
    readings: &TuningReadings,
    file_name: &str,
) -> Vec<Outcome> {
    let cores = cores(value, interface, readings);
    let files: Vec<&String> = interface.files.keys().filter(|name| name.ends_with(file_name)).collect();
    if files.is_empty() || cores.is_empty() {
        return vec![Err(WhyLeftOut::Absent)];
    }
    let one = |(number, setting): (usize, &&String)| {
        // A transmit queue for each core, in turn; receive work for all of them.
        let own: Vec<usize> = match value.setting {
            Setting::Xps => cores.iter().copied().skip(number).step_by(files.len()).collect(),
            _ => cores.clone(),
        };
        let wanted = core_list::mask(if own.is_empty() { &cores } else { &own });
        match interface.files[*setting].known() {
            Some(now) if bits(now) == bits(&wanted) => Ok(Planned::Kept(now.clone())),
            _ => file(interface, setting, &ProfileValue { value: wanted, ..value.clone() }),
        }
    };
    files.iter().enumerate().map(one).collect()
}

fn cores(value: &ProfileValue, interface: &InterfaceReading, readings: &TuningReadings) -> Vec<usize> {
    let local = &interface.settings.node_cores;
    if value.value == "local" && !local.is_empty() { local.clone() } else { readings.cores.clone() }
}

/// A mask without its leading zeros.
fn bits(mask: &str) -> String {
    mask.replace(',', "").trim_start_matches('0').to_lowercase()
}

fn interrupts(value: &ProfileValue, interface: &InterfaceReading, readings: &TuningReadings) -> Outcome {
    let allowed = interface.settings.interrupts.clone().then(|interrupts| {
        let of = |it: Interrupt| it.allowed.map(|cores| (it.number, cores));
        interrupts.into_iter().map(of).collect::<Reading<BTreeMap<u32, String>>>()
    });
    let now = known(allowed)?;
    let cores = cores(value, interface, readings);
    if now.is_empty() || cores.is_empty() {
        return Err(WhyLeftOut::Absent);
    }
    let in_turn = now.keys().zip(cores.iter().cycle());
    let wanted: BTreeMap<u32, String> = in_turn.map(|(irq, core)| (*irq, core.to_string())).collect();
    let words = |of: &BTreeMap<u32, String>| {
        of.iter().map(|(irq, cores)| format!("{irq}: {cores}")).collect::<Vec<_>>().join(", ")
    };
    if wanted == now {
        return Ok(Planned::Kept(words(&wanted)));
    }
    let files = wanted.iter().map(|(irq, core)| (format!("/proc/irq/{irq}/smp_affinity_list"), core.clone())).collect();
    let setting = format!("interrupts of {}", interface.name);
    let change = MachineSetting { setting, value: words(&wanted), files }.into();
    Ok(Planned::Change { before: words(&now), wanted: words(&wanted), change })
}

/// The interrupts of an interface on the ban list of a running irqbalance, which would move them.
fn ban(interface: &InterfaceReading, readings: &TuningReadings, plan: &TuningPlan) -> Option<Outcome> {
    let planned = plan.changes.iter().filter_map(|planned| match &planned.change {
        Change::BannedInterrupts(ban) => Some(&ban.interrupts),
        _ => None,
    });
    let banned = planned.fold(readings.banned_interrupts.known()?.clone(), |all, more| &all | more);
    let own = interface.settings.interrupts.known()?.iter().map(|it| it.number);
    let interrupts: BTreeSet<u32> = own.filter(|number| !banned.contains(number)).collect();
    let words = |of: &BTreeSet<u32>| of.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    let (before, wanted) = (words(&banned), words(&(&banned | &interrupts)));
    (!interrupts.is_empty() && wanted.len() <= LONGEST_BAN_LIST).then(|| {
        let change = BannedInterrupts { interrupts }.into();
        let before = format!("--banirq {before}").trim_end().to_owned();
        Ok(Planned::Change { before, wanted: format!("--banirq {wanted}"), change })
    })
}

fn of_machine(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    match &value.setting {
        Setting::Sysctl(key) => sysctl(value, key, readings),
        Setting::Governor => governor(value, readings),
        Setting::IdleLatency => idle_latency(value, readings),
        Setting::HugePages => huge_pages(value, readings),
        Setting::Boot(name) => boot(value, name, readings),
        _ => Err(WhyLeftOut::Absent),
    }
}

fn sysctl(value: &ProfileValue, key: &str, readings: &TuningReadings) -> Outcome {
    let now = known(readings.sysctls.get(key).map_or(Reading::Absent, Reading::as_ref))?;
    let Some(wanted) = value.instead(now) else { return Ok(Planned::Kept(now.clone())) };
    if SETS_OTHERS.contains(&key) {
        return Err(WhyLeftOut::SetsOthers);
    }
    let change = Sysctl { namespace: String::new(), key: key.to_owned(), value: wanted.clone() }.into();
    Ok(Planned::Change { before: now.clone(), wanted, change })
}

fn governor(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    let governors = known(readings.governors.as_ref())?;
    if governors.is_empty() {
        return Err(WhyLeftOut::Absent);
    }
    if !readings.known_governors.contains(&value.value) {
        return Err(WhyLeftOut::NoGovernor { known: readings.known_governors.join(", ") });
    }
    let path = |core: usize| format!("{CPUS}/cpu{core}/cpufreq/scaling_governor");
    let now = governors.iter().flat_map(|(governor, cores)| {
        let cores = core_list::parse(cores).unwrap_or_default();
        cores.into_iter().map(move |core| (path(core), governor.clone()))
    });
    let now: BTreeMap<String, String> = now.collect();
    let wanted = now.keys().map(|path| (path.clone(), value.value.clone())).collect();
    let before = governors.keys().cloned().collect::<Vec<_>>().join(", ");
    files("governor", before, &value.value, wanted, &now)
}

fn idle_latency(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    let Ok(most) = value.value.parse::<u64>() else { return Err(WhyLeftOut::Absent) };
    let states = known(readings.idle_states.as_ref())?;
    if states.is_empty() {
        return Err(WhyLeftOut::Absent);
    }
    let open = states.iter().filter(|(_, state)| state.enabled);
    let deepest = open.clone().map(|(_, state)| state.latency_us).max().unwrap_or(0);
    // A state that is disabled already stays so.
    let deep = open.filter(|(_, state)| state.latency_us > most);
    let wanted = deep.map(|(folder, _)| (format!("{folder}/disable"), "1".to_owned())).collect();
    files("idle-latency", format!("{deepest} µs"), &format!("{most} µs"), wanted, &BTreeMap::new())
}

fn huge_pages(value: &ProfileValue, readings: &TuningReadings) -> Outcome {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled".to_owned();
    match known(readings.huge_pages.as_ref())? {
        now if value.instead(now).is_none() => Ok(Planned::Kept(now.clone())),
        now => {
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
        return Ok(Planned::Kept(before));
    }
    let change = MachineSetting { setting: setting.to_owned(), value: wanted.to_owned(), files }.into();
    Ok(Planned::Change { before, wanted: wanted.to_owned(), change })
}

fn boot(value: &ProfileValue, name: &str, readings: &TuningReadings) -> Outcome {
    let line = known(readings.command_line.as_ref())?;
    let there = line.split_whitespace().find(|word| *word == name || word.starts_with(&format!("{name}=")));
    match there {
        Some(there) => Ok(Planned::Kept(there.to_owned())),
        None => Ok(Planned::ByHand(format!("{name}={}", value.value))),
    }
}

/// Least MTU with which IPv6 works (RFC 8200, section 5).
pub const LEAST_MTU: Mtu = Mtu(1280);

#[cfg(test)]
mod tests;
