//! Runs side by side, as people and programs read them.

mod fixture;

use model::{Comparison, Finding, Measured, Run};
use unicode_width::UnicodeWidthStr;
use wireproof_report::{ComparisonDocument, Lang, comparison, comparison_schema};

/// A run of six repeats, and the same with every round trip a fifth slower.
fn slower() -> [Run; 2] {
    let (run, _) = fixture::run_with_limits();
    let mut slower = run.clone();
    for trial in &mut slower.trials {
        if let Measured::Latency { result, .. } = &mut trial.measured {
            let rtt = &mut result.rtt_ns;
            for figure in [&mut rtt.min, &mut rtt.p50, &mut rtt.p99] {
                *figure = figure.map(|ns| ns * 6 / 5);
            }
        }
    }
    slower.wireproof = "wireproof 0.2.0".into();
    [run, slower]
}

fn compared(tolerance: f64) -> Comparison {
    let [run, slower] = slower();
    verdict::compare(&run, &[slower], tolerance)
}

#[test]
fn the_terminal_shows_each_figure_with_what_follows() {
    let text = comparison(&compared(0.05), Lang::En);
    let row = |figure: &str| text.lines().find(|line| line.trim_start().starts_with(figure)).unwrap().to_owned();
    assert!(row("RTT p50").contains("+20.0 %") && row("RTT p50").ends_with("worse"), "{text}");
    assert!(row("Goodput").ends_with("no difference"), "{text}");
    assert!(text.contains("Up to 5 % worse is tolerated") && text.contains("program: \"wireproof"), "{text}");
    assert!(text.contains("Simulated environment"), "{text}");
}

#[test]
fn rows_fit_a_terminal_in_both_languages() {
    for lang in [Lang::En, Lang::Ja] {
        let text = comparison(&compared(0.0), lang);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("  ") || line.contains(" · ")).collect();
        assert!(rows.len() > 20, "{text}");
        for row in rows.into_iter().filter(|row| !row.contains("then")) {
            assert!(row.width() <= 80, "{} columns: {row}", row.width());
        }
        assert!(!text.contains('⟦'), "{text}");
    }
}

#[test]
fn too_few_trials_say_how_many_are_enough() {
    let [mut run, slower] = slower();
    run.trials.truncate(run.trials.len() / 3);
    let few = verdict::compare(&run, &[slower], 0.0);
    assert!(few.figures().all(|figure| figure.finding == Finding::NotDecidable));
    let text = comparison(&few, Lang::En);
    assert!(text.contains("--set repeats=4") && text.contains("Not decidable: 0 worse"), "{text}");
    assert!(!text.contains("by chance"), "there is no interval to explain: {text}");
}

#[test]
fn runs_without_anything_in_common_say_so() {
    let comparison_of = verdict::compare(&fixture::run(), &[fixture::wide_run()], 0.0);
    let text = comparison(&comparison_of, Lang::En);
    assert!(text.contains("no configuration in common") && text.contains("reference alone: UDP IPv4"), "{text}");
}

#[test]
fn the_document_keeps_to_its_schema() {
    let validator = jsonschema::validator_for(&comparison_schema()).unwrap();
    for tolerance in [0.0, 0.5] {
        let document = serde_json::to_value(ComparisonDocument::of(&compared(tolerance))).unwrap();
        let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(document["schema"], "wireproof-compare/1");
    }
}
