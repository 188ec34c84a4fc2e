//! Tables that scroll in their own box, also by keyboard.

use maud::{Markup, html};

use super::spans::{line, text};
use crate::{
    forms::numbers,
    page::{ColumnKind, Number, Table, Text},
    texts::Texts,
};

pub(super) fn table(table: &Table, t: &Texts) -> Markup {
    let classes: Vec<_> = table.columns.iter().map(|column| class(column.kind)).collect();
    html! {
        div.scroll role="region" aria-label=(table.caption) tabindex="0" {
            table {
                (caption(table.number, &table.caption, t))
                thead {
                    tr { @for (column, class) in table.columns.iter().zip(&classes) { th class=[class] scope="col" { (column.head) } } }
                }
                tbody { @for cells in &table.rows { (row(cells, &classes, t)) } }
            }
        }
    }
}

fn class(kind: ColumnKind) -> Option<&'static str> {
    match kind {
        ColumnKind::Words => None,
        ColumnKind::Long => Some("long"),
        ColumnKind::Figures => Some("n"),
    }
}

/// The first cell names its row.
fn row(cells: &[Text], classes: &[Option<&str>], t: &Texts) -> Markup {
    html! {
        tr {
            @for (index, (cell, class)) in cells.iter().zip(classes).enumerate() {
                @if index == 0 { th class=[class] scope="row" { (text(cell, t)) } }
                @else if *class == Some("long") { td.long { (text(cell, t)) } }
                @else { td class=[class] { (line(cell, t)) } }
            }
        }
    }
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
