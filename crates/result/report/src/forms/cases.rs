//! A run as cases that passed, failed or were skipped, as CI systems read it. English always: a system that follows a case over
//! runs knows it by its name.

use model::{LimitOutcome, ProbeSpec, Trial, Verdict, plain::one_line};

use crate::{
    content,
    doubts::{GroupedDoubt, gather},
    lang::Lang,
    material::Material,
    outcome, show,
    texts::Texts,
};

/// Cases and doubts of a run.
pub(super) struct Cases {
    pub(super) cases: Vec<Case>,
    /// Doubts with their remedies: warnings.
    pub(super) doubts: Vec<String>,
}

/// A criterion, a check of a card, an item that a person verified; in a run without any of these, a configuration.
pub(super) struct Case {
    /// The kind of what was judged, which stays the same from run to run.
    pub(super) kind: &'static str,
    pub(super) name: String,
    pub(super) ending: Ending,
    /// The measured figure; empty where there is none.
    pub(super) figure: String,
}

/// Result of a case, and the reason where it did not pass.
#[derive(Debug, PartialEq)]
pub(super) enum Ending {
    Passed,
    Failed(String),
    Skipped(String),
}

impl Cases {
    pub(super) fn of(material: &Material<'_>) -> Self {
        let t = &material.texts(Lang::En);
        let Material { run, assessment, .. } = *material;
        let mut cases: Vec<Case> = assessment.outcomes.iter().map(|it| criterion(material, it, t)).collect();
        cases.extend(content::card_cases(assessment, t).into_iter().map(|(verdict, name, finding)| Case {
            kind: "card",
            name,
            ending: Ending::of(verdict, || finding.clone()),
            figure: if verdict == Verdict::Pass { finding } else { String::new() },
        }));
        cases.extend(content::manual(run).iter().map(|item| Case {
            kind: "item",
            name: one_line(&item.what),
            ending: Ending::of(item.verdict, || content::in_words(item)),
            figure: one_line(item.result.as_deref().unwrap_or_default()),
        }));
        if cases.is_empty() {
            cases = configurations(material, t);
        }
        cases.extend(run.partial.then(|| Case {
            kind: "run",
            name: "the whole plan was measured".to_owned(),
            ending: Ending::Failed(show::partial(run, t)),
            figure: String::new(),
        }));
        let doubt = |it: &GroupedDoubt| format!("{} [{}]", it.advice(run, Lang::En), it.place(run, t));
        Self { cases, doubts: gather(run).iter().map(|it| one_line(&doubt(it))).collect() }
    }

    pub(super) fn failed(&self) -> usize {
        self.cases.iter().filter(|it| matches!(it.ending, Ending::Failed(_))).count()
    }

    pub(super) fn skipped(&self) -> usize {
        self.cases.iter().filter(|it| matches!(it.ending, Ending::Skipped(_))).count()
    }
}

impl Ending {
    fn of(verdict: Verdict, why: impl Fn() -> String) -> Self {
        match verdict {
            Verdict::Pass => Self::Passed,
            Verdict::Fail => Self::Failed(one_line(&why())),
            open @ (Verdict::Inconclusive | Verdict::NotRun | Verdict::NotComparable) => {
                Self::Skipped(one_line(&format!("{open}: {}", why())))
            }
        }
    }
}

fn criterion(material: &Material<'_>, outcome: &LimitOutcome, t: &Texts) -> Case {
    let metric = outcome.limit.metric;
    let figure = outcome.median.map(|_| content::result(outcome)).unwrap_or_default();
    let name = show::figure_of(&outcome::name(material.run, outcome, t), ": ", metric, t);
    let why = || match &outcome.undecided {
        Some(why) => show::undecided(why, t),
        None => format!("{figure}, criterion {}", show::criterion(outcome, t)),
    };
    Case {
        kind: "criterion",
        name: one_line(&format!("{name} {}", show::declared(outcome, t))),
        ending: Ending::of(outcome.verdict, why),
        figure: figure.clone(),
    }
}

/// Configurations of the plan: passed once a trial of them was measured to its end.
fn configurations(material: &Material<'_>, t: &Texts) -> Vec<Case> {
    let Material { run, .. } = *material;
    let specs = run.plan.specs();
    let case = |spec: &ProbeSpec| {
        let of_it: Vec<&Trial> = run.trials.iter().filter(|it| it.measured.spec() == *spec && it.is_whole()).collect();
        let is_measured = !of_it.is_empty();
        Case {
            kind: "configuration",
            name: one_line(&t.names.name(spec)),
            ending: if is_measured { Ending::Passed } else { Ending::Skipped("NOT RUN".to_owned()) },
            figure: if is_measured { format!("trials: {}", of_it.len()) } else { String::new() },
        }
    };
    specs.iter().map(case).collect()
}
