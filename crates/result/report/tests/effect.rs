//! The effect of a tuning, as people and programs read it.

mod fixture;

use model::{
    Run,
    change::Sysctl,
    inspection::{Check, Finding, Read, Severity},
    tuning::{Deviation, LeftOut, PlannedChange, TuningEffect, TuningInspection, TuningPlan, WhyLeftOut},
};
use verdict::{TunedRuns, tuning_effect};
use wireproof_report::{
    Lang, Material, SHAPES, TuningEffectDocument, effect_html, effect_markdown, effect_typst, tuning_effect as in_words,
};

fn plan(keys: &[&str]) -> TuningPlan {
    let change = |key: &&str| PlannedChange {
        setting: format!("sysctl {key}").parse().expect("a setting"),
        interface: None,
        before: "1".into(),
        wanted: "2".into(),
        why: "slow-start".into(),
        source: "RFC 5681".into(),
        can_cut: false,
        change: Sysctl { namespace: String::new(), key: (*key).into(), value: "2".into() }.into(),
    };
    let left = LeftOut {
        setting: "mtu".parse().expect("a setting"),
        interface: Some("eth1".into()),
        why: WhyLeftOut::CutsOff,
    };
    TuningPlan {
        profile: "latency".into(),
        interfaces: vec!["eth1".into()],
        changes: keys.iter().map(change).collect(),
        left_out: vec![left],
        rivals: vec!["irqbalance".into()],
        ..TuningPlan::default()
    }
}

/// The effect of a tuning that makes round trips shorter, and that of one without changes.
fn effects() -> ([TuningEffect; 2], [Run; 2]) {
    let [quick, slow] = fixture::compared_runs();
    let read = Read::of("always", "/sys/kernel/mm/transparent_hugepage/enabled");
    let finding = Finding::of(Check::HugePages, "", read, "madvise", &[]).unless(false, Severity::Warn, None);
    let inspected = TuningInspection { before: vec![finding.clone()], mended: vec![finding], ..Default::default() };
    let states = [(None, quick.clone())];
    let left = vec![Deviation { change: "net.y = 2".into(), now: "3".into() }];
    let of = |keys: &[&str], states, undone, left| {
        let (plan, inspected) = (plan(keys), inspected.clone());
        tuning_effect(TunedRuns { plan, first: &slow, states, undone, inspected, left })
    };
    let effect = of(&["net.x", "net.y"], &states, Some(&slow), left);
    let nothing = of(&[], &[], None, vec![]);
    ([effect, nothing], [slow, quick])
}

#[test]
fn each_form_says_what_changed_what_could_have_done_it_and_what_was_left() {
    let ([effect, nothing], runs) = effects();
    let assessed: Vec<_> = runs.iter().map(|run| fixture::assessed(run, &[])).collect();
    let runs: Vec<_> = runs.iter().zip(&assessed).map(|(run, assessed)| Material::of(run, assessed)).collect();
    for lang in [Lang::En, Lang::Ja] {
        let typst = effect_typst(&effect, &runs, lang).source;
        for text in [in_words(&effect, lang), effect_html(&effect, &runs, lang), effect_markdown(&effect, &runs, lang)]
        {
            for words in ["sysctl net.x", "irqbalance", "eth1", "net.y = 2"] {
                assert!(text.contains(words), "{words}: {text}");
            }
            assert!(!text.contains('⟦'), "{text}");
        }
        let nothing = in_words(&nothing, lang) + &effect_html(&nothing, &runs[..1], lang);
        assert!(!typst.contains('⟦') && !nothing.contains('⟦') && nothing.contains("irqbalance"), "{nothing}");
    }
    let text = in_words(&effect, Lang::En);
    // Six trials are too few for as many figures as these.
    for words in
        ["not decided", "always suffice", "Bonferroni", "mended by the steps: 1", "All steps were made at once"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(in_words(&nothing, Lang::En).contains("nothing to change for latency"));
}

#[test]
fn notes_fit_the_number_of_steps_and_of_figures() {
    let ([effect, _], _) = effects();
    let one = TuningEffect { steps: effect.steps[..1].to_vec(), ..effect.clone() };
    let text = in_words(&one, Lang::En);
    assert!(!text.contains("All steps were made at once") && text.contains("Bonferroni"), "{text}");
    let many = TuningEffect { compared: 1001, confidence: 1.0 - 0.05 / 1001.0, ..effect };
    assert!(in_words(&many, Lang::En).contains("99.995 % confidence"), "{}", in_words(&many, Lang::En));
}

#[test]
fn the_document_keeps_to_its_schema() {
    let schema = SHAPES.iter().find(|shape| shape.name == "tuning-effect").unwrap().schema;
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let ([effect, nothing], _) = effects();
    for effect in [effect, nothing] {
        let document = serde_json::to_value(TuningEffectDocument::of(&effect)).unwrap();
        let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{document:#}");
    }
}
