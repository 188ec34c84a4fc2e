//! How wide each column of a table is, how large its type, and whether its sheet is turned: decided here, as a word that is
//! wider than its column would run into the next.

use model::identity::Paper;
use unicode_width::UnicodeWidthStr;

use crate::{
    forms::phrases::phrases,
    page::{Column, ColumnKind, Span, Table, Text},
};

/// How a table is set.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    /// Size of type, in points.
    pub(super) size: f64,
    /// On a sheet that is turned.
    pub(super) landscape: bool,
    /// The width of each column, in points; together as wide as the page.
    pub(super) widths: Vec<f64>,
}

impl Setting {
    /// Words of a column with places to break those that are wider than it is, where the table is too wide for any page.
    pub(super) fn fitting(&self, column: usize, words: &str) -> String {
        let width = self.widths.get(column).copied().unwrap_or(f64::INFINITY);
        let room = (width - INSET).max(self.size) / self.size;
        words.split_inclusive(is_space).flat_map(phrases).map(|piece| breakable(piece, room)).collect()
    }
}

/// A line may break at spaces of no width.
fn breakable(piece: &str, room: f64) -> String {
    if wide(piece.trim_end()) <= room {
        return piece.to_owned();
    }
    let (mut broken, mut on_line) = (String::new(), 0.0);
    for c in piece.chars() {
        let width = wide(c.encode_utf8(&mut [0; 4]));
        if on_line + width > room && on_line > 0.0 {
            broken.push('\u{200b}');
            on_line = 0.0;
        }
        on_line += width;
        broken.push(c);
    }
    broken
}

/// Cells that may be broken into lines; those of sentences always may.
#[derive(Clone, Copy, PartialEq)]
enum Broken {
    Nothing,
    Words,
    All,
}

/// Attempts, best first: size, rotation, and cells that are broken.
const TRIES: [(f64, bool, Broken); 9] = [
    (8.5, false, Broken::Nothing),
    (7.5, false, Broken::Nothing),
    (6.8, false, Broken::Nothing),
    (7.5, false, Broken::Words),
    (6.8, false, Broken::Words),
    (6.8, false, Broken::All),
    (6.2, false, Broken::All),
    (7.5, true, Broken::Words),
    (6.8, true, Broken::All),
];
/// Left and right padding of a cell, as in `report.typ`.
const INSET: f64 = 5.0;
/// A wide and a narrow character, in sizes of type; the narrow one rather wider than it is on average.
const NARROW: f64 = 0.58;
/// Width of a bold capital beyond that.
const CAPITAL: f64 = 0.1;
/// Bounds for a head of many characters, in sizes of type.
const HEAD: (f64, f64) = (4.2, 8.0);
/// Least width of a cell that is broken into lines, and of one that may be in two.
const SENTENCE: (f64, f64) = (9.0, 11.0);

/// Between the margins of a sheet and of one that is turned, in points.
fn between_margins(paper: Paper) -> [f64; 2] {
    match paper {
        Paper::A4 => [481.0, 728.0],
        Paper::Letter => [498.0, 678.0],
    }
}

/// The first that fits, or the last.
pub(super) fn setting(table: &Table, paper: Paper) -> Setting {
    let [portrait, turned] = between_margins(paper);
    let tries = TRIES.map(|(size, landscape, broken)| {
        let needs: Vec<Need> = (0..table.columns.len()).map(|column| need(table, column, broken)).collect();
        let page = if landscape { turned } else { portrait };
        let least: f64 = needs.iter().map(|need| need.least * size + INSET).sum();
        (least <= page, Setting { size, landscape, widths: shares(&needs, size, page) })
    });
    let [.., last] = &tries;
    let chosen = tries.iter().find(|(fits, _)| *fits).unwrap_or(last);
    chosen.1.clone()
}

/// Needed width of a column, in sizes of type.
struct Need {
    /// So that nothing runs over.
    least: f64,
    /// So that every cell is on one line.
    cells: f64,
    /// So that its head is, or nearly.
    head: f64,
}

fn need(table: &Table, column: usize, broken: Broken) -> Need {
    let Column { head, kind } = &table.columns[column];
    let cells = || table.rows.iter().filter_map(|row| row.get(column));
    let all = cells().map(wide_text).fold(0.0, f64::max);
    let piece = cells().map(|cell| longest_piece(&cell.plain())).fold(0.0, f64::max);
    let least = match kind {
        ColumnKind::Words if broken == Broken::Nothing => all,
        ColumnKind::Figures if broken != Broken::All => all,
        ColumnKind::Figures => piece,
        ColumnKind::Words => piece.max(all.min(SENTENCE.0)),
        ColumnKind::Long => piece.max((all / 2.0).clamp(all.min(SENTENCE.0), SENTENCE.1)),
    };
    let least = least.max(longest_piece(head)).max(longest_in_brackets(head)).max(wide(head).min(HEAD.0));
    Need { least, cells: all, head: wide(head).min(HEAD.1) }
}

/// Spare width goes to cells that would like more, then to heads, then to each column by its width.
fn shares(needs: &[Need], size: f64, page: f64) -> Vec<f64> {
    let mut widths: Vec<f64> = needs.iter().map(|need| need.least * size + INSET).collect();
    for wish in [|need: &Need| need.cells, |need: &Need| need.head] {
        let wishes: Vec<f64> =
            needs.iter().zip(&widths).map(|(need, width)| (wish(need) * size + INSET - width).max(0.0)).collect();
        let left = (page - widths.iter().sum::<f64>()).max(0.0);
        let granted = (left / wishes.iter().sum::<f64>().max(f64::MIN_POSITIVE)).min(1.0);
        widths.iter_mut().zip(wishes).for_each(|(width, wish)| *width += wish * granted);
    }
    let widths = held_to(widths, page);
    let grown = page / widths.iter().sum::<f64>();
    widths.into_iter().map(|width| width * grown).collect()
}

/// If columns are wider than the page, the widest shrink, and narrow ones keep their need.
fn held_to(widths: Vec<f64>, page: f64) -> Vec<f64> {
    let mut sorted = widths.clone();
    sorted.sort_by(f64::total_cmp);
    let mut left = page;
    for (before, width) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - before) as f64;
        if *width > share {
            return widths.into_iter().map(|width| width.min(share)).collect();
        }
        left -= width;
    }
    widths
}

/// Bold capitals of a verdict are wider.
fn wide_text(text: &Text) -> f64 {
    let capitals = |words: &str| words.chars().filter(char::is_ascii_uppercase).count() as f64;
    let more = |span: &Span| if let Span::Verdict(_, words) = span { CAPITAL * capitals(words) } else { 0.0 };
    wide(&text.plain()) + text.0.iter().map(more).sum::<f64>()
}

pub(super) fn wide(words: &str) -> f64 {
    let wide = words.chars().filter(|c| is_wide(*c)).count() as f64;
    let all = words.width() as f64;
    wide + (all - 2.0 * wide) * NARROW
}

/// The longest part that no line should break in: between spaces, after what separates the parts of a name, each Japanese word.
fn longest_piece(words: &str) -> f64 {
    words.split(is_space).flat_map(phrases).map(wide).fold(2.0 * NARROW, f64::max)
}

/// The longest addition in brackets that `head-words` of `report.typ` keeps on a line.
fn longest_in_brackets(head: &str) -> f64 {
    let inside = head.split('(').skip(1).filter_map(|rest| rest.split_once(')')).map(|(inside, _)| inside);
    inside.filter(|inside| inside.chars().count() <= 4).map(|inside| wide(inside) + 2.0 * NARROW).fold(0.0, f64::max)
}

/// Whether a line may break there, as it may not between a figure and its unit.
fn is_space(c: char) -> bool {
    c.is_whitespace() && c != '\u{a0}'
}

fn is_wide(c: char) -> bool {
    c.len_utf8() > 2 && c.encode_utf8(&mut [0; 4]).width() == 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::page::Number;

    fn table(columns: usize, cell: &str) -> Table {
        let row = vec![Text::from(cell); columns];
        Table {
            number: Number::default(),
            caption: String::new(),
            columns: vec![Column::figures("p50"); columns],
            rows: vec![row],
        }
    }

    #[test]
    fn the_wider_the_table_the_smaller_its_type_until_the_sheet_is_turned() {
        let set = |columns| {
            let setting = setting(&table(columns, "1234.56"), Paper::A4);
            (setting.size, setting.landscape)
        };
        assert_eq!([set(4), set(13), set(14), set(19)], [(8.5, false), (7.5, false), (6.8, false), (7.5, true)]);
    }

    #[test]
    fn columns_fill_the_page_and_hold_their_longest_word() {
        let mut table = table(6, "1234.56");
        table.columns[0] = Column::long("何");
        table.rows[0][0] = "長い文は折り返すが、数字は折り返さない。".repeat(4).as_str().into();
        let Setting { widths, size, .. } = setting(&table, Paper::A4);
        assert!((widths.iter().sum::<f64>() - 481.0).abs() < 0.1);
        assert!(widths[1..].iter().all(|width| *width >= wide("1234.56") * size), "{widths:?}");
        assert!(widths[0] > widths[1]);
    }

    /// A head and three cells.
    fn column() -> impl Strategy<Value = (Column, Vec<String>)> {
        let words = || "([a-z0-9/-]{1,12}|[ぁ-んァ-ヺ一-龠]{1,12})( [a-z]{1,9}){0,6}";
        let kind = prop_oneof![Just(ColumnKind::Words), Just(ColumnKind::Long), Just(ColumnKind::Figures)];
        let column = |(kind, head, cells)| (Column { head, kind }, cells);
        (kind, words(), prop::collection::vec(words(), 3)).prop_map(column)
    }

    proptest! {
        #[test]
        fn no_column_has_room_to_spare_while_another_wraps(columns in prop::collection::vec(column(), 2..12)) {
            let (heads, cells): (Vec<Column>, Vec<Vec<String>>) = columns.into_iter().unzip();
            let row = |row: usize| cells.iter().map(|cells| cells[row].as_str().into()).collect();
            let rows = (0..3).map(row).collect();
            let table = Table { number: Number::default(), caption: String::new(), columns: heads, rows };
            let Setting { size, widths, .. } = setting(&table, Paper::A4);
            let room = |words: f64| words.max(2.0 * NARROW) * size + INSET;
            let longest = |column: &Vec<String>| column.iter().map(|cell| wide(cell)).fold(0.0, f64::max);
            let wraps = cells.iter().zip(&widths).any(|(cells, width)| room(longest(cells)) > *width + 0.1);
            let text = cells.iter().zip(&table.columns).map(|(cells, column)| longest(cells).max(wide(&column.head)));
            let has_spare = text.zip(&widths).any(|(text, width)| *width > 2.5 * room(text));
            prop_assert!(!(wraps && has_spare), "{widths:?} {table:?}");
        }
    }

    #[test]
    fn a_table_is_as_wide_as_the_paper() {
        let width = |columns, paper| setting(&table(columns, "1234.56"), paper).widths.iter().sum::<f64>();
        for (columns, a4, letter) in [(4, 481.0, 498.0), (19, 728.0, 678.0)] {
            assert!((width(columns, Paper::A4) - a4).abs() < 0.1);
            assert!((width(columns, Paper::Letter) - letter).abs() < 0.1);
        }
    }

    #[test]
    fn names_have_room_for_two_lines_before_type_is_large() {
        let mut table = table(5, "94,174 – 110,651");
        table.columns[0] = Column::long("測定条件");
        table.columns[1] = Column::words("エンドポイント");
        table.columns[4] = Column::long("試行番号");
        let cells = [
            "TCP IPv4・1ストリーム・ウィンドウ 1\u{a0}MiB・12\u{a0}s",
            "a",
            "netstat TcpExt TCPLostRetransmit",
            "94,174 – 110,651",
            "22, 44, 66, 88, 110, 132",
        ];
        table.rows[0] = cells.map(Text::from).into();
        let Setting { size, widths, .. } = setting(&table, Paper::A4);
        assert!(widths[0] >= 11.0 * size, "{widths:?} at {size}");
        assert_eq!(longest_piece("about 35.24\u{a0}Gbit/s"), wide("35.24\u{a0}Gbit/s"));
    }

    #[test]
    fn a_verdict_has_room_for_its_capitals() {
        let mut table = table(2, "1");
        table.rows[0][1] = Span::Verdict(model::Verdict::NotComparable, "NOT COMPARABLE".to_owned()).into();
        table.columns[1] = Column::words("Verdict");
        assert!(need(&table, 1, Broken::Nothing).least > wide("NOT COMPARABLE") + 1.0);
    }

    #[test]
    fn words_in_katakana_stay_whole_in_heads() {
        let mut table = table(10, "12");
        table.columns[1].head = "エンドポイント".to_owned();
        let Setting { widths, size, .. } = setting(&table, Paper::A4);
        assert!(widths[1] >= 7.0 * size, "{widths:?}");
        assert_eq!(longest_piece("送信側ドライバー名"), 6.0);
        assert_eq!(longest_piece("スピン待ち"), 5.0);
        let longest = longest_in_brackets("最大 (1秒間) (送信側の計数)");
        assert!((longest - wide("(1秒間)")).abs() < 1e-9, "{longest}");
    }

    #[test]
    fn a_word_that_is_wider_than_its_column_is_broken() {
        let word = "a-name-of-a-file-".repeat(30);
        let mut table = table(8, "12");
        table.rows[0][1] = word.as_str().into();
        let setting = setting(&table, Paper::A4);
        let broken = setting.fitting(1, &format!("short {word}"));
        assert_eq!(broken.replace('\u{200b}', ""), format!("short {word}"));
        let pieces: Vec<&str> = broken.split(['\u{200b}', ' ']).collect();
        assert!(pieces.len() > 3, "{broken}");
        let room = setting.widths[1] - INSET;
        assert!(pieces.iter().all(|piece| wide(piece) * setting.size <= room), "{room} {pieces:?}");
        assert_eq!(setting.fitting(0, "12"), "12");
    }
}
