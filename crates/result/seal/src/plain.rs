//! Text that may come from somebody else.

/// The text with control characters, and those that turn the direction of writing, written out.
pub fn plain(text: &str) -> String {
    let shown = |c: char| if matches!(c, '"' | '\'') { c.to_string() } else { c.escape_debug().to_string() };
    text.chars().map(shown).collect()
}
