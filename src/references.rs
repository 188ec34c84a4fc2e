//! References: files that come with the program, and the user's own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use model::{Plan, Reference};
use verdict::Chosen;

use crate::{cli::Common, exit::Words, output::say, paths};

/// References that come with the program.
const BUILT_IN: [&str; 5] = [
    include_str!("../references/rx2540-exanic-2015.toml"),
    include_str!("../references/receiver-40gbe-2012.toml"),
    include_str!("../references/82599-loopback-2020.toml"),
    include_str!("../references/freebsd-x540.toml"),
    include_str!("../references/trex-vyos.toml"),
];

/// All references there are.
pub(crate) struct References {
    /// Usable ones.
    pub(crate) known: Vec<Reference>,
    /// The user's files that cannot, each with what to do.
    pub(crate) broken: Vec<Broken>,
}

/// A file that cannot be used.
pub(crate) struct Broken {
    pub(crate) file: PathBuf,
    /// The fault, its place, and the remedy.
    pub(crate) error: String,
}

/// Reads all references: those of the program, and the `.toml` files in the user's folder.
pub(crate) fn read(common: &Common) -> anyhow::Result<References> {
    Ok(read_from(&folder(common)?))
}

/// Folder of the user's own files.
pub(crate) fn folder(common: &Common) -> anyhow::Result<PathBuf> {
    Ok(paths::references(&paths::store(common.store.as_deref())?))
}

/// Reads all references, and says which of the user's files cannot be used.
pub(crate) fn read_and_say(common: &Common) -> anyhow::Result<References> {
    let references = read(common)?;
    references.broken.iter().for_each(|broken| say(&broken.to_string()));
    Ok(references)
}

/// References that come with the program.
pub(crate) fn built_in() -> References {
    // A test reads each of them.
    let known = BUILT_IN.iter().filter_map(|toml| Reference::parse(toml).ok()).collect();
    References { known, broken: vec![] }
}

/// References of the program and of a folder.
pub(crate) fn read_from(folder: &Path) -> References {
    let mut references = built_in();
    let files = match files(folder) {
        Ok(files) => files,
        Err(error) => {
            references.broken.push(Broken { file: folder.to_owned(), error: error.to_string() });
            vec![]
        }
    };
    for file in files {
        match read_file(&file).and_then(|reference| references.add(reference)) {
            Ok(()) => {}
            Err(error) => references.broken.push(Broken { file, error }),
        }
    }
    references
}

/// In the order of their names; none where there is no folder.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        entries => entries?,
    };
    let mut files = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    Ok(files)
}

fn read_file(file: &Path) -> Result<Reference, String> {
    Reference::parse(&paths::read_text(file, "a reference", paths::LONGEST)?).map_err(|error| error.to_string())
}

impl References {
    /// Another one, under a name that is still free.
    fn add(&mut self, reference: Reference) -> Result<(), String> {
        if self.find(&reference.id).is_some() {
            return Err(format!("there is a reference \"{}\" already; give this one another id", reference.id));
        }
        self.known.push(reference);
        Ok(())
    }

    /// The user's own, which come behind those of the program.
    pub(crate) fn own(&mut self) -> &mut [Reference] {
        self.known.get_mut(BUILT_IN.len()..).unwrap_or_default()
    }

    /// Their names.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.known.iter().map(|reference| reference.id.clone()).collect()
    }

    fn find(&self, id: &str) -> Option<&Reference> {
        self.known.iter().find(|reference| reference.id == id)
    }

    /// Whether the plan's limits name only references that there are.
    pub(crate) fn check_limits(&self, plan: &Plan) -> Result<(), Words> {
        self.check(plan.limits.iter().filter_map(|limit| limit.reference.as_deref()))
    }

    /// Whether the choice names only references that there are.
    pub(crate) fn check_chosen(&self, chosen: &Chosen) -> Result<(), Words> {
        let named: &[String] = if let Chosen::Named(ids) = chosen { ids } else { &[] };
        self.check(named.iter().map(String::as_str))
    }

    fn check<'a>(&self, mut ids: impl Iterator<Item = &'a str>) -> Result<(), Words> {
        ids.find(|id| self.find(id).is_none()).map_or(Ok(()), |id| {
            Err(Words(format!("there is no reference \"{id}\"; there are {}", self.ids().join(", "))))
        })
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "wireproof: reference {} is left out: {}", self.file.display(), self.error.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const MINE: &str = "id = \"mine\"\ntitle = { en = \"t\" }\nkind = \"maker\"\n[[figures]]\nmetric = \"goodput\"\n\
        statistic = \"mean\"\nvalue = \"9 Gbit/s\"\n";

    #[test]
    fn those_that_come_with_the_program_can_be_read_and_are_all_there_are() {
        let read = BUILT_IN.map(|toml| Reference::parse(toml).unwrap_or_else(|error| panic!("{error}\n{toml}")));
        let ids: BTreeSet<String> = read.iter().map(|reference| reference.id.clone()).collect();
        let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("references");
        assert_eq!(ids, files(&folder).unwrap().into_iter().map(stem).collect());
    }

    #[test]
    fn they_speak_both_languages() {
        for reference in built_in().known {
            let notes = reference.figures.iter().filter_map(|figure| figure.note.as_ref());
            let words = reference.notes.iter().chain(&reference.source).chain([&reference.title]).chain(notes);
            for words in words {
                assert!(words.ja.is_some(), "{}: no Japanese for {}", reference.id, words.en);
            }
        }
    }

    #[test]
    fn a_file_with_an_error_is_named_and_the_rest_still_works() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write("a.toml", MINE);
        write("b.toml", &MINE.replace("metric", "metrik"));
        write("c.toml", MINE);
        write("notes.txt", "nothing");
        let references = read_from(folder.path());
        assert_eq!(references.known.len(), BUILT_IN.len() + 1);
        let [key, twice] = references.broken.as_slice() else { panic!("two are broken") };
        assert!(key.to_string().contains("b.toml is left out: TOML parse error at line 5"), "{key}");
        assert!(twice.to_string().contains("c.toml") && twice.error.contains("give this one another id"), "{twice}");
    }

    #[test]
    fn a_name_that_nothing_has_is_refused_with_those_that_there_are() {
        let references = built_in();
        let plan = "name = \"t\"\n[[path]]\n[[limits]]\nmetric = \"rtt_mean\"\nreference = \"other\"\nwithin = \"5 %\"";
        let plan = Plan::parse(plan, &[]).unwrap();
        let error = references.check_limits(&plan).unwrap_err().to_string();
        assert!(error.contains("no reference \"other\"; there are rx2540-exanic-2015, "), "{error}");
        assert!(references.check_chosen(&Chosen::Named(vec!["trex-vyos".to_owned()])).is_ok());
        assert!(references.check_chosen(&Chosen::Named(vec!["mine".to_owned()])).is_err());
    }
}
