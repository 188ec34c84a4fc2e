//! Japanese words, which have no spaces between them.

/// Kanji that end a word in katakana, like フレーム長.
const ENDINGS: &str = "長数率名側";

/// A text in the pieces between which a line may break: words in katakana with the verb or the ending behind them, kanji with their
/// kana, and the rest. A longer word is several pieces. `phrased` of `report.typ` keeps the same ones on a line.
pub(super) fn phrases(words: &str) -> impl Iterator<Item = &str> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let length = length(rest);
        let (phrase, after) = rest.split_at(length);
        rest = after;
        (length > 0).then_some(phrase)
    })
}

/// A title in the pieces between which a line may break. Kanji in a row are taken for words of two, the last of an odd row for one of
/// three, as in 受入試験報告書.
pub(super) fn of_title(title: &str) -> Vec<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let (mut pieces, mut rest): (Vec<String>, _) = (Vec::new(), title);
    while let Some(first) = rest.chars().next() {
        let word = match first {
            c if is_kanji(c) => match run(rest, is_kanji, usize::MAX) / c.len_utf8() {
                all @ ..=3 => run(rest, is_kanji, all),
                _ => run(rest, is_kanji, 2),
            },
            c if is_katakana(c) => run(rest, is_katakana, usize::MAX),
            _ => run(rest, |c| !(is_kanji(c) || is_katakana(c)), usize::MAX),
        };
        let (piece, after) = rest.split_at(word + run(&rest[word..], is_hiragana, usize::MAX));
        match pieces.last_mut() {
            Some(last)
                if last.ends_with(|c: char| is_digit(c) || "(「『".contains(c))
                    || piece.starts_with(|c: char| is_digit(c) || ")」』、。・".contains(c)) =>
            {
                last.push_str(piece);
            }
            _ => pieces.push(piece.to_owned()),
        }
        rest = after;
    }
    pieces
}

/// Bytes of the first piece.
fn length(words: &str) -> usize {
    let katakana = run(words, is_katakana, 10);
    let kanji = run(words, is_kanji, 5);
    let kana = |from: usize, most: usize| from + run(&words[from..], is_hiragana, most);
    // No line begins with it.
    let with_dot = |end: usize| end + run(&words[end..], |c| c == '・', 1);
    if katakana > 0 {
        let verb = |from: usize, kanji: usize, most: usize| {
            let stem = from + run(&words[from..], is_kanji, kanji);
            Some(kana(stem, most)).filter(|end| stem > from && *end > stem)
        };
        let ending = run(&words[katakana..], |c| ENDINGS.contains(c), 1);
        return with_dot(verb(katakana, 2, 3).map_or(katakana + ending, |end| verb(end, 1, 2).unwrap_or(end)));
    }
    if kanji > 0 {
        return with_dot(kana(kanji, 4));
    }
    let is_other = |c: char| !(is_katakana(c) || is_kanji(c));
    let wide = |c: char| is_other(c) && c.len_utf8() > 2;
    match run(words, |c| is_other(c) && !wide(c), usize::MAX) {
        0 => words.chars().next().map_or(0, char::len_utf8),
        narrow => narrow,
    }
}

/// Bytes of so many characters of a kind at most.
fn run(words: &str, kind: impl Fn(char) -> bool, most: usize) -> usize {
    words.chars().take(most).take_while(|c| kind(*c)).map(char::len_utf8).sum()
}

fn is_katakana(c: char) -> bool {
    matches!(c, '\u{30a1}'..='\u{30fa}' | 'ー')
}

fn is_hiragana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}')
}

fn is_kanji(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '々')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_title_stay_whole() {
        assert_eq!(of_title("ネットワーク検証報告書"), ["ネットワーク", "検証", "報告書"]);
        let long = ["ストレージネットワークの", "受入", "試験", "報告書", "(第2版)"];
        assert_eq!(of_title(&long.concat()), long);
        assert_eq!(of_title("Acceptance test of X2"), ["Acceptance test of X2"]);
        assert!(of_title("").is_empty());
    }

    #[test]
    fn words_stay_whole() {
        let parted = |words: &'static str| phrases(words).collect::<Vec<_>>();
        assert_eq!(parted("ネットワーク検証報告書"), ["ネットワーク", "検証報告書"]);
        assert_eq!(parted("スピン待ち"), ["スピン待ち"]);
        assert_eq!(parted("うちソフト割り込み"), ["う", "ち", "ソフト割り込み"]);
        assert_eq!(parted("フレーム長(B)"), ["フレーム長", "(B)"]);
        assert_eq!(parted("1ストリーム・既定の"), ["1", "ストリーム・", "既定の"]);
        assert_eq!(parted("試行の間に p50"), ["試行の", "間に", " p50"]);
        assert_eq!(parted("eth0 up"), ["eth0 up"]);
        assert!(parted("").is_empty());
        assert_eq!(parted("実効(平均)").concat(), "実効(平均)");
    }
}
