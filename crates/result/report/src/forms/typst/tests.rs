use model::Verdict;

use super::*;
use crate::page::{Column, Item, Number, Section, Table};

/// The first block on the cover.
fn page(mut blocks: Vec<Block>) -> Page {
    let body = blocks.split_off(blocks.len().min(1));
    Page {
        lang: Lang::Ja,
        title: "報告書".to_owned(),
        issuer: None,
        mark: Some("模擬環境".to_owned()),
        identity: vec![("顧客".to_owned(), "\"甲\\乙\"".to_owned())],
        approvals: vec![("承認".to_owned(), String::new())],
        paper: Paper::A4,
        cover: blocks,
        front: vec![],
        body,
        statement: "以上".to_owned(),
        reference: "run-1".to_owned(),
    }
}

fn source(blocks: Vec<Block>) -> String {
    typeset(&page(blocks), "none", Texts::of(Lang::Ja)).source
}

/// All that is not the looks.
fn said(blocks: Vec<Block>) -> String {
    source(blocks).split_once(LOOKS).unwrap().1.to_owned()
}

#[test]
fn what_a_hurried_reader_wants_comes_on_the_cover() {
    let (before, after) = (Block::Note("before".into()), Block::section("one", vec![Block::Note("after".into())]));
    let said = said(vec![before, after]);
    let (cover, rest) = said.split_once("#contents()").unwrap();
    assert!(cover.contains(r#"#note([#"before"])"#) && rest.contains(r#"#note([#"after"])"#), "{said}");
    assert!(cover.contains(r#"("報告書", "ja", none, "模擬環境", "run-1")"#), "{cover}");
    assert!(cover.contains(r#"#cover(("報告書",), none, (("顧客", "\"甲\\乙\""),), (("承認", ""),))["#), "{cover}");
}

#[test]
fn another_paper_is_set_behind_the_design() {
    let source = |paper| typeset(&Page { paper, ..page(vec![]) }, "none", Texts::of(Lang::Ja)).source;
    let [a4, letter] = [Paper::A4, Paper::Letter].map(source);
    let (head, cover) = letter.split_once("#set page(paper: \"us-letter\")\n").unwrap();
    assert_eq!(format!("{head}{cover}"), a4);
    assert!(head.contains("#show: report"), "{head}");
}

#[test]
fn what_is_folded_away_stands_in_the_annex_in_its_order() {
    let folded = |summary: &str, blocks| Block::Folded { summary: summary.to_owned(), blocks };
    let said =
        said(vec![Block::section("s", vec![folded("a", vec![Block::Note("in a".into())]), folded("b", vec![])])]);
    let (body, annex) = said.split_once("#annex(\"付録\")").unwrap();
    assert!(body.contains(r#"#folded(<folded-1>, "a", "(# ページ)")"#) && !body.contains("in a"), "{body}");
    let places = ["<folded-1>", "in a", "<folded-2>"].map(|mark| annex.find(mark).unwrap());
    assert!(places.is_sorted(), "{annex}");
    assert!(!source(vec![]).contains("#annex(\""));
}

#[test]
fn sections_are_as_deep_as_they_lie() {
    let inner = Section { title: "inner".to_owned(), blocks: vec![] };
    let said = said(vec![Block::section("outer", vec![Block::Section(inner)]), Block::section("next", vec![])]);
    for heading in [r#"level: 1, "outer""#, r#"level: 2, "inner""#, r#"level: 1, "next""#] {
        assert!(said.contains(heading), "{heading}: {said}");
    }
}

#[test]
fn words_keep_their_kinds_and_lines_break_after_the_parts_of_a_name() {
    let words =
        Text::from("a ").and(Span::Verdict(Verdict::Fail, "不合格".to_owned())).and(Span::Code("x/y".to_owned()));
    assert_eq!(text(&words), r##"[#"a "#judged("fail", "不合格")#code("x/","y",)]"##);
    let item = Item { text: "a".into(), note: Some("b".into()) };
    assert!(said(vec![Block::List(vec![item])]).contains(r##"#list(item([#"a"], [#"b"]), )"##));
}

#[test]
fn a_table_has_a_width_and_a_side_for_each_column() {
    let columns = vec![Column::words("名前"), Column::figures("µs")];
    let number = Number { in_annex: false, place: 12 };
    let table = Table { number, caption: "表".to_owned(), columns, rows: vec![vec!["a".into(), "1.5".into()]] };
    let said = said(vec![Block::Table(table)]);
    assert!(
        said.contains(r#"#tabular("表12", "表", "#)
            && said.contains(r#"(left,right,), ("名前","µs",),"#)
            && said.contains(r##"([#"a"], [#"1.5"], ),"##),
        "{said}"
    );
}

#[test]
fn two_short_facts_share_a_line() {
    let fact = |label: &str, value: &str| (label.to_owned(), Text::from(value));
    let long = "a value that takes a line of its own, as it is long";
    let rows = vec![fact("a", "1"), fact("b", "2"), fact("c", "3"), fact("d", long), fact("e", "5"), fact("f", "")];
    let said = said(vec![Block::facts("caption", rows)]);
    for row in [r##"("a", [#"1"], "b", [#"2"], )"##, r##"("c", [#"3"], )"##, r##"("e", [#"5"], )"##] {
        assert!(said.contains(row), "{row}: {said}");
    }
    assert!(said.contains(&format!(r##"("d", [#"{long}"], )"##)), "{said}");
}
