//! The file of a ledger: JSON lines, read as values.

use std::collections::BTreeMap;

use model::{Before, Change};
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Line {
    /// A change that is about to be made.
    Entry(Entry),
    /// The entry of this number is undone.
    Undone(u64),
    /// The entries before are left standing on purpose.
    Kept(KeptLine),
}

/// A change that is about to be made, and all that undoing it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) seq: u64,
    /// The boot it was made in: no change of ours outlives one.
    pub(crate) boot_id: String,
    pub(crate) change: Change,
    pub(crate) before: Before,
    /// Identity of each namespace it concerns: another one may get the name some day.
    pub(crate) namespaces: BTreeMap<String, u64>,
}

/// Says that the entries before it are left standing on purpose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptLine {
    pub(crate) boot_id: String,
    pub(crate) about: serde_json::Value,
}

/// What a file says, undone entries and those of earlier boots left out.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Contents {
    pub(crate) entries: Vec<Entry>,
    pub(crate) kept: Option<serde_json::Value>,
    pub(crate) last_seq: u64,
    /// Length of the file without a last line that was being written when the writer died.
    pub(crate) length: usize,
}

/// A line that makes no sense.
#[derive(Debug, PartialEq)]
pub(crate) struct BadLine {
    /// Counted from 1.
    pub(crate) number: usize,
    pub(crate) why: String,
}

impl Contents {
    pub(crate) fn parse(bytes: &[u8], boot_id: &str) -> Result<Self, BadLine> {
        let mut contents = Self::default();
        // A line that does not end was not written to its end; what it announces was therefore not begun.
        let whole = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
        for (line, number) in whole.zip(1..) {
            let read = serde_json::from_slice(line).map_err(|why| BadLine { number, why: why.to_string() })?;
            contents.take(read, boot_id);
            contents.length += line.len();
        }
        if contents.entries.is_empty() {
            // Whoever was taking it down died at the very end.
            contents.kept = None;
        }
        Ok(contents)
    }

    fn take(&mut self, line: Line, boot_id: &str) {
        match line {
            Line::Entry(entry) => {
                self.last_seq = entry.seq;
                self.entries.extend((entry.boot_id == boot_id).then_some(entry));
            }
            Line::Undone(seq) => self.entries.retain(|entry| entry.seq != seq),
            Line::Kept(kept) => self.kept = (kept.boot_id == boot_id).then_some(kept.about),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(seq: u64, boot_id: &str) -> Entry {
        let change = Change::Sysctl { namespace: "wp1-a".into(), key: "net.x".into(), value: "0".into() };
        let before = Before::Value("1".into());
        Entry { seq, boot_id: boot_id.into(), change, before, namespaces: [("wp1-a".into(), 7)].into() }
    }

    fn kept(boot_id: &str) -> Line {
        Line::Kept(KeptLine { boot_id: boot_id.into(), about: "a bed".into() })
    }

    fn written(lines: &[Line]) -> String {
        lines.iter().map(|line| serde_json::to_string(line).expect("plain values") + "\n").collect()
    }

    fn parse(text: &str) -> Contents {
        Contents::parse(text.as_bytes(), "now").expect("readable")
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
        assert_eq!(contents, Contents { entries: vec![entry(1, "now")], kept: None, last_seq: 2, length: text.len() });
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

    #[test]
    fn an_unreadable_line_is_named() {
        let whole = written(&[Line::Entry(entry(1, "now"))]);
        let bad =
            Contents::parse(format!("{whole}{{\"entry\": 1}}\n{whole}").as_bytes(), "now").expect_err("unreadable");
        assert_eq!(bad.number, 2);
        let bad = Contents::parse(b"\xff\xfe\n", "now").expect_err("unreadable");
        assert_eq!(bad.number, 1);
    }
}
