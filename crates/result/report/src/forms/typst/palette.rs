//! Colours and the looks of drawings, taken from the style sheet of the HTML form, so that both forms always agree.

use std::fmt::Write as _;

const STYLE: &str = include_str!("../html/style.css");
/// The lines between these are about drawings alone.
const DRAWINGS: (&str, &str) = ("/* Drawings, on paper too. */", "/* End of drawings. */");

/// The light colours: name and value.
fn light() -> impl Iterator<Item = (&'static str, &'static str)> {
    let root = between(STYLE, ":root {", "}");
    root.split(';').filter_map(|line| line.rsplit_once("--")?.1.split_once(": "))
}

/// The colours as a Typst dictionary.
pub(super) fn dictionary() -> String {
    let mut dictionary = "#let palette = (".to_owned();
    for (name, colour) in light() {
        let _ = write!(dictionary, "\"{name}\": rgb(\"{colour}\"), ");
    }
    dictionary + ")\n"
}

/// The rules for drawings, each colour written out, as an image has no style sheet but its own.
pub(super) fn drawing_rules() -> String {
    // SVG's own spelling, which not every reader of SVG takes in small letters.
    let rules = between(STYLE, DRAWINGS.0, DRAWINGS.1).replace("currentcolor", "currentColor");
    light().fold(rules, |rules, (name, colour)| rules.replace(&format!("var(--{name})"), colour))
}

fn between(text: &'static str, start: &str, end: &str) -> &'static str {
    let after = text.split_once(start).map_or("", |(_, after)| after);
    after.split_once(end).map_or("", |(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_of_a_drawing_is_written_out() {
        let rules = drawing_rules();
        assert!(rules.contains(".s5 { color: #2b8cc4; }"), "{rules}");
        assert!(!rules.contains("var("), "{rules}");
        assert!(dictionary().contains("\"paper\": rgb(\"#fff\"), "));
    }
}
