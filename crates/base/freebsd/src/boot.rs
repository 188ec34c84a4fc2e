//! dmesg(8): devices, the buses that they are on, and complaints of the network stack.

use std::collections::BTreeMap;

use crate::text::lines;

/// Most devices, and most complaints that are kept.
const MOST: usize = 4096;
const MOST_COMPLAINTS: usize = 100;
/// Most buses between a card and the processor.
const MOST_HOPS: usize = 16;

/// Words of complaints that bear on results.
const COMPLAINTS: [&str; 8] = [
    "interrupt storm detected",
    "limit reached",
    "Could not allocate",
    "watchdog timeout",
    "Watchdog timeout",
    "Unsupported SFP",
    "failed to establish link",
    "PCI errors",
];

/// Parts of the kernel's messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// Description of each device, as its driver gave it.
    pub devices: BTreeMap<String, String>,
    /// Each device with the one that it is attached to.
    pub parents: BTreeMap<String, String>,
    /// Times that the link of each interface went down.
    pub downs: BTreeMap<String, u32>,
    /// Complaints, in the order of the messages.
    pub complaints: Vec<String>,
}

impl Boot {
    /// Bridges between a device and the processor, the nearest first.
    pub fn bridges(&self, device: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut device = device;
        while let Some(parent) = self.parents.get(device)
            && found.len() < MOST_HOPS
        {
            // `pciN` is the bus below the bridge `pcibN`.
            if parent.starts_with("pcib") {
                found.push(parent.as_str());
            }
            device = parent;
        }
        found
    }
}

/// The kernel's messages, those of several boots together: later ones count.
pub fn read(text: &str) -> Boot {
    let mut boot = Boot::default();
    for line in lines(text) {
        if COMPLAINTS.iter().any(|words| line.contains(words)) && boot.complaints.len() < MOST_COMPLAINTS {
            boot.complaints.push(line.to_owned());
        }
        let Some((name, rest)) = line.split_once(": ") else { continue };
        if name.is_empty() || name.contains(char::is_whitespace) || boot.devices.len() + boot.downs.len() >= 2 * MOST {
            continue;
        }
        if rest == "link state changed to DOWN" {
            *boot.downs.entry(name.to_owned()).or_default() += 1;
        } else if let Some((description, place)) = rest.strip_prefix('<').and_then(|rest| rest.rsplit_once("> "))
            && let Some((_, parent)) = place.rsplit_once("on ")
        {
            let parent = parent.split_whitespace().next().unwrap_or_default();
            boot.devices.insert(name.to_owned(), description.to_owned());
            boot.parents.insert(name.to_owned(), parent.to_owned());
        }
    }
    boot
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{DMESG_9, DMESG_13, DMESG_15};

    #[test]
    fn cards_stand_behind_their_bridges() {
        let boot = read(DMESG_9);
        assert_eq!(boot.bridges("ix0"), ["pcib3"]);
        assert_eq!(boot.devices["ix0"], "Intel(R) PRO/10GbE PCI-Express Network Driver, Version - 2.5.15");
        let new = read(DMESG_13);
        assert_eq!(new.devices["ice1"], "Intel(R) Ethernet Network Adapter E810-XXV-2 - 1.37.11-k");
        assert_eq!(new.parents["ice1"], "pci6");
        let newest = read(DMESG_15);
        assert_eq!((newest.bridges("igb0"), newest.downs["igb0"], newest.complaints.len()), (vec!["pcib17"], 1, 0));
    }

    #[test]
    fn complaints_and_lost_links_are_kept() {
        let text = "ix0: link state changed to DOWN\nix0: link state changed to UP\nix0: link state changed to DOWN\n\
                    [zone: mbuf_cluster] kern.ipc.nmbclusters limit reached\ninterrupt storm detected on \"irq264:\"; throttling interrupt source\n";
        let boot = read(text);
        assert_eq!((boot.downs["ix0"], boot.complaints.len()), (2, 2));
    }

    #[test]
    fn buses_in_a_ring_have_an_end() {
        let ring = "pcib1: <a> at device 1.0 on pci2\npci2: <b> on pcib1\n";
        assert_eq!(read(ring).bridges("pci2").len(), MOST_HOPS);
    }
}
