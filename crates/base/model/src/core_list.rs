//! Lists and masks of cores, as the kernel writes them (cpuset(7), formats).

use std::ops::RangeInclusive;

/// More cores than any kernel has.
const MOST: usize = 1 << 16;

/// The numbers of a list like `0-3,8`; `None` for an invalid or empty list.
pub fn parse(text: &str) -> Option<Vec<usize>> {
    let ranges: Option<Vec<_>> = text.trim().split(',').map(range).collect();
    Some(ranges?.into_iter().flatten().collect())
}

fn range(text: &str) -> Option<RangeInclusive<usize>> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (first.parse().ok()?, last.parse().ok()?);
    (first <= last && last < MOST).then_some(first..=last)
}

/// A list like `0-3,8`.
pub fn written(mut cores: Vec<usize>) -> String {
    cores.sort_unstable();
    let ranges = cores.chunk_by(|one, next| one + 1 == *next);
    let range = |range: &[usize]| match range {
        [first, .., last] => format!("{first}-{last}"),
        _ => range.iter().map(usize::to_string).collect(),
    };
    ranges.map(range).collect::<Vec<_>>().join(",")
}

/// A mask in groups of 32 cores, like `00000001,00000005`.
pub fn mask(cores: &[usize]) -> String {
    let groups = cores.iter().max().map_or(1, |most| most / 32 + 1);
    let group = |group: usize| {
        let bits = cores.iter().filter(|core| *core / 32 == group).fold(0_u32, |bits, core| bits | 1 << (core % 32));
        format!("{bits:08x}")
    };
    (0..groups).rev().map(group).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_masks_are_those_of_the_kernel() {
        assert_eq!(parse("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("7\n"), Some(vec![7]));
        assert_eq!(["", "(null)", "3-1", "0-", "0-99999999999"].map(parse), [const { None }; 5]);
        assert_eq!(written(vec![8, 0, 1, 2]), "0-2,8");
        assert_eq!([&[0, 2][..], &[1, 33]].map(mask), ["00000005", "00000002,00000002"]);
    }
}
