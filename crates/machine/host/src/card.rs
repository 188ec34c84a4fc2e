//! Network cards: their NICs, modules and bus, and cards without an interface.

mod module;
mod pci;
mod readings;
mod refused;
mod speed;

use kernel::nic::LinkSettings;
use model::{
    Reading,
    card::{Card, Connector},
    settings::PciSettings,
};

pub(crate) use self::{readings::read as readings, refused::refused};
use crate::source::Source;

/// The card behind an interface; `None` for a virtual one.
pub(crate) fn of_interface(source: &dyn Source, interface: &str) -> Option<Card> {
    let device = pci::device_of(source, interface)?;
    let settings = source.link_settings(interface);
    Some(Card {
        model: device.model(),
        permanent_mac: source.permanent_mac(interface),
        top_speed_mbps: of_link(&settings, speed::top),
        connector: of_link(&settings, connector),
        module: source.module_memory(interface).and_then(|memory| module::module(&memory)),
        hops: device.hops(),
    })
}

/// Configuration of each device from the card to the root; empty for a virtual interface.
pub(crate) fn pci_settings(source: &dyn Source, interface: &str) -> Vec<PciSettings> {
    pci::device_of(source, interface).map(|device| device.settings()).unwrap_or_default()
}

/// Kind of the IOMMU's translation for the card; absent without IOMMU.
pub(crate) fn iommu(source: &dyn Source, interface: &str) -> Reading<String> {
    pci::device_of(source, interface).map_or(Reading::Absent, |device| device.iommu())
}

fn of_link<T>(settings: &Reading<LinkSettings>, fact: impl FnOnce(&LinkSettings) -> Option<T>) -> Reading<T> {
    settings.clone().and_then(|settings| fact(&settings))
}

/// A port without known modes does not report its connector either: 0 would be twisted pair.
fn connector(settings: &LinkSettings) -> Option<Connector> {
    (!settings.supported.is_empty()).then_some(match settings.port {
        0 => Connector::TwistedPair,
        3 => Connector::Fibre,
        5 => Connector::DirectAttach,
        0xef => Connector::Empty,
        _ => Connector::Other,
    })
}
