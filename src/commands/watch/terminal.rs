//! The terminal: drawn by a thread of its own, so that a slow one holds up no reading, and given back however this ends.

use std::{
    io,
    sync::{
        Arc, Mutex,
        mpsc::{self, Receiver, Sender},
    },
    thread::{self, JoinHandle},
};

use anyhow::Context;
use ratatui::{
    DefaultTerminal,
    crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    crossterm::style::force_color_output,
};
use rates::Watch;
use screen::{KeyPress, Screen};

use super::{ending::Ending, lock};

/// A screen under way.
pub(super) struct Terminal {
    news: Sender<TerminalEvent>,
    drawing: JoinHandle<io::Result<()>>,
}

/// Events that change the screen.
enum TerminalEvent {
    /// New readings, with the failures among them.
    Read(Vec<String>),
    Pressed(KeyPress),
    Resized,
    End,
}

/// A screen page up or down.
const PAGE: isize = 10;

impl Terminal {
    /// Takes the terminal. From here on a panic gives it back, too.
    pub(super) fn begin(screen: Screen, watch: Arc<Mutex<Watch>>, ends: Sender<Ending>) -> anyhow::Result<Self> {
        // The screen chooses colours itself.
        force_color_output(true);
        let terminal = ratatui::try_init().inspect_err(|_| ratatui::restore());
        let terminal = terminal.context("cannot draw on this terminal; use --plain")?;
        let (news, changes) = mpsc::channel();
        let (pressed, failed) = (news.clone(), ends.clone());
        let keys = thread::Builder::new().name("keys".to_owned()).spawn(move || obey(&pressed, &ends));
        let drawing = thread::Builder::new().name("screen".to_owned()).spawn(move || {
            // However the drawing ends, the reading thread is told.
            let _word = OnEnd(failed);
            draw(terminal, screen, &watch, &changes)
        });
        match keys.and(drawing) {
            Ok(drawing) => Ok(Self { news, drawing }),
            Err(error) => {
                ratatui::restore();
                Err(error).context("cannot start a thread for the terminal")
            }
        }
    }

    /// Draws the new readings.
    pub(super) fn draw(&self, notes: &[String]) {
        // Where the drawing has ended, its ending says so.
        let _ = self.news.send(TerminalEvent::Read(notes.to_vec()));
    }

    /// Gives the terminal back.
    pub(super) fn end(self) -> anyhow::Result<()> {
        let _ = self.news.send(TerminalEvent::End);
        let drawn = self.drawing.join();
        ratatui::restore();
        match drawn {
            Ok(drawn) => drawn.context("cannot draw on this terminal any more; use --plain"),
            Err(_) => anyhow::bail!("drawing failed, as said above; use --plain, and tell us"),
        }
    }
}

struct OnEnd(Sender<Ending>);

impl Drop for OnEnd {
    fn drop(&mut self) {
        let _ = self.0.send(Ending::Screen);
    }
}

fn draw(
    mut terminal: DefaultTerminal,
    mut screen: Screen,
    watch: &Mutex<Watch>,
    news: &Receiver<TerminalEvent>,
) -> io::Result<()> {
    let mut notes = Vec::new();
    while let Ok(change) = news.recv() {
        match change {
            TerminalEvent::Read(unread) => notes = unread,
            TerminalEvent::Pressed(press) => screen.press(press, &lock(watch)),
            TerminalEvent::Resized => {}
            TerminalEvent::End => break,
        }
        terminal.draw(|frame| screen.draw(frame, &lock(watch), &notes))?;
    }
    Ok(())
}

/// Waits for keys, until the program ends.
fn obey(news: &Sender<TerminalEvent>, ends: &Sender<Ending>) {
    loop {
        let change = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => match press(key) {
                Some(Asked::End) => {
                    let _ = ends.send(Ending::Asked);
                    continue;
                }
                Some(Asked::KeyPress(press)) => TerminalEvent::Pressed(press),
                None => continue,
            },
            Ok(Event::Resize(..)) => TerminalEvent::Resized,
            Ok(_) => continue,
            // The terminal is gone.
            Err(_) => {
                let _ = ends.send(Ending::Screen);
                return;
            }
        };
        if news.send(change).is_err() {
            return;
        }
    }
}

#[derive(Debug, PartialEq)]
enum Asked {
    End,
    KeyPress(KeyPress),
}

fn press(key: KeyEvent) -> Option<Asked> {
    let by = |by| Some(Asked::KeyPress(KeyPress::By(by)));
    match key.code {
        KeyCode::Char('c' | 'd' | '\\') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(Asked::End),
        KeyCode::Char('q' | 'Q') | KeyCode::Esc => Some(Asked::End),
        KeyCode::Up | KeyCode::Char('k') => by(-1),
        KeyCode::Down | KeyCode::Char('j') => by(1),
        KeyCode::PageUp => by(-PAGE),
        KeyCode::PageDown => by(PAGE),
        KeyCode::Home | KeyCode::Char('g') => Some(Asked::KeyPress(KeyPress::First)),
        KeyCode::End | KeyCode::Char('G') => Some(Asked::KeyPress(KeyPress::Last)),
        KeyCode::Enter => Some(Asked::KeyPress(KeyPress::Details)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_and_ctrl_c_end_it_and_arrows_choose() {
        let key = |code| press(KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!((key(KeyCode::Char('q')), key(KeyCode::Esc)), (Some(Asked::End), Some(Asked::End)));
        assert_eq!(press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(Asked::End));
        assert_eq!(key(KeyCode::Down), Some(Asked::KeyPress(KeyPress::By(1))));
        assert_eq!((key(KeyCode::Char('c')), key(KeyCode::Tab)), (None, None));
    }
}
