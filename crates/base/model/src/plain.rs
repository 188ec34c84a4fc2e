//! Text of others without what would steer a terminal.

/// With control characters and marks of writing direction written out; line feeds and tabs stay.
pub fn plain(text: &str) -> String {
    written_out(text, |letter| !matches!(letter, '\n' | '\t') && steers(letter))
}

/// The same on one line: a name that could begin a line of its own could say anything.
pub fn one_line(text: &str) -> String {
    written_out(text, steers)
}

fn written_out(text: &str, is_meant: impl Fn(char) -> bool) -> String {
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_meant(letter) { plain.extend(letter.escape_unicode()) } else { plain.push(letter) }
    }
    plain
}

/// JSON, in which what steers a terminal and may stand in strings as it is becomes an escape of JSON: its values stay the same.
pub fn plain_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for letter in json.chars() {
        // Control characters below U+0020 cannot stand in a string, and line feeds part the lines of a document.
        if letter >= ' ' && steers(letter) {
            plain.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            plain.push(letter);
        }
    }
    plain
}

fn steers(letter: char) -> bool {
    let turns =
        matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_steers_no_terminal() {
        assert_eq!(
            plain("a\u{1b}]0;x\u{7}\n\tb\u{9b}\u{202e}\u{200f}é"),
            "a\\u{1b}]0;x\\u{7}\n\tb\\u{9b}\\u{202e}\\u{200f}é"
        );
        assert_eq!(one_line("PASS\nFAIL\t\r"), "PASS\\u{a}FAIL\\u{9}\\u{d}");
    }

    #[test]
    fn json_means_the_same_without_what_steers() {
        assert_eq!(plain_json("[\n\"a\u{9b}1m\u{202e}\u{61c}é\"]"), "[\n\"a\\u009b1m\\u202e\\u061cé\"]");
    }
}
