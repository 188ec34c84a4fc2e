//! sysctl(8): `sysctl -a`, or of some names.

use std::collections::BTreeMap;

use crate::text::lines;

/// Most names; a machine with a hundred cores and four cards has 60,000.
const MOST: usize = 200_000;

/// Values by name, as `name: value` or `name=value` lines. A value may go on in further lines, which are indented.
pub fn read(text: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in lines(text) {
        match split(line) {
            Some((name, value)) if values.len() < MOST => {
                values.insert(name.to_owned(), value.to_owned());
                last = Some(name.to_owned());
            }
            Some(_) => return values,
            // Others are complaints.
            None if !line.starts_with([' ', '\t']) => {}
            None => {
                if let Some(value) = last.as_ref().and_then(|name| values.get_mut(name)) {
                    value.push('\n');
                    value.push_str(line.trim());
                }
            }
        }
    }
    values
}

/// A name has dots and no space.
fn split(line: &str) -> Option<(&str, &str)> {
    let at = line.find([':', '='])?;
    let (name, value) = (&line[..at], line[at + 1..].trim());
    let is_name = name.contains('.') && name.chars().all(|letter| letter.is_ascii_graphic() && letter != '/');
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{SYSCTL_14, SYSCTL_TCP_15};

    #[test]
    fn names_have_their_values() {
        let values = read(SYSCTL_14);
        assert_eq!(values["hw.model"], "Intel(R) Xeon(R) CPU           X5675  @ 3.07GHz");
        assert_eq!(values["kern.boottime"], "{ sec = 1789900651, usec = 837885 } Sun Sep 20 10:37:31 2026");
        assert_eq!(values.len(), 14);
    }

    #[test]
    fn tables_are_no_values() {
        let values = read(SYSCTL_TCP_15);
        assert_eq!(
            (values["net.inet.tcp.cc.available"].as_str(), values["net.inet.tcp.cc.algorithm"].as_str()),
            ("", "cubic")
        );
        assert_eq!((values["net.inet.tcp.recvbuf_max"].as_str(), values.len()), ("2097152", 24));
    }

    #[test]
    fn a_value_goes_on_in_further_lines_and_may_be_empty() {
        let values =
            read("kern.version: FreeBSD 6.2-RELEASE-p9 #0: Thu\n    root@i386\nhw.x=\nsysctl: unknown oid 'a'\n");
        assert_eq!(values["kern.version"], "FreeBSD 6.2-RELEASE-p9 #0: Thu\nroot@i386");
        assert_eq!((values["hw.x"].as_str(), values.len()), ("", 2));
    }
}
