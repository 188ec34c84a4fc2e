//! The styles of series: a colour, which the style sheet gives, and a mark.

use maud::{Markup, html};

use crate::page::{Drawing, Line};

/// Colours and markers there are; a further series starts over.
pub(super) const STYLES: usize = 6;

impl Line {
    /// Classes of a series.
    pub(super) fn classes(self, style: usize) -> String {
        let kind = match self {
            Self::Solid => "",
            Self::Dashed => " dashed",
            Self::Dotted => " dotted",
        };
        format!("series s{}{kind}", style % STYLES)
    }

    pub(super) fn mark(self, style: usize, x: f64, y: f64) -> Markup {
        if self == Self::Dotted { cross(style, x, y) } else { marker(style, x, y) }
    }
}

/// One decimal is finer than any screen shows.
pub(super) fn one(coordinate: f64) -> String {
    format!("{coordinate:.1}")
}

/// The style's mark, so that no reader depends on colour.
pub(super) fn marker(style: usize, x: f64, y: f64) -> Markup {
    let shape = match style % STYLES {
        0 => "m-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
        1 => "m-4,-4h8v8h-8z",
        2 => "m0,-5.5l5.5,5.5l-5.5,5.5l-5.5,-5.5z",
        3 => "m0,-5.5l5.5,9.5h-11z",
        4 => "m0,5.5l5.5,-9.5h-11z",
        _ => "m-5,-1.8h3.2v-3.2h3.6v3.2h3.2v3.6h-3.2v3.2h-3.6v-3.2h-3.2z",
    };
    html! { path.mark d=(format!("M{x:.1},{y:.1}{shape}")) {} }
}

/// Mark of a published figure: strokes alone.
pub(super) fn cross(style: usize, x: f64, y: f64) -> Markup {
    let shape = match style % 3 {
        0 => "m-4,-4l8,8m0,-8l-8,8",
        1 => "m0,-5.5v11m-5.5,-5.5h11",
        _ => "m-4,-4l8,8m0,-8l-8,8m4,-9.5v11m-5.5,-5.5h11",
    };
    html! { path.cross d=(format!("M{x:.1},{y:.1}{shape}")) {} }
}

/// A style's line and mark, as they stand beside its name in a legend.
pub(crate) fn swatch(style: usize, line: Line) -> Drawing {
    let content = html! {
        g class=(line.classes(style)) {
            polyline points="1,7 29,7" {}
            (line.mark(style, 15.0, 7.0))
        }
    };
    Drawing::Svg { width: 30, height: 14, content: content.into_string() }
}
