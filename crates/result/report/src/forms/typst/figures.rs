//! Drawings and photos as files that the Typst source names.

use super::{
    Sheets,
    literal::{array, string},
    optional, palette, prose,
};
use crate::{
    figure::swatch,
    forms::numbers,
    page::{Drawing, Figure, LegendEntry, Line, Panel, PhotoKind},
};

/// The fonts that come with the program.
const FONTS: &str = "svg text { font-family: 'Noto Sans JP'; } svg .value { font-family: 'Noto Sans Mono'; }";
/// A drawing wider than this takes the whole width of the page.
const NARROW: u32 = 640;
/// Width on paper of a narrow drawing and of a wide one, in millimetres.
const WIDTHS: [u32; 2] = [105, 170];

impl Sheets<'_> {
    pub(super) fn figure(&mut self, figure: &Figure) -> String {
        let number = string(&numbers::figure(figure.number, self.t));
        let drawing = self.drawing(figure);
        let legend = array(figure.legend.iter().map(|entry| self.entry(entry)));
        let note = optional((!figure.note.is_empty()).then(|| prose(&figure.note)));
        let placement = if figure.floats { "" } else { ", placement: none" };
        format!("#drawing({number}, {}, {drawing}, {note}, {legend}{placement})", prose(&figure.caption))
    }

    /// The drawing, as an expression.
    fn drawing(&mut self, figure: &Figure) -> String {
        let name = format!("figure-{}", figure.number);
        let (file, width) = match &figure.drawing {
            Drawing::Panels(panels) => {
                let panels = (1..).zip(panels).map(|(number, panel)| self.panel(&format!("{name}-{number}"), panel));
                return format!("panels({})", panels.collect::<String>());
            }
            Drawing::Svg { width, height, content } => {
                let file = self.keep(&name, PhotoKind::Svg, svg(*width, *height, content).into_bytes());
                (file, format!("width: {}mm", on_paper(*width)))
            }
            Drawing::Photo { bytes, kind } => {
                (self.keep(&name, *kind, bytes.clone()), "width: 100%, height: 60mm, fit: \"contain\"".to_owned())
            }
        };
        format!("picture({}, {}, {width})", string(&file), string(&figure.description))
    }

    /// A small drawing below its title.
    fn panel(&mut self, name: &str, panel: &Panel) -> String {
        let file = self.keep(name, PhotoKind::Svg, svg(panel.width, panel.height, &panel.content).into_bytes());
        format!("({}, {}), ", self.entry(&panel.title), string(&file))
    }

    /// Mark and name.
    fn entry(&mut self, entry: &LegendEntry) -> String {
        let Drawing::Svg { width, height, content } = swatch(entry.style, entry.line) else { return String::new() };
        let mark = self.keep(&mark_name(entry), PhotoKind::Svg, svg(width, height, &content).into_bytes());
        format!("({}, {})", string(&mark), prose(&entry.name))
    }

    /// Keeps a file; its whole name.
    pub(super) fn keep(&mut self, name: &str, kind: PhotoKind, bytes: Vec<u8>) -> String {
        let name = format!("{name}.{}", kind.ending());
        self.files.insert(name.clone(), bytes);
        name
    }
}

/// Width on paper, in millimetres.
fn on_paper(width: u32) -> u32 {
    WIDTHS[usize::from(width > NARROW)]
}

fn mark_name(entry: &LegendEntry) -> String {
    let kind = if entry.line == Line::Dotted { "-dotted" } else { "" };
    format!("mark-{}{kind}", entry.style)
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
