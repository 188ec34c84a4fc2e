//! Runs side by side, as people and programs read them.

mod fixture;

use model::{
    BedKind, Comparison, Conclusion, Finding, Measured, Mtu, Reading, Run,
    identity::{Identity, Price},
};
use unicode_width::UnicodeWidthStr;
use wireproof_report::{
    ComparisonDocument, Lang, Material, SHAPES, comparison, comparison_html, comparison_markdown, comparison_typst,
};

/// A form of a comparison, with the runs assessed.
fn shown<T>(
    form: fn(&Comparison, &[Material<'_>], Lang) -> T,
    comparison: &Comparison,
    runs: &[&Run],
    lang: Lang,
) -> T {
    let assessed: Vec<_> = runs.iter().map(|run| fixture::assessed(run, &[])).collect();
    let runs: Vec<_> = runs.iter().zip(&assessed).map(|(run, assessed)| Material::of(run, assessed)).collect();
    form(comparison, &runs, lang)
}

fn compared(tolerance: f64) -> Comparison {
    let [run, slower] = fixture::compared_runs();
    verdict::compare(&run, &[slower], tolerance)
}

#[test]
fn the_terminal_shows_each_figure_with_what_follows() {
    let text = comparison(&compared(0.05), Lang::En);
    let row = |figure: &str| text.lines().find(|line| line.starts_with(&format!("    {figure}"))).unwrap().to_owned();
    assert!(row("RTT p50").contains("+20.0 %") && row("RTT p50").ends_with("worse"), "{text}");
    assert!(row("Goodput").ends_with("worse") && row("Path MTU").ends_with("no difference"), "{text}");
    assert!(
        text.contains("Times and rates up to 5 % worse are tolerated") && text.contains("kernel: \"6.1.0-28-amd64\" →"),
        "{text}"
    );
    assert!(text.contains("Simulated environment"), "{text}");
}

#[test]
fn rows_fit_a_terminal_in_both_languages() {
    for lang in [Lang::En, Lang::Ja] {
        let text = comparison(&compared(0.0), lang);
        let rows: Vec<_> = text.lines().filter(|line| line.starts_with("  ") || line.contains(" · ")).collect();
        assert!(rows.len() > 20, "{text}");
        for row in rows.into_iter().filter(|row| !row.contains(" → ")) {
            assert!(row.width() <= 80, "{} columns: {row}", row.width());
        }
        assert!(!text.contains('⟦'), "{text}");
    }
}

#[test]
fn what_differs_between_two_beds_is_grouped() {
    let [run, mut ports] = fixture::compared_runs();
    ports.bed.kind = BedKind::Ports;
    ports.bed.name = "ports:eth1,eth2".into();
    ports.bed.simulated = false;
    for end in &mut ports.bed.endpoints {
        (end.driver, end.mtu, end.cpus_why) = ("ixgbe".into(), Mtu(9000), "as asked for".into());
    }
    for end in &mut ports.before.endpoints {
        end.interfaces[0].name = "eth1".into();
        end.interfaces[0].mtu = Reading::Known(9000);
        end.interfaces[0].driver = "ixgbe".into();
    }
    let compared = verdict::compare(&run, &[ports], 0.0);
    let differences = compared.runs[0].changed.len();
    assert!(differences > 10, "{differences}");
    for (lang, ends) in [
        (Lang::En, "test bed endpoint 1, test bed endpoint 2: "),
        (Lang::Ja, "エンドポイント 1、試験環境 エンドポイント 2: "),
    ] {
        let text = comparison(&compared, lang);
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("    ") && line.contains(" → ")).collect();
        let grouped: Vec<_> = lines.iter().filter(|line| line.contains(ends)).collect();
        assert!(grouped.len() == 1 && grouped[0].contains("9000"), "both ends share a line: {text}");
    }
    let text = comparison(&compared, Lang::En);
    assert_eq!(text.matches("endpoint 2 interface 1").count(), 1, "an interface has one line: {text}");
}

#[test]
fn too_few_trials_say_how_many_are_enough() {
    let [mut run, slower] = fixture::compared_runs();
    run.trials.retain(|trial| trial.repeat <= 2);
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
    assert!(text.contains("no configuration in common") && text.contains("reference only: UDP IPv4"), "{text}");
    assert!(text.contains("64 B, 10,000 round trips counted"), "{text}");
}

#[test]
fn what_was_not_measured_again_is_said() {
    let [run, mut fewer] = fixture::compared_runs();
    fewer.trials.retain(|trial| !matches!(trial.measured, Measured::Path { .. }));
    let gone = verdict::compare(&run, &[fewer], 10.0);
    assert_eq!(gone.conclusion, Conclusion::NotDecidable);
    assert!(comparison(&gone, Lang::En).contains("Configurations of the reference that were not measured again: "));
    let itself = verdict::compare(&run, std::slice::from_ref(&run), 0.0);
    assert!(comparison(&itself, Lang::En).contains("nothing new was measured since"));
    assert!(shown(comparison_html, &itself, &[&run, &run], Lang::Ja).contains("新しい測定なし"));
}

#[test]
fn the_document_keeps_to_its_schema() {
    let compare = SHAPES.iter().find(|shape| shape.name == "compare").map(|shape| (shape.schema)());
    let validator = jsonschema::validator_for(&compare.unwrap()).unwrap();
    for tolerance in [0.0, 0.5] {
        let document = serde_json::to_value(ComparisonDocument::of(&compared(tolerance))).unwrap();
        let errors: Vec<_> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
        assert_eq!(document["schema"], "wireproof-compare/1");
    }
}

#[test]
fn the_page_shows_tables_what_changed_and_both_bar_charts() {
    let [run, slower] = fixture::compared_runs();
    let compared = verdict::compare(&run, std::slice::from_ref(&slower), 0.05);
    assert!(!shown(comparison_html, &compared, &[&run, &slower], Lang::En).contains("per price"));
    for (lang, charts) in [(Lang::En, ["Gbit/s", "kpps"]), (Lang::Ja, ["Gbit/s", "パケット処理性能"])] {
        let page = shown(comparison_html, &compared, &[&run, &slower], lang);
        assert!(page.matches("<figure").count() == 2 && page.contains("6.12.0-1-amd64"));
        assert!(charts.iter().all(|words| page.contains(words)) && page.contains(&slower.id.0));
        assert!(!page.contains('⟦') && !page.contains("NaN"));
    }
}

#[test]
fn other_forms_say_what_the_page_says() {
    let [run, slower] = fixture::compared_runs();
    let (compared, runs) = (verdict::compare(&run, std::slice::from_ref(&slower), 0.05), [&run, &slower]);
    let text = shown(comparison_markdown, &compared, &runs, Lang::En);
    for said in
        ["> **Simulated environment**", "> **Worse**", "**Table 1** ", "**Figure 2** ", "6.12.0-1-amd64", &slower.id.0]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    let paper = shown(comparison_typst, &compared, &runs, Lang::Ja);
    for said in ["#tabular(\"表1\", ", "#drawing(\"図2\", ", "測定の比較", "datetime(year: 2026, month: 11"] {
        assert!(paper.source.contains(said), "{said}: {}", paper.source);
    }
    assert!(paper.files.iter().any(|file| file.name == "figure-2.svg") && !paper.source.contains('⟦'));
}

#[test]
fn the_bars_say_how_many_trials_there_were_not_how_many_were_planned() {
    let [run, mut slower] = fixture::compared_runs();
    let planned = slower.plan.repeats.get();
    slower.trials.retain(|trial| trial.repeat < planned);
    let compared = verdict::compare(&run, std::slice::from_ref(&slower), 0.05);
    let page = shown(comparison_html, &compared, &[&run, &slower], Lang::En);
    let of_bars = |run: &model::Run, n: u32| format!("{}, {} (veth), n = {n}", run.id, run.bed.name);
    assert!(page.contains(&of_bars(&run, planned)) && page.contains(&of_bars(&slower, planned - 1)), "{page}");
}

#[test]
fn prices_are_set_against_goodput_where_both_runs_have_one_in_the_same_currency() {
    let [mut run, mut slower] = fixture::compared_runs();
    let compared = verdict::compare(&run, std::slice::from_ref(&slower), 0.0);
    let price = |of: &str, amount, currency: &str| Price { of: of.into(), amount, currency: currency.into() };
    let mut page = |prices: [Price; 2]| {
        for (run, price) in [&mut run, &mut slower].into_iter().zip(prices) {
            run.identity = Some(Identity { prices: vec![price], ..Identity::default() });
        }
        shown(comparison_html, &compared, &[&run, &slower], Lang::En)
    };
    assert!(page([price("card", 60_000.0, "JPY"), price("card", 20_000.0, "JPY")]).contains("kbit/s per JPY"));
    assert!(!page([price("card", 60_000.0, "JPY"), price("card", 200.0, "EUR")]).contains("per price"));
    assert!(!page([price("card", 60_000.0, "JPY"), price("card", 0.0, "JPY")]).contains("per price"));
}
