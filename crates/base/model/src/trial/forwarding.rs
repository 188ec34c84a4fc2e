//! Checks of a forwarding device and their outcomes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Measures;
use crate::{
    figure::{Figure, Metric},
    plausible::{Checked, Within, count, each, entries, optional_packet, refuse, text},
    probe::ForwardingSpec,
};

/// Outcomes of all checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForwardingResult {
    /// Whether a router is between the ends; otherwise a bridge or nothing.
    pub routed: bool,
    /// Crafted frames that the near end sent.
    pub sent: u64,
    /// Crafted frames that the far end saw.
    pub arrived: u64,
    /// The checks, each once.
    pub checks: Vec<CheckResult>,
}

/// One check with its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckResult {
    /// The check.
    pub check: ForwardingCheck,
    /// Frames that it looked at.
    pub frames: u64,
    /// Frames among them that were wrong, or missing.
    pub wrong: u64,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CheckOutcome,
}

/// Outcome of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// All frames were right.
    Passed,
    /// Some frames were wrong.
    Failed {
        /// The first fault.
        fault: ForwardingFault,
    },
    /// The check cannot be made here.
    NotApplicable {
        /// The reason.
        reason: NotApplicable,
    },
}

/// Checks, in the order of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardingCheck {
    /// Each frame of the numbered flow arrives.
    Delivery,
    /// No frame arrives twice.
    Duplicates,
    /// Frames of a flow keep their order.
    Order,
    /// Packets of each length arrive, from the smallest to the MTU.
    Lengths,
    /// The payload arrives as it was sent.
    Payload,
    /// TTL or hop limit is one less behind a router (RFC 1812, section 5.3.1; RFC 8200, section 3), and kept by a bridge.
    HopLimit,
    /// The checksum of the IPv4 header is right.
    HeaderChecksum,
    /// A router puts in MAC addresses of its own link; a bridge keeps them.
    MacAddresses,
    /// DSCP and ECN arrive as they were sent.
    TrafficClass,
    /// The other fields of the headers of IP and UDP arrive as they were sent.
    OtherFields,
    /// A VLAN tag arrives as it was sent.
    Vlan,
    /// Fragments arrive, and make the datagram that was sent.
    Fragments,
    /// A packet whose TTL ends is dropped, and answered by time exceeded.
    TimeExceeded,
    /// A packet larger than the next link takes is answered with the MTU of that link.
    TooBig,
    /// A packet for an address that nobody has is answered by destination unreachable.
    Unreachable,
    /// A packet with a wrong IPv4 header checksum is dropped (RFC 1812, section 5.2.2).
    BadChecksum,
    /// No frame comes back to the port that sent it.
    Returned,
}

impl ForwardingCheck {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Self::Delivery,
        Self::Duplicates,
        Self::Order,
        Self::Lengths,
        Self::Payload,
        Self::HopLimit,
        Self::HeaderChecksum,
        Self::MacAddresses,
        Self::TrafficClass,
        Self::OtherFields,
        Self::Vlan,
        Self::Fragments,
        Self::TimeExceeded,
        Self::TooBig,
        Self::Unreachable,
        Self::BadChecksum,
        Self::Returned,
    ];

    /// Whether its wrong frames are among those that it looked at. The others also count values of which no frame arrived, or frames
    /// that came back more than once.
    fn looks_at_all(self) -> bool {
        !matches!(self, Self::HopLimit | Self::TrafficClass | Self::Vlan | Self::Returned)
    }
}

/// Fault that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ForwardingFault {
    /// Frames did not arrive.
    Missing {
        /// Frames sent.
        sent: u64,
        /// Frames that arrived.
        arrived: u64,
    },
    /// Packets of some lengths did not arrive.
    MissingLengths {
        /// Lengths of IP packets sent.
        sent: u64,
        /// Lengths that arrived.
        arrived: u64,
        /// The shortest that did not arrive, in bytes.
        shortest: u32,
        /// The longest that did not arrive.
        longest: u32,
    },
    /// A field arrived with another value than it had to.
    Changed {
        /// The field.
        field: ForwardingField,
        /// Value as sent.
        sent: String,
        /// Value on arrival.
        found: String,
        /// The value that it had to have.
        expected: String,
    },
    /// Frames that had to be dropped arrived.
    NotDropped {
        /// Frames sent.
        sent: u64,
        /// Frames that arrived.
        arrived: u64,
    },
    /// The device did not answer.
    Unanswered {
        /// Packets sent that had to be answered.
        sent: u64,
    },
    /// The device answered something else.
    OtherAnswer {
        /// The answer.
        found: String,
        /// The expected answer.
        expected: String,
    },
    /// Frames arrived more than once.
    Twice {
        /// Number of these frames.
        frames: u64,
    },
    /// Frames arrived behind later ones.
    OutOfOrder {
        /// Number of these frames.
        frames: u64,
        /// Number of the first.
        number: u64,
        /// The highest number that had arrived before it.
        behind: u64,
    },
    /// Frames came back to the port that sent them.
    CameBack {
        /// Number of these frames.
        frames: u64,
    },
}

/// Fields of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ForwardingField {
    /// Time to live of IPv4, hop limit of IPv6.
    HopLimit,
    /// Source MAC address.
    SourceMac,
    /// Destination MAC address.
    DestinationMac,
    /// Checksum of the IPv4 header.
    HeaderChecksum,
    /// Differentiated services code point.
    Dscp,
    /// Explicit congestion notification.
    Ecn,
    /// VLAN tags.
    VlanTag,
    /// Source address of IP.
    SourceAddress,
    /// Destination address of IP.
    DestinationAddress,
    /// Ports of UDP.
    Ports,
    /// Checksum of UDP.
    UdpChecksum,
    /// Identification of IPv4.
    Identification,
    /// Fragment field of IPv4: flags and offset.
    FragmentField,
    /// Flow label of IPv6.
    FlowLabel,
    /// Length of the IP packet.
    Length,
    /// A byte of the payload; its place is reported with its value.
    PayloadByte,
}

/// Reasons for which a check cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotApplicable {
    /// No router is between the ends, and only a router does this.
    NoRouter,
    /// A router takes tagged frames only on interfaces of that VLAN.
    TagsEndAtRouters,
    /// IPv6 headers have no checksum.
    NoHeaderChecksum,
    /// The near interface sends no packet larger than the far one takes.
    NothingLarger,
    /// The far end's network has no address left.
    NoSpareAddress,
    /// Somebody has the address that was taken for nobody's.
    AddressInUse,
    /// The device lets no tagged frame pass.
    TagsDoNotPass,
    /// No frame arrived that could be looked at.
    NothingArrived,
}

/// Counts and checks of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ForwardingSide {
    /// Whether the near end reaches the far one through a router; reported by the near side alone.
    pub routed: bool,
    /// Crafted frames sent, at the near side; crafted frames seen, at the far one.
    pub frames: u64,
    /// Checks that this side made.
    pub checks: Vec<CheckResult>,
}

impl ForwardingResult {
    /// The result of both sides. A check that both made has failed where one of them says so.
    pub fn of(near: &ForwardingSide, far: &ForwardingSide) -> Self {
        let made = |check| near.checks.iter().chain(&far.checks).filter(move |made| made.check == check);
        let one = |check| made(check).find(|made| made.has_failed()).or_else(|| made(check).next()).cloned();
        let checks = ForwardingCheck::ALL.into_iter().filter_map(one).collect();
        Self { routed: near.routed, sent: near.frames, arrived: far.frames, checks }
    }

    /// Checks that failed.
    pub fn failed(&self) -> usize {
        self.checks.iter().filter(|check| check.has_failed()).count()
    }

    /// Checks that passed.
    pub fn passed(&self) -> usize {
        self.checks.iter().filter(|check| check.outcome == CheckOutcome::Passed).count()
    }

    /// Checks that could not be made.
    pub fn not_applicable(&self) -> usize {
        self.checks.len() - self.failed() - self.passed()
    }
}

impl CheckResult {
    /// Whether the check failed.
    pub fn has_failed(&self) -> bool {
        matches!(self.outcome, CheckOutcome::Failed { .. })
    }
}

impl Measures for ForwardingSpec {
    type Result = ForwardingResult;

    fn figures(&self, result: &ForwardingResult, _far: &str) -> Vec<Figure> {
        let failed = (!result.checks.is_empty()).then(|| result.failed() as f64);
        Figure::known(Metric::ChecksFailed, failed).into_iter().collect()
    }

    fn check(&self, result: &ForwardingResult, _seconds: f64) -> Checked {
        count("sent", result.sent)?;
        count("arrived", result.arrived)?;
        check_all(&result.checks)
    }
}

/// Whether the result of one side is possible.
pub(super) fn check(side: &ForwardingSide) -> Checked {
    count("frames", side.frames)?;
    check_all(&side.checks)
}

fn check_all(checks: &[CheckResult]) -> Checked {
    entries("checks", checks.len(), ForwardingCheck::ALL.len())?;
    if checks.is_empty() {
        return refuse("checks", "there are none".to_owned());
    }
    each("checks", checks, |made| {
        count("frames", made.frames)?;
        count("wrong", made.wrong)?;
        let CheckResult { check, frames, wrong, outcome } = made;
        if checks.iter().filter(|other| other.check == *check).count() > 1 {
            return refuse("check", "it is there more than once".to_owned());
        }
        if *outcome == CheckOutcome::Passed && (*frames == 0 || *wrong > 0) {
            return refuse("outcome", format!("it passed with {frames} frames, {wrong} of them wrong"));
        }
        if check.looks_at_all() && wrong > frames {
            return refuse("wrong", format!("{wrong} is more than frames, {frames}"));
        }
        let CheckOutcome::Failed { fault } = &made.outcome else { return Ok(()) };
        check_fault(fault).within("fault")
    })
}

fn check_fault(fault: &ForwardingFault) -> Checked {
    match fault {
        ForwardingFault::Missing { sent, arrived } | ForwardingFault::NotDropped { sent, arrived } => {
            count("sent", *sent)?;
            count("arrived", *arrived)
        }
        ForwardingFault::MissingLengths { sent, arrived, shortest, longest } => {
            count("sent", *sent)?;
            count("arrived", *arrived)?;
            optional_packet("shortest", Some(*shortest))?;
            optional_packet("longest", Some(*longest))
        }
        ForwardingFault::Changed { sent, found, expected, .. } => {
            [("sent", sent), ("found", found), ("expected", expected)]
                .into_iter()
                .try_for_each(|(field, value)| text(field, value))
        }
        ForwardingFault::OtherAnswer { found, expected } => {
            text("found", found)?;
            text("expected", expected)
        }
        ForwardingFault::Unanswered { sent } => count("sent", *sent),
        ForwardingFault::Twice { frames } | ForwardingFault::CameBack { frames } => count("frames", *frames),
        ForwardingFault::OutOfOrder { frames, number, behind } => {
            count("frames", *frames)?;
            count("number", *number)?;
            count("behind", *behind)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(check: ForwardingCheck, outcome: CheckOutcome) -> CheckResult {
        CheckResult { check, frames: 3, wrong: 0, outcome }
    }

    #[test]
    fn a_check_that_one_side_saw_fail_has_failed() {
        let fault = ForwardingFault::NotDropped { sent: 3, arrived: 1 };
        let passed = made(ForwardingCheck::TimeExceeded, CheckOutcome::Passed);
        let failed = made(ForwardingCheck::TimeExceeded, CheckOutcome::Failed { fault });
        let other =
            made(ForwardingCheck::Vlan, CheckOutcome::NotApplicable { reason: NotApplicable::TagsEndAtRouters });
        let near = ForwardingSide { routed: true, frames: 9, checks: vec![passed] };
        let far = ForwardingSide { routed: false, frames: 8, checks: vec![other.clone(), failed.clone()] };
        let result = ForwardingResult::of(&near, &far);
        assert_eq!((result.routed, result.sent, result.arrived), (true, 9, 8));
        assert_eq!(result.checks, [other, failed], "in the order of a report");
        assert_eq!([result.passed(), result.failed(), result.not_applicable()], [0, 1, 1]);
    }

    #[test]
    fn checks_that_cannot_be_are_refused_by_their_place() {
        use ForwardingCheck::{Delivery, HopLimit, Returned, Vlan};
        let refused = |checks: &[CheckResult]| check_all(checks).map_err(|error| error.field);
        let of = |check, frames, wrong, outcome| CheckResult { check, frames, wrong, outcome };
        let passed = |frames, wrong| of(Delivery, frames, wrong, CheckOutcome::Passed);
        let failed = |check, frames, wrong| {
            let fault = ForwardingFault::Missing { sent: 9, arrived: 1 };
            of(check, frames, wrong, CheckOutcome::Failed { fault })
        };
        let left_out = of(Vlan, 0, 0, CheckOutcome::NotApplicable { reason: NotApplicable::TagsEndAtRouters });
        assert_eq!(refused(&[passed(3, 0), left_out]), Ok(()));
        assert_eq!(refused(&[]), Err("checks".to_owned()));
        assert_eq!(refused(&[passed(3, 0), passed(3, 0)]), Err("checks 1.check".to_owned()));
        assert_eq!(refused(&[passed(0, 0)]), Err("checks 1.outcome".to_owned()));
        assert_eq!(refused(&[passed(3, 1)]), Err("checks 1.outcome".to_owned()));
        assert_eq!(refused(&[failed(Delivery, 9, 9)]), Ok(()));
        assert_eq!(refused(&[failed(Returned, 9, 18), failed(Delivery, 8, 9)]), Err("checks 2.wrong".to_owned()));
        assert_eq!(refused(&[failed(HopLimit, 3, 8)]), Ok(()), "values that no frame showed");
    }

    #[test]
    fn an_outcome_stands_beside_its_check_in_json() {
        let check = made(
            ForwardingCheck::HopLimit,
            CheckOutcome::Failed {
                fault: ForwardingFault::Changed {
                    field: ForwardingField::HopLimit,
                    sent: "64".to_owned(),
                    found: "64".to_owned(),
                    expected: "63".to_owned(),
                },
            },
        );
        let text = serde_json::to_string(&check).expect("plain values");
        let start = r#"{"check":"hop-limit","frames":3,"wrong":0,"outcome":"failed","fault":{"kind":"changed","field":"hop-limit""#;
        assert!(text.starts_with(start), "{text}");
        assert_eq!(serde_json::from_str::<CheckResult>(&text).expect("as it was written"), check);
    }
}
