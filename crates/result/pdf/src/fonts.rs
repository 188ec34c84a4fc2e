//! The fonts that come with the program. `fonts/README.md` says where they are from.

use std::{collections::BTreeSet, io::Read, sync::LazyLock};

use flate2::read::ZlibDecoder;
use typst::{foundations::Bytes, text::Font};

/// The family of all text: Japanese, Latin, Greek and Cyrillic; regular and bold; all digits of one width.
pub const FAMILY: &str = "Noto Sans JP";
/// The family of what a machine reads.
pub const MONOSPACED: &str = "Noto Sans Mono";

/// Compressed, as they would be the largest part of the program otherwise.
const FILES: [&[u8]; 3] = [
    include_bytes!("../fonts/NotoSansJP-Regular.ttf.zlib"),
    include_bytes!("../fonts/NotoSansJP-Bold.ttf.zlib"),
    include_bytes!("../fonts/NotoSansMono-Regular.ttf.zlib"),
];

/// Each file of a font; one that does not open is left out here and fails the tests below.
pub(crate) static FONTS: LazyLock<Vec<Font>> = LazyLock::new(|| FILES.into_iter().filter_map(open).collect());

fn open(file: &[u8]) -> Option<Font> {
    let mut font = Vec::new();
    ZlibDecoder::new(file).read_to_end(&mut font).ok()?;
    Font::new(Bytes::new(font), 0)
}

/// The characters of a text that no font here has, and that would come out as empty boxes.
pub fn without_glyph(text: &str) -> BTreeSet<char> {
    // A space of no width is where a word may be broken.
    let is_seen = |c: &char| !c.is_control() && *c != '\u{200b}';
    let is_drawn = |c: &char| is_seen(c) && !FONTS.iter().any(|font| font.info().coverage.contains(u32::from(*c)));
    text.chars().filter(is_drawn).collect()
}

#[cfg(test)]
mod tests {
    use typst::{
        layout::Abs,
        text::{FontVariant, FontVariations},
    };

    use super::*;

    #[test]
    fn every_font_opens_and_goes_by_its_name() {
        let names: Vec<&str> = FONTS.iter().map(|font| font.info().family.as_str()).collect();
        assert_eq!(names, [FAMILY, FAMILY, MONOSPACED]);
    }

    #[test]
    fn digits_line_up() {
        for font in FONTS.iter() {
            let font = font.clone().instantiate(FontVariant::default(), Abs::pt(10.0), &FontVariations::default());
            let width = |c| font.ttf().glyph_hor_advance(font.ttf().glyph_index(c).unwrap()).unwrap();
            let widths: BTreeSet<u16> = ('0'..='9').map(width).collect();
            assert_eq!(widths.len(), 1, "{font:?}");
        }
    }

    #[test]
    fn names_and_signs_have_their_glyphs() {
        // Kanji as names have them; the signs of figures; what code is drawn with.
        assert_eq!(without_glyph("斎藤﨑髙槗𠮷渡邊 Łódź Ωμµ ×÷–—→≤≥±°≈…‑−²³ ✓ ㎜①㈱ ─│"), BTreeSet::new());
        assert_eq!(without_glyph("a\u{1f600}b"), BTreeSet::from(['\u{1f600}']));
    }
}
