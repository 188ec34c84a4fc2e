//! Health of the cards of a run, as far as its readings and figures show it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    card::{Hop, Module},
    choice::choice,
    counters::Delta,
    limited::Place,
    network::Direction,
    units::Mtu,
};

/// Health of the cards of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CardHealth {
    /// The conclusion.
    pub health: Health,
    /// Checks that it rests on.
    pub checks: Vec<CardCheck>,
}

choice!(
    /// Result of a check of a card, or of all of them; the last one decides.
    Health, "a state of health", {
        /// As it should be.
        Fine = "fine",
        /// Not decided by what was measured.
        Undecided = "undecided",
        /// The slot is too narrow for the card.
        OtherSlot = "other-slot",
        /// A fault of card, module or cable.
        NotFine = "not-fine",
    }
);

/// A check of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CardCheck {
    /// Result.
    pub health: Health,
    /// Finding.
    #[serde(flatten)]
    pub finding: CardFinding,
}

/// Finding of a check of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum CardFinding {
    /// The end of the bed is no card.
    NoCard {
        /// The endpoint.
        endpoint: String,
    },
    /// The link of a port.
    Link {
        /// The endpoint.
        endpoint: String,
        /// Speed in Mbit/s; null where the driver does not say.
        speed_mbps: Option<u32>,
        /// The highest speed that both ports have, in Mbit/s; null where a driver does not say.
        top_speed_mbps: Option<u32>,
        /// Whether it sends and receives at the same time; null where the driver does not say.
        full_duplex: Option<bool>,
    },
    /// A port lost its link during a trial.
    LinkLost {
        /// The endpoint.
        endpoint: String,
        /// Number of times.
        times: u64,
    },
    /// The module in a port.
    Module {
        /// The endpoint.
        endpoint: String,
        /// The module.
        module: Module,
    },
    /// The tightest PCIe link of a port.
    Pcie {
        /// The endpoint.
        endpoint: String,
        /// The link.
        hop: Hop,
        /// Available for data each way, in bit/s.
        has_bps: f64,
        /// Needed by its ports each way, in bit/s.
        needs_bps: f64,
    },
    /// Counters of damaged frames.
    Damage {
        /// The endpoint.
        endpoint: String,
        /// Counters that moved, over all trials.
        counters: Vec<Delta>,
    },
    /// The largest packet that passes where interfaces take this MTU.
    Mtu {
        /// The MTU of the interfaces.
        mtu: Mtu,
        /// The largest packet that passed both ways, in bytes.
        passes: f64,
    },
    /// TCP from port to port.
    Goodput {
        /// Direction.
        direction: Direction,
        /// The MTU of the interfaces; null for the bed's own.
        mtu: Option<Mtu>,
        /// Median goodput in bit/s, of the slower direction.
        bps: f64,
        /// The most that the link carries, in bit/s; null where its rate is not known.
        line_bps: Option<f64>,
        /// The place that limited most trials; null where none is known.
        limited_by: Option<Place>,
    },
    /// Frames of one size, as many as the machine sends.
    Packets {
        /// The size in bytes.
        frame_size: u32,
        /// Median of those received per second.
        pps: f64,
    },
    /// A measurement that the plan asks for is missing.
    Missing,
}
