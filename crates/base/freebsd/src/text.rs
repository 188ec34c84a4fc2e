//! Lines and numbers of a command's output.

/// Bytes of an output that are read.
pub const LONGEST: usize = 4 << 20;
/// Longer lines are none of these commands'.
const LONGEST_LINE: usize = 8192;

/// Lines without white space at their ends. Terminals and copies leave `\r` behind.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let whole = &text[..text.floor_char_boundary(LONGEST)];
    // Half a line would be another value.
    let whole = if whole.len() < text.len() { whole.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { whole };
    whole.lines().map(str::trim_end).filter(|line| !line.is_empty() && line.len() <= LONGEST_LINE)
}

/// Words of a line as numbers; `-` stands for no value. `None` if one is neither.
pub(crate) fn numbers(words: &[&str]) -> Option<Vec<Option<u64>>> {
    words.iter().map(|word| if *word == "-" { Some(None) } else { word.parse().ok().map(Some) }).collect()
}

/// The text between two others, the first of each.
pub(crate) fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(found, _)| found)
}

/// A device's driver and number: `ix` and 0 of `ix0`. Names of drivers may end in digits, but units have no leading zero.
pub(crate) fn unit(name: &str) -> Option<(&str, u32)> {
    let driver = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let number = name[driver.len()..].parse().ok()?;
    (!driver.is_empty()).then_some((driver, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_output_has_an_end() {
        let long = "ä\n".repeat(LONGEST);
        assert!(lines(&long).count() <= LONGEST / 3 + 1);
        assert_eq!(
            lines(&"1234567\n".repeat(LONGEST / 8 + 1).replacen('1', "", 1)).last(),
            Some("1234567"),
            "whole lines"
        );
        assert_eq!(lines(&"x".repeat(LONGEST_LINE + 1)).count(), 0);
        assert_eq!(lines("a \r\n\n\t b").collect::<Vec<_>>(), ["a", "\t b"]);
    }

    #[test]
    fn a_device_is_a_driver_and_a_number() {
        assert_eq!(unit("ix0"), Some(("ix", 0)));
        assert_eq!(unit("mlx5_core12"), Some(("mlx5_core", 12)));
        assert_eq!([unit("12"), unit("lo"), unit(""), unit("x99999999999")], [None; 4]);
    }
}
