//! Interfaces.

use model::{
    check::{Check, Finding, Subject},
    environment::InterfaceFacts,
};

use crate::Machine;

pub(crate) fn check(machine: &Machine) -> Vec<Check> {
    let found = |interface: &InterfaceFacts| Finding::Interface {
        name: interface.name.clone(),
        driver: interface.driver.clone(),
        speed_mbps: interface.speed_mbps.copied(),
        mtu: interface.mtu.clone(),
        state: interface.state.clone(),
    };
    machine.interfaces.iter().map(|interface| Check::ok(Subject::Interface, found(interface))).collect()
}
