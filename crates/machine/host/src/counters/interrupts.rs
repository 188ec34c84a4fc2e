//! `/proc/interrupts` and `/proc/softirqs`: a card's interrupts, and the cores' work on them.

use std::collections::BTreeSet;

use super::Counter;
use crate::source::Source;

/// Identifies an interface's interrupts.
pub(super) struct Device {
    interface: String,
    /// Name of the device on its bus, like `virtio2` or `0000:03:00.0`.
    name: String,
    /// Numbers of its interrupts.
    numbers: BTreeSet<u32>,
}

impl Device {
    /// The device of an interface; `None` for a virtual one.
    pub(super) fn of(source: &dyn Source, interface: &str) -> Option<Self> {
        let path = source.resolve(&format!("/sys/class/net/{interface}/device")).into_known()?;
        let (_, name) = path.rsplit_once('/')?;
        let numbers = interrupt_numbers(source, &path);
        Some(Self { interface: interface.to_owned(), name: name.to_owned(), numbers })
    }

    /// Some drivers name interrupts after the interface (`eth0-TxRx-0`), some after the device (`virtio2-input.0`,
    /// `mlx5_comp0@pci:0000:03:00.0`); others are known by number.
    fn has(&self, number: u32, action: &str) -> bool {
        let names = |name: &str| action.split(['-', '@']).any(|part| part == name);
        self.numbers.contains(&number)
            || names(&self.interface)
            || names(&self.name)
            || action.ends_with(&format!("@pci:{}", self.name))
    }
}

/// Interrupts (MSI) of a device; a virtio device has those of its PCI device.
pub(crate) fn interrupt_numbers(source: &dyn Source, device: &str) -> BTreeSet<u32> {
    let places = [Some(device), device.rsplit_once('/').map(|(above, _)| above)].into_iter().flatten();
    let listed = places.flat_map(|place| source.list(&format!("{place}/msi_irqs")).or_default());
    listed.filter_map(|path| path.rsplit('/').next()?.parse().ok()).collect()
}

/// A line for each interrupt: number, count on each core, chip, and action. Summed over the cores.
pub(super) fn hard(text: &str, device: &Device) -> Vec<Counter> {
    let cores = text.lines().next().unwrap_or_default().split_whitespace().count();
    let line = |line: &str| {
        let (number, rest) = line.split_once(':')?;
        let number: u32 = number.trim().parse().ok()?;
        let action = rest.split_whitespace().last()?;
        let counts = rest.split_whitespace().take(cores).map_while(|word| word.parse::<u64>().ok());
        device.has(number, action).then(|| (format!("IRQ {number}"), action.to_owned(), counts.sum()))
    };
    text.lines().skip(1).filter_map(line).collect()
}

/// Network soft interrupts of each core.
pub(super) fn soft(text: &str) -> Vec<Counter> {
    let cores: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    let line = |line: &str| {
        let (name, counts) = line.split_once(':')?;
        let name = name.trim();
        let counter = |(core, count): (&&str, &str)| {
            Some((format!("cpu {}", core.strip_prefix("CPU")?), name.to_owned(), count.parse().ok()?))
        };
        let counters = || cores.iter().zip(counts.split_whitespace()).filter_map(counter).collect::<Vec<_>>();
        name.starts_with("NET_").then(counters)
    };
    text.lines().skip(1).filter_map(line).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, a virtual machine with two cores; lines of other devices omitted.
    const INTERRUPTS: &str = "           CPU0       CPU1       \n\
        \x20 24:          1          0  IO-APIC   5-edge      ACPI:Ged\n\
        \x20 37:          0          0 PCI-MSIX-0000:00:03.0   0-edge      virtio2-config\n\
        \x20 38:          3       4204 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n\
        \x20 39:       2556          0 PCI-MSIX-0000:00:03.0   2-edge      virtio2-output.0\n\
        \x20 41:       2000          0 PCI-MSIX-0000:00:04.0   1-edge      virtio3-rx\n\
        LOC:     168491     144201   Local timer interrupts\nERR:          0\n";
    /// The same machine; other kinds omitted.
    const SOFTIRQS: &str = "                    CPU0       CPU1       \n          HI:          0          0\n\
        \x20     NET_TX:          8         14\n      NET_RX:     152998      78195\n       BLOCK:          0     123526\n";

    fn device(interface: &str, name: &str, numbers: &[u32]) -> Device {
        Device { interface: interface.into(), name: name.into(), numbers: numbers.iter().copied().collect() }
    }

    #[test]
    fn interrupts_of_the_card_are_summed_over_cores() {
        let counter = |of: &str, name: &str, value| (of.to_owned(), name.to_owned(), value);
        let by_name = hard(INTERRUPTS, &device("eth0", "virtio2", &[]));
        let expected = [
            counter("IRQ 37", "virtio2-config", 0),
            counter("IRQ 38", "virtio2-input.0", 4207),
            counter("IRQ 39", "virtio2-output.0", 2556),
        ];
        assert_eq!(by_name, expected);
        assert_eq!(hard(INTERRUPTS, &device("eth0", "0000:00:03.0", &[37, 38, 39])), expected);
        assert!(hard(INTERRUPTS, &device("eth0", "virtio", &[])).is_empty(), "virtio is not virtio2");
    }

    #[test]
    fn drivers_name_interrupts_in_several_ways() {
        let card = device("enp3s0f0", "0000:03:00.0", &[]);
        // ixgbe, i40e, mlx5.
        for action in ["enp3s0f0-TxRx-0", "i40e-enp3s0f0-TxRx-7", "mlx5_comp0@pci:0000:03:00.0"] {
            assert!(card.has(1, action), "{action}");
        }
        for action in ["enp3s0f1-TxRx-0", "mlx5_comp0@pci:0000:03:00.1", "nvme0q1"] {
            assert!(!card.has(1, action), "{action}");
        }
    }

    #[test]
    fn soft_interrupts_of_the_network_are_told_by_core() {
        let read: Vec<_> = soft(SOFTIRQS).into_iter().map(|(of, name, value)| format!("{of} {name} {value}")).collect();
        assert_eq!(read, ["cpu 0 NET_TX 8", "cpu 1 NET_TX 14", "cpu 0 NET_RX 152998", "cpu 1 NET_RX 78195"]);
    }

    #[test]
    fn a_virtual_interface_has_no_device() {
        assert!(Device::of(&crate::source::LocalSource, "lo").is_none());
    }
}
