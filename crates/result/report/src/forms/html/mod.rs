//! One HTML file with everything in it, for a screen, a phone, paper and a screen reader.

mod blocks;
mod figures;
mod spans;
mod tables;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::{Comparison, plain::plain, tuning::TuningEffect};

use self::blocks::Blocks;
use super::phrases::of_title;
use crate::{
    content,
    lang::Lang,
    material::Material,
    page::{Block, Issuer, Page},
    texts::Texts,
};

const STYLE: &str = include_str!("style.css");

/// The report as one HTML file, which refers to nothing outside itself.
pub fn html(material: &Material<'_>, lang: Lang) -> String {
    let t = &material.texts(lang);
    plain(&document(&content::page(material, t), t).into_string())
}

/// Runs side by side as one HTML file. `runs` are those compared, the reference first.
pub fn comparison_html(comparison: &Comparison, runs: &[Material<'_>], lang: Lang) -> String {
    let t = &Material::texts_of(runs, lang);
    plain(&document(&content::comparison(comparison, runs, t), t).into_string())
}

/// The effect of a tuning as one HTML file. `runs` are the first measurement, that with all steps, and that after the undoing.
pub fn effect_html(effect: &TuningEffect, runs: &[Material<'_>], lang: Lang) -> String {
    let t = &Material::texts_of(runs, lang);
    plain(&document(&content::effect(effect, runs, t), t).into_string())
}

fn document(page: &Page, t: &Texts) -> Markup {
    let mut blocks = Blocks::new(t);
    html! {
        (DOCTYPE)
        html lang=(page.lang) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (page.title) " – " (page.reference) }
                style { (PreEscaped(STYLE)) (PreEscaped(sheets(page))) }
            }
            body {
                @if let Some(mark) = &page.mark { p.sheet-mark aria-hidden="true" { (mark) } }
                header { (issuer(page)) (title(page)) }
                main {
                    (blocks.all(&page.cover))
                    (identity(page))
                    (approvals(page))
                    (blocks.all(&page.front))
                    (contents(&page.body, blocks.sections, t))
                    (blocks.all(&page.body))
                }
                footer {
                    p { (page.statement) }
                    p { code { (page.reference) } @if let Some(mark) = &page.mark { " – " (mark) } }
                }
            }
        }
    }
}

fn title(page: &Page) -> Markup {
    html! {
        h1 { @for (number, word) in of_title(&page.title).into_iter().enumerate() { @if number > 0 { wbr; } (word) } }
    }
}

/// Logo, name and address of the issuer.
fn issuer(page: &Page) -> Markup {
    html! {
        @if let Some(Issuer { name, address, logo }) = &page.issuer {
            div.issuer {
                @if let Some((bytes, kind)) = logo { img src=(figures::embedded(bytes, *kind)) alt=(name); }
                p { strong { (name) } @for line in address { br; (line) } }
            }
        }
    }
}

fn identity(page: &Page) -> Markup {
    html! {
        dl.identity {
            @for (label, value) in &page.identity {
                div {
                    dt { (label) }
                    @if value.is_empty() { dd.blank {} } @else { dd { (spans::together(value)) } }
                }
            }
        }
    }
}

/// A box for each responsible person, with room for a stamp.
fn approvals(page: &Page) -> Markup {
    html! {
        @if !page.approvals.is_empty() {
            dl.approvals { @for (label, value) in &page.approvals { div { dt { (label) } dd { (value) } } } }
        }
    }
}

/// Links to the sections of the first level, which follow `before` others.
fn contents(blocks: &[Block], before: usize, t: &Texts) -> Markup {
    let sections = blocks.iter().filter_map(|block| match block {
        Block::Section(section) => Some(&section.title),
        _ => None,
    });
    html! {
        nav.contents aria-label=(t.get("contents-heading")) {
            ol {
                @for (number, title) in (before + 1..).zip(sections) {
                    li { a href=(format!("#{}", blocks::anchor(number))) { (title) } }
                }
            }
        }
    }
}

/// Margins of each printed sheet: the run, and the number of the sheet.
fn sheets(page: &Page) -> String {
    let reference = quoted(&page.reference);
    format!(
        "@page {{ @bottom-left {{ content: {reference} }} @bottom-right {{ content: counter(page) \" / \" counter(pages) }} }}"
    )
}

/// A CSS string. Characters that could end it, or the style sheet, are written by number.
fn quoted(words: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' | '<' | '\n' => format!("\\{:x} ", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", words.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_and_captions_are_as_wide_as_tables() {
        let rules: Vec<&str> = STYLE.lines().filter(|line| line.contains("max-width: ")).collect();
        let (of_page, others): (Vec<&str>, Vec<&str>) =
            rules.into_iter().partition(|rule| rule.contains("var(--width)"));
        assert_eq!(
            (of_page.len(), STYLE.matches("76rem").count()),
            (2, 1),
            "page and captions have one width: {of_page:?}"
        );
        let drawings =
            ["figure > svg", "figure > .wide", ".issuer img", ".blank", "body { padding: 0 6mm", "@media screen"];
        let rows_on_a_phone = ["tbody th", ".stacks tbody th"];
        let is_known =
            |rule: &&str| drawings.iter().chain(&rows_on_a_phone).any(|start| rule.trim().starts_with(start));
        assert!(others.iter().all(is_known), "{others:?}");
    }

    #[test]
    fn no_words_end_the_style_sheet() {
        assert_eq!(quoted("a \"b\" </style>"), "\"a \\22 b\\22  \\3c /style>\"");
    }
}
