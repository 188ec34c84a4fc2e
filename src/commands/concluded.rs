//! Conclusions from each stored run, for lists: those that the store keeps, else new ones, which it then keeps.

use model::{Json, ReadEntry, Run};
use store::{Drawn, RunSummary, Store, StoreError, StoredConclusion};
use verdict::Chosen;

use crate::references::References;

/// A run, and what is concluded from it; the error says why it cannot be read.
pub(super) type Concluded = (RunSummary, Result<ReadEntry, StoreError>);

/// All runs, the one that was begun last first.
pub(super) fn all(store: &mut Store, references: &References) -> Result<Vec<Concluded>, StoreError> {
    let judge = judge(references);
    let mut kept = store.conclusions(&judge);
    let (mut all, mut new) = (Vec::new(), Vec::new());
    for run in store.runs()? {
        let StoredConclusion { changes, conclusion } = kept.remove(&run.id).unwrap_or_default();
        let read = match conclusion.as_deref().and_then(possible) {
            Some(read) => Ok(read),
            None => store.load(&run.id).map(|loaded| conclude(&loaded, references)).inspect(|read| {
                new.push(Drawn { run: run.id.clone(), changes, conclusion: read.to_json() });
            }),
        };
        all.push((run, read));
    }
    // A store that cannot be written has them drawn anew by the next list.
    let _ = store.keep_conclusions(&judge, &new);
    Ok(all)
}

/// All that a conclusion depends on beside the run: this build, and the references that limits may name.
fn judge(references: &References) -> String {
    seal::sha256(format!("{} {:?}", agent::build(), references.known).as_bytes())
}

/// A conclusion of the store, unless it is none that this program draws.
fn possible(conclusion: &str) -> Option<ReadEntry> {
    ReadEntry::from_json(conclusion).ok().filter(|read| read.check().is_ok())
}

fn conclude(run: &Run, references: &References) -> ReadEntry {
    let assessment = verdict::assess(run, &references.known, &Chosen::None);
    ReadEntry {
        simulated: run.bed.simulated,
        verdict: assessment.verdict,
        health: assessment.card.map(|card| card.health),
        grade: assessment.bufferbloat.iter().map(|it| it.grade).max(),
        wireproof: run.wireproof.clone(),
        configurations: verdict::figures(run),
    }
}

#[cfg(test)]
mod tests {
    use model::{
        IpVersion, Measured, Mtu, Nanos, PathResult, PathSpec, Plan, Trial, Verdict,
        card_health::Health,
        fixture,
        trial::{Leg, Refusal},
    };
    use run::Archive;

    use super::*;
    use crate::references::built_in;

    const PLAN: &str = "name = \"t\"\n[[path]]\n[[limits]]\nmetric = \"path_mtu\"\nat_least = \"1500\"\n";

    fn trial(mtu: u32) -> Trial {
        let leg = || Leg { mtu: Some(Mtu(mtu)), refusal: Refusal::Interface, routers: Some(0) };
        let result = PathResult { forward: leg(), reverse: leg(), devices: vec![], packets: 20, hops: vec![] };
        let spec = PathSpec { ip: IpVersion::V4, mtu: None, timeout: Nanos::from_millis(200), hops: 0 };
        fixture::trial(Measured::Path { spec, result })
    }

    /// A store with one run, and that run.
    fn stored(folder: &tempfile::TempDir) -> (Store, Run) {
        let mut store = Store::open(&folder.path().join("runs.db")).unwrap();
        let run = fixture::run(Plan::parse(PLAN, &[]).unwrap());
        store.begin(&run).unwrap();
        store.keep_trial(&run.id, &trial(1500)).unwrap();
        (store, run)
    }

    fn read(store: &mut Store, references: &References) -> ReadEntry {
        all(store, references).unwrap().remove(0).1.unwrap()
    }

    fn median(read: &ReadEntry) -> Option<f64> {
        read.configurations[0].figures[0].over_trials.median
    }

    #[test]
    fn a_plan_for_cards_is_concluded_by_their_health() {
        let plan = Plan::parse("name = \"t\"\npurpose = \"card\"\n[[path]]\n", &[]).unwrap();
        let read = conclude(&fixture::run(plan), &built_in());
        assert_eq!((read.verdict, read.health, read.grade), (None, Some(Health::Undecided), None));
    }

    #[test]
    fn what_is_kept_is_shown_until_the_run_changes() {
        let folder = tempfile::tempdir().unwrap();
        let ((mut store, run), references) = (stored(&folder), built_in());
        let judge = judge(&references);
        let drawn = read(&mut store, &references);
        assert_eq!((drawn.verdict, median(&drawn)), (Some(Verdict::Inconclusive), Some(1500.0)));
        let kept = |store: &Store| store.conclusions(&judge).remove(&run.id).unwrap();
        assert_eq!(kept(&store).conclusion, Some(drawn.to_json()));
        assert_eq!(read(&mut store, &references), drawn, "kept");

        let keep = |store: &mut Store, conclusion: String| {
            let changes = kept(store).changes;
            store.keep_conclusions(&judge, &[Drawn { run: run.id.clone(), changes, conclusion }]).unwrap();
        };
        let marked = ReadEntry { wireproof: "marked".to_owned(), ..drawn.clone() };
        keep(&mut store, marked.to_json());
        assert_eq!(read(&mut store, &references), marked, "it is not drawn anew");
        let none = References { known: vec![], broken: vec![] };
        assert_eq!(read(&mut store, &none), drawn, "a limit may name a reference");
        let wrong = drawn.to_json().replace("1500.0", "1e30");
        assert_ne!(wrong, drawn.to_json());
        for wrong in ["{".to_owned(), wrong] {
            keep(&mut store, wrong);
            assert_eq!(read(&mut store, &references), drawn, "what cannot be is drawn anew");
        }
        keep(&mut store, marked.to_json());
        store.keep_trial(&run.id, &trial(1400)).unwrap();
        assert_eq!(median(&read(&mut store, &references)), Some(1400.0));
    }
}
