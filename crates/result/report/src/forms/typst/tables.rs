//! Tables as Typst.

use model::identity::Paper;

use super::{
    columns::{self, Setting},
    list,
    literal::{array, string},
    prose, text,
};
use crate::{
    forms::{numbers, quantities::unbroken},
    page::{Column, ColumnKind, Number, Span, Table, Text},
    texts::Texts,
};

/// Label and value, in sizes of type, of which two fit a line.
const SHORT: f64 = 25.0;

pub(super) fn table(table: &Table, paper: Paper, t: &Texts) -> String {
    let table = &with_whole_quantities(table);
    let setting = columns::setting(table, paper);
    let Setting { size, landscape, widths } = &setting;
    let widths = array(widths.iter().map(|width| format!("{width:.1}fr")));
    let sides = array(table.columns.iter().map(|column| side(column).to_owned()));
    let heads = table.columns.iter().enumerate();
    let heads = array(heads.map(|(index, column)| string(&setting.fitting(index, &column.head))));
    let rows: String = table.rows.iter().map(|row| format!("  ({}),\n", list(&fitting(row, &setting)))).collect();
    let (number, caption) = (string(&numbers::table(table.number, t)), prose(&table.caption));
    let call = format!("#tabular({number}, {caption}, {size}pt, {widths}, {sides}, {heads},\n{rows})");
    if *landscape { format!("#landscape[{call}]") } else { call }
}

/// The same table, whose columns are as wide as its quantities.
fn with_whole_quantities(table: &Table) -> Table {
    let whole = |piece: &Span| match piece {
        Span::Plain(words) => Span::Plain(unbroken(words)),
        Span::Strong(words) => Span::Strong(unbroken(words)),
        Span::Quiet(words) => Span::Quiet(unbroken(words)),
        piece => piece.clone(),
    };
    let row = |row: &Vec<Text>| row.iter().map(|cell| Text(cell.0.iter().map(whole).collect())).collect();
    let columns = table.columns.iter().map(|column| Column { head: unbroken(&column.head), kind: column.kind });
    Table { columns: columns.collect(), rows: table.rows.iter().map(row).collect(), ..table.clone() }
}

/// Names of the machine may be broken anywhere.
fn fitting(row: &[Text], setting: &Setting) -> Vec<Text> {
    let fitting = |column: usize, piece: &Span| match piece {
        Span::Plain(words) => Span::Plain(setting.fitting(column, words)),
        Span::Strong(words) => Span::Strong(setting.fitting(column, words)),
        Span::Quiet(words) => Span::Quiet(setting.fitting(column, words)),
        piece => piece.clone(),
    };
    let cell = |(column, cell): (usize, &Text)| Text(cell.0.iter().map(|piece| fitting(column, piece)).collect());
    row.iter().enumerate().map(cell).collect()
}

fn side(column: &Column) -> &'static str {
    match column.kind {
        ColumnKind::Words | ColumnKind::Long => "left",
        ColumnKind::Figures => "right",
    }
}

/// Rows without a value are left out. Two that are short share a line.
pub(super) fn facts(number: Number, caption: &str, rows: &[(String, Text)], t: &Texts) -> String {
    let is_short = |(label, value): &&(String, Text)| columns::wide(label) + columns::wide(&value.plain()) <= SHORT;
    let mut left: Vec<&(String, Text)> = rows.iter().filter(|(_, value)| !value.is_empty()).rev().collect();
    let mut rows = String::new();
    let pair = |(label, value): &(String, Text)| format!("{}, {}, ", string(label), text(value));
    while let Some(row) = left.pop() {
        let beside = is_short(&row).then(|| left.pop_if(|next| is_short(&&**next))).flatten();
        rows += &format!("  ({}{}),\n", pair(row), beside.map(pair).unwrap_or_default());
    }
    format!("#facts({}, {},\n{rows})", string(&numbers::table(number, t)), prose(caption))
}
