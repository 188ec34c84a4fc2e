//! What others measured: files that come with the program.

use model::Reference;

/// References that come with the program.
const BUILT_IN: [&str; 5] = [
    include_str!("../references/rx2540-exanic-2015.toml"),
    include_str!("../references/receiver-40gbe-2012.toml"),
    include_str!("../references/82599-loopback-2020.toml"),
    include_str!("../references/freebsd-x540.toml"),
    include_str!("../references/trex-vyos.toml"),
];

/// All references there are.
pub(crate) fn all() -> Vec<Reference> {
    // A test reads each of them.
    BUILT_IN.iter().filter_map(|toml| Reference::parse(toml).ok()).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    #[test]
    fn those_that_come_with_the_program_can_be_read_and_are_all_there_are() {
        let read = BUILT_IN.map(|toml| Reference::parse(toml).unwrap_or_else(|error| panic!("{error}\n{toml}")));
        let ids: BTreeSet<String> = read.iter().map(|reference| format!("{}.toml", reference.id)).collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("references");
        let entries = fs::read_dir(folder).unwrap();
        let files: BTreeSet<String> =
            entries.map(|it| it.unwrap().file_name().to_string_lossy().into_owned()).collect();
        assert_eq!(ids, files);
    }

    #[test]
    fn they_speak_both_languages() {
        for reference in all() {
            let notes = reference.figures.iter().filter_map(|figure| figure.note.as_ref());
            let words = reference.notes.iter().chain(&reference.source).chain([&reference.title]).chain(notes);
            for words in words {
                assert!(words.ja.is_some(), "{}: no Japanese for {}", reference.id, words.en);
            }
        }
    }
}
