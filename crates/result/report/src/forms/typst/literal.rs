//! Words as Typst literals. No word of a report is ever markup: a host name or a command may hold any character.

use std::fmt::Write as _;

/// A string literal.
pub(super) fn string(words: &str) -> String {
    let mut literal = String::with_capacity(words.len() + 2);
    literal.push('"');
    for c in words.chars() {
        match c {
            '"' | '\\' => literal.extend(['\\', c]),
            '\n' => literal.push_str("\\n"),
            '\t' => literal.push(' '),
            _ if c.is_control() => {}
            _ => literal.push(c),
        }
    }
    literal.push('"');
    literal
}

/// String literals of the pieces of a name, between which a line may break: after what separates its parts.
pub(super) fn pieces(name: &str) -> String {
    let mut pieces = String::new();
    for piece in name.split_inclusive(['/', '.', ':', '_', ',', '=', '-']) {
        let _ = write!(pieces, "{},", string(piece));
    }
    pieces
}

/// An array; of one element too.
pub(super) fn array<I: IntoIterator<Item = String>>(elements: I) -> String {
    let mut array = "(".to_owned();
    for element in elements {
        array += &element;
        array.push(',');
    }
    array.push(')');
    array
}
