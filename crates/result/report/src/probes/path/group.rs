//! Path searches of one configuration over all its trials.

use model::{PathResult, PathSpec, trial::Leg};

use super::super::Spec;
use crate::{
    groups::Group,
    show::{self, or_none},
    texts::Texts,
};

pub(super) type PathGroup<'a> = Group<'a, PathSpec>;

impl PathGroup<'_> {
    /// Its configuration.
    pub(super) fn name(&self, t: &Texts) -> String {
        show::with_way(self.spec.configuration(t), self.way, t)
    }
}

/// Largest packet that passed one way in all trials of a path, in bytes; lowest and highest where they differ.
pub(super) fn leg_mtu(group: &PathGroup<'_>, leg: impl Fn(&PathResult) -> &Leg) -> String {
    let passed = group.over(|result| leg(result).mtu.map(|mtu| mtu.0.into()));
    or_none(passed, |it| {
        if it.low < it.high { format!("{:.0} – {:.0} B", it.low, it.high) } else { format!("{:.0} B", it.low) }
    })
}
