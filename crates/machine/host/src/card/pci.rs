//! PCI devices from sysfs: names, and the path from a card to the processor.

use std::collections::BTreeMap;

use firmware::{CONFIGURATION_BYTES, sizes};
use model::{
    Reading,
    card::{Hop, PcieLink},
    settings::PciSettings,
};

use crate::{parse, source::Source};

/// First two digits of the class of network controllers (PCI Code and ID Assignment Specification).
const NETWORK: &str = "0x02";

/// Distributions' paths of the PCI ID list.
const ID_LISTS: [&str; 3] = ["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids"];

/// Reason why the configuration of a device is not known.
const SHORT: &str = "only root reads more than its first 64 bytes";

/// A PCI device, by its folder in `/sys/devices`.
pub(super) struct Device<'a> {
    source: &'a dyn Source,
    folder: String,
}

/// The device of an interface; `None` without a PCI bus. A virtio device is below its PCI function.
pub(super) fn device_of<'a>(source: &'a dyn Source, interface: &str) -> Option<Device<'a>> {
    let folder = source.resolve(&format!("/sys/class/net/{interface}/device")).into_known()?;
    let folder = ancestors(&folder).find(|folder| is_function(folder))?.to_owned();
    Some(Device { source, folder })
}

/// All network controllers of the machine.
pub(super) fn network_controllers(source: &dyn Source) -> Vec<Device<'_>> {
    let links = source.list("/sys/bus/pci/devices").or_default();
    let mut folders: Vec<String> = links.iter().filter_map(|link| source.resolve(link).into_known()).collect();
    folders.sort();
    folders.into_iter().map(|folder| Device { source, folder }).filter(Device::is_network).collect()
}

impl Device<'_> {
    /// Address, like `0000:01:00.0`.
    pub(super) fn address(&self) -> String {
        name(&self.folder).to_owned()
    }

    /// Driver; empty for none.
    pub(super) fn driver(&self) -> Reading<String> {
        self.source.resolve(&format!("{}/driver", self.folder)).map(|driver| name(&driver).to_owned())
    }

    /// Whether it has an interface. The folder `net` exists even if the interface itself is hidden in another network
    /// namespace.
    pub(super) fn has_interface(&self) -> bool {
        // For virtio, one folder further down.
        let mut places = std::iter::once(self.folder.clone()).chain(self.entries(&self.folder));
        places.any(|folder| self.source.list(&format!("{folder}/net")).known().is_some())
    }

    /// Vendor and model, or the IDs.
    pub(super) fn model(&self) -> String {
        let id = |name: &str| self.fact(name).trim_start_matches("0x").to_owned();
        let (vendor, device) = (id("vendor"), id("device"));
        let named =
            ID_LISTS.iter().find_map(|list| parse::pci_name(&self.source.read(list).or_default(), &vendor, &device));
        named.unwrap_or_else(|| format!("{vendor}:{device}"))
    }

    /// Links from the card to the root.
    pub(super) fn hops(&self) -> Vec<Hop> {
        self.way().filter_map(|device| device.hop()).collect()
    }

    /// Configuration of each device from the card to the root.
    pub(super) fn settings(&self) -> Vec<PciSettings> {
        let of = |device: Device<'_>| {
            let space = device.source.read_bytes(&format!("{}/config", device.folder), CONFIGURATION_BYTES);
            // An ordinary user reads the first 64 bytes, which hold no sizes.
            let refused = || Reading::Unreadable { path: format!("{}/config", device.folder), why: SHORT.to_owned() };
            let sizes = match space {
                Reading::Known(space) if space.len() <= 64 => refused(),
                space => space.and_then(|space| sizes(&space)),
            };
            PciSettings { device: device.address(), sizes }
        };
        self.way().map(of).collect()
    }

    /// Errors of each device from the card to the root, by device, severity and kind; those at 0 are left out.
    pub(super) fn errors(&self) -> BTreeMap<String, u64> {
        const SEVERITIES: [&str; 3] = ["correctable", "nonfatal", "fatal"];
        let of = |device: Device<'_>| {
            let address = device.address();
            let read = |severity: &str| {
                let counts = device.fact(&format!("aer_dev_{severity}"));
                errors(&counts).map(|(kind, count)| (format!("{address} {severity} {kind}"), count)).collect::<Vec<_>>()
            };
            SEVERITIES.iter().flat_map(|severity| read(severity)).collect::<Vec<_>>()
        };
        self.way().flat_map(of).collect()
    }

    /// Kind of the IOMMU's translation; absent without IOMMU.
    pub(super) fn iommu(&self) -> Reading<String> {
        self.read("iommu_group/type")
    }

    /// The devices from this one to the root.
    fn way(&self) -> impl Iterator<Item = Device<'_>> {
        ancestors(&self.folder).take_while(|folder| is_function(folder)).map(|folder| self.at(folder))
    }

    /// Link; `None` without a PCIe bus.
    pub(super) fn link(&self) -> Option<PcieLink> {
        let link = PcieLink {
            width: self.fact("current_link_width"),
            speed: self.read("current_link_speed"),
            most_width: self.read("max_link_width"),
            most_speed: self.read("max_link_speed"),
        };
        // Devices in the chipset have a link without lanes.
        (!link.width.is_empty() && link.width != "0").then_some(link)
    }

    fn is_network(&self) -> bool {
        self.fact("class").starts_with(NETWORK)
    }

    fn fact(&self, name: &str) -> String {
        self.read(name).or_default()
    }

    fn read(&self, name: &str) -> Reading<String> {
        self.source.read(&format!("{}/{name}", self.folder)).filled()
    }

    fn at(&self, folder: &str) -> Self {
        Self { source: self.source, folder: folder.to_owned() }
    }

    fn entries(&self, folder: &str) -> Vec<String> {
        self.source.list(folder).or_default()
    }

    fn hop(&self) -> Option<Hop> {
        let link = self.link()?;
        // A port shares the card's link with the card's other functions, its siblings.
        let sharing = if self.is_network() { self.siblings() } else { vec![self.folder.clone()] };
        let ports = sharing.iter().map(|folder| self.at(folder).ports_below()).sum();
        Some(Hop { device: self.address(), link, ports })
    }

    /// Functions of one device: their addresses differ only after the dot.
    fn siblings(&self) -> Vec<String> {
        let slot = |folder: &str| name(folder).split('.').next().map(str::to_owned);
        let beside = ancestors(&self.folder).nth(1).map(|above| self.entries(above)).unwrap_or_default();
        beside.into_iter().filter(|it| is_function(it) && slot(it) == slot(&self.folder)).collect()
    }

    /// Network controllers at and below a device, without virtual functions (SR-IOV), which use their physical one's
    /// port.
    fn ports_below(&self) -> u32 {
        let is_virtual = self.source.resolve(&format!("{}/physfn", self.folder)).known().is_some();
        let own = u32::from(self.is_network() && !is_virtual);
        let entries = self.entries(&self.folder);
        // Targets of symbolic links are elsewhere.
        let is_own = |it: &&String| is_function(it) && self.source.resolve(it).known() == Some(*it);
        own + entries.iter().filter(is_own).map(|folder| self.at(folder).ports_below()).sum::<u32>()
    }
}

/// Counts of a file like `aer_dev_fatal` (ABI/testing/sysfs-bus-pci-devices-aer) that are not 0, without their total.
fn errors(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let count = |line: &'_ str| {
        let (kind, count) = line.rsplit_once(' ')?;
        Some((kind.len(), count.parse::<u64>().ok()?))
    };
    let counts = text.lines().filter_map(move |line| count(line).map(|(length, count)| (&line[..length], count)));
    counts.filter(|(kind, count)| *count > 0 && !kind.starts_with("TOTAL_"))
}

/// Whether a folder has the name of a PCI function: `0000:01:00.0`.
fn is_function(folder: &str) -> bool {
    let parts: Vec<&str> = name(folder).split([':', '.']).collect();
    parts.len() == 4 && parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_hexdigit()))
}

/// Last part of a path.
fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A folder and all its parents.
fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |folder| folder.rsplit_once('/').map(|(above, _)| above))
}

#[cfg(test)]
mod tests;
