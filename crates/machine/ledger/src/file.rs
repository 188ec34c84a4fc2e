//! File of a ledger: JSON lines, parsed into values.

use std::{collections::BTreeMap, fmt::Display};

use model::Change;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    kinds::kind,
    record::{Before, Namespaces},
};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Line {
    /// A change that is about to be made.
    Entry(Entry),
    /// The entry with this number has been undone.
    Undone(u64),
    /// The entries above are kept on purpose.
    Kept(KeptLine),
}

/// A change that is about to be made, with the data for undoing it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    /// Boot in which it was made.
    pub(crate) boot_id: String,
    /// Whether its effect survives a reboot.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) survives_reboot: bool,
    pub(crate) change: Change,
    pub(crate) before: Before,
    pub(crate) namespaces: Namespaces,
}

/// The entries above are kept on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptLine {
    pub(crate) boot_id: String,
    /// Whether one of them survives a reboot.
    #[serde(default, skip_serializing_if = "is_not")]
    pub(crate) survives_reboot: bool,
    pub(crate) about: Value,
}

fn is_not(flag: &bool) -> bool {
    !flag
}

/// Fields that every version writes, read before the rest of a line.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Header {
    seq: Option<u64>,
    boot_id: Option<String>,
    survives_reboot: bool,
    namespaces: Namespaces,
}

/// Entries of a file, except those undone or ended by a reboot.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    /// Lines unknown to this version that may stand for a change.
    pub(crate) unknown: Vec<UnknownLine>,
    pub(crate) kept: Option<Value>,
    pub(crate) last_seq: u64,
    /// Length of the file without an incomplete last line.
    pub(crate) length: usize,
}

/// A line unknown to this version.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct UnknownLine {
    /// From 1.
    pub(crate) number: usize,
    pub(crate) why: String,
    /// Number of its entry, if present.
    seq: Option<u64>,
    pub(crate) namespaces: Namespaces,
}

impl Contents {
    pub(crate) fn parse(bytes: &[u8], boot_id: &str) -> Self {
        let mut contents = Self::default();
        // An incomplete line was never finished, so its change was never begun.
        let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        for (line, number) in whole.zip(1..) {
            contents.take(line, number, boot_id);
            contents.length += line.len();
        }
        if !contents.stands() {
            // The owner died at the very end of removing it.
            contents.kept = None;
        }
        contents
    }

    /// Whether a change stands, or may stand.
    pub(crate) fn stands(&self) -> bool {
        !self.entries.is_empty() || !self.unknown.is_empty()
    }

    /// Namespaces of all changes that stand, or may stand.
    pub(crate) fn namespaces(&self) -> impl Iterator<Item = &Namespaces> {
        let known = self.entries.iter().map(|entry| &entry.namespaces);
        known.chain(self.unknown.iter().map(|line| &line.namespaces))
    }

    fn take(&mut self, line: &[u8], number: usize, boot_id: &str) {
        let header = Header::of(line);
        self.last_seq = self.last_seq.max(header.seq.unwrap_or_default());
        if header.ended_before(boot_id) {
            return;
        }
        match understand(line) {
            Ok(Line::Entry(entry)) => self.entries.push(entry),
            Ok(Line::Undone(undone)) => {
                self.entries.retain(|entry| entry.seq != undone);
                self.unknown.retain(|line| line.seq != Some(undone));
            }
            Ok(Line::Kept(kept)) => self.kept = Some(kept.about),
            Err(why) => {
                let Header { seq, namespaces, .. } = header;
                self.unknown.push(UnknownLine { number, why, seq, namespaces });
            }
        }
    }
}

impl Header {
    /// A line is an object with one field, whose name is the kind of line.
    fn of(line: &[u8]) -> Self {
        let fields: BTreeMap<String, Value> = serde_json::from_slice(line).unwrap_or_default();
        let body = fields.into_values().next();
        body.and_then(|body| serde_json::from_value(body).ok()).unwrap_or_default()
    }

    /// Whether it is of an earlier boot, and a reboot has undone its change.
    fn ended_before(&self, boot_id: &str) -> bool {
        !self.survives_reboot && self.boot_id.as_ref().is_some_and(|there| there != boot_id)
    }
}

fn understand(line: &[u8]) -> Result<Line, String> {
    fn why(error: impl Display) -> String {
        error.to_string()
    }
    let line = serde_json::from_slice(line).map_err(why)?;
    if let Line::Entry(Entry { change, before, .. }) = &line {
        kind(change).check(before).map_err(why)?;
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use model::change::Sysctl;

    use super::*;

    fn entry(seq: u64, boot_id: &str) -> Entry {
        let change = Sysctl { namespace: "wp1-a".into(), key: "net.x".into(), value: "0".into() }.into();
        let before = Before::write("value", Some(&"1")).expect("a plain value");
        let namespaces = Namespaces([("wp1-a".into(), 7)].into());
        Entry { seq, boot_id: boot_id.into(), survives_reboot: false, change, before, namespaces }
    }

    fn kept(boot_id: &str) -> Line {
        Line::Kept(KeptLine { boot_id: boot_id.into(), survives_reboot: false, about: "a bed".into() })
    }

    fn written(lines: &[Line]) -> String {
        lines.iter().map(|line| serde_json::to_string(line).expect("plain values") + "\n").collect()
    }

    fn parse(text: &str) -> Contents {
        Contents::parse(text.as_bytes(), "now")
    }

    #[test]
    fn a_line_is_written_like_this() {
        let line = r#"{"entry":{"seq":1,"boot_id":"now","change":{"change":"sysctl","namespace":"wp1-a","key":"net.x","value":"0"},"before":{"before":"value","value":"1"},"namespaces":{"wp1-a":7}}}"#;
        assert_eq!(written(&[Line::Entry(entry(1, "now"))]), format!("{line}\n"));
        assert_eq!(
            written(&[Line::Undone(3), kept("now")]),
            "{\"undone\":3}\n{\"kept\":{\"boot_id\":\"now\",\"about\":\"a bed\"}}\n"
        );
    }

    #[test]
    fn undone_entries_are_left_out() {
        let text = written(&[Line::Entry(entry(1, "now")), Line::Entry(entry(2, "now")), Line::Undone(2)]);
        let contents = parse(&text);
        let expected =
            Contents { entries: vec![entry(1, "now")], last_seq: 2, length: text.len(), ..Contents::default() };
        assert_eq!(contents, expected);
    }

    #[test]
    fn what_an_earlier_boot_did_or_kept_is_void() {
        let text = written(&[Line::Entry(entry(1, "then")), kept("then")]);
        let contents = parse(&text);
        assert!(contents.entries.is_empty() && contents.kept.is_none());
        let text = written(&[Line::Entry(entry(1, "now")), kept("now")]);
        assert_eq!(parse(&text).kept, Some("a bed".into()));
        assert_eq!(parse(&(text + "{\"undone\":1}\n")).kept, None);
    }

    #[test]
    fn a_torn_last_line_and_an_empty_file_are_fine() {
        assert_eq!(parse(""), Contents::default());
        let whole = written(&[Line::Entry(entry(1, "now"))]);
        for torn in ["{\"entry\":{\"se", "{\"undone\":1}", "\0\0\0"] {
            let contents = parse(&format!("{whole}{torn}"));
            assert_eq!((contents.entries.len(), contents.length), (1, whole.len()), "{torn}");
        }
    }

    /// A line of a kind unknown to this version.
    fn of_a_later_version(seq: u64, boot_id: &str, more: &str) -> String {
        format!(
            "{{\"entry\":{{\"seq\":{seq},\"boot_id\":\"{boot_id}\",\"change\":{{\"change\":\"future\"}}{more}}}}}\n"
        )
    }

    #[test]
    fn a_line_of_an_earlier_boot_is_dropped_whatever_it_says() {
        for line in [
            of_a_later_version(3, "then", ""),
            "{\"future\":{\"boot_id\":\"then\",\"seq\":3}}\n".to_owned(),
            written(&[Line::Entry(entry(3, "then"))]).replace("\"value\":\"1\"", "\"value\":[1]"),
        ] {
            let contents = parse(&line);
            assert!(!contents.stands(), "{line}");
            assert_eq!((contents.last_seq, contents.length), (3, line.len()), "{line}");
        }
    }

    #[test]
    fn what_survives_a_reboot_stands_in_the_next_boot() {
        let lasting = Entry { survives_reboot: true, ..entry(1, "then") };
        let kept = Line::Kept(KeptLine { boot_id: "then".into(), survives_reboot: true, about: "tuned".into() });
        let text = written(&[Line::Entry(entry(2, "then")), Line::Entry(lasting.clone()), kept]);
        let contents = parse(&text);
        assert_eq!((contents.entries, contents.kept), (vec![lasting], Some("tuned".into())));
        assert_eq!(parse(&of_a_later_version(1, "then", ",\"survives_reboot\":true")).unknown.len(), 1);
    }

    #[test]
    fn an_unknown_line_of_this_boot_is_named_and_the_others_are_understood() {
        let known = written(&[Line::Entry(entry(1, "now"))]);
        let mismatched =
            written(&[Line::Entry(entry(5, "now"))]).replace("\"before\":\"value\"", "\"before\":\"down\"");
        let text = format!("{known}{}\u{fffd}\n{mismatched}", of_a_later_version(4, "now", ""));
        let contents = parse(&text);
        assert_eq!(contents.entries, [entry(1, "now")]);
        let unknown: Vec<_> = contents.unknown.iter().map(|line| (line.number, line.seq)).collect();
        assert_eq!(unknown, [(2, Some(4)), (3, None), (4, Some(5))]);
        assert!(contents.unknown[0].why.contains("unknown variant `future`"), "{contents:?}");
        assert!(contents.unknown[2].why.contains("recorded as \"down\", not as \"value\""), "{contents:?}");
        assert_eq!(Contents::parse(b"\xff\xfe\n", "now").unknown.len(), 1);
        // Another version has undone its own change.
        assert_eq!(parse(&(text + "{\"undone\":4}\n")).unknown.len(), 2);
    }

    /// A line of each kind, as written by the version before kinds were types.
    #[test]
    fn all_kinds_are_read_and_written_as_an_earlier_version_wrote_them() {
        let text = include_str!("file/written.jsonl");
        let contents = parse(text);
        assert_eq!(contents.unknown, []);
        let lines: Vec<Line> = contents.entries.into_iter().map(Line::Entry).collect();
        let values = |text: &str| -> Vec<Value> {
            text.lines().map(|line| serde_json::from_str(line).expect("a line")).collect()
        };
        let renamed = text.replace("\"change\":\"left-alone\"", "\"change\":\"unmanaged-nic\"");
        assert_ne!(renamed, text, "the one kind whose word is another now");
        assert!(values(&written(&lines)) == values(&renamed), "{lines:?}");
    }
}
