//! Japanese words, which have no spaces between them. `phrased` of `report.typ` keeps the same ones on a line.

/// Kanji that end a word in katakana, like フレーム長.
const ENDINGS: &str = "長数率名側";

/// A text in the pieces between which a line may break: words in katakana with the verb or the ending behind them, kanji with their
/// kana, and the rest. A longer word is several pieces.
pub(super) fn phrases(words: &str) -> impl Iterator<Item = &str> {
    let mut rest = words;
    std::iter::from_fn(move || {
        let length = length(rest);
        let (phrase, after) = rest.split_at(length);
        rest = after;
        (length > 0).then_some(phrase)
    })
}

/// Bytes of the first piece.
fn length(words: &str) -> usize {
    let katakana = run(words, is_katakana, 10);
    let kanji = run(words, is_kanji, 5);
    let kana = |from: usize, most: usize| from + run(&words[from..], is_hiragana, most);
    if katakana > 0 {
        let verb = katakana + run(&words[katakana..], is_kanji, 2);
        let end = kana(verb, 3);
        let ending = run(&words[katakana..], |c| ENDINGS.contains(c), 1);
        return if verb > katakana && end > verb { end } else { katakana + ending };
    }
    if kanji > 0 {
        return kana(kanji, 4);
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
    fn words_stay_whole() {
        let parted = |words: &'static str| phrases(words).collect::<Vec<_>>();
        assert_eq!(parted("ネットワーク検証報告書"), ["ネットワーク", "検証報告書"]);
        assert_eq!(parted("スピン待ち"), ["スピン待ち"]);
        assert_eq!(parted("フレーム長(B)"), ["フレーム長", "(B)"]);
        assert_eq!(parted("試行の間に p50"), ["試行の", "間に", " p50"]);
        assert_eq!(parted("eth0 up"), ["eth0 up"]);
        assert!(parted("").is_empty());
        assert_eq!(parted("実効(平均)").concat(), "実効(平均)");
    }
}
