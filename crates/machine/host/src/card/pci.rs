//! PCI devices as sysfs has them: names, and the way from a card to the processor.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{card::Hop, environment::PcieLink};

use crate::{facts::read, parse};

/// First two digits of the class of network controllers (PCI Code and ID Assignment Specification).
const NETWORK: &str = "0x02";

/// Where distributions keep the PCI ID list.
const ID_LISTS: [&str; 3] = ["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids"];

/// A PCI device, by its folder in `/sys/devices`.
pub(super) struct Device(PathBuf);

/// The device of an interface; `None` where it is on no PCI bus. Of virtio the device is one below its PCI function.
pub(super) fn device_of(interface: &str) -> Option<Device> {
    let folder = fs::canonicalize(format!("/sys/class/net/{interface}/device")).ok()?;
    folder.ancestors().find(|folder| is_function(folder)).map(|folder| Device(folder.to_owned()))
}

/// All network controllers of the machine.
pub(super) fn network_controllers() -> Vec<Device> {
    controllers(Path::new("/sys/bus/pci/devices"))
}

/// Those of the devices that are linked in this folder.
fn controllers(bus: &Path) -> Vec<Device> {
    let mut folders: Vec<PathBuf> = entries(bus).filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    folders.sort();
    folders.into_iter().map(Device).filter(Device::is_network).collect()
}

impl Device {
    /// Its address, like `0000:01:00.0`.
    pub(super) fn address(&self) -> String {
        parse::file_name(&self.0)
    }

    /// Its driver; empty for none.
    pub(super) fn driver(&self) -> String {
        fs::read_link(self.0.join("driver")).map(|driver| parse::file_name(&driver)).unwrap_or_default()
    }

    /// Whether an interface came of it. The folder `net` is there also where the interface itself, in another network
    /// namespace, is hidden.
    pub(super) fn has_interface(&self) -> bool {
        // Of virtio, one folder further down.
        std::iter::once(self.0.clone()).chain(entries(&self.0)).any(|folder| folder.join("net").is_dir())
    }

    /// Maker and model, or the IDs.
    pub(super) fn model(&self) -> String {
        let id = |name: &str| self.fact(name).trim_start_matches("0x").to_owned();
        let (vendor, device) = (id("vendor"), id("device"));
        let named = ID_LISTS.iter().find_map(|list| parse::pci_name(&read(list), &vendor, &device));
        named.unwrap_or_else(|| format!("{vendor}:{device}"))
    }

    /// The links from the card up to the root.
    pub(super) fn hops(&self) -> Vec<Hop> {
        let on_the_way = self.0.ancestors().take_while(|folder| is_function(folder));
        on_the_way.filter_map(|folder| hop(&Self(folder.to_owned()))).collect()
    }

    /// The link that it has; `None` where it is on no PCIe bus.
    pub(super) fn link(&self) -> Option<PcieLink> {
        let link = PcieLink {
            width: self.fact("current_link_width"),
            speed: self.fact("current_link_speed"),
            most_width: self.fact("max_link_width"),
            most_speed: self.fact("max_link_speed"),
        };
        // Devices that are part of the chipset have a link of no lanes.
        (!link.width.is_empty() && link.width != "0").then_some(link)
    }

    fn is_network(&self) -> bool {
        self.fact("class").starts_with(NETWORK)
    }

    fn fact(&self, name: &str) -> String {
        read(&self.0.join(name).to_string_lossy())
    }
}

fn hop(device: &Device) -> Option<Hop> {
    let link = device.link()?;
    // A port of a card shares the card's link with the card's other functions, which stand beside it.
    let sharing = if device.is_network() { siblings(&device.0) } else { vec![device.0.clone()] };
    Some(Hop { device: device.address(), link, ports: sharing.iter().map(|folder| ports_below(folder)).sum() })
}

/// The functions of one device: their addresses differ behind the dot alone.
fn siblings(function: &Path) -> Vec<PathBuf> {
    let slot = |folder: &Path| parse::file_name(folder).split('.').next().map(str::to_owned);
    let beside = function.parent().map(entries).into_iter().flatten().filter(|folder| is_function(folder));
    beside.filter(|folder| slot(folder) == slot(function)).collect()
}

/// Network controllers at and below a device; virtual functions (SR-IOV) send through the port of their physical one.
fn ports_below(folder: &Path) -> u32 {
    let device = Device(folder.to_owned());
    let own = u32::from(device.is_network() && !folder.join("physfn").exists());
    let below = entries(folder).filter(|entry| is_function(entry) && !entry.is_symlink());
    own + below.map(|entry| ports_below(&entry)).sum::<u32>()
}

/// Whether a folder is called as PCI functions are: `0000:01:00.0`.
fn is_function(folder: &Path) -> bool {
    let name = parse::file_name(folder);
    let parts: Vec<&str> = name.split([':', '.']).collect();
    parts.len() == 4 && parts.iter().all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_hexdigit()))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

#[cfg(test)]
mod tests;
