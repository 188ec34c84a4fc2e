//! Blocks and texts as HTML.

use maud::{Markup, html};
use model::Verdict;

use super::{figures, spans::text, tables};
use crate::{
    forms::colour,
    page::{Block, Item, Section, Text},
    texts::Texts,
};

/// Shows blocks, with headings as far as they have got.
pub(super) struct Blocks<'t> {
    t: &'t Texts,
    /// Sections of the first level so far.
    pub(super) sections: usize,
    /// How deep the section is that is being shown; 0 outside of any.
    depth: usize,
}

/// Name of a section of the first level within the page, from 1.
pub(super) fn anchor(section: usize) -> String {
    format!("section-{section}")
}

impl<'t> Blocks<'t> {
    pub(super) fn new(t: &'t Texts) -> Self {
        Self { t, sections: 0, depth: 0 }
    }

    pub(super) fn all(&mut self, blocks: &[Block]) -> Markup {
        html! { @for block in blocks { (self.block(block)) } }
    }

    fn block(&mut self, block: &Block) -> Markup {
        match block {
            Block::Section(section) => self.section(section),
            Block::Verdict { verdict, word, meaning } => verdict_box(*verdict, word, meaning, self.t),
            Block::Notice { word, text: words } => html! { p.notice { strong { (word) } " " (text(words, self.t)) } },
            Block::Paragraph(words) => html! { p { (text(words, self.t)) } },
            Block::Note(words) => html! { p.note { (text(words, self.t)) } },
            Block::List(items) => html! { ul { @for item in items { (list_item(item, self.t)) } } },
            Block::Terms(terms) => html! {
                dl.terms { @for (term, meaning) in terms { dt { (term) } dd { (text(meaning, self.t)) } } }
            },
            Block::Table(table) => tables::table(table, self.t),
            Block::Facts { number, caption, rows } => tables::facts(*number, caption, rows, self.t),
            Block::Figure(figure) => figures::figure(figure, self.t),
            Block::Command(command) => html! { pre tabindex="0" { code { (command) } } },
            Block::Folded { summary, blocks } => html! { details { summary { (summary) } (self.all(blocks)) } },
        }
    }

    fn section(&mut self, section: &Section) -> Markup {
        self.depth += 1;
        let heading = match self.depth {
            1 => html! { h2 { (section.title) } },
            2 => html! { h3 { (section.title) } },
            _ => html! { h4 { (section.title) } },
        };
        let id = (self.depth == 1).then(|| {
            self.sections += 1;
            anchor(self.sections)
        });
        let markup = html! { section id=[id] { (heading) (self.all(&section.blocks)) } };
        self.depth -= 1;
        markup
    }
}

fn verdict_box(verdict: Option<Verdict>, word: &str, meaning: &[Text], t: &Texts) -> Markup {
    let class = colour(verdict);
    html! {
        section class=(format!("verdict {class}")) aria-label=(t.get("verdict-heading")) {
            p.word { (word) }
            @for words in meaning { p { (text(words, t)) } }
        }
    }
}

fn list_item(item: &Item, t: &Texts) -> Markup {
    html! {
        li {
            (text(&item.text, t))
            @if let Some(note) = &item.note { span.note { (text(note, t)) } }
        }
    }
}
