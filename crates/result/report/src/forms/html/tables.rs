//! Tables that scroll in their own box, also by keyboard. On a phone those with sentences or verdicts stack the cells of a row instead.

use maud::{Markup, html};
use unicode_width::UnicodeWidthStr;

use super::spans::{line, text};
use crate::{
    forms::numbers,
    page::{ColumnKind, Number, Span, Table, Text},
    show::NO_FIGURE,
    texts::Texts,
};

/// Characters that fit the least width of `.long` in `style.css`.
const LINE: usize = 24;

pub(super) fn table(table: &Table, t: &Texts) -> Markup {
    let classes: Vec<_> = (0..table.columns.len()).map(|column| class(table, column)).collect();
    html! {
        div.scroll role="region" aria-label=(table.caption) tabindex="0" {
            table class=[stacks(table, &classes)] {
                (caption(table.number, &table.caption, t))
                thead {
                    tr { @for (column, class) in table.columns.iter().zip(&classes) { th class=[class] scope="col" { (column.head) } } }
                }
                tbody { @for cells in &table.rows { (row(table, cells, &classes, t)) } }
            }
        }
    }
}

/// Sentences have a column of a least width, unless all are so short that it would stand empty.
fn class(table: &Table, column: usize) -> Option<&'static str> {
    let is_short = |row: &Vec<Text>| row[column].plain().width() <= LINE;
    match table.columns[column].kind {
        ColumnKind::Words => None,
        ColumnKind::Long if table.rows.iter().all(is_short) => None,
        ColumnKind::Long => Some("long"),
        ColumnKind::Figures => Some("n"),
    }
}

/// Sentences need the width of a phone for themselves, and no verdict may be out of sight; figures stay comparable side by side.
fn stacks(table: &Table, classes: &[Option<&str>]) -> Option<&'static str> {
    let mut cells = table.rows.iter().flatten().flat_map(|cell| &cell.0);
    let is_judged = cells.any(|span| matches!(span, Span::Verdict(..)));
    (is_judged || classes.iter().skip(1).any(|class| *class == Some("long"))).then_some("stacks")
}

/// The first cell names its row. In a table that stacks, each other cell that says something carries the head of its column.
fn row(table: &Table, cells: &[Text], classes: &[Option<&str>], t: &Texts) -> Markup {
    let head = |index: usize| stacks(table, classes).map(|_| table.columns[index].head.as_str());
    html! {
        tr {
            @for (index, (cell, class)) in cells.iter().zip(classes).enumerate() {
                @if index == 0 { th class=[class] scope="row" { (text(cell, t)) } }
                @else if *class == Some("long") && !is_none(cell) { td.long data-head=[head(index)] { (text(cell, t)) } }
                @else if is_none(cell) { td class=[class] { (line(cell, t)) } }
                @else { td class=[class] data-head=[head(index)] { (line(cell, t)) } }
            }
        }
    }
}

/// Whether a cell says nothing: on a phone a table that stacks leaves it out.
fn is_none(cell: &Text) -> bool {
    let words = cell.plain();
    words.is_empty() || words == NO_FIGURE
}

/// Two columns without a head; rows without a value are left out.
pub(super) fn facts(number: Number, words: &str, rows: &[(String, Text)], t: &Texts) -> Markup {
    html! {
        div.scroll role="region" aria-label=(words) tabindex="0" {
            table.facts {
                (caption(number, words, t))
                tbody {
                    @for (label, value) in rows.iter().filter(|(_, value)| !value.is_empty()) {
                        tr { th scope="row" { (label) } td { (text(value, t)) } }
                    }
                }
            }
        }
    }
}

fn caption(number: Number, words: &str, t: &Texts) -> Markup {
    html! { caption { span { b.number { (numbers::table(number, t)) } " " (words) } } }
}

#[cfg(test)]
mod tests {
    use model::Verdict;

    use super::*;
    use crate::{lang::Lang, page::Column};

    #[test]
    fn tables_with_sentences_or_verdicts_stack_and_those_of_figures_do_not() {
        let shown = |cell: Text| {
            let columns = vec![Column::words("Name"), Column::long("Advice")];
            let rows = vec![vec![Text::from("a"), cell]];
            let table = Table { number: Number::default(), caption: String::new(), columns, rows };
            super::table(&table, Texts::of(Lang::En)).into_string()
        };
        assert!(!shown("1.5".into()).contains("stacks"));
        assert!(shown("Repeat it without the other load.".into()).contains("<td class=\"long\" data-head=\"Advice\">"));
        let judged = |cell: &str| {
            let columns = vec![Column::words("Name"), Column::words("Verdict"), Column::long("Criterion")];
            let pass = Span::Verdict(Verdict::Pass, "PASS".to_owned()).into();
            let rows = vec![vec![Text::from("a"), pass, Text::from(cell)]];
            let table = Table { number: Number::default(), caption: String::new(), columns, rows };
            super::table(&table, Texts::of(Lang::En)).into_string()
        };
        assert!(
            judged("at most 5 µs").contains("data-head=\"Criterion\"")
                && !judged("–").contains("data-head=\"Criterion\"")
        );
        assert!(shown(Span::Verdict(Verdict::Pass, "PASS".to_owned()).into()).contains("<td data-head=\"Advice\">"));
    }

    #[test]
    fn a_column_is_as_wide_as_its_text() {
        let class = |cells: [&str; 2]| {
            let rows = cells.map(|cell| vec![Text::from(cell)]).to_vec();
            let columns = vec![Column::long("Advice")];
            class(&Table { number: Number::default(), caption: String::new(), columns, rows }, 0)
        };
        assert_eq!(class(["–", "10GBASE-T"]), None);
        assert_eq!(class(["–", "Repeat it without the other load."]), Some("long"));
        assert_eq!(class(["十分な回数だけ測定", "–"]), None);
    }
}
