//! Progress for a person: a bar with time left on a terminal, a line now and then elsewhere.

use std::{
    io::{IsTerminal, stderr, stdout},
    time::{Duration, Instant},
};

use bed::Session;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Bed, Environment, GoodputSecond, Plan, ProbeSpec, plain::plain, plan::Step};
use report::{Lang, Notice};
use run::{Observer, Remaining, estimate};

use crate::{
    cli::{Color, Common},
    output::say,
    resets::Resets,
};

/// Between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// Progress of one run.
pub(crate) struct Progress {
    lang: Lang,
    /// All configurations of the plan.
    specs: Vec<ProbeSpec>,
    show: Show,
    began: Instant,
    /// Estimated seconds: of all trials measured here, of those finished, of the one under way.
    total: f64,
    finished: f64,
    current: f64,
    message: String,
    /// Whether each second of a transfer has a line, which stays.
    shows_seconds: bool,
    resets: Resets,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines { last: Option<Instant> },
}

impl Progress {
    pub(crate) fn new(plan: &Plan, common: &Common, lang: Lang) -> Self {
        let show = if common.quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            Show::Bar(bar(common.color))
        } else {
            Show::Lines { last: None }
        };
        let shows_seconds = !common.json && stdout().is_terminal() && has_transfers_alone(plan);
        let (began, message) = (Instant::now(), String::new());
        let resets = Resets::new(lang, None);
        let specs = plan.specs();
        Self { lang, specs, show, began, total: 0.0, finished: 0.0, current: 0.0, message, shows_seconds, resets }
    }

    /// The same with a command that resets the device under test.
    pub(crate) fn reset_by(self, command: Option<String>) -> Self {
        Self { resets: Resets::new(self.lang, command), ..self }
    }

    /// Something that the user has to know even where progress is not shown.
    fn insist(&self, texts: Vec<String>) {
        for text in texts {
            match &self.show {
                Show::Nothing => say(&text),
                _ => self.note(&text),
            }
        }
    }

    /// Something that takes no countable time.
    pub(crate) fn say(&self, notice: &Notice<'_>) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.set_message(notice.text(self.lang)),
            Show::Lines { .. } => say(&notice.text(self.lang)),
        }
    }

    /// Something to know, which stays on the terminal.
    pub(crate) fn note(&self, text: &str) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.println(plain(text)),
            Show::Lines { .. } => say(text),
        }
    }

    /// Nothing more to come.
    pub(crate) fn end(&mut self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
        self.show = Show::Nothing;
    }

    fn draw(&mut self, fraction: f64) {
        let done = self.finished + self.current * fraction;
        // The time first: on a narrow terminal the end is cut off.
        let text =
            format!("{} · {}", Notice::TimeLeft { seconds: self.seconds_left(done) }.text(self.lang), self.message);
        match &mut self.show {
            Show::Nothing => {}
            Show::Bar(bar) => {
                bar.set_position((done / self.total * 1000.0) as u64);
                bar.set_message(text);
            }
            Show::Lines { last } => {
                if last.is_none_or(|last| last.elapsed() >= LINE) {
                    *last = Some(Instant::now());
                    say(&text);
                }
            }
        }
    }

    fn seconds_left(&self, done: f64) -> u64 {
        remaining_seconds(self.total, done, self.began.elapsed().as_secs_f64())
    }
}

impl Observer for Progress {
    fn ready(&mut self, session: &Session, environment: &Environment) {
        narrow_buses(&session.bed, environment, self.lang).iter().for_each(|said| self.note(said));
        if let Some(cpu) = session.bed.core_shared_by(&session.bed.endpoints) {
            self.note(&Notice::CoreShared { cpu }.text(self.lang));
        }
        for closed in &session.not_through {
            self.note(&Notice::DutUnreachable { ip: closed.ip(), why: &closed.to_string() }.text(self.lang));
        }
        for why in &session.unknown {
            self.note(&Notice::UnknownRecord { why }.text(self.lang));
        }
        for machine in session.unchangeable() {
            self.note(&Notice::NoRoot { machine }.text(self.lang));
        }
    }

    fn step(&mut self, step: &Step, number: u32, remaining: Remaining) {
        if self.total == 0.0 {
            // The time that the bed took says nothing of the trials.
            self.began = Instant::now();
        }
        self.finished += self.current;
        self.current = estimate(&step.spec);
        self.total = self.finished + remaining.seconds;
        let number = number as usize;
        let notice = Notice::Measuring { what: &step.spec, step: number, steps: number - 1 + remaining.trials };
        self.message = plain(&notice.text_among(&self.specs, self.lang));
        self.draw(0.0);
        let said = self.resets.step(&step.spec);
        self.insist(said);
    }

    fn progress(&mut self, fraction: f64) {
        self.draw(fraction);
        let said = self.resets.progress(fraction);
        self.insist(said);
    }

    fn second(&mut self, second: &GoodputSecond) {
        if let Show::Bar(bar) = &self.show
            && self.shows_seconds
        {
            if second.number == 1 {
                bar.println(&self.message);
            }
            bar.println(plain(&Notice::Second { second }.text(self.lang)));
        }
    }

    fn undoing(&mut self) {
        let said = self.resets.end();
        self.insist(said);
        self.say(&Notice::Undoing);
    }
}

/// Whether a plan measures nothing but transfers, and the paths that they need: between other trials, lines of seconds would
/// only be in the way.
fn has_transfers_alone(plan: &Plan) -> bool {
    plan.specs().iter().map(ProbeSpec::profile).all(|profile| profile.whole_seconds > 0 || profile.measures_mtu)
}

/// Ports of the bed whose bus is slower than their link, named before a measurement over it. Unreadable ports are left out.
fn narrow_buses(bed: &Bed, environment: &Environment, lang: Lang) -> Vec<String> {
    let ends = bed.endpoints.iter().zip(&environment.endpoints);
    let said = ends.filter_map(|(end, facts)| {
        let port = facts.interfaces.iter().find(|interface| interface.name == end.interface)?;
        Some(format!("{}: {}", port.name, report::narrow_bus(port.card.as_ref()?, lang)?))
    });
    said.collect()
}

/// The estimate of what is left, in seconds, corrected by how the estimate has held so far: little at first, when one slow trial would
/// count for all that is to come.
fn remaining_seconds(total: f64, done: f64, elapsed: f64) -> u64 {
    let trusted = (total / 10.0).min(5.0) + total / 20.0;
    let pace = (elapsed + trusted) / (done + trusted);
    ((total - done).max(0.0) * pace).ceil() as u64
}

fn bar(color: Color) -> ProgressBar {
    if color == Color::Always {
        console::set_colors_enabled_stderr(true);
    }
    let template = if color == Color::Never { "[{bar:20}] {wide_msg}" } else { "[{bar:20.cyan}] {wide_msg}" };
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr_with_hz(8));
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style.progress_chars("━╸ "));
    bar
}

#[cfg(test)]
mod tests {
    use model::Plan;

    use super::{has_transfers_alone, remaining_seconds};

    #[test]
    fn a_plan_of_transfers_alone_shows_their_seconds() {
        let plan = |toml| Plan::parse(toml, &[]).unwrap();
        let transfers = "name = \"t\"\n[[goodput]]\nprotocol = \"tcp\"\nduration = \"3 s\"\nmtus = [1500]\n";
        assert!(has_transfers_alone(&plan(transfers)));
        let more = format!("{transfers}[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n");
        assert!(!has_transfers_alone(&plan(&more)));
    }

    #[test]
    fn a_slow_beginning_does_not_count_for_hours_to_come() {
        let three_hours = 3.0 * 3600.0;
        assert!((10_800..10_900).contains(&remaining_seconds(three_hours, 1.0, 5.0)));
        assert_eq!(remaining_seconds(100.0, 0.0, 0.0), 100);
        assert_eq!(remaining_seconds(100.0, 100.0, 130.0), 0);
        // Two ends on one core: the first of twenty trials of 150 ms has taken 40 s, and is half done.
        assert!(remaining_seconds(3.0, 0.075, 40.0) > 200);
        // Half way, everything took twice as long as estimated.
        assert!((85..100).contains(&remaining_seconds(100.0, 50.0, 100.0)));
    }
}
