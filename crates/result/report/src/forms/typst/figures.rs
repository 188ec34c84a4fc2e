//! Drawings and photos as files that the Typst source names.

use super::{
    Sheets,
    literal::{array, string},
    optional, palette,
};
use crate::{
    figure::swatch,
    forms::numbers,
    page::{Drawing, Figure, LegendEntry, Line, PhotoKind},
};

/// The fonts that come with the program.
const FONTS: &str = "svg text { font-family: 'Noto Sans JP'; } svg .value { font-family: 'Noto Sans Mono'; }";
/// A drawing wider than this takes the whole width of the page.
const NARROW: u32 = 640;

impl Sheets<'_> {
    pub(super) fn figure(&mut self, figure: &Figure) -> String {
        let number = string(&numbers::figure(figure.number, self.t));
        let file = self.keep(&format!("figure-{}", figure.number), &figure.drawing);
        let legend = array(figure.legend.iter().map(|entry| {
            let mark = self.keep(&mark_name(entry), &swatch(entry.style, entry.line));
            format!("({}, {})", string(&mark), string(&entry.name))
        }));
        let note = optional((!figure.note.is_empty()).then(|| string(&figure.note)));
        let (caption, file, description) = (string(&figure.caption), string(&file), string(&figure.description));
        format!("#drawing({number}, {caption}, {file}, {description}, {}, {note}, {legend})", size(&figure.drawing))
    }

    /// Keeps a file; its whole name.
    fn keep(&mut self, name: &str, drawing: &Drawing) -> String {
        match drawing {
            Drawing::Svg { width, height, content } => {
                self.keep_file(name, PhotoKind::Svg, svg(*width, *height, content).into_bytes())
            }
            Drawing::Photo { bytes, kind } => self.keep_file(name, *kind, bytes.clone()),
        }
    }

    pub(super) fn keep_file(&mut self, name: &str, kind: PhotoKind, bytes: Vec<u8>) -> String {
        let name = format!("{name}.{}", kind.ending());
        self.files.insert(name.clone(), bytes);
        name
    }
}

fn mark_name(entry: &LegendEntry) -> String {
    let kind = if entry.line == Line::Dotted { "-dotted" } else { "" };
    format!("mark-{}{kind}", entry.style)
}

fn size(drawing: &Drawing) -> &'static str {
    match drawing {
        Drawing::Svg { width, .. } if *width > NARROW => "(width: 100%)",
        Drawing::Svg { .. } => "(width: 125mm)",
        Drawing::Photo { .. } => "(width: 100%, height: 90mm, fit: \"contain\")",
    }
}

fn svg(width: u32, height: u32, content: &str) -> String {
    // XML has no control characters, and a host's name might.
    let content: String = content.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect();
    let rules = palette::drawing_rules();
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
         <style>{rules}{FONTS}</style>{content}</svg>"
    )
}
