//! The files that stand beside the report.

use crate::{
    columns::Columns,
    material::RawFile,
    page::{Block, Text},
    show,
    texts::Texts,
};

/// Each file with its SHA-256, and how to compare; nothing where there is none.
pub(super) fn files(files: &[RawFile], t: &Texts) -> Option<Block> {
    if files.is_empty() {
        return None;
    }
    let table = Columns::new()
        .words(t.get("col-file"), |file: &RawFile| file.name.clone())
        .figures(t.get("col-bytes"), |file| show::grouped(file.bytes as u64))
        .long("SHA-256", |file| Text::code(&file.sha256))
        .table(t.get("files-caption"), files);
    let blocks = vec![
        Block::Paragraph(t.get("files-meaning").into()),
        Block::Command("sha256sum -c SHA256SUMS\nwireproof report --check .".to_owned()),
        table,
    ];
    Some(Block::section(t.get("files-heading"), blocks))
}
