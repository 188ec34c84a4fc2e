//! Checks of forwarding as JSON.

use model::{CheckResult, ForwardingResult, ForwardingSpec, IpVersion, json::value_of};

use crate::{cells::Cells, shape::document};

document! {
    /// Parameters and outcomes of the checks of a forwarding device.
    ForwardingFigures of (spec: &ForwardingSpec, result: &ForwardingResult) {
        /// IP version.
        ip: IpVersion = spec.ip,
        /// Frames of the numbered flow.
        frames: u32 = spec.frames,
        /// Whether a router is between the ends; otherwise a bridge or nothing.
        routed: bool = result.routed,
        /// Crafted frames that the near end sent.
        sent: u64 = result.sent,
        /// Crafted frames that the far end saw.
        arrived: u64 = result.arrived,
        /// Checks that passed.
        checks_passed: usize = result.passed(),
        /// Checks that failed.
        checks_failed: usize = result.failed(),
        /// Checks that could not be made.
        checks_not_applicable: usize = result.not_applicable(),
        /// The checks with their outcomes.
        checks: Vec<CheckResult> = result.checks.clone(),
    }
}

impl ForwardingFigures {
    /// The rows of the CSV, one for each check.
    pub(in super::super) fn rows(&self) -> Vec<Cells> {
        let row = |made: &CheckResult| {
            let outcome = value_of(made);
            Cells::default()
                .with("probe", "forwarding")
                .with("ip", self.ip)
                .with("check", made.check)
                .with("outcome", &outcome["outcome"])
                .with("checked_frames", made.frames)
                .with("wrong_frames", made.wrong)
        };
        self.checks.iter().map(row).collect()
    }
}
