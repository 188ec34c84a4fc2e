//! netstat(1): `netstat -idn`, counters of interfaces, and `netstat -s`, those of protocols.

use std::collections::BTreeMap;

use crate::text::{lines, numbers};

/// Most counters of a protocol.
const MOST: usize = 4096;

/// Counters of each interface by the name of their column (`Ipkts`, `Ierrs`, `Idrop`, `Opkts`, `Oerrs`, `Coll`, `Drop`), of its link alone.
pub fn interfaces(text: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut found = BTreeMap::new();
    let mut columns: Vec<&str> = Vec::new();
    for line in lines(text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.first() == Some(&"Name") {
            columns = words.iter().skip_while(|word| **word != "Address").skip(1).copied().collect();
            continue;
        }
        // An interface without address has a column less: counts are the last ones.
        let is_link = words.get(2).is_some_and(|network| network.starts_with("<Link#"));
        let (true, Some(first)) = (is_link && !columns.is_empty(), words.len().checked_sub(columns.len())) else {
            continue;
        };
        if first < 3 {
            continue;
        }
        if let Some(counts) = numbers(&words[first..]) {
            // `*` marks an interface that is down.
            let name = words[0].trim_end_matches('*').to_owned();
            let counts = columns.iter().zip(counts).filter_map(|(column, count)| Some(((*column).to_owned(), count?)));
            found.insert(name, counts.collect());
        }
    }
    found
}

/// Counters of each protocol by their words, without plural and remarks in brackets, like `datagram received` of `udp`.
pub fn protocols(text: &str) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut protocol: Option<String> = None;
    for line in lines(text) {
        let is_indented = line.starts_with([' ', '\t']);
        let line = line.trim();
        if let (false, Some(name)) = (is_indented, line.strip_suffix(':')) {
            protocol = Some(name.to_owned());
        } else if let (Some(name), Some((count, words))) = (&protocol, line.split_once(' '))
            && let Ok(count) = count.parse()
        {
            let of = found.entry(name.clone()).or_default();
            if of.len() < MOST {
                // The first of equal words belongs to the protocol itself.
                of.entry(singular(words)).or_insert(count);
            }
        }
    }
    found
}

/// The same words for one and for several: the next reading may have another number.
fn singular(words: &str) -> String {
    let words = words.split_once(" (").map_or(words, |(words, _)| words);
    let one = |word: &str| match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None if word.len() > 3 && word != "this" && word.ends_with('s') && !word.ends_with("ss") => {
            word[..word.len() - 1].to_owned()
        }
        None => word.to_owned(),
    };
    words.split_whitespace().map(one).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{NETSTAT_ID_12, NETSTAT_IDN_16, NETSTAT_S_13};

    #[test]
    fn each_interface_has_the_counters_of_its_link() {
        let new = interfaces(NETSTAT_IDN_16);
        assert_eq!(new.keys().map(String::as_str).collect::<Vec<_>>(), ["enc0", "igb0", "igb1", "igb2", "lo0"]);
        assert_eq!((new["igb1"]["Ipkts"], new["igb1"]["Opkts"], new["igb2"]["Opkts"]), (77_816_389, 2, 77_816_389));
        let old = interfaces(NETSTAT_ID_12);
        assert_eq!((old["xn0"]["Ipkts"], old["xn0"]["Idrop"], old["xn0"]["Drop"]), (432_292, 0, 0));
    }

    #[test]
    fn an_interface_without_address_has_counters_too() {
        let rows = interfaces("Name Mtu Network Address Ipkts Ierrs\npflog0* 33160 <Link#3> 7 1\nx 1 <Link#9>\n");
        assert_eq!((rows.len(), rows["pflog0"]["Ipkts"], rows["pflog0"]["Ierrs"]), (1, 7, 1));
    }

    #[test]
    fn protocols_have_counters_by_their_words() {
        let protocols = protocols(NETSTAT_S_13);
        let udp = &protocols["udp"];
        assert_eq!((udp["dropped due to full socket buffer"], udp["delivered"], udp["datagram output"]), (0, 5, 5));
        assert_eq!(protocols["ip"]["total packet received"], 29);
        assert_eq!(protocols["ip"]["packet not forwardable"], 2);
        assert_eq!(singular("1 packet (2 bytes)"), singular("1 packets"));
        assert_eq!(singular("entries less"), "entry less");
    }
}
