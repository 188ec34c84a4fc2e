//! Received light of a module on the lanes of one interface, by the thresholds that the module states.

use model::{
    card::{LaneReadings, ModuleReadings, PowerLimits},
    inspection::{Check, Finding, Read, Severity},
};

const DIAGNOSTICS: [(&str, &str); 2] =
    [("SFF-8472", "address A2h, alarm and warning thresholds"), ("SFF-8636", "page 03h, channel monitor thresholds")];

/// Light below this is none, in milliwatts: modules report 0 or -40 dBm without light.
const DARK_MW: f64 = 2e-4;

/// A lane with its number, from 1.
type Lane<'r> = (usize, &'r LaneReadings);

/// The interface whose light is judged.
pub(crate) struct LitInterface<'r> {
    pub(crate) name: &'r str,
    /// The command that shows its module.
    pub(crate) place: String,
    /// Speed of its link.
    pub(crate) speed_mbps: Option<u32>,
    /// Its place among those that share the module.
    pub(crate) subport: Option<usize>,
}

/// The worst lane of an interface.
pub(crate) fn light(interface: LitInterface<'_>, module: &ModuleReadings) -> Option<Finding> {
    let limits = module.received_limits;
    let judged: Vec<(Severity, Lane<'_>)> =
        lanes(&interface, module).into_iter().map(|lane| (severity(lane.1.received_mw, limits), lane)).collect();
    let (severity, (number, lane)) =
        *judged.iter().min_by(|a, b| (a.0.cmp(&b.0)).then(a.1.1.received_mw.total_cmp(&b.1.1.received_mw)))?;
    // Without a link, a dark lane beside a lit one may belong to another interface.
    let may_be_of_another = interface.speed_mbps.is_none() && judged.iter().any(|(it, _)| *it == Severity::Ok);
    let severity = if may_be_of_another { severity.max(Severity::Info) } else { severity };
    let of_lane = if module.lanes.len() > 1 { format!("lane {number}: ") } else { String::new() };
    let read = Read::of(format!("{of_lane}{:.4} mW", lane.received_mw), interface.place);
    let wanted = match limits {
        Some(limits) => format!("{:.4}-{:.4} mW", limits.low_warning_mw, limits.high_warning_mw),
        None => format!(">= {DARK_MW} mW"),
    };
    let finding = Finding::of(Check::NoLight, interface.name, read, wanted, &DIAGNOSTICS);
    Some(finding.unless(severity == Severity::Ok, severity, None))
}

/// Severity of a received power. Without thresholds, nobody says how much a module needs.
fn severity(mw: f64, limits: Option<PowerLimits>) -> Severity {
    let Some(limits) = limits else { return if mw < DARK_MW { Severity::Info } else { Severity::Ok } };
    if mw < limits.low_alarm_mw || mw > limits.high_alarm_mw {
        Severity::Warn
    } else if mw < limits.low_warning_mw || mw > limits.high_warning_mw {
        Severity::Info
    } else {
        Severity::Ok
    }
}

/// The lanes of the interface, as far as they are known; the others belong to nobody, or to the interfaces that share the module.
fn lanes<'r>(interface: &LitInterface<'_>, module: &'r ModuleReadings) -> Vec<Lane<'r>> {
    let mut lanes: Vec<Lane<'_>> = (1..).zip(&module.lanes).collect();
    let width = interface.speed_mbps.map(width);
    if let (Some(width), Some(subport)) = (width, interface.subport) {
        let first = subport.saturating_mul(width);
        lanes.retain(|(number, _)| (first..first.saturating_add(width)).contains(&(number - 1)));
    }
    // A lane whose own laser is off is not used; older drivers and FreeBSD do not tell of the laser.
    let sends = |(_, lane): &Lane<'_>| lane.bias_ma > 0.0 || lane.sent_mw > 0.0;
    if lanes.iter().any(sends) {
        lanes.retain(sends);
    }
    // A link that works has light on its lanes.
    lanes.sort_by(|a, b| b.1.received_mw.total_cmp(&a.1.received_mw));
    lanes.truncate(width.unwrap_or(usize::MAX));
    lanes
}

/// Lanes of a link in a module of several: 1 up to 25 Gbit/s, 2 for 50, otherwise all four (IEEE 802.3, clauses 86 to 112).
fn width(mbps: u32) -> usize {
    match mbps {
        ..=25_000 => 1,
        50_000 => 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thresholds of the module of [`split`].
    const LIMITS: PowerLimits =
        PowerLimits { low_alarm_mw: 0.0446, low_warning_mw: 0.1122, high_warning_mw: 1.7378, high_alarm_mw: 2.1878 };

    fn module(limits: Option<PowerLimits>, lanes: &[(f64, f64)]) -> ModuleReadings {
        let lane = |(received_mw, bias_ma): &(f64, f64)| LaneReadings {
            received_mw: *received_mw,
            bias_ma: *bias_ma,
            ..LaneReadings::default()
        };
        ModuleReadings { lanes: lanes.iter().map(lane).collect(), received_limits: limits, ..ModuleReadings::default() }
    }

    fn of(module: &ModuleReadings, speed_mbps: Option<u32>, subport: Option<usize>) -> (Severity, String) {
        let interface = LitInterface { name: "eth2", place: "ethtool -m eth2".into(), speed_mbps, subport };
        let finding = light(interface, module).expect("it has lanes");
        (finding.severity, finding.read.value)
    }

    /// `ethtool -m eth2` of 40GBASE-SR4 with one lane in use (netdev, 2024-05-23, K. Olędzki, "no SFP-DOM support via netlink?").
    fn split() -> ModuleReadings {
        module(Some(LIMITS), &[(0.7682, 6.662), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)])
    }

    #[test]
    fn lanes_that_are_not_used_are_not_judged() {
        for (speed, subport) in [(Some(10_000), None), (Some(10_000), Some(0)), (Some(40_000), Some(0)), (None, None)] {
            assert_eq!(of(&split(), speed, subport), (Severity::Ok, "lane 1: 0.7682 mW".into()), "{speed:?}");
        }
        // The second module of the same message: its driver reads the first page alone.
        let without = module(None, &[(0.5692, 6.634), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]);
        assert_eq!(of(&without, Some(10_000), None).0, Severity::Ok);
    }

    #[test]
    fn lanes_of_another_interface_are_not_judged() {
        let shared = module(Some(LIMITS), &[(0.7, 6.6), (0.0, 6.6), (0.05, 6.6), (0.0, 6.6)]);
        assert_eq!(of(&shared, Some(10_000), Some(0)).0, Severity::Ok);
        assert_eq!(of(&shared, Some(10_000), Some(1)), (Severity::Warn, "lane 2: 0.0000 mW".into()));
        assert_eq!(of(&shared, Some(10_000), Some(2)), (Severity::Info, "lane 3: 0.0500 mW".into()));
        assert_eq!(of(&shared, Some(10_000), None).0, Severity::Ok, "which lane is its own, nobody says");
        assert_eq!(of(&shared, Some(50_000), Some(0)).0, Severity::Warn);
        assert_eq!(of(&shared, Some(40_000), None), (Severity::Warn, "lane 2: 0.0000 mW".into()));
        assert_eq!(of(&shared, None, None), (Severity::Info, "lane 2: 0.0000 mW".into()), "it may be another's");
    }

    #[test]
    fn the_thresholds_of_the_module_decide() {
        let of = |received| of(&module(Some(LIMITS), &[(received, 6.6)]), None, None).0;
        let powers = [0.0, 0.0445, 0.05, 0.1122, 1.7378, 2.0, 2.2];
        use Severity::{Info, Ok, Warn};
        assert_eq!(powers.map(of), [Warn, Warn, Info, Ok, Ok, Info, Warn]);
        // An XGS-PON stick (netdev, 2025-06-06, C. Morgan, "add quirk for Potron SFP+ XGSPON ONU Stick").
        let far = PowerLimits {
            low_alarm_mw: 0.0011,
            low_warning_mw: 0.0014,
            high_warning_mw: 0.1584,
            high_alarm_mw: 0.1995,
        };
        let received = |mw| severity(mw, Some(far));
        assert_eq!([0.002, 0.0001, 0.3].map(received), [Ok, Warn, Warn]);
    }

    #[test]
    fn without_thresholds_darkness_is_worth_knowing_and_no_fault() {
        let of = |received| of(&module(None, &[(received, 6.6)]), None, None);
        assert_eq!(of(0.0), (Severity::Info, "0.0000 mW".into()));
        assert_eq!(of(0.0001).0, Severity::Info, "-40 dBm is no light");
        assert_eq!(of(0.001).0, Severity::Ok);
        assert_eq!(
            lanes(
                &LitInterface { name: "", place: String::new(), speed_mbps: None, subport: None },
                &module(None, &[])
            )
            .len(),
            0
        );
    }
}
