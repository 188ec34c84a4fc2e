//! The files that stand beside the report.

use crate::{
    material::RawFile,
    page::{Block, Column, Span, Text},
    show,
    texts::Texts,
};

/// Each file with its SHA-256, and how to compare; nothing where there is none.
pub(super) fn files(files: &[RawFile], t: &Texts) -> Option<Block> {
    if files.is_empty() {
        return None;
    }
    let columns = vec![Column::words(t.get("col-file")), Column::figures(t.get("col-bytes")), Column::long("SHA-256")];
    let row = |file: &RawFile| {
        let sum = Text::from(Span::Code(file.sha256.clone()));
        vec![file.name.as_str().into(), show::grouped(file.bytes as u64).into(), sum]
    };
    let blocks = vec![
        Block::Paragraph(t.get("files-meaning").into()),
        Block::Command("sha256sum -c SHA256SUMS\nwireproof report --check .".to_owned()),
        Block::table(t.get("files-caption"), columns, files.iter().map(row).collect()),
    ];
    Some(Block::section(t.get("files-heading"), blocks))
}
