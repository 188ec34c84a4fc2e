//! Forms of a report that CI systems read.

mod fixture;

use model::{Assessment, Identity, ManualItem, Plan, Run, Verdict};
use roxmltree::{Document, Node};
use serde_json::Value;
use wireproof_report::{self as report, Material};

/// A run with criteria of each verdict, a doubt, and an item whose name is no markup.
fn run() -> (Run, Assessment) {
    let (mut run, outcomes) = fixture::run_with_limits();
    let item = ManualItem {
        what: "cable <A> & #1\u{1b}[31m".to_owned(),
        criterion: None,
        result: None,
        verdict: Verdict::Fail,
        by: None,
        date: None,
        photos: vec![],
    };
    run.identity = Some(Identity { items: vec![item], ..Identity::default() });
    let assessment = fixture::assessed(&run, &outcomes);
    (run, assessment)
}

fn made(form: impl Fn(&Material<'_>) -> String) -> String {
    let (run, assessment) = run();
    form(&Material::of(&run, &assessment))
}

/// Number of all cases, of those that failed, and of those that were skipped.
fn counted() -> [usize; 3] {
    let verdicts: Vec<Verdict> = run().1.outcomes.iter().map(|it| it.verdict).chain([Verdict::Fail]).collect();
    let failed = verdicts.iter().filter(|it| **it == Verdict::Fail).count();
    let passed = verdicts.iter().filter(|it| **it == Verdict::Pass).count();
    [verdicts.len(), failed, verdicts.len() - passed - failed]
}

fn elements<'d>(document: &'d Document<'_>, name: &'static str) -> Vec<Node<'d, 'd>> {
    document.descendants().filter(|node| node.has_tag_name(name)).collect()
}

#[test]
fn junit_has_a_test_for_each_criterion() {
    let text = made(report::junit);
    let document = Document::parse(&text).expect("XML");
    let [all, failed, skipped] = counted();
    assert!(failed > 1 && skipped > 0 && all > failed + skipped, "{:?}", counted());
    let suite = elements(&document, "testsuite")[0];
    for (attribute, element, count) in
        [("tests", "testcase", all), ("failures", "failure", failed), ("skipped", "skipped", skipped)]
    {
        assert_eq!(suite.attribute(attribute), Some(count.to_string().as_str()), "{attribute}");
        assert_eq!(elements(&document, element).len(), count, "{element}");
    }
    let cases = elements(&document, "testcase");
    let names: Vec<_> = cases.iter().filter_map(|it| it.attribute("name")).collect();
    assert!(names.contains(&"cable <A> & #1\\u{1b}[31m"), "{names:#?}");
    let why: Vec<_> = elements(&document, "failure").iter().filter_map(|it| it.attribute("message")).collect();
    assert!(why.iter().any(|it| it.contains("criterion")), "{why:?}");
    assert!(elements(&document, "system-err")[0].text().is_some_and(|it| it.contains("[Trials: 3, 7")), "{text}");
}

#[test]
fn tap_numbers_each_criterion() {
    let text = made(report::tap);
    let [all, failed, skipped] = counted();
    let count = |it: fn(&str) -> bool| text.lines().filter(|line| it(line)).count();
    assert!(text.starts_with(&format!("TAP version 14\n1..{all}\n")), "{text}");
    assert_eq!(count(|line| line.starts_with("not ok ")), failed);
    assert_eq!(count(|line| line.starts_with("ok ") && line.contains(" # SKIP ")), skipped);
    assert!(text.contains("cable <A> & \\#1\\\\u{1b}[31m\n"), "no directive begins in a name: {text}");
    assert!(text.contains("\n# doubt: "), "{text}");
}

#[test]
fn sarif_has_what_is_to_be_looked_at() {
    let document: Value = serde_json::from_str(&made(report::sarif)).expect("JSON");
    let run = &document["runs"][0];
    let results = run["results"].as_array().expect("results");
    let levels = |level: &str| results.iter().filter(|it| it["level"] == level).count();
    let [_, failed, skipped] = counted();
    assert_eq!((levels("error"), levels("note")), (failed, skipped));
    assert!(levels("warning") > 0, "doubts");
    let rules: Vec<_> = run["tool"]["driver"]["rules"].as_array().expect("rules").iter().map(|it| &it["id"]).collect();
    assert!(
        results.iter().all(|it| rules.contains(&&it["ruleId"]) && it["locations"][0]["physicalLocation"].is_object())
    );
}

#[test]
fn annotations_are_a_line_each() {
    let text = made(report::annotations);
    let [_, failed, skipped] = counted();
    let count =
        |level: &str| text.lines().filter(|line| line.starts_with(&format!("::{level} title=wireproof%3A "))).count();
    assert_eq!((count("error"), count("notice")), (failed, skipped), "{text}");
    assert_eq!(count("error") + count("notice") + count("warning"), text.lines().count(), "{text}");
}

#[test]
fn a_run_without_criteria_has_its_configurations() {
    let run = fixture::run();
    let plan = Plan { limits: vec![], ..run.plan.clone() };
    let run = Run { plan, partial: true, ..run };
    let assessment = fixture::assessed(&run, &[]);
    let assessment = Assessment { outcomes: vec![], ..assessment };
    let text = report::tap(&Material::of(&run, &assessment));
    assert!(text.contains("latency UDP IPv4 spin 64 B\n"), "{text}");
    assert!(text.contains(" - the whole plan was measured\n") && text.contains("not ok "), "{text}");
}
