//! Whether the bus behind a card carried all that it can.

use model::{Evidence, Flow, LimitedBy, Place, card::PcieLink, environment::InterfaceFacts};

use super::{Case, IN_MEMORY};
use crate::{
    limited::{at, end::End},
    link,
};

/// A bus that carries this share of what its lanes leave for data is full: descriptors and interrupts cross it too.
const BUS_FULL: f64 = 0.9;

/// Data goes down the sender's bus and up the receiver's; either can be the narrow place. All flows of the trial that cross the
/// same bus the same way share it, also those of a card's other port.
pub(super) fn full(case: &Case<'_>) -> Option<LimitedBy> {
    let of_end = |end: &End<'_>, same_way: fn(&Flow) -> &str| {
        let card = link::interface(case.run, end.name)?;
        let link_bps = card.pcie.as_ref().and_then(PcieLink::usable_bps)?;
        let shared = |flow: &&Flow| {
            let other = link::interface(case.run, same_way(flow)).filter(|_| case.run.bed.is_one_machine());
            same_way(flow) == end.name || other.is_some_and(|other| is_one_card(card, other))
        };
        let payload_bps: f64 = case.result.flows.iter().filter(shared).map(|flow| flow.received.mean_bps()).sum();
        let (payload, packet) = case.packet_size()?;
        let bps = payload_bps * f64::from(packet + IN_MEMORY) / f64::from(payload.max(1));
        (bps >= BUS_FULL * link_bps).then(|| at(Place::Pcie, end, vec![Evidence::LinkFull { bps, link_bps }]))
    };
    of_end(&case.way.sender, |flow| &flow.from).or_else(|| of_end(&case.way.receiver, |flow| &flow.to))
}

/// Ports of one card are functions of one device: their addresses differ behind the dot alone.
fn is_one_card(a: &InterfaceFacts, b: &InterfaceFacts) -> bool {
    let device = |card: &InterfaceFacts| card.bus.known()?.split('.').next().map(str::to_owned);
    device(a).is_some() && device(a) == device(b)
}
