//! A standing tuning compared with the machine, and its undoing.

use ledger::{Ledger, State};
use model::{
    Change,
    tuning::{AppliedChange, Deviation, Progress, Tuning, TuningState, Undone},
};
use serde_json::Value;

use super::{ForeignChanges, errors::TuningError};

/// A tuning as it stands.
pub(super) fn state(ledger: &Ledger, tuning: &Tuning) -> TuningState {
    let states = ledger.states();
    let changes = tuning.changes.iter().filter_map(|planned| {
        let state = states.iter().find(|state| state.change == planned.change)?;
        Some(AppliedChange {
            setting: planned.setting.clone(),
            interface: planned.interface.clone(),
            before: planned.before.clone(),
            wanted: planned.wanted.clone(),
            why: planned.why.clone(),
            change: planned.change.to_string(),
            changed_to: deviation(state, tuning),
        })
    });
    let files = states.iter().filter_map(|state| match &state.change {
        Change::OwnFile(file) => Some(file.path.clone()),
        _ => None,
    });
    TuningState {
        profile: tuning.profile.clone(),
        interfaces: tuning.interfaces.clone(),
        progress: Progress::Kept,
        changes: changes.collect(),
        files: files.collect(),
    }
}

/// Undoes a tuning. Changes that somebody else has changed again are not taken from them unasked.
pub(super) fn undo(ledger: &mut Ledger, tuning: &Tuning, others: ForeignChanges) -> Result<Undone, TuningError> {
    let states = ledger.states();
    let deviating: Vec<(Change, String)> =
        states.iter().filter_map(|state| Some((state.change.clone(), deviation(state, tuning)?))).collect();
    let is_deviating = |change: &Change| deviating.iter().any(|(other, _)| other == change);
    let undone = match others {
        ForeignChanges::Overwrite => ledger.undo_all()?,
        ForeignChanges::Report => ledger.undo_where(|change| !is_deviating(change))?,
        ForeignChanges::Forget => {
            let undone = ledger.undo_where(|change| !is_deviating(change))?;
            ledger.forget_where(is_deviating)?;
            undone
        }
    };
    let left = match others {
        ForeignChanges::Overwrite => vec![],
        _ => deviating.iter().map(|(change, now)| Deviation { change: change.to_string(), now: now.clone() }).collect(),
    };
    Ok(Undone { undone: undone.iter().map(ToString::to_string).collect(), left })
}

/// The present state of a change that somebody else has changed again, in words. One that is as it was before needs no undoing, and
/// neither does one whose object has gone. Without a description the tuning was never finished, and all of it is ours.
fn deviation(state: &State, tuning: &Tuning) -> Option<String> {
    let place = tuning.changes.iter().position(|planned| planned.change == state.change)?;
    let made = tuning.made.get(place)?;
    let now = state.now.as_ref().ok()?;
    let is_ours = now == made || *now == state.before || state.before.is_null();
    (!is_ours).then(|| words(now))
}

fn words(state: &Value) -> String {
    match state {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Object(fields) => match fields.get("kind") {
            Some(kind) => words(kind),
            None => {
                let mut values: Vec<String> = fields.values().map(words).collect();
                values.sort();
                values.dedup();
                values.join(", ")
            }
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use model::{change::Sysctl, tuning::PlannedChange};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_somebody_else_set_is_told_from_what_we_made_and_from_what_was_there() {
        let change: Change = Sysctl { namespace: String::new(), key: "net.x".into(), value: "7".into() }.into();
        let planned = PlannedChange {
            setting: "sysctl net.x".parse().expect("a setting"),
            interface: None,
            before: "1".into(),
            wanted: "7".into(),
            why: "a".into(),
            source: "b".into(),
            can_cut: false,
            change: change.clone(),
        };
        let tuning = Tuning { changes: vec![planned], made: vec![json!("8")], ..Tuning::default() };
        let state = |now: Result<Value, String>| State { change: change.clone(), before: json!("1"), now };
        let told = |now| deviation(&state(now), &tuning);
        assert_eq!(told(Ok(json!("8"))), None, "the kernel rounded it");
        assert_eq!(told(Ok(json!("1"))), None, "somebody undid it");
        assert_eq!(told(Ok(json!("3\t4"))).as_deref(), Some("3 4"));
        assert_eq!(told(Err("gone".into())), None);
        assert_eq!(deviation(&state(Ok(json!("3"))), &Tuning::default()), None, "it was never finished");
        assert_eq!(words(&json!({"a": "x", "b": "x"})), "x");
        assert_eq!(words(&json!({"kind": "fq", "saved": []})), "fq");
    }
}
