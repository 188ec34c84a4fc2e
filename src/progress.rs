//! What a person sees while the program works: a bar with time left on a terminal, a line now and then elsewhere.

use std::{
    io::{IsTerminal, stderr},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{Plan, ProbeSpec};
use report::{Lang, Notice};
use run::estimate;

use crate::{
    cli::{Color, Common},
    exit::say,
};

/// Between two lines where there is no terminal.
const LINE: Duration = Duration::from_secs(5);

/// Progress of one run.
pub(crate) struct Progress {
    lang: Lang,
    show: Show,
    began: Instant,
    /// Estimated seconds: of all steps, of those finished, of the one under way.
    total: f64,
    finished: f64,
    current: f64,
    message: String,
}

enum Show {
    Nothing,
    Bar(ProgressBar),
    Lines { last: Option<Instant> },
}

impl Progress {
    pub(crate) fn new(common: &Common, lang: Lang, plan: &Plan) -> Self {
        let total = plan.steps().iter().map(|step| estimate(&step.spec)).sum();
        let show = if common.quiet {
            Show::Nothing
        } else if stderr().is_terminal() {
            Show::Bar(bar(common.color))
        } else {
            Show::Lines { last: None }
        };
        Self { lang, show, began: Instant::now(), total, finished: 0.0, current: 0.0, message: String::new() }
    }

    /// Something that takes no countable time.
    pub(crate) fn say(&self, notice: &Notice<'_>) {
        match &self.show {
            Show::Nothing => {}
            Show::Bar(bar) => bar.set_message(notice.text(self.lang)),
            Show::Lines { .. } => say(&notice.text(self.lang)),
        }
    }

    /// A step of the plan begins.
    pub(crate) fn step(&mut self, spec: &ProbeSpec, number: usize, steps: usize) {
        self.finished += self.current;
        self.current = estimate(spec);
        let notice = Notice::Measuring { what: &spec.to_string(), step: number + 1, steps };
        self.message = notice.text(self.lang);
        self.draw(0.0);
    }

    /// The step is this far.
    pub(crate) fn fraction(&mut self, fraction: f64) {
        self.draw(fraction);
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
        let text = format!("{} · {}", Notice::TimeLeft { seconds: self.left(done) }.text(self.lang), self.message);
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

    /// The estimate of what is left, corrected by how the estimate has held so far.
    fn left(&self, done: f64) -> u64 {
        let pace = if done > 1.0 { self.began.elapsed().as_secs_f64() / done } else { 1.0 };
        ((self.total - done).max(0.0) * pace).ceil() as u64
    }
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
