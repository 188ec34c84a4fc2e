//! The README and guides in both languages: what one says, the other says in the same place.

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
            fence if fence.starts_with("```") => is_command = !is_command,
            command if is_command => lines.push(Line::Command(without_comment(command))),
            heading if heading.starts_with('#') => lines.push(Line::Heading(heading.find(' ').unwrap())),
            row if row.starts_with('|') => lines.push(Line::Row(codes(row))),
            item if item.starts_with("- ")
                || item.starts_with(|c: char| c.is_ascii_digit()) && item.contains(". **") =>
            {
                lines.push(Line::Item);
            }
            picture if picture.starts_with("![") => lines.push(Line::Picture),
            _ => {}
        }
    }
    lines
}

/// A line to be typed, without what is said about it.
fn without_comment(command: &str) -> String {
    command.split("  #").next().unwrap_or_default().trim_end().to_owned()
}

fn codes(row: &str) -> Vec<String> {
    let mut codes: Vec<String> = row.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    codes.sort();
    codes
}

fn document(name: &str) -> Vec<Line> {
    lines(&fs::read_to_string(format!("{}/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap())
}

/// Asserts that two documents have the same parts, and no fewer than `least`.
#[track_caller]
fn are_alike(english: &str, japanese: &str, least: usize) {
    let [en, ja] = [english, japanese].map(document);
    for (number, (left, right)) in en.iter().zip(&ja).enumerate() {
        assert_eq!(left, right, "part {number}: {english} is on the left, {japanese} on the right");
    }
    assert_eq!(en.len(), ja.len(), "{english}");
    assert!(en.len() >= least, "{english}: {}", en.len());
}

#[test]
fn both_languages_have_the_same_headings_commands_tables_and_lists() {
    are_alike("README.md", "README.ja.md", 60);
}

#[test]
fn guides_that_are_whole_in_japanese_have_all_of_the_english_ones() {
    are_alike("docs/bypass.md", "docs/ja/bypass.md", 90);
    are_alike("docs/streams.md", "docs/ja/streams.md", 40);
}

#[test]
fn a_difference_is_found() {
    let line = |text| lines(text);
    assert_ne!(line("| `path` | x |"), line("| `goodput` | x |"));
    assert_ne!(line("```\na\n```"), line("```\nb\n```"));
    assert_eq!(line("```toml\na = 1  # one\n```\n# x"), line("```toml\na = 1\n```\n# y"));
    assert_ne!(line("## a\n- b"), line("# a\n- b"));
    assert_eq!(line("| `a` and `b` |"), line("| `b` と `a` |"));
}
