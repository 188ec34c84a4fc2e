//! Figures as HTML: drawings that can be read out.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use maud::{Markup, PreEscaped, html};

use crate::{
    figure::swatch,
    forms::numbers,
    page::{Drawing, Figure, LegendEntry, Panel, PhotoKind},
    texts::Texts,
};

/// A drawing wider than this scrolls sideways on a phone instead of shrinking until nobody can read it.
const NARROW: u32 = 640;

pub(super) fn figure(figure: &Figure, t: &Texts) -> Markup {
    html! {
        figure {
            figcaption { b.number { (numbers::figure(figure.number, t)) } " " strong { (figure.caption) } " " span.note { (figure.note) } }
            (drawing(figure))
            @if !figure.legend.is_empty() {
                ul.legend { @for entry in &figure.legend { li { (swatch_of(entry)) (entry.name) } } }
            }
        }
    }
}

fn drawing(figure: &Figure) -> Markup {
    let number = figure.number;
    match &figure.drawing {
        Drawing::Svg { width, height, content } => {
            let (title, description) = (format!("figure-{number}-title"), format!("figure-{number}-description"));
            let svg = html! {
                svg viewBox=(format!("0 0 {width} {height}")) role="img" aria-labelledby=(title)
                    aria-describedby=(description) {
                    title id=(title) { (figure.caption) }
                    desc id=(description) { (figure.description) }
                    (PreEscaped(content))
                }
            };
            if *width > NARROW {
                let drawn = format!("--drawn: {width}px");
                html! { div.scroll.wide style=(drawn) role="region" aria-label=(figure.caption) tabindex="0" { (svg) } }
            } else {
                svg
            }
        }
        Drawing::Panels(panels) => html! {
            div.panels role="group" aria-label=(figure.description) { @for panel in panels { (self::panel(panel)) } }
        },
        Drawing::Photo { bytes, kind } => {
            html! { img src=(embedded(bytes, *kind)) alt=(figure.description); }
        }
    }
}

fn panel(panel: &Panel) -> Markup {
    html! {
        div {
            p { (swatch_of(&panel.title)) (panel.title.name) }
            svg viewBox=(format!("0 0 {} {}", panel.width, panel.height)) role="img" aria-label=(panel.title.name) {
                (PreEscaped(&panel.content))
            }
        }
    }
}

fn swatch_of(entry: &LegendEntry) -> Markup {
    let Drawing::Svg { width, height, content } = swatch(entry.style, entry.line) else { return html! {} };
    html! { svg.swatch viewBox=(format!("0 0 {width} {height}")) aria-hidden="true" { (PreEscaped(content)) } }
}

/// A photo or logo as an address that holds it.
pub(super) fn embedded(bytes: &[u8], kind: PhotoKind) -> String {
    format!("data:{};base64,{}", mime(kind), BASE64_STANDARD.encode(bytes))
}

fn mime(kind: PhotoKind) -> &'static str {
    match kind {
        PhotoKind::Png => "image/png",
        PhotoKind::Jpeg => "image/jpeg",
        PhotoKind::Svg => "image/svg+xml",
    }
}
