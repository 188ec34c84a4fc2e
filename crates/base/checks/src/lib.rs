//! Checks of a machine: pure functions of what was read there, a file each.
//!
//! A new check is a file and a line in `CHECKS`; its words stand in `report::finding` and `report::lack`.

mod cabling;
mod clock;
mod cores;
mod engine;
mod freebsd;
mod host;
mod hypervisor;
mod interfaces;
mod ipv6;
mod kernel;
mod lab;
mod light;
mod profiles;
mod store;
pub mod tuning;
mod user;

use model::{
    check::Check,
    environment::{HostFacts, InterfaceFacts},
};

pub use self::freebsd::freebsd;
pub use cabling::cabling;
pub use engine::engine;
pub use host::host;
pub use lab::lab;
pub use profiles::profile;
pub use store::store;
pub use user::{user, user_namespace};

/// Readings of a machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Facts about it.
    pub host: HostFacts,
    /// Interfaces.
    pub interfaces: Vec<InterfaceFacts>,
    /// Cores that can be used.
    pub cores: usize,
    /// Whether its kernel has IPv6.
    pub ipv6: bool,
    /// Time that one reading of the clock takes, in nanoseconds.
    pub clock_cost: f64,
}

/// Checks of a machine, in the order in which they are shown.
const CHECKS: [fn(&Machine) -> Vec<Check>; 6] =
    [kernel::check, cores::check, ipv6::check, clock::check, hypervisor::check, interfaces::check];

/// Checks a machine.
pub fn machine(machine: &Machine) -> Vec<Check> {
    CHECKS.iter().flat_map(|check| check(machine)).collect()
}

#[cfg(test)]
mod tests {
    use model::check::{Lack, Severity};

    use super::*;

    #[test]
    fn a_good_machine_lacks_nothing_and_a_small_one_is_told_what() {
        let good = Machine { cores: 8, ipv6: true, clock_cost: 25.0, ..Machine::default() };
        assert!(machine(&good).iter().all(|check| check.severity == Severity::Ok));
        let host = HostFacts { hypervisor: "xen".into(), ..HostFacts::default() };
        let small = Machine { host, cores: 1, clock_cost: 400.0, ..Machine::default() };
        let lacks: Vec<_> = machine(&small).into_iter().filter_map(|it| Some((it.lack?, it.severity))).collect();
        let expected = [
            (Lack::Cores, Severity::Warn),
            (Lack::Ipv6, Severity::Info),
            (Lack::FastClock, Severity::Warn),
            (Lack::BareMetal, Severity::Info),
        ];
        assert_eq!(lacks, expected);
    }
}
