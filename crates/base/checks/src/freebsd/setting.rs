//! A value of sysctl against the wanted one.

use model::{
    Reading,
    inspection::{Check, Finding, Read, Severity},
};

use super::context::Context;

/// A setting: its check, its key, the wanted value with the test of it, the severity of another one, and its sources.
pub(super) struct Setting {
    pub(super) check: Check,
    pub(super) key: &'static str,
    pub(super) wanted: &'static str,
    pub(super) is_wanted: fn(&str) -> bool,
    /// `None` where the goal does not ask for it.
    pub(super) severity: fn(&Context<'_>) -> Option<Severity>,
    pub(super) sources: &'static [(&'static str, &'static str)],
}

impl Setting {
    /// The finding; `None` where nobody asks for it, or this release lacks it.
    pub(super) fn judge(&self, context: &Context<'_>) -> Option<Finding> {
        let Self { check, key, wanted, is_wanted, severity, sources } = self;
        let severity = severity(context)?;
        match context.value(key) {
            Reading::Known(value) => {
                let finding = Finding::of(*check, key, Read::of(value, place(key)), wanted, sources);
                Some(finding.unless(is_wanted(value), severity, Some(format!("sysctl {key}={wanted}"))))
            }
            Reading::Absent => None,
            Reading::Unreadable { why, .. } => Some(unreadable(*check, key, &why)),
        }
    }
}

/// A number of sysctl that has to have a least value. Each release has these names: one that is not in the output was not read.
pub(super) fn at_least(
    context: &Context<'_>,
    (check, key): (Check, &str),
    wanted: u64,
    severity: Severity,
    sources: &[(&str, &str)],
) -> Finding {
    let value = match context.value(key) {
        Reading::Known(value) => value,
        Reading::Absent => return unreadable(check, key, "sysctl printed no such name"),
        Reading::Unreadable { why, .. } => return unreadable(check, key, &why),
    };
    let Ok(is) = value.parse::<u64>() else { return unreadable(check, key, &format!("{value:?} is no number")) };
    let finding = Finding::of(check, key, Read::of(value, place(key)), format!(">= {wanted}"), sources);
    finding.unless(is >= wanted, severity, Some(format!("sysctl {key}={wanted}")))
}

pub(super) fn unreadable(check: Check, key: &str, why: &str) -> Finding {
    Finding::unknown(check, key, &place(key), why)
}

pub(super) fn place(key: &str) -> String {
    format!("sysctl {key}")
}
