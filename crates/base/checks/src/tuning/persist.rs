//! A plan as files that take effect at the next boot.

use std::fmt::Write;

use model::{
    change::{Change, DriverNumber, MachineSetting, OwnFile},
    tuning::{PlannedChange, Setting, TuningPlan, TuningReadings},
};

/// First line of each file.
const MARK: &str = "# Written by wireproof tune. \"wireproof tune undo\" removes this file.\n";

/// Files of a plan, and the changes that no file can hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Persisted {
    /// The files.
    pub files: Vec<OwnFile>,
    /// Changes that last until the next boot only, in words.
    pub passing: Vec<String>,
}

/// The files for a plan: sysctl.d(5), and rules of udev(7) that set interfaces and cores as they appear.
pub fn persisted(plan: &TuningPlan, readings: &TuningReadings) -> Persisted {
    let (mut sysctls, mut rules, mut passing) = (String::new(), String::new(), Vec::new());
    for planned in &plan.changes {
        if let Change::Sysctl(sysctl) = &planned.change {
            let _ = writeln!(sysctls, "{} = {}", sysctl.key, sysctl.value);
        } else if let Some(rule) = rule(planned, readings) {
            rules += &rule;
            rules.push('\n');
        } else {
            passing.push(planned.change.to_string());
        }
    }
    let file = |path: &str, text: &str| {
        (!text.is_empty()).then(|| OwnFile { path: path.to_owned(), text: format!("{MARK}{text}") })
    };
    let files = [
        file("/etc/sysctl.d/90-wireproof-tune.conf", &sysctls),
        file("/etc/udev/rules.d/90-wireproof-tune.rules", &rules),
    ];
    Persisted { files: files.into_iter().flatten().collect(), passing }
}

/// A rule of udev for one change; `None` where udev cannot make it. The number of an interrupt changes from boot to boot.
fn rule(planned: &PlannedChange, readings: &TuningReadings) -> Option<String> {
    if let Change::MachineSetting(MachineSetting { value, .. }) = &planned.change {
        return (planned.setting == Setting::Governor).then(|| {
            format!("ACTION==\"add\", SUBSYSTEM==\"cpu\", TEST==\"cpufreq/scaling_governor\", ATTR{{cpufreq/scaling_governor}}=\"{value}\"")
        });
    }
    // A name may hold whatever the kernel allows; in a rule, quotation marks and patterns would mean something.
    let is_plain = |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@".contains(c));
    let interface = planned.interface.as_ref().filter(is_plain)?;
    let mac = &readings.interfaces.iter().find(|it| it.name == *interface)?.mac;
    let head = format!("ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{{address}}==\"{mac}\", NAME==\"{interface}\"");
    let run = |program: &str| format!("{head}, RUN+=\"{program}\"");
    Some(match &planned.change {
        Change::Mtu(mtu) => format!("{head}, ATTR{{mtu}}=\"{}\"", mtu.mtu.0),
        Change::InterfaceSetting(it) => format!("{head}, ATTR{{{}}}=\"{}\"", it.setting, it.value),
        Change::RootQdisc(it) => run(&format!("/sbin/tc qdisc replace dev {interface} root {}", it.kind)),
        Change::OffloadSwitch(it) => {
            run(&format!("/sbin/ethtool -K {interface} {} {}", it.feature, if it.on { "on" } else { "off" }))
        }
        Change::DriverSetting(it) => {
            let (option, name) = ethtool(it.number);
            let value = match name {
                "adaptive-rx" | "adaptive-tx" => if it.value == 0 { "off" } else { "on" }.to_owned(),
                _ if option == "-A" => if it.value == 0 { "off" } else { "on" }.to_owned(),
                _ => it.value.to_string(),
            };
            run(&format!("/sbin/ethtool {option} {interface} {name} {value}"))
        }
        _ => return None,
    })
}

/// Option of ethtool(8), and the name of a number behind it.
fn ethtool(number: DriverNumber) -> (&'static str, &'static str) {
    match number {
        DriverNumber::RingRx => ("-G", "rx"),
        DriverNumber::RingTx => ("-G", "tx"),
        DriverNumber::ChannelsRx => ("-L", "rx"),
        DriverNumber::ChannelsTx => ("-L", "tx"),
        DriverNumber::ChannelsCombined => ("-L", "combined"),
        DriverNumber::RxUsecs => ("-C", "rx-usecs"),
        DriverNumber::RxFrames => ("-C", "rx-frames"),
        DriverNumber::TxUsecs => ("-C", "tx-usecs"),
        DriverNumber::TxFrames => ("-C", "tx-frames"),
        DriverNumber::AdaptiveRx => ("-C", "adaptive-rx"),
        DriverNumber::AdaptiveTx => ("-C", "adaptive-tx"),
        DriverNumber::PauseAutonegotiation => ("-A", "autoneg"),
        DriverNumber::PauseRx => ("-A", "rx"),
        DriverNumber::PauseTx => ("-A", "tx"),
    }
}
