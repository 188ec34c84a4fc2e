//! Japanese terms: one word for one thing in the report, the help, the guides and the README.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Words that no text has, each with the term in its place.
const TERMS: &[(&str, &str)] = &[
    ("お客様", "顧客名"),
    ("シリアル番号", "製造番号"),
    ("パス MTU", "経路MTU"),
    ("ベッド", "試験環境"),
    ("レポート", "報告書"),
    ("ロス", "損失"),
    ("回線速度", "リンク速度"),
    ("各構成", "各測定条件"),
    ("基準値", "参照値、判定基準、比較の基準"),
    ("既定経路", "デフォルトルート"),
    ("近端", "このホスト側"),
    ("経路 MTU", "経路MTU"),
    ("計画", "測定プラン"),
    ("検認者", "確認者"),
    ("構成ごと", "測定条件ごと"),
    ("測定器", "試験装置"),
    ("試験側", "試験装置"),
    ("残しておく", "常設の"),
    ("自動ネゴシエーション", "オートネゴシエーション"),
    ("終了コード", "終了ステータス"),
    ("順序の入れ替わり", "順序逆転"),
    ("打刻", "タイムスタンプ"),
    ("遠端", "相手側"),
    ("往復時間", "RTT"),
    ("内容の誤り", "破損"),
    ("レイテンシ", "遅延"),
    ("判定なし", "判定対象外"),
    ("満たしていない", "不合格"),
    ("見るだけ", "参照のみ"),
    ("何も尋ね", "対話入力には対応していない"),
    ("主な仕事", "基本となるコマンド"),
    ("時間の一部が", "ほかの処理も動作"),
    ("眠", "スリープ"),
    ("規律", "規則"),
    ("迂回", "バイパス"),
    ("（", "("),
    ("）", ")"),
    ("：", ": "),
];

/// Words that end with a mark of a long vowel.
const LONG: &[&str] = &[
    "アーキテクチャ",
    "アダプタ",
    "カウンタ",
    "キャプチャ",
    "コネクタ",
    "サーバ",
    "ジッタ",
    "スケジューラ",
    "デリミタ",
    "ドライバ",
    "トランシーバ",
    "ハイパーバイザ",
    "バッファ",
    "ハンドラ",
    "フィルタ",
    "フォルダ",
    "ブラウザ",
    "プロセッサ",
    "ヘッダ",
    "メモリ",
    "ユーザ",
    "ルータ",
    "レイヤ",
];

/// Right words that contain a wrong one.
const RIGHT: &[&str] = &["フレームロス率", "バッファブロート", "校正された測定器"];

fn wrong(line: &str) -> Vec<String> {
    let line = RIGHT.iter().fold(line.to_owned(), |line, word| line.replace(word, "…"));
    let terms = TERMS.iter().filter(|(word, _)| line.contains(word)).map(|(word, term)| format!("{word} → {term}"));
    let is_short = |word: &&&str| line.match_indices(**word).any(|(at, _)| !line[at + word.len()..].starts_with('ー'));
    let short = LONG.iter().filter(is_short).map(|word| format!("{word} → {word}ー"));
    terms.chain(short).collect()
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_folder = |folder: &str| fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let folders = ["crates/result/report/texts/ja", "docs/ja", "references"].into_iter().flat_map(of_folder);
    folders.chain([root.join("README.ja.md")]).collect()
}

#[test]
fn japanese_texts_have_one_word_for_one_thing() {
    let mut found = Vec::new();
    for file in files() {
        for (number, line) in fs::read_to_string(&file).unwrap().lines().enumerate() {
            found.extend(wrong(line).iter().map(|term| format!("{}:{}: {term}", file.display(), number + 1)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_wrong_word_is_found_and_a_right_one_that_contains_it_is_not() {
    assert_eq!(wrong("ベッドのバッファとバッファー"), ["ベッド → 試験環境", "バッファ → バッファー"]);
    assert!(wrong("フレームロス率(バッファブロート)").is_empty());
}
