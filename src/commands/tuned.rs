//! `wireproof verify --tune`: a plan measured before a tuning of this machine, with it, and after its undoing.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use bed::{BedError, Inspected, TunedHost, Wanted};
use kernel::privilege;
use model::{
    Bed, Plan, Privilege, Run,
    alike::distinct,
    inspection::{Conditions, Finding, Goal, Severity},
    json::pretty,
    plan::Method,
    tuning::{
        Deviation, LeftOut, PlannedChange, Setting, TuningEffect, TuningInspection, TuningOrder, TuningPlan, WhyLeftOut,
    },
};
use report::{Lang, Material, Notice, TuningEffectDocument};
use run::{Ending, NewRun, Order, OrderOutcome, RunOutcome, estimate};
use verdict::{Chosen as References, TunedRuns};

use super::{
    answer,
    beforehand::fitting,
    language, measure, own_program, repeat,
    report::set_pdf,
    run_output::{RunOutput, watch_signals},
    several::{Ended, Several},
    tell,
    tune::planned_for,
    wanted::wanted,
};
use crate::{
    cli::{Common, Format, Identify, Measure},
    exit::{Exit, NeedsRoot, Words},
    identity,
    output::say,
    paths,
    profiles::{self, Chosen},
    zone,
};

/// Longest time of all measurements in which each step is also measured alone, in seconds.
const CHEAP_S: f64 = 600.0;

/// The profile of `--tune`, and the goal that the machine is inspected for.
struct Asked {
    chosen: Chosen,
    goal: Goal,
    /// Option that says the same without a path of the person who measured.
    option: String,
}

impl Asked {
    fn of(profile: Option<&str>, plan: &Plan) -> anyhow::Result<Self> {
        let goal = verdict::goal(plan);
        let of_goal = |goal: Goal| Self { chosen: profiles::of_goal(goal), goal, option: format!("--tune={goal}") };
        let Some(word) = profile else { return Ok(of_goal(goal)) };
        if let Ok(goal) = word.parse() {
            return Ok(of_goal(goal));
        }
        let path = Path::new(word);
        if !path.exists() {
            let goals = Goal::WORDS.join(", ");
            return Err(Words(format!("--tune={word}: this is no goal and no file; the goals are {goals}")).into());
        }
        Ok(Self { chosen: profiles::of_file(path)?, goal, option: "--tune=profile.toml".to_owned() })
    }
}

/// `wireproof verify --tune`
pub(super) fn verify(
    plan: &Path,
    profile: Option<&str>,
    options: &Measure,
    identify: &Identify,
    common: &Common,
) -> anyhow::Result<Exit> {
    let mut plan = measure::read(plan, options)?;
    check_combination(&plan, options, identify)?;
    let asked = Asked::of(profile, &plan)?;
    measure::check(&mut plan, options, common)?;
    let output = RunOutput::open(paths::store(common.store.as_deref())?, &options.files, common)?;
    let privilege = privilege::current();
    if privilege != Privilege::Root {
        return Err(NeedsRoot("--tune changes settings of the machine, which needs root of it".to_owned()).into());
    }
    let wanted = wanted(options, &plan, privilege)?;
    if !wanted.bed.has_other_hosts() {
        fitting(&plan, &wanted)?;
    }
    let mut host = TunedHost::here(&own_program()?)?;
    host.claim()?;
    let interrupt = watch_signals(language(common))?;
    let runs = Several::shown_by("wireproof compare RUN…", common);
    let mut measured = TunedPlan { plan, options, common, output, wanted, host, interrupt, runs, left: vec![] };
    Ok(measured.effect(asked).unwrap_or_else(|Ended(exit)| {
        measured.runs.tell();
        measured.tell_left();
        exit
    }))
}

/// Refuses what has no meaning beside a tuning.
fn check_combination(plan: &Plan, options: &Measure, identify: &Identify) -> anyhow::Result<()> {
    let refuse = |what: &str, why: &str| Err(Words(format!("--tune cannot be used with {what}: {why}")).into());
    if let Some(of_one) = options.files.formats.iter().find(|form| !form.is_of_several()) {
        let option = format!("--format {}", of_one.word());
        return refuse(&option, "its report compares runs; \"wireproof report\" writes this form of each of them");
    }
    if options.files.annotate {
        return refuse("--annotate", "its report compares runs; \"wireproof report\" annotates each of them");
    }
    if identity::read(identify)?.is_some() {
        return refuse("the names of a document", "its report compares runs, and certifies none");
    }
    if options.dut_cpus.len() > 1 {
        return refuse("several numbers of --dut-cpus", "write one number");
    }
    if !plan.rfc2544.is_empty() || plan.sections().iter().any(|it| matches!(it.method, Method::Search(_))) {
        return refuse("a plan that searches a rate", "each run finds other loads, which cannot be compared");
    }
    Ok(())
}

/// A plan that is measured several times, and the machine that is tuned between.
struct TunedPlan<'a> {
    plan: Plan,
    options: &'a Measure,
    common: &'a Common,
    output: RunOutput<'a>,
    wanted: Wanted,
    host: TunedHost,
    interrupt: Arc<AtomicBool>,
    runs: Several<'a>,
    /// Changes that somebody else changed again while they stood.
    left: Vec<Deviation>,
}

impl TunedPlan<'_> {
    fn effect(&mut self, Asked { chosen, goal, option }: Asked) -> Result<Exit, Ended> {
        let before = self.inspect(goal)?;
        // At least two more follow.
        let first = self.measure(None, 3)?;
        let interfaces = self.interfaces(&first.bed);
        let (plan, _) = planned_for(&mut self.host, chosen, &interfaces)?;
        let plan = without_cuts(plan, self.options.ports.taking().uplink);
        let mut states = Vec::new();
        for step in self.steps(&plan) {
            let (run, _) = self.tuned(&plan.only(&step), &step.to_string(), &option, goal)?;
            states.push((Some(step), run));
        }
        let (mut mended, mut undone) = (vec![], None);
        if !plan.changes.is_empty() {
            let (run, found) = self.tuned(&plan, &plan.profile, &option, goal)?;
            mended = before.iter().filter(|it| !found.iter().any(|other| is_same(it, other))).cloned().collect();
            states.push((None, run));
            tell(Notice::MeasuringUndone, self.common);
            undone = Some(self.measure(None, 1)?);
        }
        let effect = verdict::tuning_effect(TunedRuns {
            plan,
            first: &first,
            states: &states,
            undone: undone.as_ref(),
            inspected: TuningInspection { goal, before, mended },
            left: self.left.clone(),
        });
        let all = states.pop().map(|(_, run)| run);
        let runs: Vec<Run> = [Some(first), all, undone].into_iter().flatten().collect();
        Ok(self.tell(&effect, &runs)?)
    }

    /// Findings that cost the goal.
    fn inspect(&self, goal: Goal) -> Result<Vec<Finding>, BedError> {
        let Inspected::Linux(readings) = bed::inspected_here(&self.wanted.program)? else { return Ok(vec![]) };
        let mut findings = checks::host(&readings, &Conditions { goal, ..Conditions::default() });
        findings.retain(|finding| matches!(finding.severity, Severity::Fail | Severity::Warn));
        Ok(findings)
    }

    /// Measures the plan; while a tuning stands, with what it is and the option for it. The disk needs room for so many runs.
    fn measure(&mut self, tuned: Option<(&str, &str)>, runs: usize) -> Result<Run, Ended> {
        let id = run::new_id();
        self.output.check_room(&id, &self.plan, self.options.bed.senders(), runs)?;
        let _lock = self.output.store().lock_run(&id)?;
        let command = repeat::command(&repeat::with(&repeat::typed(), &["tune"], vec![]));
        let command = command.into_iter().chain(tuned.map(|(_, option)| option.to_owned())).collect();
        let (plan, wireproof) = (self.plan.clone(), agent::build());
        let order = Order::New(Box::new(NewRun { id, plan, command, wireproof, identity: None }));
        let conducted = self.output.measure(order, &self.wanted, &self.interrupt)?.ok_or(Ended(Exit::Interrupted))?;
        let apart = tuned.map(|(what, _)| what);
        match conducted {
            OrderOutcome {
                made: Ok(RunOutcome { run, ending: Ending::Complete, kept: Ok(()) }),
                given_back: Ok(()),
            } => {
                self.runs.keep(&run, apart);
                Ok(run)
            }
            conducted => {
                let (exit, stored) = self.output.tell(conducted, &self.wanted)?;
                stored.iter().for_each(|run| self.runs.keep(run, apart));
                Err(Ended(exit))
            }
        }
    }

    /// Interfaces of this machine that stay after a run on this bed. Those of a lab end with it, and a bed that stands has them elsewhere.
    fn interfaces(&self, bed: &Bed) -> Vec<String> {
        if self.options.bed.stands() || bed.makes_its_links() {
            return vec![];
        }
        distinct(bed.ends_here().iter().map(|end| end.interface.clone()))
    }

    /// Steps to measure alone: none where there is one only, where that takes too long, or where too few repeats would decide too little.
    fn steps(&self, plan: &TuningPlan) -> Vec<Setting> {
        let settings = plan.steps().into_iter().map(|(setting, _)| setting);
        let steps: Vec<Setting> = settings.filter(|it| verdict::may_matter(it, &self.plan)).collect();
        let repeats = self.plan.repeats.get();
        let figures: usize = self.plan.specs().iter().map(|spec| spec.probe().compared().len()).sum();
        let needed = |states: usize| verdict::trials_to_compare(figures * states);
        let seconds: f64 = self.plan.specs().iter().map(estimate).sum::<f64>() * f64::from(repeats);
        if !plan.changes.is_empty() && repeats < needed(1) {
            tell(Notice::FewRepeats { repeats, needed: needed(1) }, self.common);
        }
        let is_cheap = seconds * (steps.len() + 3) as f64 <= CHEAP_S;
        if steps.len() > 1 && is_cheap && repeats >= needed(steps.len() + 1) { steps } else { vec![] }
    }

    /// Measures while these changes stand. They are undone whatever comes of it.
    fn tuned(&mut self, plan: &TuningPlan, what: &str, option: &str, goal: Goal) -> Result<(Run, Vec<Finding>), Ended> {
        self.host.tune(TuningOrder { plan: plan.clone(), files: vec![], confirm_within: None })?;
        tell(Notice::MeasuringTuned { what }, self.common);
        let found = self.inspect(goal).map_err(Ended::from);
        let measured = found.and_then(|found| Ok((self.measure(Some((what, option)), 2)?, found)));
        match (measured, self.undo()) {
            (Err(Ended(one)), Err(Ended(other))) => Err(Ended(one.and(other))),
            (measured, undone) => undone.and(measured),
        }
    }

    fn undo(&mut self) -> Result<(), Ended> {
        match self.host.undo(false, true) {
            Ok(undone) => {
                self.left.extend(undone.left);
                Ok(())
            }
            Err(error) => {
                let ended = Ended::from(error);
                // Its agent may be gone: what it left is undone as after a crash.
                let undone = bed::clean(&self.wanted.program)?.undone;
                if !undone.is_empty() {
                    say(report::undone_lines(&undone, language(self.common)).trim_end());
                }
                Err(ended)
            }
        }
    }

    /// Says what somebody else changed again, where no effect says it.
    fn tell_left(&self) {
        if !self.left.is_empty() {
            say(report::tuning_left(&self.left, language(self.common)).trim_end());
        }
    }

    /// Writes and prints the effect. The exit status is that of the plan's limits on the machine as it is.
    fn tell(&self, effect: &TuningEffect, runs: &[Run]) -> anyhow::Result<Exit> {
        let lang = language(self.common);
        let assessed: Vec<_> =
            runs.iter().map(|run| verdict::assess(run, self.output.references(), &References::None)).collect();
        let zone = zone::of_caller();
        let material = |(run, assessment)| Material { zone: &zone, ..Material::of(run, assessment) };
        let materials: Vec<_> = runs.iter().zip(&assessed).map(material).collect();
        let summary = |first: &Material<'_>| report::summary(first, lang, None);
        answer(
            &TuningEffectDocument::of(effect),
            || match materials.as_slice() {
                [first] => report::tuning_effect(effect, lang) + "\n" + &summary(first),
                _ => report::tuning_effect(effect, lang),
            },
            self.common,
        )?;
        let folder = self.output.folder(&effect.first.id);
        paths::make_folder_of_report(&folder)?;
        for format in &self.options.files.formats {
            paths::write(&folder.join(file_name(*format)), form(*format, effect, &materials, lang)?)?;
        }
        let first = self.options.files.formats.first().map_or_else(|| folder.clone(), |it| folder.join(file_name(*it)));
        tell(Notice::ReportWritten { path: &first.display().to_string() }, self.common);
        let judged = assessed.first().map_or(Exit::Done, |first| Exit::of_run(first, false));
        Ok(if effect.left.is_empty() { judged } else { judged.and(Exit::Inconclusive) })
    }
}

fn file_name(format: Format) -> String {
    format.file_name().replace("report", "tuning")
}

fn form(format: Format, effect: &TuningEffect, runs: &[Material<'_>], lang: Lang) -> anyhow::Result<Vec<u8>> {
    let text = match format {
        Format::Html => report::effect_html(effect, runs, lang),
        Format::Pdf => return set_pdf(&report::effect_typst(effect, runs, lang)),
        Format::Md => report::effect_markdown(effect, runs, lang),
        Format::Json | Format::Csv | Format::Junit | Format::Sarif | Format::Tap => {
            pretty(&serde_json::to_string(&TuningEffectDocument::of(effect))?)
        }
    };
    Ok(text.into_bytes())
}

/// The plan without changes that could cut the caller's way, unless that is allowed: nobody is asked to confirm them.
fn without_cuts(mut plan: TuningPlan, is_allowed: bool) -> TuningPlan {
    let (cuts, changes) = plan.changes.into_iter().partition(|change| change.can_cut && !is_allowed);
    plan.changes = changes;
    let left_out =
        |it: PlannedChange| LeftOut { setting: it.setting, interface: it.interface, why: WhyLeftOut::CutsOff };
    plan.left_out.extend(Vec::into_iter(cuts).map(left_out));
    plan
}

/// Whether both are the same finding, whatever was read.
fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.check, &one.object) == (other.check, &other.object)
}
