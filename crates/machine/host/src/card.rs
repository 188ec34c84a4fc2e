//! Network cards: their ports, what is plugged in, the bus they hang on, and those that no interface came of. Nothing here
//! fails: what cannot be read is left out.

mod module;
mod pci;
mod readings;
mod refused;
mod speed;

use kernel::port::{self, LinkSettings};
use model::card::{Card, Cards, Connector, Port};

pub(crate) use self::readings::read as readings;
use crate::facts;

/// All cards of this machine; interfaces as the caller's namespace has them.
pub fn cards() -> Cards {
    let physical = facts::interfaces().into_iter().filter(|interface| interface.card.is_some());
    Cards {
        ports: physical.map(|interface| Port { readings: readings::read(&interface.name), interface }).collect(),
        refused: refused::refused(),
    }
}

/// The card behind an interface; `None` for a virtual one.
pub(crate) fn of_interface(interface: &str) -> Option<Card> {
    let device = pci::device_of(interface)?;
    let settings = port::link_settings(interface).unwrap_or_default();
    Some(Card {
        model: device.model(),
        permanent_mac: port::permanent_mac(interface).ok().flatten().unwrap_or_default(),
        top_speed_mbps: speed::top(&settings),
        connector: connector(&settings),
        module: port::module_memory(interface).ok().and_then(|memory| module::module(&memory)),
        hops: device.hops(),
    })
}

/// A port that says nothing of modes says nothing of its connector either: 0 would be twisted pair.
fn connector(settings: &LinkSettings) -> Option<Connector> {
    (!settings.supported.is_empty()).then_some(match settings.port {
        0 => Connector::TwistedPair,
        3 => Connector::Fibre,
        5 => Connector::DirectAttach,
        0xef => Connector::Empty,
        _ => Connector::Other,
    })
}
