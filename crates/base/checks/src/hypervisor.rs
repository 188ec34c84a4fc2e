//! The hypervisor, where the machine is a virtual one.

use model::{
    Reading,
    check::{Check, Finding, Lack, Severity, Subject},
};

use crate::Machine;

pub(crate) fn check(Machine { host, .. }: &Machine) -> Vec<Check> {
    vec![match &host.hypervisor {
        Reading::Absent => Check::ok(Subject::Hypervisor, Finding::NoHypervisor),
        Reading::Known(name) => {
            Check::not(Subject::Hypervisor, Severity::Info, Finding::Hypervisor { name: name.clone() }, Lack::BareMetal)
        }
        Reading::Unreadable { path, why } => Check::unreadable(Subject::Hypervisor, path, why),
    }]
}

#[cfg(test)]
mod tests {
    use model::environment::HostFacts;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_not_taken_for_bare_metal() {
        let hypervisor = Reading::Unreadable { path: "/proc/cpuinfo".into(), why: "Permission denied".into() };
        let machine = Machine { host: HostFacts { hypervisor, ..HostFacts::default() }, ..Machine::default() };
        let [found] = <[Check; 1]>::try_from(check(&machine)).expect("one check");
        assert_eq!(found.severity, Severity::Warn);
        assert!(matches!(found.read, Finding::Unreadable { path, .. } if path == "/proc/cpuinfo"));
    }
}
