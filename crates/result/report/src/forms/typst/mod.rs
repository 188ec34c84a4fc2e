//! The report on paper, as a Typst document: `report.typ` has its design, and this module calls the functions there.

mod columns;
mod figures;
mod literal;
mod palette;
mod tables;

use std::{collections::BTreeMap, fmt::Write as _};

use model::{Comparison, NamedFile, Run, Typeset, identity::Paper, tuning::TuningEffect};

use self::literal::{array, pieces, string};
use super::{colour, phrases::of_title, quantities::unbroken};
use crate::{
    content,
    lang::Lang,
    material::Material,
    page::{Block, Issuer, Item, Page, Section, Span, Text},
    show,
    texts::Texts,
};

const LOOKS: &str = include_str!("report.typ");

/// The report as a Typst document, which refers to nothing but its files and the fonts that come with the program.
pub fn typst(material: &Material<'_>, lang: Lang) -> Typeset {
    let t = &material.texts(lang);
    typeset(&content::page(material, t), &date(material.run, t), t)
}

/// Runs side by side as a Typst document, dated as the last of them. `runs` are those compared, the reference first.
pub fn comparison_typst(comparison: &Comparison, runs: &[Material<'_>], lang: Lang) -> Typeset {
    let t = &Material::texts_of(runs, lang);
    typeset(&content::comparison(comparison, runs, t), &last_date(runs, t), t)
}

/// The effect of a tuning as a Typst document. `runs` are the first measurement, that with all steps, and that after the undoing.
pub fn effect_typst(effect: &TuningEffect, runs: &[Material<'_>], lang: Lang) -> Typeset {
    let t = &Material::texts_of(runs, lang);
    typeset(&content::effect(effect, runs, t), &last_date(runs, t), t)
}

fn last_date(runs: &[Material<'_>], t: &Texts) -> String {
    let last = runs.iter().max_by_key(|one| &one.run.started);
    last.map_or_else(|| "none".to_owned(), |one| date(one.run, t))
}

/// The run's day, not the day of this writing: so the same run gives the same document.
fn date(run: &Run, t: &Texts) -> String {
    show::day(run.finished.as_deref().unwrap_or(&run.started), &t.zone).map_or_else(
        || "none".to_owned(),
        |d| format!("datetime(year: {}, month: {}, day: {})", d.year(), d.month(), d.day()),
    )
}

fn typeset(page: &Page, date: &str, t: &Texts) -> Typeset {
    let on_page = t.with("on-page", &[("page", &"#")]);
    let mut sheets = Sheets { t, paper: page.paper, on_page, files: BTreeMap::new(), folded: vec![], depth: 0 };
    let mut source = palette::dictionary() + LOOKS;
    let (title, lang, mark) = (string(&page.title), page.lang, optional(page.mark.as_deref().map(string)));
    let _ = writeln!(source, "#show: report.with({title}, \"{lang}\", {date}, {mark}, {})", string(&page.reference));
    // The design is that of A4.
    if page.paper == Paper::Letter {
        source += "#set page(paper: \"us-letter\")\n";
    }
    let (identity, approvals) = (pairs(&page.identity), pairs(&page.approvals));
    let issuer = sheets.issuer(page);
    let words = array(of_title(&page.title).iter().map(|word| string(word)));
    let _ = writeln!(source, "#cover({words}, {issuer}, {identity}, {approvals})[\n{}]", sheets.all(&page.cover));
    if !page.front.is_empty() {
        let _ = writeln!(source, "#front[\n{}]", sheets.all(&page.front));
    }
    source += "#contents()\n";
    source += &sheets.all(&page.body);
    let _ = writeln!(source, "#note({})", string(&page.statement));
    source += &sheets.annex(&t.get("annex-heading"));
    let files = sheets.files.into_iter().map(|(name, content)| NamedFile { name, content }).collect();
    Typeset { source, files }
}

fn pairs(rows: &[(String, String)]) -> String {
    array(rows.iter().map(|(label, value)| format!("({}, {})", string(label), string(value))))
}

/// Renders blocks, with the output so far.
struct Sheets<'t> {
    t: &'t Texts,
    paper: Paper,
    files: BTreeMap<String, Vec<u8>>,
    /// Where something is found, `#` standing for the number of the page, which Typst knows.
    on_page: String,
    /// Content of the annex: title and blocks.
    folded: Vec<(String, String)>,
    /// How deep the section is that is being shown; 0 outside of any.
    depth: usize,
}

impl Sheets<'_> {
    /// Name, lines of the address, and the file of the logo.
    fn issuer(&mut self, page: &Page) -> String {
        let issuer = page.issuer.as_ref().map(|Issuer { name, address, logo }| {
            let logo = logo.as_ref().map(|(bytes, kind)| string(&self.keep("logo", *kind, bytes.clone())));
            format!("({}, {}, {})", string(name), array(address.iter().map(|line| string(line))), optional(logo))
        });
        optional(issuer)
    }

    fn all(&mut self, blocks: &[Block]) -> String {
        blocks.iter().map(|block| self.block(block) + "\n\n").collect()
    }

    fn block(&mut self, block: &Block) -> String {
        match block {
            Block::Section(section) => self.section(section),
            Block::Verdict { verdict, word, meaning } => {
                format!("#verdict(\"{}\", {}, {})", colour(*verdict), string(word), list(meaning))
            }
            Block::Notice { word, text: words } => format!("#notice({}, {})", string(word), text(words)),
            Block::Paragraph(words) => format!("#{}", text(words)),
            Block::Note(words) => format!("#note({})", text(words)),
            Block::List(items) => format!("#list({})", items.iter().map(item).collect::<String>()),
            Block::Terms(terms) => format!("#terms({})", terms.iter().map(term).collect::<String>()),
            Block::Table(table) => tables::table(table, self.paper, self.t),
            Block::Facts { number, caption, rows } => tables::facts(*number, caption, rows, self.t),
            Block::Figure(figure) => self.figure(figure),
            Block::Command(command) => {
                format!("#command({})", command.lines().map(code).map(|line| line + ", ").collect::<String>())
            }
            Block::Folded { summary, blocks } => self.fold(summary, blocks),
        }
    }

    fn section(&mut self, section: &Section) -> String {
        self.depth += 1;
        let heading = format!("#heading(level: {}, {})\n\n", self.depth, string(&section.title));
        let blocks = self.all(&section.blocks);
        self.depth -= 1;
        heading + &blocks
    }

    /// Puts it into the annex, and says so here.
    fn fold(&mut self, summary: &str, blocks: &[Block]) -> String {
        let here = std::mem::replace(&mut self.depth, 2);
        let blocks = self.all(blocks);
        self.depth = here;
        self.folded.push((summary.to_owned(), blocks));
        format!("#folded(<folded-{}>, {}, {})", self.folded.len(), string(summary), string(&self.on_page))
    }

    /// Nothing when nothing was folded away.
    fn annex(&self, heading: &str) -> String {
        if self.folded.is_empty() {
            return String::new();
        }
        let mut annex = format!("#annex({})[\n", string(heading));
        for (number, (summary, blocks)) in (1..).zip(&self.folded) {
            let _ = writeln!(annex, "#heading(level: 2, {}) <folded-{number}>\n\n{blocks}", string(summary));
        }
        annex + "]\n"
    }
}

fn item(item: &Item) -> String {
    format!("item({}, {}), ", text(&item.text), optional(item.note.as_ref().map(text)))
}

fn term((term, meaning): &(String, Text)) -> String {
    format!("terms.item({}, {}), ", string(term), text(meaning))
}

fn optional(expression: Option<String>) -> String {
    expression.unwrap_or_else(|| "none".to_owned())
}

fn list(texts: &[Text]) -> String {
    texts.iter().map(|words| text(words) + ", ").collect()
}

/// A text as a content block.
fn text(words: &Text) -> String {
    let pieces: String = words.0.iter().map(|piece| format!("#{}", span(piece))).collect();
    format!("[{pieces}]")
}

fn span(piece: &Span) -> String {
    match piece {
        Span::Plain(words) => prose(words),
        Span::Strong(words) => format!("strong({})", prose(words)),
        Span::Quiet(words) => format!("quiet({})", prose(words)),
        Span::Code(words) => code(words),
        Span::Verdict(verdict, words) => format!("judged(\"{}\", {})", colour(Some(*verdict)), string(words)),
        Span::Link { to, words } => format!("outward({}, {})", string(to), string(words)),
    }
}

/// Words that no line parts a figure from its unit in.
fn prose(words: &str) -> String {
    string(&unbroken(words))
}

fn code(words: &str) -> String {
    format!("code({})", pieces(words))
}

#[cfg(test)]
mod tests;
