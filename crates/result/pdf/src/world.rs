//! All that a document can see.

use std::collections::HashMap;

use model::Typeset;
use typst::{
    Library, LibraryExt, World,
    diag::{FileError, FileResult},
    foundations::{Bytes, Datetime, Duration},
    syntax::{FileId, Source, VirtualRoot},
    text::{Font, FontBook},
    utils::LazyHash,
};

use crate::fonts::FONTS;

/// One source and the files that it names.
pub(crate) struct Document {
    library: LazyHash<Library>,
    book: LazyHash<FontBook>,
    source: Source,
    files: HashMap<String, Bytes>,
}

impl Document {
    pub(crate) fn new(Typeset { source, files }: Typeset) -> Self {
        Self {
            library: LazyHash::new(Library::default()),
            book: LazyHash::new(FontBook::from_fonts(FONTS.iter())),
            source: Source::detached(source),
            files: files.into_iter().map(|file| (file.name, Bytes::new(file.content))).collect(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        self.source.text()
    }
}

impl World for Document {
    fn library(&self) -> &LazyHash<Library> {
        &self.library
    }

    fn book(&self) -> &LazyHash<FontBook> {
        &self.book
    }

    fn main(&self) -> FileId {
        self.source.id()
    }

    fn source(&self, id: FileId) -> FileResult<Source> {
        if id == self.source.id() { Ok(self.source.clone()) } else { Err(FileError::NotSource) }
    }

    fn file(&self, id: FileId) -> FileResult<Bytes> {
        let path = id.get();
        let name = path.vpath().get_without_slash();
        let of_project = *path.root() == VirtualRoot::Project;
        let found = self.files.get(name).filter(|_| of_project).cloned();
        found.ok_or_else(|| FileError::NotFound(name.into()))
    }

    fn font(&self, index: usize) -> Option<Font> {
        FONTS.get(index).cloned()
    }

    /// There is no clock here: a document that asks for the date would not come out twice alike.
    fn today(&self, _offset: Option<Duration>) -> Option<Datetime> {
        None
    }
}
