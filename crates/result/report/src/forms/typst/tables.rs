//! Tables as Typst.

use super::{
    columns::{self, Setting},
    list,
    literal::{array, string},
    text,
};
use crate::{
    forms::numbers,
    page::{Column, ColumnKind, Table, Text},
    texts::Texts,
};

pub(super) fn table(table: &Table, t: &Texts) -> String {
    let Setting { size, landscape, widths } = columns::setting(table);
    let widths = array(widths.iter().map(|width| format!("{width:.1}fr")));
    let sides = array(table.columns.iter().map(|column| side(column).to_owned()));
    let heads = array(table.columns.iter().map(|column| string(&column.head)));
    let rows: String = table.rows.iter().map(|row| format!("  ({}),\n", list(row))).collect();
    let (number, caption) = (string(&numbers::table(table.number, t)), string(&table.caption));
    let call = format!("#tabular({number}, {caption}, {size}pt, {widths}, {sides}, {heads},\n{rows})");
    if landscape { format!("#landscape[{call}]") } else { call }
}

fn side(column: &Column) -> &'static str {
    match column.kind {
        ColumnKind::Words | ColumnKind::Long => "left",
        ColumnKind::Figures => "right",
    }
}

/// Rows without a value are left out.
pub(super) fn facts(number: u32, caption: &str, rows: &[(String, Text)], t: &Texts) -> String {
    let rows = rows.iter().filter(|(_, value)| !value.is_empty());
    let rows: String = rows.map(|(label, value)| format!("  ({}, {}),\n", string(label), text(value))).collect();
    format!("#facts({}, {},\n{rows})", string(&numbers::table(number, t)), string(caption))
}
