//! `/proc/net/stat/nf_conntrack`: connection tracking of a network namespace.

use super::Counter;

/// Columns that tell of packets or entries that had no place. Others are gauges, or grow with each connection.
const COLUMNS: [&str; 4] = ["invalid", "insert_failed", "drop", "early_drop"];

/// Names above, then a line for each core, all numbers in hexadecimal.
pub(super) fn parse(text: &str) -> Vec<Counter> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split_whitespace().collect();
    let counter = |(name, word): (&&str, &str)| {
        let value = u64::from_str_radix(word, 16).ok()?;
        COLUMNS.contains(name).then(|| ("nf_conntrack".to_owned(), (*name).to_owned(), value))
    };
    lines.flat_map(|line| names.iter().zip(line.split_whitespace()).filter_map(counter).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, a virtual machine with two cores; numbers of the second line are invented.
    const TEXT: &str = "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop \
        icmp_error  expect_new expect_create expect_delete search_restart\n\
        0000012c  00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
        00000000  00000000 00000000 00000000 00000000\n\
        0000012c  00000000 00000000 00000000 00000003 00000000 00000000 00000000 00000000 00000000 000000ff 00000001 \
        00000000  00000000 00000000 00000000 00000000\n";

    #[test]
    fn drops_of_each_core_are_known_by_name_and_gauges_are_left_out() {
        let read = parse(TEXT);
        assert_eq!(read.len(), 2 * COLUMNS.len());
        let sum = |name: &str| read.iter().filter(|(_, its, _)| its == name).map(|(.., value)| value).sum::<u64>();
        assert_eq!(COLUMNS.map(sum), [3, 0, 255, 1]);
        assert!(parse("").is_empty());
    }
}
