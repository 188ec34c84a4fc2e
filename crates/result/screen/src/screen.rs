//! The whole screen.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};
use rates::{Key, Link, Watch};
use report::WatchWords;

use crate::{
    columns::Columns,
    detail::Detail,
    scale::duration,
    style::{Look, faint, strong},
    table::Table,
    text::{cut, width},
};

/// The smallest terminal that shows anything.
const LEAST: (u16, u16) = (36, 5);
/// The least room for one interface in full.
const DETAIL: usize = 8;
/// The room for it that the table leaves where it can: with graphs.
const ROOMY: usize = 12;

/// A key that somebody pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPress {
    /// The interface above, or below.
    By(isize),
    /// The first one.
    First,
    /// The last one.
    Last,
    /// Shows one interface in full, or no more.
    Details,
}

/// Settings of the view.
#[derive(Clone, Debug)]
pub struct Screen {
    words: WatchWords,
    look: Look,
    /// How often counters are read, in words.
    every: String,
    chosen: Option<Key>,
    /// Lines of the table above the first that is shown.
    above: usize,
    details: bool,
}

/// A line of the table.
enum Entry<'a> {
    Namespace(&'a str),
    Link(&'a Key, &'a Link),
}

impl Screen {
    /// A screen with the first interface chosen; `interval` as people write it.
    pub fn new(words: WatchWords, colours: bool, interval: &str) -> Self {
        let every = words.every(interval);
        Self { words, look: Look::new(colours), every, chosen: None, above: 0, details: true }
    }

    /// Obeys a key.
    pub fn press(&mut self, press: KeyPress, watch: &Watch) {
        let keys: Vec<&Key> = watch.links().map(|(key, _)| key).collect();
        let at = self.chosen_in(&keys);
        let last = keys.len().saturating_sub(1);
        let to = match press {
            KeyPress::By(by) => at.saturating_add_signed(by).min(last),
            KeyPress::First => 0,
            KeyPress::Last => last,
            KeyPress::Details => {
                self.details = !self.details;
                at
            }
        };
        self.chosen = keys.get(to).map(|key| (*key).clone());
    }

    /// Where the chosen interface stands; where it is forgotten, the one that took its place.
    fn chosen_in(&self, keys: &[&Key]) -> usize {
        let Some(chosen) = &self.chosen else { return 0 };
        keys.partition_point(|key| *key < chosen).min(keys.len().saturating_sub(1))
    }

    /// Draws it all. Notes are what cannot be read, and why.
    pub fn draw(&mut self, frame: &mut Frame<'_>, watch: &Watch, notes: &[String]) {
        let area = frame.area();
        if area.width < LEAST.0 || area.height < LEAST.1 {
            let text = self.words.small(LEAST.0, LEAST.1);
            return show(frame, area, 0, Line::raw(cut(&text, usize::from(area.width))));
        }
        let lines = self.lines(watch, notes, usize::from(area.width), usize::from(area.height));
        for (row, line) in lines.into_iter().enumerate() {
            show(frame, area, row, line);
        }
    }

    fn lines(&mut self, watch: &Watch, notes: &[String], cells: usize, rows: usize) -> Vec<Line<'static>> {
        let entries = entries(watch);
        let keys: Vec<&Key> = watch.links().map(|(key, _)| key).collect();
        let chosen = keys.get(self.chosen_in(&keys)).copied();
        // Title, headings and keys.
        let room = rows - 3;
        let detail = chosen.is_some() && self.details && room > DETAIL + 2;
        let most = (room / 3).max(room.saturating_sub(1 + ROOMY)).max(2).min(room.saturating_sub(DETAIL + 1));
        let for_table = if detail { entries.len().min(most) } else { room };
        self.scroll(&entries, chosen, for_table);

        let mut lines = vec![self.title(watch, entries.len() > for_table, for_table, &entries, cells)];
        lines.extend(self.table(&entries, chosen, for_table, cells));
        let found = detail.then_some(chosen).flatten().and_then(|key| watch.links().find(|(known, _)| *known == key));
        if let Some((key, link)) = found {
            lines.push(Line::default());
            let detail = Detail { key, link, words: &self.words, look: self.look, cells };
            lines.extend(detail.lines(rows - 1 - lines.len()));
        }
        lines.resize(rows - 1, Line::default());
        lines.push(self.foot(watch, notes, cells));
        lines
    }

    /// Keeps the chosen interface in sight, and its namespace where it is the first there.
    fn scroll(&mut self, entries: &[Entry<'_>], chosen: Option<&Key>, room: usize) {
        let is_chosen = |entry: &Entry<'_>| matches!(entry, Entry::Link(key, _) if Some(*key) == chosen);
        let at = entries.iter().position(is_chosen).unwrap_or_default();
        let first = if at > 0 && matches!(entries[at - 1], Entry::Namespace(_)) && room > 1 { at - 1 } else { at };
        self.above = self.above.min(first).max((at + 1).saturating_sub(room)).min(entries.len().saturating_sub(room));
    }

    fn title(&self, watch: &Watch, cut_off: bool, room: usize, entries: &[Entry<'_>], cells: usize) -> Line<'static> {
        let count = watch.links().len();
        let is_link = |entry: &&Entry<'_>| matches!(entry, Entry::Link(..));
        let what = if cut_off {
            let above = entries[..self.above].iter().filter(is_link).count();
            let shown = entries[self.above..].iter().take(room).filter(is_link).count();
            self.words.range(above + 1, above + shown, count)
        } else {
            self.words.count(count)
        };
        let time = duration(watch.elapsed().0 / 1_000_000_000);
        let said = cut(&format!("  {what} · {}", self.every), cells.saturating_sub(17 + width(&time) + 2));
        let blank = cells.saturating_sub(16 + width(&said) + width(&time) + 1);
        Line::from(vec![
            Span::styled(" wireproof watch", strong()),
            Span::styled(said, faint()),
            Span::raw(" ".repeat(blank)),
            Span::raw(time),
        ])
    }

    fn table(&self, entries: &[Entry<'_>], chosen: Option<&Key>, room: usize, cells: usize) -> Vec<Line<'static>> {
        let names = entries.iter().filter_map(|entry| match entry {
            Entry::Link(key, _) => Some(width(&key.name)),
            Entry::Namespace(_) => None,
        });
        let columns = Columns::fitting(cells, names.max().unwrap_or_default(), &self.words);
        let table = Table { columns, words: &self.words, look: self.look };
        if entries.is_empty() {
            return vec![Line::styled(format!(" {}", self.words.nothing), faint())];
        }
        let shown = entries.iter().skip(self.above).take(room).map(|entry| match entry {
            Entry::Namespace(name) => table.namespace(name),
            Entry::Link(key, link) => table.row(key, link, chosen == Some(*key)),
        });
        [table.heading()].into_iter().chain(shown).collect()
    }

    /// A reading that fails is worth more than what keys do.
    fn foot(&self, watch: &Watch, notes: &[String], cells: usize) -> Line<'static> {
        if let Some(note) = notes.first() {
            return Line::styled(format!(" {}", cut(note, cells - 1)), self.look.warning());
        }
        let has_line = watch.links().any(|(_, link)| link.state().line_bps.is_some());
        let keys = if width(&self.words.keys) < cells { &self.words.keys } else { &self.words.keys_short };
        let note = if has_line { self.words.line_note.as_str() } else { "" };
        let blank = cells.saturating_sub(2 + width(keys) + width(note));
        let note = if blank >= 3 { " ".repeat(blank) + note } else { String::new() };
        Line::styled(format!(" {keys}{note}"), faint())
    }
}

/// Interfaces, under their namespaces where there is more than the own one.
fn entries(watch: &Watch) -> Vec<Entry<'_>> {
    let apart = watch.links().any(|(key, _)| !key.namespace.is_empty());
    let mut entries = Vec::new();
    let mut namespace = None;
    for (key, link) in watch.links() {
        if apart && namespace != Some(&key.namespace) {
            namespace = Some(&key.namespace);
            entries.push(Entry::Namespace(&key.namespace));
        }
        entries.push(Entry::Link(key, link));
    }
    entries
}

fn show(frame: &mut Frame<'_>, area: Rect, row: usize, line: Line<'_>) {
    let row = area.y.saturating_add(u16::try_from(row).unwrap_or(u16::MAX));
    if row < area.bottom() {
        frame.render_widget(line, Rect { y: row, height: 1, ..area });
    }
}

#[cfg(test)]
mod tests;
