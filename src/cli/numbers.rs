//! Whole numbers on the command line: what is wrong is told with what is right.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// Reads a whole number of this range.
pub(super) fn from_to<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| {
        let number = text.trim().parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("write a whole number from {} to {}", range.start(), range.end()))
    }
}

/// Reads any whole number, where the plan says which of them there can be.
pub(super) fn whole<T: FromStr>(
    example: &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text: &str| text.trim().parse().map_err(|_| format!("write a whole number, like {example}"))
}

/// Reads a whole number that is not 0.
pub(super) fn at_least_1(text: &str) -> Result<u64, String> {
    text.trim().parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a whole number, 1 or more".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_number_is_told_with_what_is_right() {
        let streams = from_to(1_u16..=128);
        assert_eq!(streams("128"), Ok(128));
        for wrong in ["0", "129", "-5", "abc", "1.5", "", "99999999999"] {
            assert_eq!(streams(wrong), Err("write a whole number from 1 to 128".to_owned()), "{wrong}");
        }
        let mtu = whole::<u32>("1500");
        assert_eq!((mtu("9000"), mtu("9k")), (Ok(9000), Err("write a whole number, like 1500".to_owned())));
        assert_eq!(at_least_1("7"), Ok(7));
        for wrong in ["0", "-1", "many", "1e3"] {
            assert_eq!(at_least_1(wrong), Err("write a whole number, 1 or more".to_owned()), "{wrong}");
        }
    }
}
