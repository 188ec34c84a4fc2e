//! All procedures of a plan, one after the other, and all of them again for each repeat.

use model::{
    Plan, ProbeSpec, Trial,
    plan::{Method, Section, Step},
};

use crate::{
    Configuration, Next, PastTrial, Procedure, ladder::Ladder, rfc2544::Rfc2544, searching::Searching, steps::Steps,
};

/// The way of a run through its plan.
#[derive(Debug)]
pub struct Course {
    parts: Vec<Part>,
    repeats: u32,
    /// In progress, from 1; one more than `repeats` at the end.
    repeat: u32,
    /// The part in progress.
    part: usize,
    /// Steps of that part, in that repeat.
    past: Vec<PastTrial>,
    asked: u32,
    pending: Option<Step>,
}

/// A procedure, and the section of the plan that it measures.
#[derive(Debug)]
struct Part {
    id: String,
    procedure: Box<dyn Procedure>,
}

/// Remaining trials, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Remaining {
    /// Number of trials.
    pub trials: usize,
    /// Time that they take.
    pub seconds: f64,
}

/// The steps of this plan on a bed with so many senders, where nothing depends on a trial.
pub fn steps(plan: &Plan, senders: usize) -> Vec<Step> {
    let mut course = Course::of(plan, senders);
    let mut steps = Vec::new();
    while let Some(step) = course.ask() {
        steps.push(step);
        course.took(None);
    }
    steps
}

/// Number of trials that this plan is expected to take on a bed with so many senders.
pub fn planned(plan: &Plan, senders: usize) -> usize {
    Course::of(plan, senders).remaining(|_| 0.0).trials
}

impl Course {
    /// The course of a plan on a bed with so many senders.
    pub fn of(plan: &Plan, senders: usize) -> Self {
        Self::of_sections(plan.sections(), senders, plan.repeats.get())
    }

    /// The searches of a plan alone, each once.
    pub fn of_searches(plan: &Plan, senders: usize) -> Self {
        let search = |section: Section| {
            let method = match section.method {
                Method::Rfc2544(planned) if planned.is_searched() => Method::Rfc2544(planned.search_alone()),
                search @ Method::Search(_) => search,
                _ => return None,
            };
            Some(Section { method, ..section })
        };
        Self::of_sections(plan.sections().into_iter().filter_map(search), senders, 1)
    }

    fn of_sections(sections: impl IntoIterator<Item = Section>, senders: usize, repeats: u32) -> Self {
        let part = |section: Section| {
            let configurations = section.specs.into_iter().flat_map(|spec| turns(spec, senders)).collect();
            let procedure: Box<dyn Procedure> = match section.method {
                Method::List => Box::new(Steps(configurations)),
                Method::Ladder => Box::new(Ladder::of_all_rungs(configurations)),
                Method::Search(planned) => Box::new(Searching::new(configurations, planned)),
                Method::Rfc2544(planned) => Box::new(Rfc2544::new(configurations, planned)),
            };
            (section.id, procedure)
        };
        Self::new(sections.into_iter().map(part), repeats)
    }

    /// Goes through these procedures, each named, so often.
    pub fn new(procedures: impl IntoIterator<Item = (String, Box<dyn Procedure>)>, repeats: u32) -> Self {
        let parts = procedures.into_iter().map(|(id, procedure)| Part { id, procedure }).collect();
        Self { parts, repeats, repeat: 1, part: 0, past: Vec::new(), asked: 0, pending: None }
    }

    /// The next trial; the same one until its outcome is known. `None` at the end.
    pub fn ask(&mut self) -> Option<Step> {
        while self.pending.is_none() && self.repeat <= self.repeats {
            match self.parts.get(self.part).map(|part| part.procedure.next(&self.past)) {
                Some(Next::Measure(configuration, _)) => {
                    self.asked += 1;
                    self.pending = Some(self.step(configuration));
                }
                Some(Next::End(_)) => {
                    self.part += 1;
                    self.past.clear();
                }
                None => (self.repeat, self.part) = (self.repeat + 1, 0),
            }
        }
        self.pending.clone()
    }

    /// Takes the outcome of the trial that was asked for; `None` where it failed.
    pub fn took(&mut self, trial: Option<&Trial>) {
        if let Some(Step { spec, senders, .. }) = self.pending.take() {
            let configuration = Configuration { spec, senders };
            self.past.push(PastTrial { configuration, trial: trial.cloned().map(Box::new) });
        }
    }

    /// Place of the trial that was asked for last, from 1.
    pub fn number(&self) -> u32 {
        self.asked
    }

    /// Items still to be measured, the trial that was asked for last included. `seconds` tells how long one takes.
    pub fn remaining(&self, seconds: impl Fn(&ProbeSpec) -> f64) -> Remaining {
        let expected = |part: &Part, past: &[PastTrial]| -> Remaining {
            let rest = part.procedure.expected(past);
            Remaining { trials: rest.len(), seconds: rest.iter().map(|it| seconds(&it.spec)).sum() }
        };
        let sum = |parts: &[Part]| {
            let all = parts.iter().map(|part| expected(part, &[]));
            all.fold(Remaining::default(), |sum, part| sum.and(part, 1))
        };
        let Some(part) = self.parts.get(self.part).filter(|_| self.repeat <= self.repeats) else {
            return Remaining::default();
        };
        let of_repeat = expected(part, &self.past).and(sum(&self.parts[self.part + 1..]), 1);
        of_repeat.and(sum(&self.parts), self.repeats - self.repeat)
    }

    fn step(&self, configuration: Configuration) -> Step {
        let before = self.past.iter().filter(|past| past.configuration == configuration).count();
        let Configuration { spec, senders } = configuration;
        let procedure = self.parts[self.part].id.clone();
        Step { procedure, spec, senders, repeat: self.repeat, attempt: before as u32 + 1 }
    }
}

impl Remaining {
    fn and(self, other: Self, times: u32) -> Self {
        Self {
            trials: self.trials + other.trials * times as usize,
            seconds: self.seconds + other.seconds * f64::from(times),
        }
    }
}

/// All senders share a trial that loads the receiver, and take turns in one that does not.
fn turns(spec: ProbeSpec, senders: usize) -> Vec<Configuration> {
    if spec.profile().senders_share {
        return vec![Configuration { spec, senders: 0..senders }];
    }
    (0..senders).map(|one| Configuration { spec: spec.clone(), senders: one..one + 1 }).collect()
}
