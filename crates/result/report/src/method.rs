//! Parts of a description of how something was measured.

use crate::{
    page::{Block, Item},
    texts::Texts,
};

/// Keys of those among the texts that hold.
pub(crate) fn that_hold(texts: &[(&'static str, bool)]) -> Vec<&'static str> {
    texts.iter().filter(|(_, holds)| *holds).map(|(text, _)| *text).collect()
}

/// A paragraph for each key.
pub(crate) fn paragraphs(keys: &[&str], t: &Texts) -> Vec<Block> {
    keys.iter().map(|key| Block::Paragraph(t.get(key).into())).collect()
}

/// A list of plain items.
pub(crate) fn list(items: impl Iterator<Item = String>) -> Block {
    Block::List(items.map(Item::from).collect())
}
