//! Doubts in words, and the doubts of a run brought together.

use model::{Doubt, Run};

use crate::{lang::Lang, texts::Texts};

/// What a doubt means and what to do about it.
pub fn advice(doubt: &Doubt, lang: Lang) -> String {
    let t = Texts::of(lang);
    match doubt {
        Doubt::SharedCore { cpu } => t.with("doubt-shared-core", &[("cpu", cpu)]),
        Doubt::NotPinned { endpoint } => t.with("doubt-not-pinned", &[("endpoint", endpoint)]),
        Doubt::Steal { percent } => t.with("doubt-steal", &[("percent", &format!("{percent:.1}"))]),
        Doubt::RepliesMissing { lost, late } => t.with("doubt-replies-missing", &[("lost", lost), ("late", late)]),
        Doubt::CountersDisagree { sent, received } => {
            t.with("doubt-counters-disagree", &[("sent", sent), ("received", received)])
        }
        Doubt::FewTrials { trials, needed } => t.with("doubt-few-trials", &[("trials", trials), ("needed", needed)]),
        Doubt::Unprivileged => t.get("doubt-unprivileged"),
        Doubt::EnvironmentChanged { what } => t.with("doubt-environment-changed", &[("what", what)]),
        Doubt::Interrupted => t.get("doubt-interrupted"),
        Doubt::OtherLoad { cpu, percent } => {
            t.with("doubt-other-load", &[("cpu", cpu), ("percent", &format!("{percent:.0}"))])
        }
        Doubt::DataEndedEarly => t.get("doubt-data-ended-early"),
        Doubt::Failed { what } => t.with("doubt-failed", &[("what", what)]),
    }
}

/// One doubt, and where it arose.
pub(crate) struct Gathered {
    pub(crate) doubt: Doubt,
    /// Numbers of the trials that carry it; empty when it is the whole run's.
    pub(crate) trials: Vec<u32>,
}

/// Every doubt of the run and its trials, each said once: those of one kind become the worst of them.
pub(crate) fn gather(run: &Run) -> Vec<Gathered> {
    let whole = run.doubts.iter().map(|doubt| Gathered { doubt: doubt.clone(), trials: vec![] });
    let mut of_trials: Vec<Gathered> = Vec::new();
    for trial in &run.trials {
        for doubt in &trial.doubts {
            match of_trials.iter_mut().find_map(|known| worse(&known.doubt, doubt).map(|worse| (known, worse))) {
                Some((known, worse)) => {
                    known.doubt = worse;
                    known.trials.push(trial.number);
                }
                None => of_trials.push(Gathered { doubt: doubt.clone(), trials: vec![trial.number] }),
            }
        }
    }
    whole.chain(of_trials).collect()
}

/// One doubt that says what both say, if they are alike.
fn worse(a: &Doubt, b: &Doubt) -> Option<Doubt> {
    match (a, b) {
        (Doubt::Steal { percent: a }, Doubt::Steal { percent: b }) => Some(Doubt::Steal { percent: a.max(*b) }),
        (Doubt::RepliesMissing { lost, late }, Doubt::RepliesMissing { lost: more_lost, late: more_late }) => {
            Some(Doubt::RepliesMissing { lost: lost + more_lost, late: late + more_late })
        }
        (Doubt::CountersDisagree { sent, received }, Doubt::CountersDisagree { sent: s, received: r }) => {
            let wider = if s.abs_diff(*r) > sent.abs_diff(*received) { b } else { a };
            Some(wider.clone())
        }
        _ => (a == b).then(|| a.clone()),
    }
}

/// Trial numbers as a person writes them: `1–3, 7`.
pub(crate) fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match runs.last_mut() {
            Some((_, last)) if number <= *last + 1 => *last = number.max(*last),
            _ => runs.push((number, number)),
        }
    }
    let show = |(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}–{last}") };
    runs.iter().map(show).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_of_one_kind_become_the_worst_of_them() {
        let steal = |percent| Doubt::Steal { percent };
        assert_eq!(worse(&steal(1.0), &steal(3.0)), Some(steal(3.0)));
        let missing = |lost, late| Doubt::RepliesMissing { lost, late };
        assert_eq!(worse(&missing(1, 2), &missing(3, 0)), Some(missing(4, 2)));
        let disagree = |sent, received| Doubt::CountersDisagree { sent, received };
        assert_eq!(worse(&disagree(100, 99), &disagree(50, 10)), Some(disagree(50, 10)));
        assert_eq!(worse(&Doubt::SharedCore { cpu: 0 }, &Doubt::SharedCore { cpu: 1 }), None);
    }

    #[test]
    fn trial_numbers_are_written_as_ranges() {
        assert_eq!(ranges(&[1, 2, 3, 7]), "1–3, 7");
        assert_eq!(ranges(&[4]), "4");
    }
}
