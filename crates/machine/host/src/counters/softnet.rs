//! `/proc/net/softnet_stat`: receive processing of each core.

use super::Counter;

/// Columns by the names of `struct softnet_data`; others are zero in every supported kernel.
const COLUMNS: [(usize, &str); 5] =
    [(0, "processed"), (1, "dropped"), (2, "time_squeeze"), (9, "received_rps"), (10, "flow_limit_count")];
/// Number of the core, since Linux 5.10; before, lines of offline cores were missing.
const CPU: usize = 12;

/// One line for each core, all numbers in hexadecimal.
pub(super) fn parse(text: &str) -> Vec<Counter> {
    text.lines().enumerate().flat_map(|(line, text)| core(line, text)).collect()
}

fn core(line: usize, text: &str) -> Vec<Counter> {
    let columns: Vec<u64> = text.split_whitespace().map_while(|word| u64::from_str_radix(word, 16).ok()).collect();
    let cpu = columns.get(CPU).copied().unwrap_or(line as u64);
    let named = |(column, name): (usize, &str)| Some((format!("cpu {cpu}"), name.to_owned(), *columns.get(column)?));
    COLUMNS.into_iter().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux 6.18, a virtual machine with two cores; drops and squeezes of the second line are invented.
    const TEXT: &str = "0002c765 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 00000000 \
        00000000 00000000 00000000 00000000 00000000\n00018218 0000000a 00000003 00000000 00000000 00000000 00000000 \
        00000000 00000000 00000000 00000000 00000000 00000001 00000000 00000000\n";

    #[test]
    fn each_core_has_its_line() {
        let read = parse(TEXT);
        assert_eq!(read.len(), 2 * COLUMNS.len());
        let of = |cpu: &str, name: &str| read.iter().find(|(of, its, _)| of == cpu && its == name).unwrap().2;
        assert_eq!((of("cpu 0", "processed"), of("cpu 0", "dropped")), (0x2c765, 0));
        let of = |name| of("cpu 1", name);
        assert_eq!((of("processed"), of("dropped"), of("time_squeeze")), (0x18218, 10, 3));
    }

    #[test]
    fn the_line_names_its_core_and_an_offline_one_is_missing() {
        let second = TEXT.lines().nth(1).unwrap();
        assert!(parse(second).iter().all(|(of, ..)| of == "cpu 1"));
        assert!(parse("no numbers\n").is_empty());
    }
}
