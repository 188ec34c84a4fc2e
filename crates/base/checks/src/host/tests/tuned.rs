//! An inspection and a tuning for the same goal want the same: what one tells, the other sets.

use std::collections::BTreeMap;

use model::{
    BitRate,
    change::Change,
    inspection::Group,
    tuning::{InterfaceReading, Setting, TuningPlan, TuningReadings, WhyLeftOut},
};

use super::{faults::FAULTS, *};
use crate::tuning::PathAsked;

/// A setting of both ends, and a limit that goes by what is in use: no profile has them.
const NOT_TUNED: [Check; 3] = [Check::PauseOneSided, Check::ConnectionTable, Check::ConnectionDrops];

/// The readings of a tuning of a machine that has those of an inspection.
fn of_tuning(readings: &HostReadings) -> TuningReadings {
    let (end, processor) = (&readings.ends[0], readings.host.processor.as_ref().expect("it has"));
    let of_interface = |facts: &InterfaceFacts| {
        let settings = facts.settings.clone().expect("it has");
        InterfaceReading {
            name: facts.name.clone(),
            is_virtual: facts.card.is_none(),
            speed: facts.speed_mbps.copied().map(|mbps| BitRate(u64::from(mbps) * 1_000_000)),
            settings,
            ..InterfaceReading::default()
        }
    };
    let by_name = |states: Vec<IdleState>| states.into_iter().map(|state| (state.name.clone(), state)).collect();
    let all = readings.host.sysctls.iter().chain(&end.sysctls);
    TuningReadings {
        interfaces: end.interfaces.iter().map(of_interface).collect(),
        sysctls: all.map(|(key, value)| (key.clone(), value.clone())).collect(),
        cores: (0..8).collect(),
        governors: processor.governors.clone(),
        known_governors: vec!["performance".into(), "powersave".into()],
        idle_states: processor.idle_states.clone().map(by_name),
        huge_pages: processor.huge_pages.clone(),
        ..TuningReadings::default()
    }
}

fn plan(goal: Goal, readings: &HostReadings) -> TuningPlan {
    let readings = of_tuning(readings);
    let (name, profile) = (goal.to_string(), crate::profile(goal));
    crate::tuning::plan(&name, profile, &["eth1".to_owned()], PathAsked::default(), &readings)
}

/// Makes the changes of a plan.
fn apply(plan: &TuningPlan, readings: &mut HostReadings) {
    for planned in &plan.changes {
        match &planned.change {
            Change::Sysctl(sysctl) => {
                let of_host = readings.host.sysctls.contains_key(&sysctl.key);
                let all = if of_host { &mut readings.host.sysctls } else { &mut readings.ends[0].sysctls };
                all.insert(sysctl.key.clone(), Reading::Known(sysctl.value.clone()));
            }
            Change::DriverSetting(set) => {
                let (structure, place, _) = set.number.place();
                numbers(readings, structure)[place] = set.value;
            }
            Change::OffloadSwitch(switch) => offload(readings, &switch.feature, switch.on),
            Change::MachineSetting(set) => match planned.setting {
                Setting::Governor => set_governor(readings, &set.value),
                Setting::IdleLatency => {
                    let is_set = |state: &IdleState| set.files.contains_key(&format!("{}/disable", state.name));
                    idle_states(readings).iter_mut().filter(|it| is_set(it)).for_each(|state| state.enabled = false);
                }
                Setting::HugePages => processor(readings).huge_pages = Reading::Known(set.value.clone()),
                _ => panic!("{planned:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

/// Settings with their values in a command of an inspection; none where a tuning knows no such setting.
fn asked(mend: &str) -> BTreeMap<Setting, String> {
    let words: Vec<&str> = mend.splitn(4, ' ').collect();
    let parse = |setting: String| setting.parse::<Setting>().ok();
    let pairs = |prefix: &str, rest: &str| -> Vec<(Option<Setting>, String)> {
        let words: Vec<&str> = rest.split(' ').collect();
        let value = |word: &str| match word {
            "on" => "1".to_owned(),
            "off" => "0".to_owned(),
            word => word.to_owned(),
        };
        words.chunks_exact(2).map(|pair| (parse(format!("{prefix}{}", pair[0])), value(pair[1]))).collect()
    };
    let all = match words[..] {
        ["sysctl", "-w", ..] => {
            let (key, value) = mend["sysctl -w ".len()..].split_once('=').expect("a value");
            vec![(parse(format!("sysctl {key}")), value.trim_matches('"').to_owned())]
        }
        ["ethtool", "-G", _, rest] => pairs("ring-", rest),
        ["ethtool", "-L", _, rest] => pairs("channels-", rest),
        ["ethtool", "-C", _, rest] => pairs("", rest),
        ["ethtool", "-A", _, rest] => pairs("pause-", rest),
        ["ethtool", "-K", _, rest] => {
            let (feature, value) = rest.split_once(' ').expect("a value");
            vec![(parse(format!("offload {feature}")), value.to_owned())]
        }
        _ => Vec::new(),
    };
    all.into_iter().filter_map(|(setting, value)| Some((setting?, value))).collect()
}

/// A machine as it is installed: nothing is set for a goal.
fn untuned(readings: &mut HostReadings) {
    for (key, value) in [
        ("kernel.nmi_watchdog", "1"),
        ("kernel.numa_balancing", "1"),
        ("net.core.busy_poll", "0"),
        ("net.core.default_qdisc", "pfifo_fast"),
        ("net.core.rmem_max", "212992"),
        ("net.core.wmem_max", "212992"),
    ] {
        set_host(readings, key, value);
    }
    for (key, value) in [
        ("net.ipv4.conf.all.rp_filter", "1"),
        ("net.ipv4.ip_forward", "0"),
        ("net.ipv4.ip_no_pmtu_disc", "1"),
        ("net.ipv4.tcp_congestion_control", "reno"),
        ("net.ipv4.tcp_mtu_probing", "0"),
        ("net.ipv4.tcp_no_metrics_save", "0"),
        ("net.ipv4.tcp_rmem", "4096 131072 262144"),
        ("net.ipv4.tcp_sack", "0"),
        ("net.ipv4.tcp_slow_start_after_idle", "1"),
        ("net.ipv4.tcp_timestamps", "0"),
        ("net.ipv4.tcp_window_scaling", "0"),
        ("net.ipv4.tcp_wmem", "4096 16384 262144"),
    ] {
        set(readings, key, value);
    }
    for name in ["rx-checksum", "rx-gro", "rx-hashing", "tx-checksum-ip-generic", "tx-tcp-segmentation"] {
        offload(readings, name, false);
    }
    offload(readings, "rx-lro", true);
    *numbers(readings, "rings") = vec![4096, 0, 0, 4096, 128, 0, 0, 128];
    numbers(readings, "channels")[7] = 1;
    mtu(readings, "eth1", 9000);
    set_governor(readings, "powersave");
    processor(readings).huge_pages = "always".into();
    idle_states(readings).iter_mut().for_each(|state| state.enabled = true);
    drop(readings, Source::Softnet, "cpu 0", "dropped", 7);
    drop(readings, Source::Softnet, "cpu 0", "time_squeeze", 7);
}

/// Each planted fault, and all settings at once.
fn machines() -> Vec<(Goal, HostReadings)> {
    let mut machines = Vec::new();
    for goal in GOALS {
        machines.push((goal, clean(goal)));
        let mut readings = clean(goal);
        untuned(&mut readings);
        let coalescing = if goal == Goal::Latency { [125, 0, 1] } else { [0, 1, 0] };
        for (place, value) in [0, 1, 9].into_iter().zip(coalescing) {
            numbers(&mut readings, "coalescing")[place] = value;
        }
        machines.push((goal, readings));
        for (.., plant) in FAULTS {
            let mut readings = clean(goal);
            plant(&mut readings);
            machines.push((goal, readings));
        }
    }
    machines
}

#[test]
fn a_tuning_sets_what_an_inspection_asks_for_and_to_the_same_value() {
    let mut compared = 0;
    for (goal, readings) in machines().into_iter().filter(|(goal, _)| *goal != Goal::Bypass) {
        let plan = plan(goal, &readings);
        let findings = host(&readings, &conditions(goal)).into_iter();
        for finding in findings.filter(|it| it.severity < Severity::Unknown && !NOT_TUNED.contains(&it.check)) {
            for (setting, value) in finding.mend.as_deref().map(asked).unwrap_or_default() {
                if plan.left_out.iter().any(|it| it.setting == setting && it.why == WhyLeftOut::SetsOthers) {
                    continue;
                }
                let planned = plan.changes.iter().find(|change| change.setting == setting);
                let kept = plan.kept.iter().find(|kept| kept.setting == setting);
                let set = planned.map(|it| it.wanted.as_str()).or(kept.map(|it| it.value.as_str()));
                assert_eq!(set, Some(value.as_str()), "{goal}: {setting}, {finding:?}");
                compared += usize::from(planned.is_some());
            }
        }
    }
    assert!(compared > 60, "{compared}");
}

#[test]
fn an_inspection_asks_for_nothing_that_a_tuning_has_set() {
    for (goal, mut readings) in machines() {
        let plan = plan(goal, &readings);
        apply(&plan, &mut readings);
        for finding in host(&readings, &conditions(goal)).into_iter().filter(|it| !NOT_TUNED.contains(&it.check)) {
            if let Some(mend) = finding.mend.as_deref().filter(|_| finding.severity < Severity::Ok) {
                let asked = asked(mend);
                let set = plan.changes.iter().find(|change| asked.contains_key(&change.setting));
                assert_eq!(set, None, "{goal}: {finding:?}");
            }
            let settings_of_cores = [Check::Governor, Check::IdleStates, Check::HugePages];
            let has = |setting| plan.changes.iter().any(|change| change.setting == setting);
            let is_set = has(Setting::Governor) || has(Setting::IdleLatency) || has(Setting::HugePages);
            let is_of_cores = finding.check.group() == Group::Processor && settings_of_cores.contains(&finding.check);
            assert!(!(is_set && is_of_cores && finding.severity < Severity::Ok), "{goal}: {finding:?}");
        }
    }
}
