//! Content of a report before it takes a form. Content builds a [`Page`]; HTML, Typst and Markdown each render one.
//!
//! Every word in it is already in the reader's language, every figure already has its unit. Whoever shows a page decides
//! about looks alone, and leaves nothing out.

use std::fmt;

pub(crate) use model::PhotoKind;
use model::{Verdict, identity::Paper};

use crate::lang::Lang;

/// A whole document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    /// The language of all that is not marked otherwise.
    pub(crate) lang: Lang,
    /// Title, also of the window and of the PDF.
    pub(crate) title: String,
    /// Issuer of the document, at the head of its first page.
    pub(crate) issuer: Option<Issuer>,
    /// Line for every sheet: the bed is simulated, and the classification of the document; `None` where there is nothing to say.
    pub(crate) mark: Option<String>,
    /// Identity of the document: label and value. An empty value is a box to fill in by hand.
    pub(crate) identity: Vec<(String, String)>,
    /// Approved, checked and made by, in this order: role, and a name or nothing. Each is a box with room for a stamp.
    pub(crate) approvals: Vec<(String, String)>,
    /// Sheets of the document on paper.
    pub(crate) paper: Paper,
    /// Verdict and key figures: on paper the cover, above the identity.
    pub(crate) cover: Vec<Block>,
    /// Sections between the identity and the contents, which neither list nor number them.
    pub(crate) front: Vec<Block>,
    /// All the rest.
    pub(crate) body: Vec<Block>,
    /// Claims that the results do not make; the last words.
    pub(crate) statement: String,
    /// Mark of every sheet: the run's name.
    pub(crate) reference: String,
}

/// Issuer of a document; what is not known is empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Issuer {
    pub(crate) name: String,
    /// Lines of its address.
    pub(crate) address: Vec<String>,
    /// Its logo, as it was given.
    pub(crate) logo: Option<(Vec<u8>, PhotoKind)>,
}

/// One piece of a page, as wide as the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    /// A heading with what belongs to it. Sections of the first level stand in the table of contents.
    Section(Section),
    /// The verdict in large letters, with its meaning.
    Verdict {
        /// `None` where there is nothing to judge.
        verdict: Option<Verdict>,
        /// PASS, FAIL, …, in the reader's language.
        word: String,
        /// Its meaning, a paragraph each.
        meaning: Vec<Text>,
    },
    /// A notice that nobody shall overlook, in a frame: a heading word, and the text.
    Notice { word: String, text: Text },
    /// Running text.
    Paragraph(Text),
    /// A remark, smaller than the text.
    Note(Text),
    /// A list. Each item may have a remark under it.
    List(Vec<Item>),
    /// A numbered table.
    Table(Table),
    /// Terms with their meanings.
    Terms(Vec<(String, Text)>),
    /// Label and value, two columns, numbered like a table. Rows without a value are left out.
    Facts { number: Number, caption: String, rows: Vec<(String, Text)> },
    /// A numbered figure.
    Figure(Figure),
    /// Text to be typed: shown as it is, never hyphenated.
    Command(String),
    /// Long lists that a screen folds away until the reader wants them; on paper they stand open, in an annex.
    Folded { summary: String, blocks: Vec<Block> },
}

/// A heading with what belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Section {
    /// The heading.
    pub(crate) title: String,
    /// Content below it, also further sections.
    pub(crate) blocks: Vec<Block>,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Item {
    pub(crate) text: Text,
    /// A remark below it.
    pub(crate) note: Option<Text>,
}

/// Words in a row, each piece with its kind.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Text(pub(crate) Vec<Span>);

/// One piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Span {
    /// Plain words.
    Plain(String),
    /// Emphasised words.
    Strong(String),
    /// Derived or secondary; paler than the rest.
    Quiet(String),
    /// A name or value of the machine, the same in every language.
    Code(String),
    /// A verdict in a table, with its colour.
    Verdict(Verdict, String),
    /// An address of the source.
    #[allow(dead_code, reason = "for figures that name their source")]
    Link { to: String, words: String },
}

/// Number of a table or a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number {
    /// Whether it is folded away, which is in the annex on paper.
    pub(crate) in_annex: bool,
    /// Counts from 1 within the page or the annex; 0 as long as the page is not [numbered](Page::numbered).
    pub(crate) place: u32,
}

/// A table with a head.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// Facts count among the tables; see [`Page::numbered`].
    pub(crate) number: Number,
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// Each as long as `columns`. The first cell names its row.
    pub(crate) rows: Vec<Vec<Text>>,
}

/// Head and kind of a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) head: String,
    pub(crate) kind: ColumnKind,
}

/// Kind of content of a column, which decides its alignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    /// Short words, kept on one line.
    Words,
    /// Sentences, broken into lines.
    Long,
    /// Figures, to the right.
    Figures,
}

/// A drawing with its words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// See [`Page::numbered`].
    pub(crate) number: Number,
    pub(crate) caption: String,
    /// How to read it, or its data.
    pub(crate) note: String,
    /// Description for readers who cannot see it.
    pub(crate) description: String,
    /// The drawing.
    pub(crate) drawing: Drawing,
    /// Meaning of colours and marks.
    pub(crate) legend: Vec<LegendEntry>,
    /// On paper, whether text after it may stand before it, so that no hole is left before a page break.
    pub(crate) floats: bool,
}

/// A drawing.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Drawing {
    /// Content of the `<svg>` element, in units of its box. Without title and without colours: classes give these, on
    /// screen the reader's light or dark ones, on paper the light ones.
    Svg { width: u32, height: u32, content: String },
    /// Small drawings along the same axes, as many beside each other as there is room for.
    Panels(Vec<Panel>),
    /// A photo, as it was given.
    Photo { bytes: Vec<u8>, kind: PhotoKind },
}

/// One of several drawings of a figure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// Its title, with the colour and mark that it is drawn in.
    pub(crate) title: LegendEntry,
    /// As of [`Drawing::Svg`].
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) content: String,
}

/// One entry of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LegendEntry {
    /// Index of its colour and mark.
    pub(crate) style: usize,
    pub(crate) line: Line,
    pub(crate) name: String,
}

/// How a series is drawn, so that its kind is seen without colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Line {
    #[default]
    Solid,
    /// Dashed, with hollow marks.
    Dashed,
    /// Dotted, with crosses: published figures.
    Dotted,
}

impl LegendEntry {
    pub(crate) fn solid(style: usize, name: String) -> Self {
        Self { style, line: Line::Solid, name }
    }
}

impl Page {
    /// With numbers for its figures and its tables, in the order in which it has them. What is folded has a series of its own: so every
    /// form has the same numbers, in order, although paper has that in an annex.
    pub(crate) fn numbered(mut self) -> Self {
        let mut numbers = Numbers::default();
        for part in [&mut self.cover, &mut self.front, &mut self.body] {
            number(part, false, &mut numbers);
        }
        self
    }
}

/// The last numbers given to each kind.
#[derive(Default)]
struct Numbers {
    figures: Last,
    tables: Last,
}

/// The last place given on the page, and the last one in the annex.
#[derive(Default)]
struct Last {
    page: u32,
    annex: u32,
}

impl Last {
    fn next(&mut self, in_annex: bool) -> Number {
        let last = if in_annex { &mut self.annex } else { &mut self.page };
        *last += 1;
        Number { in_annex, place: *last }
    }
}

fn number(blocks: &mut [Block], in_annex: bool, numbers: &mut Numbers) {
    for block in blocks {
        match block {
            Block::Section(Section { blocks, .. }) => number(blocks, in_annex, numbers),
            Block::Folded { blocks, .. } => number(blocks, true, numbers),
            Block::Table(Table { number, .. }) | Block::Facts { number, .. } => *number = numbers.tables.next(in_annex),
            Block::Figure(figure) => figure.number = numbers.figures.next(in_annex),
            Block::Verdict { .. }
            | Block::Notice { .. }
            | Block::Paragraph(_)
            | Block::Note(_)
            | Block::List(_)
            | Block::Terms(_)
            | Block::Command(_) => {}
        }
    }
}

impl fmt::Display for Number {
    /// Like `3`, and `A.3` in the annex.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.in_annex { "A." } else { "" }, self.place)
    }
}

impl Block {
    pub(crate) fn table(caption: impl Into<String>, columns: Vec<Column>, rows: Vec<Vec<Text>>) -> Self {
        Self::Table(Table { number: Number::default(), caption: caption.into(), columns, rows })
    }

    pub(crate) fn facts(caption: impl Into<String>, rows: Vec<(String, Text)>) -> Self {
        Self::Facts { number: Number::default(), caption: caption.into(), rows }
    }

    pub(crate) fn section(title: impl Into<String>, blocks: Vec<Self>) -> Self {
        Self::Section(Section { title: title.into(), blocks })
    }
}

impl Column {
    pub(crate) fn words(head: impl Into<String>) -> Self {
        Self { head: head.into(), kind: ColumnKind::Words }
    }

    pub(crate) fn long(head: impl Into<String>) -> Self {
        Self { head: head.into(), kind: ColumnKind::Long }
    }

    pub(crate) fn figures(head: impl Into<String>) -> Self {
        Self { head: head.into(), kind: ColumnKind::Figures }
    }
}

impl Text {
    /// Emphasised words.
    pub(crate) fn strong(words: impl Into<String>) -> Self {
        Span::Strong(words.into()).into()
    }

    /// Derived or secondary.
    pub(crate) fn quiet(words: impl Into<String>) -> Self {
        Span::Quiet(words.into()).into()
    }

    /// A name or value of the machine.
    pub(crate) fn code(words: impl Into<String>) -> Self {
        Span::Code(words.into()).into()
    }

    /// A text with one more piece.
    pub(crate) fn and(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }

    /// Without the kinds of its pieces.
    pub(crate) fn plain(&self) -> String {
        let words = |span: &Span| match span {
            Span::Plain(words) | Span::Strong(words) | Span::Quiet(words) | Span::Code(words) => words.clone(),
            Span::Verdict(_, words) | Span::Link { words, .. } => words.clone(),
        };
        self.0.iter().map(words).collect()
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.plain().is_empty()
    }
}

impl From<String> for Item {
    fn from(words: String) -> Self {
        Self { text: words.into(), note: None }
    }
}

impl From<Span> for Text {
    fn from(span: Span) -> Self {
        Self(vec![span])
    }
}

impl From<String> for Text {
    fn from(words: String) -> Self {
        Span::Plain(words).into()
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Self {
        words.to_owned().into()
    }
}
