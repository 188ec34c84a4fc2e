//! Texts as HTML.

use maud::{Markup, html};

use crate::{
    forms::{colour, quantities::quantities},
    lang::Lang,
    page::{Span, Text},
    texts::Texts,
};

/// A text that may break into lines.
pub(super) fn text(words: &Text, t: &Texts) -> Markup {
    html! { @for piece in &words.0 { (span(piece, t, together)) } }
}

/// Words in which no line breaks between a figure and its unit, nor at a hyphen of an option or a date.
pub(super) fn together(words: &str) -> Markup {
    let (pieces, rest) = quantities(words);
    html! {
        @for (before, quantity) in pieces { (before) span.quantity { (quantity) } }
        (rest)
    }
}

/// Text that is never broken into lines.
pub(super) fn line(words: &Text, t: &Texts) -> Markup {
    html! { @for piece in &words.0 { (span(piece, t, |words| html! { (words) })) } }
}

fn span(piece: &Span, t: &Texts, plain: fn(&str) -> Markup) -> Markup {
    // Words of the machine are English; screen readers are told so.
    let english = (t.lang != Lang::En).then_some("en");
    match piece {
        Span::Plain(words) => plain(words),
        Span::Strong(words) => html! { strong { (words) } },
        Span::Quiet(words) => html! { span.quiet { (plain(words)) } },
        Span::Code(words) => html! { code lang=[english] { (words) } },
        Span::Verdict(verdict, words) => html! { span class=(format!("mark {}", colour(Some(*verdict)))) { (words) } },
        Span::Link { to, words } => html! { a href=(to) { (words) } },
    }
}
