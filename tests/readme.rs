//! The README in both languages: what one says, the other says in the same place.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

/// Parts that can be compared across languages, line by line.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Level of a heading.
    Heading(usize),
    /// A line to be typed.
    Command(String),
    /// Code in a row of a table, in any order.
    Row(Vec<String>),
    /// An item of a list.
    Item,
    Picture,
}

fn lines(text: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut is_command = false;
    for line in text.lines() {
        match line {
            "```" => is_command = !is_command,
            command if is_command => lines.push(Line::Command(command.to_owned())),
            heading if heading.starts_with('#') => lines.push(Line::Heading(heading.find(' ').unwrap())),
            row if row.starts_with('|') => lines.push(Line::Row(codes(row))),
            item if item.starts_with("- ") => lines.push(Line::Item),
            picture if picture.starts_with("![") => lines.push(Line::Picture),
            _ => {}
        }
    }
    lines
}

fn codes(row: &str) -> Vec<String> {
    let mut codes: Vec<String> = row.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    codes.sort();
    codes
}

fn readme(name: &str) -> Vec<Line> {
    lines(&fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap())
}

#[test]
fn both_languages_have_the_same_headings_commands_tables_and_lists() {
    let (english, japanese) = (readme("README.md"), readme("README.ja.md"));
    for (number, (en, ja)) in english.iter().zip(&japanese).enumerate() {
        assert_eq!(en, ja, "part {number}: README.md is on the left, README.ja.md on the right");
    }
    assert_eq!(english.len(), japanese.len());
    assert!(english.len() > 60, "{}", english.len());
}

#[test]
fn a_difference_is_found() {
    let line = |text| lines(text);
    assert_ne!(line("| `path` | x |"), line("| `goodput` | x |"));
    assert_ne!(line("```\na\n```"), line("```\nb\n```"));
    assert_ne!(line("## a\n- b"), line("# a\n- b"));
    assert_eq!(line("| `a` and `b` |"), line("| `b` と `a` |"));
}
