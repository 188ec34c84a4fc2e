//! Presentation: on a screen, line by line, or as JSON.

use std::{
    env,
    io::{ErrorKind, IsTerminal, Write, stdin, stdout},
    sync::{Arc, Mutex, mpsc::Sender},
};

use anyhow::Context;
use jiff::{Timestamp, tz::TimeZone};
use model::{Nanos, plain::plain};
use rates::Watch;
use report::{WatchDocument, WatchWords};

use super::{Reader, ending::Ending, lock, terminal::Terminal};
use crate::{
    cli::{Color, Common, WatchOptions},
    output::say,
    zone,
};

/// The output that shows it.
pub(super) struct Show {
    form: Form,
    watch: Arc<Mutex<Watch>>,
    words: WatchWords,
    /// Whether more than seconds tell one reading from the next.
    fine: bool,
    /// Time zone of the reader.
    zone: TimeZone,
    told: Vec<String>,
}

enum Form {
    Screen(Terminal),
    Plain,
    Json,
}

impl Show {
    /// Chooses the form and begins: a screen where there is one and nothing else was asked for.
    pub(super) fn begin(
        options: &WatchOptions,
        common: &Common,
        words: WatchWords,
        watch: Arc<Mutex<Watch>>,
        ends: Sender<Ending>,
    ) -> anyhow::Result<Self> {
        let form = if common.json {
            Form::Json
        } else if options.plain || !has_screen() {
            Form::Plain
        } else {
            let screen = screen::Screen::new(words.clone(), coloured(common.color), &options.interval.to_string());
            Form::Screen(Terminal::begin(screen, Arc::clone(&watch), ends)?)
        };
        let fine = options.interval < Nanos::from_secs(1);
        Ok(Self { form, watch, words, fine, zone: zone::of_caller(), told: Vec::new() })
    }

    /// Shows the readings; returns whether anybody still looks.
    pub(super) fn tell(&mut self, notes: &[String]) -> anyhow::Result<Reader> {
        match &self.form {
            Form::Screen(terminal) => {
                terminal.draw(notes);
                Ok(Reader::There)
            }
            Form::Plain => {
                self.say_new(notes);
                let watch = lock(&self.watch);
                // Rates begin with the second reading.
                if watch.elapsed().0 == 0 {
                    return Ok(Reader::There);
                }
                print(&plain(&screen::lines(&watch, &self.words, &self.time_of_day())))
            }
            Form::Json => {
                self.say_new(notes);
                let document = WatchDocument::of(&lock(&self.watch), Timestamp::now().to_string());
                print(&(serde_json::to_string(&document)? + "\n"))
            }
        }
    }

    /// Restores the terminal, and prints the totals.
    pub(super) fn end(self, with_summary: bool) -> anyhow::Result<()> {
        let is_json = matches!(self.form, Form::Json);
        if let Form::Screen(terminal) = self.form {
            terminal.end()?;
        }
        if with_summary && !is_json {
            print(&plain(&format!("\n{}", screen::summary(&lock(&self.watch), &self.words))))?;
        }
        Ok(())
    }

    /// Each note once.
    fn say_new(&mut self, notes: &[String]) {
        for note in notes {
            if !self.told.contains(note) {
                say(&format!("wireproof: {note}"));
                self.told.push(note.clone());
            }
        }
    }

    fn time_of_day(&self) -> String {
        let now = Timestamp::now().to_zoned(self.zone.clone());
        zone::written(&now, if self.fine { "%H:%M:%S%.3f" } else { "%H:%M:%S" })
    }
}

fn has_screen() -> bool {
    let dumb = env::var_os("TERM").is_none_or(|kind| kind.is_empty() || kind == "dumb");
    stdout().is_terminal() && stdin().is_terminal() && !dumb
}

/// <https://no-color.org>
fn coloured(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
    }
}

/// A reader that has gone away, like `head`, ends it.
fn print(text: &str) -> anyhow::Result<Reader> {
    match stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()) {
        Ok(()) => Ok(Reader::There),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(error) => Err(error).context("cannot write to standard output"),
    }
}
