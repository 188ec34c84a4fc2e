//! The HTML report and the terminal's summary, in both languages.

#[path = "../fixture/mod.rs"]
mod fixture;
mod languages;

use std::time::{Duration, Instant};

use model::{
    Assessment, Card, Delta, Doubt, Engine, Environment, LimitOutcome, ManualItem, Measured, Plan, Reading, Reference,
    ReferenceComparison, Run, Source, Verdict,
    card::{Connector, LaneReadings, Module, ModuleReadings, Readings},
    trial::TcpSeconds,
};
use unicode_width::UnicodeWidthStr;
use wireproof_report::{self as report, Bars, Lang, Material, RawFile};

fn runs() -> Vec<(Run, Vec<LimitOutcome>)> {
    let without_limits = [
        fixture::run(),
        fixture::interrupted_run(),
        fixture::wide_run(),
        fixture::answering_run(),
        fixture::searching_run(),
    ]
    .map(|run| (run, vec![]));
    without_limits.into_iter().chain([fixture::run_with_limits()]).collect()
}

/// The HTML page of a run without references and files.
fn page(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> String {
    shown(&Material::of(run, &fixture::assessed(run, outcomes)), lang)
}

/// The English page of a run beside references.
fn beside(run: &Run, comparisons: Option<Vec<ReferenceComparison>>) -> String {
    let assessment = Assessment { comparisons, ..fixture::assessed(run, &[]) };
    shown(&Material::of(run, &assessment), Lang::En)
}

fn summary(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> String {
    report::summary(&Material::of(run, &fixture::assessed(run, outcomes)), lang, None)
}

/// The HTML page without the tags that keep a figure beside its unit.
fn shown(material: &Material<'_>, lang: Lang) -> String {
    let page = report::html(material, lang);
    let mut parts = page.split("<span class=\"quantity\">");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |read, part| read + &part.replacen("</span>", "", 1))
}

/// Each piece of text between tags, the style sheet and quoted code left out.
fn texts(html: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut skipping = None;
    for part in html.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("tags are closed");
        let name = tag.split(' ').next().unwrap_or_default().to_owned();
        match &skipping {
            Some(until) if name == *until => skipping = None,
            None if name == "style" || name == "code" => skipping = Some(format!("/{name}")),
            _ => {}
        }
        if skipping.is_none() && !text.trim().is_empty() && !tag.contains("lang=\"en\"") {
            texts.push(text.trim().replace("&quot;", "\""));
        }
    }
    texts
}

#[test]
fn the_first_page_and_the_terminal_answer_what_the_plan_asks() {
    let run = fixture::answering_run();
    for (lang, words) in [
        (
            Lang::En,
            ["Latency under load (bufferbloat): grade B", "The card is not fine", "a: virtual port", "64 B frames: "],
        ),
        (
            Lang::Ja,
            [
                "負荷時の遅延(バッファブロート): 評価 B",
                "カードは正常ではありません",
                "a: 仮想ポート",
                "64 B フレーム: ",
            ],
        ),
    ] {
        let (html, told) = (page(&run, &[], lang), summary(&run, &[], lang));
        for word in words {
            assert!(html.contains(word) && told.contains(word), "{word}: {told}");
        }
        let key_figures = if lang == Lang::En { "Key figures" } else { "主要な測定値" };
        assert!(html.find(words[0]) < html.find(key_figures), "on the first page");
        let (caption, same) =
            if lang == Lang::En { ("Checks of the card.", "as above") } else { ("検査項目。", "同上") };
        let table = html.split(caption).nth(2).and_then(|rest| rest.split("</table>").next()).expect("the checks");
        assert!(table.contains(same) && !table.contains("b: virtual port; "), "a row for each check: {table}");
    }
    let without = fixture::run();
    assert!(
        !page(&without, &[], Lang::En).contains("bufferbloat")
            && !summary(&without, &[], Lang::En).contains("virtual port")
    );
}

#[test]
fn a_search_has_its_bounds_and_its_course_in_every_form() {
    let run = fixture::searching_run();
    let assessment = fixture::assessed(&run, &[]);
    let (material, first) = (Material::of(&run, &assessment), &assessment.searches[0]);
    let bounds = first.goals[1].result;
    assert!(bounds.irregular.is_none() && bounds.relevant_upper_bound.is_some_and(|load| load > 3e6), "{bounds:?}");
    let [lower, upper] = [bounds.relevant_lower_bound, bounds.relevant_upper_bound]
        .map(|load| format!("{:.4} Mpps", load.unwrap_or_default() / 1e6));
    for (lang, words) in [
        (Lang::En, ["Searches for the highest load", "Course of the search: ", "sender did not reach the load"]),
        (Lang::Ja, ["最大負荷の探索", "探索の経過: ", "送信側が負荷に達しなかったため除外"]),
    ] {
        let forms = [shown(&material, lang), report::markdown(&material, lang), report::typst(&material, lang).source];
        for form in forms {
            for said in words.into_iter().chain([lower.as_str(), upper.as_str(), "PDR"]) {
                assert!(form.contains(said), "{said} is not there");
            }
        }
        let told = report::summary(&material, lang, None);
        assert!(told.contains(&lower) && told.contains(&upper) && told.contains("NDR"), "{told}");
    }
    let html = page(&run, &[], Lang::En);
    assert!(html.contains("1: 10.000 Mpps –, 2: "), "the first trial is not counted");
    assert!(!html.contains("Tester alone"));
    let mut beside = run.clone();
    beside.tester = run.trials.iter().filter(|trial| trial.repeat == 1).cloned().collect();
    for form in [page(&beside, &[], Lang::En), summary(&beside, &[], Lang::En)] {
        assert!(form.contains("INCONCLUSIVE: the tester alone, without the device, reaches no more"), "{form}");
    }
    assert!(page(&beside, &[], Lang::En).contains("Tester alone"));
    assert!(!page(&fixture::wide_run(), &[], Lang::En).contains("Searches for the highest load"));
}

#[test]
fn a_ladder_of_loads_is_one_line_and_a_curve() {
    let plan = "name = \"t\"\n[[packets]]\nframe_sizes = [64]\nduration = \"1 s\"\nrate = \"1 Mpps..10 Mpps\"\n";
    let (run, outcomes) = fixture::run_of_plan(plan);
    for (lang, heading, loads, curve) in [
        (Lang::En, "<h2>Summary", "10 loads", "Frame loss over the offered load"),
        (Lang::Ja, "<h2>要約", "10段階", "印加負荷とフレームロス率"),
    ] {
        let html = page(&run, &outcomes, lang);
        let summary = html.split(heading).nth(1).and_then(|rest| rest.split("</section>").next()).expect("the summary");
        assert_eq!(summary.matches("<li>").count(), 1, "{summary}");
        assert!(summary.contains(loads) && html.contains(curve), "{summary}");
    }
}

#[test]
fn a_device_under_test_has_a_row_for_each_configuration() {
    let run = fixture::through_bridge(fixture::run());
    let html = page(&run, &[], Lang::En);
    let table =
        html.split("What bridge counted").nth(2).and_then(|rest| rest.split("</table>").next()).expect("the table");
    assert_eq!(table.matches("<tr>").count(), 1 + run.plan.specs().len(), "{table}");
    // Three trials of 812,345 packets.
    assert!(table.contains("2,437,035"), "{table}");
}

#[test]
fn the_curve_of_a_ladder_breaks_where_another_engine_sent() {
    let plan = "name = \"t\"\n[[packets]]\nframe_sizes = [64]\nduration = \"1 s\"\nrate = \"1 Mpps..10 Mpps\"\n";
    let (mut run, outcomes) = fixture::run_of_plan(plan);
    let lines = |run: &Run| {
        let html = page(run, &outcomes, Lang::En);
        (html.matches("<polyline").count(), html.matches("breaks where another engine").count())
    };
    assert_eq!(lines(&run), (4, 0), "with the marks of two legends");
    let Measured::Packets { result, .. } = &mut run.trials[0].measured else { panic!("packets") };
    result.streams[0].sent.engine = Engine::Xsk;
    assert_eq!(lines(&run), (6, 2));
}

#[test]
fn an_answer_to_the_plans_question_stands_in_place_of_a_verdict() {
    let shown = |run: &Run| [page(run, &[], Lang::En), summary(run, &[], Lang::En)];
    let count = |run: &Run, words: &str| shown(run).iter().filter(|text| text.contains(words)).count();
    let mut run = fixture::answering_run();
    assert_eq!(count(&run, "Not judged"), 0);
    run.partial = true;
    assert_eq!((count(&run, "Not judged"), count(&run, "planned trials were measured")), (0, 2));
    run.plan.purpose = None;
    assert_eq!((count(&run, "Not judged"), count(&run, "grade B")), (0, 2), "latency under load alone");
    assert_eq!(count(&fixture::run(), "Not judged"), 2);
}

#[test]
fn a_limit_that_finds_nothing_says_in_the_readers_language_what_it_looked_for() {
    let mut run = fixture::run();
    let limit = "metric = \"rtt_p99\"\nat_most = \"1 ms\"\nprotocol = \"udp\"\nframe_size = 999\nunder_load = true";
    run.plan.limits = Plan::parse(&format!("name = \"t\"\n[[path]]\n[[limits]]\n{limit}"), &[]).expect("a plan").limits;
    let outcomes = verdict::judge(&run, &[]);
    for (lang, words) in [(Lang::En, "UDP, 999 B, under load"), (Lang::Ja, "UDP・999 B・負荷あり")] {
        let html = page(&run, &outcomes, lang);
        assert!(html.contains(words) && !html.contains("latency udp"), "{words}");
    }
}

#[test]
fn page_one_has_verdict_counts_key_figures_doubt_limit_and_stamps() {
    let (run, outcomes) = fixture::run_with_limits();
    let assessment = fixture::assessed(&run, &outcomes);
    let material = Material::of(&run, &assessment);
    let source = report::typst(&material, Lang::Ja).source;
    let (cover, rest) = source.split_once("#contents()").expect("the contents come behind the cover");
    let cover = cover.rsplit_once("#cover(").expect("a cover").1;
    for said in [
        "合格 2、不合格 2、判定できず 3。",
        "7項目のうち2項目が不合格です。3項目は判定できませんでした。理由: ",
        "主要な測定値",
        "39.70\u{a0}Gbit/s",
        "最も重要な注意",
        "制限要因",
        "承認",
    ] {
        assert!(cover.contains(said), "{said}: {cover}");
    }
    assert!(!cover.contains("指摘事項\"") && rest.contains("指摘事項"), "findings come behind it");
    for page in [report::html(&material, Lang::En), report::markdown(&material, Lang::En)] {
        let at = |said: &str| page.find(said).unwrap_or_else(|| panic!("{said} is not there"));
        let order = ["PASS 2, FAIL 2", "Key figures", "Gravest doubt", "Document number", "Conclusion", "Findings"];
        let order = order.map(at);
        assert!(order.is_sorted(), "{order:?}");
    }
}

/// The cover in Japanese, and the terminal's last words in English.
fn cover_and_terminal(run: &Run, outcomes: &[LimitOutcome]) -> [String; 2] {
    let assessment = fixture::assessed(run, outcomes);
    let source = report::typst(&Material::of(run, &assessment), Lang::Ja).source;
    let cover = source.split_once("#contents()").expect("the contents come behind the cover").0;
    [cover.rsplit_once("#cover(").expect("a cover").1.to_owned(), summary(run, outcomes, Lang::En)]
}

#[test]
fn page_one_says_what_failed_and_what_to_do() {
    let (mut run, outcomes) = fixture::run_with_limits();
    let [cover, _] = cover_and_terminal(&run, &outcomes);
    assert!(cover.contains("リンク速度: より速いリンクを使うか") && !cover.contains("不合格の内容"), "{cover}");

    // Failures without a limit: an item that a person checks, and a check of frames.
    run.identity.as_mut().unwrap().items.push(ManualItem {
        what: "ファン".into(),
        result: Some("異音".into()),
        verdict: Verdict::Fail,
        criterion: None,
        by: None,
        date: None,
        photos: vec![],
    });
    let [cover, terminal] = cover_and_terminal(&run, &[]);
    let said = "不合格の内容\", [#\"ファン – 異音(人による確認)";
    assert!(cover.contains(said) && cover.contains("再測定は不要です"), "{said}: {cover}");
    assert!(terminal.contains("FAIL: ファン – 異音\n"), "{terminal}");
    let [cover, _] = cover_and_terminal(&run, &outcomes);
    assert!(cover.contains("測定値2件(上の表で「不合格」)、ファン – 異音"), "{cover}");

    let plan = "name = \"t\"\n[[forwarding]]\n[[limits]]\nmetric = \"checks_failed\"\nat_most = \"0\"\n";
    let (forwarding, outcomes) = fixture::run_of_plan(plan);
    let [cover, _] = cover_and_terminal(&forwarding, &outcomes);
    assert!(cover.contains("TTL(ホップリミット) 64 → 64(正しくは 63)"), "{cover}");
    assert!(cover.contains("転送する装置の設定を見直し"), "{cover}");

    let open: Vec<LimitOutcome> =
        fixture::run_with_limits().1.into_iter().filter(|it| it.undecided.is_some()).collect();
    run.identity = None;
    let [cover, _] = cover_and_terminal(&run, &open);
    assert!(cover.contains("--set repeats=N で回数を増やして"), "an open verdict, too: {cover}");
}

#[test]
fn the_plans_choice_of_key_figures_is_shown() {
    let (run, mut outcomes) = fixture::run_with_limits();
    let shown = |outcomes: &[LimitOutcome]| {
        let html = page(&run, outcomes, Lang::En);
        let table = html.split("</b> Key figures").nth(1).and_then(|it| it.split("</table>").next());
        table.expect("key figures").to_owned()
    };
    let before = shown(&outcomes);
    assert!(before.contains("39.70 Gbit/s"));
    outcomes[0].limit.key = true;
    let chosen = shown(&outcomes);
    assert_ne!(chosen, before);
    assert!(chosen.contains("14.90 µs") && chosen.contains("39.70 Gbit/s"), "a failure stands there too: {chosen}");
}

#[test]
fn a_key_figure_whose_sender_missed_its_load_says_so() {
    let (run, mut outcomes) = fixture::run_with_limits();
    let says = |outcomes: &[LimitOutcome]| {
        let words = [(Lang::En, "of this load at worst"), (Lang::Ja, "しか達成していません")];
        words.map(|(lang, words)| page(&run, outcomes, lang).matches(words).count())
    };
    assert_eq!(says(&outcomes), [0, 0]);
    outcomes[2].load_reached = Some(0.853);
    assert_eq!(says(&outcomes), [1, 1]);
}

#[test]
fn a_criterion_is_said_once_and_what_is_open_alike_shares_a_row() {
    let (run, mut outcomes) = fixture::run_with_limits();
    let criterion = "at most 20 % worse than some-card";
    let open = outcomes.remove(4);
    let alike = ["256", "512", "1024"]
        .map(|size| LimitOutcome { probe: open.probe.replace("64 B", &format!("{size} B")), ..open.clone() });
    outcomes.extend(alike);
    let html = page(&run, &outcomes, Lang::En);
    let said = html.split("<h2>Items verified").nth(1).and_then(|rest| rest.split("<h2").next()).expect("the items");
    assert_eq!(said.matches(criterion).count(), 2, "once with its bound and once for three");
    assert!(said.contains("3 configurations: RTT p50") && said.contains(">5–7<"), "{said}");
    let findings = html.split("<h2>Findings").nth(1).and_then(|rest| rest.split("<h2").next()).expect("the findings");
    assert!(findings.contains("NOT COMPARABLE") && findings.contains("No. 5–7: it is not comparable with some-card"));
    assert_eq!(findings.matches("another statistic").count(), 1);
}

#[test]
fn the_report_is_one_small_file_rendered_at_once() {
    let (run, outcomes) = fixture::run_with_limits();
    let started = Instant::now();
    let html = page(&run, &outcomes, Lang::Ja);
    assert!(started.elapsed() < Duration::from_secs(2), "took {:?}", started.elapsed());
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    for outside in ["http:", "https:", "<script", "<link", "@import", "url("] {
        assert!(!html.contains(outside), "the report refers to something outside itself: {outside}");
    }
    assert_eq!(html.matches("<img").count(), html.matches("src=\"data:image/").count());
}

#[test]
fn figures_and_tables_can_be_read_out() {
    let html = page(&fixture::run(), &[], Lang::En);
    assert_eq!(html.matches("role=\"img\"").count(), html.matches("<title id=").count());
    assert_eq!(html.matches("<svg viewBox=\"0 0 640").count(), 4);
    assert_eq!(html.matches("<table").count(), html.matches("<caption>").count());
    assert!(html.contains("<desc id=\"figure-2-description\">UDP IPv4, spin, 64 B: p50 "));
    let cores = "<desc id=\"figure-5-description\">TCP IPv4, 1 stream (n = 3), core 0 · sender: programs (user) ";
    assert!(html.contains(cores));
}

#[test]
fn a_limit_from_a_reference_names_it_and_what_is_not_alike() {
    let (run, outcomes) = fixture::run_with_limits();
    let english = page(&run, &outcomes, Lang::En);
    for said in [
        "at most 2.82 µs (at most 20 % worse than some-card)",
        "it is not comparable with some-card (the source has another statistic (mean))",
        "Limits from some-card were judged under other conditions than those of its figures: Network stack here kernel",
        "Network stack here kernel, there bypass; Link rate here not set or not known, there 10 Gbit/s.",
    ] {
        assert!(english.contains(said), "{said}");
    }
    let japanese = page(&run, &outcomes, Lang::Ja);
    assert!(japanese.contains("参照値 some-card に対する悪化が 20 % 以内"));
    assert!(japanese.contains("some-card とは比較不可(出典の統計量が異なるため(平均))"));
}

#[test]
fn what_others_measured_is_dotted_and_not_taken_for_a_percentile_of_ours() {
    let run = fixture::run();
    let comparisons = fixture::comparisons(&run);
    let (with, without) = (beside(&run, Some(comparisons)), beside(&run, None));
    assert!(
        with.contains(" dotted\"><polyline")
            && with.contains("class=\"cross\"")
            && with.contains("Dotted, with crosses")
    );
    assert!(!without.contains(" dotted\"") && !without.contains("Dotted, with crosses"));
}

#[test]
fn sections_are_reached_and_figures_and_tables_numbered() {
    let run = fixture::wide_run();
    let english = page(&run, &[], Lang::En);
    let links: Vec<&str> = english.split("href=\"#").skip(1).filter_map(|link| link.split('"').next()).collect();
    assert_eq!(links.len(), english.matches("<h2>").count());
    assert!(links.iter().all(|link| english.contains(&format!("<section id=\"{link}\">"))), "{links:?}");
    let in_annex = english.matches(">Table A.").count();
    let on_page = english.matches("<table").count() - in_annex;
    assert!(in_annex > 1 && on_page > 1);
    let of_annex = (1..=in_annex).map(|place| format!("A.{place}"));
    for table in (1..=on_page).map(|place| place.to_string()).chain(of_annex) {
        assert_eq!(english.matches(&format!(">Table {table}</b>")).count(), 1);
    }
    let japanese = page(&run, &[], Lang::Ja);
    assert!(japanese.contains(">図2</b>") && japanese.contains(">表1</b>"));
}

#[test]
fn every_sheet_of_a_simulated_bed_says_so() {
    let mut run = fixture::run();
    let mark = "<p class=\"sheet-mark\" aria-hidden=\"true\">Simulated environment</p>";
    assert!(page(&run, &[], Lang::En).contains(mark));
    run.bed.simulated = false;
    let real = page(&run, &[], Lang::En);
    assert!(!real.contains("class=\"sheet-mark\"") && !real.contains("Simulated environment"));
}

#[test]
fn a_run_stands_beside_what_others_measured() {
    let run = fixture::run();
    let comparisons = fixture::comparisons(&run);
    let assessment = Assessment { comparisons: Some(comparisons), ..fixture::assessed(&run, &[]) };
    let material = Material::of(&run, &assessment);
    let english = shown(&material, Lang::En);
    for said in [
        "Measured by: A tester (tester&#39;s measurement), 2015-07-31. On: X1, 1 m fibre. Source: A report.",
        "1.174333 µs",
        "Environment here simulated, there hardware; Network stack here kernel, there bypass",
        "1 of its figures, because the run has no trial with frames of 9000 bytes.",
        "because the source counts each packet twice, as sent and as received.",
        "Its table says one thing, its text another.",
        "38 Gbit/s: About.",
        "alike, as far as stated",
        "some-card: UDP mean (other conditions)",
    ] {
        let plain = said.replace("&#39;", "'");
        assert!(english.contains(said) || english.contains(&plain), "{said}");
    }
    assert_eq!(english.matches("Environment here simulated").count(), 1, "what all rows share is said once");
    let japanese = shown(&material, Lang::Ja);
    for said in
        ["あるカード", "表と本文が一致しません。", "検証者による実測値", "乖離率", "対象: X1, 光ファイバー1 m。"]
    {
        assert!(japanese.contains(said), "{said}");
    }
    assert!(japanese.contains("ネットワークスタック(本測定: カーネル、比較対象: バイパス)"));
    assert!(japanese.contains("待機方式(本測定: スピン待ち、比較対象: ブロック待ち)"));
    for page in [&english, &japanese] {
        assert!(!page.contains('⟦'));
    }
    assert!(!texts(&english).iter().any(|text| text.contains(languages::is_japanese)));
    let summary = report::summary(&material, Lang::En, None);
    assert!(summary.contains("Beside some-card: 3 compared, deviation +"), "{summary}");
    assert!(summary.contains("Beside iperf3-here: 2 compared, deviation "), "{summary}");
}

#[test]
fn a_simulated_run_says_why_hardware_figures_are_not_beside_it() {
    let run = fixture::run();
    let sentence = "hardware figures of others cannot be compared with it";
    assert!(beside(&run, Some(vec![])).contains(sentence));
    assert!(!beside(&run, None).contains(sentence) && !beside(&run, None).contains("Comparison with references"));
    let mut real = fixture::run();
    real.bed.simulated = false;
    let page = beside(&real, Some(vec![]));
    assert!(page.contains("No reference has a figure that this run can be compared with."));
}

#[test]
fn simulated_verdict_doubts_and_command_are_said() {
    let (run, outcomes) = fixture::run_with_limits();
    let english = page(&run, &outcomes, Lang::En);
    let steal = format!("Trials: 3, 7 (2 of {})", run.trials.len());
    for said in ["Simulated environment", "FAIL", "INCONCLUSIVE", "up to 3.5 %", &steal] {
        assert!(english.contains(said), "{said}");
    }
    assert!(english.contains("wireproof verify quick --bed lab"));
    let japanese = page(&run, &outcomes, Lang::Ja);
    for said in
        ["模擬環境", "不合格", "判定保留", "信頼性に関する注意", "往復遅延時間(RTT)", "実効スループット(グッドプット)"]
    {
        assert!(japanese.contains(said), "{said}");
    }
}

#[test]
fn half_of_an_rtt_is_labelled_as_derived() {
    let mut pages_with_it = 0;
    for (run, outcomes) in runs() {
        let page = page(&run, &outcomes, Lang::En);
        let tables: Vec<&str> = page.split("<table").filter(|table| table.contains("RTT/2")).collect();
        assert!(tables.iter().all(|table| table.contains("p50")), "it stands beside what it is half of");
        assert!(
            !page.contains("one-way latency") && !page.contains("RTT/2 of p99"),
            "no percentile of it but the median's"
        );
        assert!(tables.is_empty() || page.contains("It is not a measured one-way delay"));
        pages_with_it += usize::from(!tables.is_empty());
    }
    assert!(pages_with_it > 0, "no page showed it");
}

#[test]
fn figures_that_one_trial_lacks_are_not_shown_for_all() {
    let html = page(&fixture::interrupted_run(), &[], Lang::En);
    assert!(html.contains("Partial: 4 of 39 planned trials were measured."));
    assert!(html.contains("3 / 0 / 0 / 0"));
    assert!(html.contains("(one trial)") && !html.contains("15.22 – 15.22"));
    let row = html.split("<tr>").find(|row| row.contains("3 / 0 / 0 / 0")).expect("the row with lost replies");
    assert!(row.contains("<td class=\"n\">–</td>"), "the maximum is unknown: {row}");
}

#[test]
fn both_network_stacks_stand_beside_each_other() {
    let run = fixture::wide_run();
    let assessment = fixture::assessed(&run, &[]);
    let material = Material::of(&run, &assessment);
    let (english, japanese) = ("the median round trip past the kernel is 0.5", "RTTの中央値は、カーネル経由の 0.5");
    for (lang, line, caption) in
        [(Lang::En, english, "below 1: the bypass is quicker"), (Lang::Ja, japanese, "1未満ならバイパスのほうが速い")]
    {
        let page = shown(&material, lang);
        assert!(page.contains(line) && page.contains(caption), "{lang:?}");
        assert!(report::summary(&material, lang, None).contains(line), "{lang:?}");
    }
    // All cards of one were zero-copy, none of the other.
    for (lang, zero_copy, copy) in [
        (Lang::En, "the card reads and writes the packets in the program’s own memory", "does no zero-copy AF_XDP"),
        (Lang::Ja, "ゼロコピーモード", "コピーモード: ドライバーがゼロコピー"),
    ] {
        let page = shown(&material, lang);
        assert!(page.contains(zero_copy) && page.contains(copy), "{lang:?}");
    }
    let by_kernel_alone = fixture::run();
    assert!(!page(&by_kernel_alone, &[], Lang::En).contains("past the kernel"));
}

#[test]
fn the_summary_has_a_row_for_each_configuration() {
    let (run, outcomes) = fixture::run_with_limits();
    let english = summary(&run, &outcomes, Lang::En);
    let row = |start: &str| english.lines().any(|line| line.trim_start().starts_with(start));
    for spec in ["UDP IPv4, spin, 64 B", "TCP IPv4, spin, 1518 B", "UDP IPv4, block, 64 B", "TCP IPv4, 2 streams"] {
        assert!(row(spec), "{spec} is missing:\n{english}");
    }
    assert!(row("[Simulated environment]") && row("PASS: UDP IPv4, spin, 64 B RTT p50, at most 30.00 µs"), "{english}");
    assert!(row("Verdict: FAIL.") && row("! The hypervisor took up to 3.5 %"), "{english}");
    assert!(summary(&run, &outcomes, Lang::Ja).contains("判定: 不合格"));
}

#[test]
fn a_doubt_of_the_run_and_of_its_trials_stands_once_with_their_count() {
    let mut run = fixture::run();
    let busy = |cpu, percent| Doubt::OtherLoad { cpu, percent, machine: String::new() };
    run.doubts.push(busy(0, 30.0));
    run.trials[0].doubts = vec![busy(0, 42.0), busy(1, 20.0)];
    run.trials[2].doubts = vec![busy(1, 25.0)];
    let of = run.trials.len();
    let english = format!("Whole run; trials: 1, 3 (2 of {of})");
    let japanese = format!("測定全体、および{of}回中2回の試行(試行1, 3)に該当");
    for (lang, cores, place) in
        [(Lang::En, "(core 0: 42 %, core 1: 25 %)", english), (Lang::Ja, "(コア 0: 42 %、コア 1: 25 %)", japanese)]
    {
        for output in [page(&run, &[], lang), summary(&run, &[], lang)] {
            assert_eq!(output.matches(&place).count(), 1, "{place}: {output}");
            let details = output.split(&place).next().unwrap_or_default();
            assert!(details.contains(cores), "{cores}: {output}");
        }
        let told = summary(&run, &[], lang);
        assert_eq!(told.matches(cores).count(), 1, "{told}");
    }
}

#[test]
fn a_doubt_of_all_trials_names_none_of_them() {
    let mut run = fixture::run();
    run.trials.iter_mut().for_each(|trial| trial.doubts = vec![Doubt::DataEndedEarly]);
    for (lang, all, some) in [(Lang::En, "All trials", "Trials: 1"), (Lang::Ja, "全試行に該当", "該当する試行: ")]
    {
        let told = summary(&run, &[], lang);
        assert!(told.contains(all) && !told.contains(some), "{told}");
    }
    run.doubts = vec![Doubt::DataEndedEarly];
    let told = summary(&run, &[], Lang::En);
    assert!(told.contains("Whole run") && !told.contains("rials: 1"), "{told}");
}

#[test]
fn histograms_stand_between_tables_and_verdict_where_they_are_asked_for() {
    let (run, outcomes) = fixture::run_with_limits();
    let assessment = fixture::assessed(&run, &outcomes);
    let material = Material::of(&run, &assessment);
    for lang in [Lang::En, Lang::Ja] {
        let told = report::summary(&material, lang, Some(Bars::Blocks));
        let latencies = run.trials.iter().filter(|trial| matches!(trial.measured, Measured::Latency { .. }));
        let mut specs: Vec<String> = latencies.map(|trial| format!("{:?}", trial.measured.spec())).collect();
        specs.sort();
        specs.dedup();
        assert_eq!(told.matches("n = ").count(), specs.len(), "one a configuration: {told}");
        let too_long: Vec<_> = told.lines().filter(|line| line.contains('█') && line.width() > 80).collect();
        assert!(too_long.is_empty(), "{too_long:#?}");
        let verdict = if lang == Lang::En { "Verdict: " } else { "判定: " };
        assert!(told.rfind('█') < told.find(verdict), "the verdict comes last: {told}");
        assert!(!report::summary(&material, lang, Some(Bars::Ascii)).contains('█'));
    }
    let mut without = fixture::run();
    without.trials.retain(|trial| !matches!(trial.measured, Measured::Latency { .. }));
    let assessment = fixture::assessed(&without, &[]);
    let told = report::summary(&Material::of(&without, &assessment), Lang::En, Some(Bars::Blocks));
    assert!(told.contains("No latency was measured"), "{told}");
}

#[test]
fn loads_loss_directions_and_paths_are_shown() {
    let html = page(&fixture::wide_run(), &[], Lang::En);
    for said in [
        "64 → 70",
        "UDP IPv4, spin, at 100 kpps",
        "Inter-departure time asked for",
        "at 100 kpps, 64 B: this side’s full socket buffer dropped 12 replies",
        "One-way delay a → b",
        "Wire and far end",
        "<strong>70, 512</strong>",
        "one by one (mmsg)",
        "by GSO",
        "UDP IPv4, 1 stream, 1024 B datagrams, at 2 Gbit/s",
        "<td>b → a</td>",
        "0 / 182,000",
        "larger packets vanish without notice",
        "Hops from the near to the far end",
        "198.18.0.1, 198.18.0.9",
        "<strong>80.00 µs</strong>",
        "100.00 %",
        "Path MTU, IPv4; Path MTU, IPv6",
        "<code>br0</code>",
        "RcvbufErrors",
        "chrt -f 50",
        "(no coordinated omission)",
        "cut off after 2 whole seconds",
    ] {
        assert!(html.contains(said), "{said}");
    }
    let quick = page(&fixture::run(), &[], Lang::En);
    for unused in ["open loop", "MSG_ZEROCOPY", "SO_BUSY_POLL", "Datagrams (UDP)", "Path MTU (B)</th></tr>", "Hops"] {
        assert!(!quick.contains(unused), "{unused} is explained though the run did not use it");
    }
}

#[test]
fn the_theoretical_maximum_stands_beside_goodput_where_the_link_has_a_rate() {
    let mut run = fixture::wide_run();
    let simulated = page(&run, &[], Lang::En);
    assert!(simulated.contains("Theoretical maximum: not known") && !simulated.contains(">Theoretical maximum</th>"));
    run.bed.simulated = false;
    let real = page(&run, &[], Lang::En);
    assert!(real.contains(">Theoretical maximum</th>") && real.contains(">Largest frame rate</th>"));
    // 10 Gbit/s: 1024 bytes in frames of 1070, and 1448 in frames of 1518.
    for figure in ["1.15 Mpps", "9.41"] {
        assert!(real.contains(&format!(">{figure}</td>")), "{figure}");
    }
    let japanese = page(&run, &[], Lang::Ja);
    assert!(japanese.contains(">理論最大値</th>") && japanese.contains("リンク速度 × ペイロード長"));
}

#[test]
fn no_loss_is_no_claim_where_the_sender_did_the_receiving() {
    let mut run = fixture::wide_run();
    for trial in &mut run.trials {
        if let Measured::Goodput { result, .. } = &mut trial.measured {
            for flow in &mut result.flows {
                let arrived = flow.received.datagrams.as_ref().map(|datagrams| datagrams.received);
                flow.sent.datagrams.iter_mut().zip(arrived).for_each(|(sent, arrived)| sent.sent = arrived);
            }
        }
        trial.counters.iter_mut().for_each(|end| end.deltas.retain(|delta| delta.source != Source::Softnet));
    }
    let page = |run: &Run| page(run, &[], Lang::En);
    assert!(!page(&run).contains("synchronous loop"));
    for trial in &mut run.trials {
        let of = format!("cpu {}", trial.cpus[0].first().copied().unwrap_or_default());
        trial.counters[1].deltas.push(Delta { source: Source::Softnet, of, name: "processed".into(), delta: 9_000 });
    }
    let synchronous = page(&run);
    assert!(synchronous.contains("(synchronous loop)</strong>") && synchronous.contains("no claim about a path"));
}

#[test]
fn connections_are_shown_second_by_second_where_they_were_read() {
    let mut run = fixture::run();
    let english = page(&run, &[], Lang::En);
    let table = english.split("<table").find(|table| table.contains("Seconds with retransmits")).expect("the table");
    for cell in ["61 – 79", "84 – 140", "6 / 15", "7"] {
        assert!(table.contains(&format!(">{cell}</td>")), "{cell}: {table}");
    }
    let retransmits = |table: &&str| table.contains(">Retransmits</th>") || table.contains("Retransmits per");
    assert_eq!(english.split("<table").filter(retransmits).count(), 1, "their number stands once");
    assert!(page(&run, &[], Lang::Ja).contains("再送があった秒数"));
    let flows = run.trials.iter_mut().filter_map(|trial| match &mut trial.measured {
        Measured::Goodput { result, .. } => Some(&mut result.flows),
        _ => None,
    });
    flows
        .flatten()
        .flat_map(|flow| &mut flow.sent.tcp)
        .for_each(|connection| connection.seconds = TcpSeconds::default());
    assert!(!page(&run, &[], Lang::En).contains("Seconds with retransmits"));
}

#[test]
fn retransmits_of_the_warm_up_are_told_beside_those_of_the_counted_time() {
    let mut run = fixture::run();
    assert!(!page(&run, &[], Lang::En).contains("during the warm-up too"), "they were not counted apart");
    let transfers = run.trials.iter_mut().filter_map(|trial| match &mut trial.measured {
        Measured::Goodput { result, .. } => Some(&mut result.flows),
        _ => None,
    });
    for connection in transfers.flatten().flat_map(|flow| &mut flow.sent.tcp) {
        (connection.retransmits, connection.warmup_retransmits) = (61_503, Some(1_503));
    }
    let english = page(&run, &[], Lang::En);
    assert!(
        english.contains(">60,000</td>") && english.contains("the warm-up too: 3,006 in the transfer"),
        "{english}"
    );
    assert!(summary(&run, &[], Lang::En).contains(" 60000"));
    assert!(page(&run, &[], Lang::Ja).contains("最も多い転送で 3,006"));
}

#[test]
fn what_a_cut_off_sender_counted_is_a_dash() {
    let mut run = fixture::wide_run();
    run.trials.retain(|trial| !trial.is_whole());
    let html = page(&run, &[], Lang::En);
    let row = html.split("<tr>").find(|row| row.contains("zerocopy") && row.matches("<td").count() > 5);
    let cells: Vec<&str> = row.unwrap_or_default().split("<td").collect();
    assert!(cells[cells.len() - 2].contains('–') && cells[cells.len() - 1].contains('–'), "{cells:?}");
}

#[test]
fn the_terminal_has_eighty_columns() {
    let (run, outcomes) = fixture::run_with_limits();
    for lang in [Lang::En, Lang::Ja] {
        for text in [summary(&fixture::wide_run(), &[], lang), summary(&run, &outcomes, lang)] {
            let tables = text.lines().filter(|line| line.starts_with("  ") && !line.starts_with("  !"));
            let too_long: Vec<_> = tables.filter(|line| line.width() > 80).collect();
            assert!(too_long.is_empty(), "{too_long:#?}");
        }
    }
}

#[test]
fn the_cover_says_whose_document_it_is_and_leaves_boxes_for_a_pen() {
    let (run, outcomes) = fixture::run_with_limits();
    let html = page(&run, &outcomes, Lang::En);
    for said in ["NW-17 acceptance", "NW-2026-017", "Example Ltd.", "H. Sato\n2026-11-22", "SN-0042", "Slot 3 instead"]
    {
        assert!(html.contains(said), "{said}");
    }
    let empty = page(&fixture::run(), &[], Lang::Ja);
    assert_eq!(empty.matches("class=\"blank\"").count(), 5, "number, revision, day, customer and site");
    assert_eq!(empty.matches("<dd></dd>").count(), 3, "a box for each of three people");
    for said in [
        "文書番号",
        "発行日",
        "顧客名",
        "実施場所",
        "作成",
        "確認",
        "承認",
        "申告された逸脱はありません",
        "不合格または判定できなかった項目はありません",
    ] {
        assert!(empty.contains(said), "{said}");
    }
}

#[test]
fn every_item_has_its_number_criterion_result_and_verdict() {
    let (run, outcomes) = fixture::run_with_limits();
    let html = page(&run, &outcomes, Lang::En);
    let table = html.split("</b> Everything that was verified").nth(1).and_then(|it| it.split("</table>").next());
    let table = table.expect("the items");
    let rows = table.split("<tr>").skip(2).collect::<Vec<_>>();
    assert!(rows[0].contains("14.90 µs (14.20 – 15.80 µs)") && rows[0].contains("PASS"), "{}", rows[0]);
    let free = rows.iter().find(|row| row.contains("No criterion")).expect("what no limit speaks of");
    assert!(free.contains("Round-trip time (RTT): ") && free.contains(" configurations"), "{free}");
    let last = rows[rows.len() - 1];
    assert!(last.contains("Cables labelled") && last.contains("NOT RUN"), "{last}");
    assert!(rows[rows.len() - 2].contains("H. Sato, 2026-11-21"), "who ticked it");
    assert!(html.contains("data:image/png;base64,"), "its photo");
    let issues = html.split("<h2").find(|part| part.starts_with(">Findings")).expect("the findings");
    for issue in ["INCONCLUSIVE", "FAIL", "Cables labelled", "39.70 Gbit/s (39.10 – 39.90 Gbit/s)"] {
        assert!(issues.contains(issue), "{issue}");
    }
}

#[test]
fn the_files_beside_the_report_stand_there_with_their_sums() {
    let run = fixture::run();
    let file = RawFile { name: "raw/plan.toml".into(), bytes: 1234, sha256: "ab".repeat(32) };
    let assessment = fixture::assessed(&run, &[]);
    let material = Material { files: &[file], ..Material::of(&run, &assessment) };
    let html = shown(&material, Lang::En);
    for said in ["raw/plan.toml", "1,234", &"ab".repeat(32), "sha256sum -c SHA256SUMS"] {
        assert!(html.contains(said), "{said}");
    }
}

#[test]
fn facts_that_could_not_be_read_say_so_in_both_languages() {
    let mut run = fixture::run();
    fn refused<T>(path: &str) -> Reading<T> {
        Reading::Unreadable { path: path.into(), why: "Permission denied".into() }
    }
    for environment in [Some(&mut run.before), run.after.as_mut()].into_iter().flatten() {
        let host = &mut environment.hosts[0];
        (host.kernel, host.cpus, host.os) = (refused("/proc/osrelease"), refused("/sys/online"), Reading::Absent);
        host.mitigations.insert("srbds".to_owned(), refused("/sys/srbds"));
        environment.endpoints[0].sysctls.insert("net.ipv4.tcp_wmem".to_owned(), refused("/proc/tcp_wmem"));
        let interface = &mut environment.endpoints[0].interfaces[0];
        (interface.driver, interface.mtu, interface.mac) =
            (refused("ethtool -i eth0"), refused("ip link"), Reading::Absent);
    }
    for (lang, words) in [(Lang::En, "cannot be read"), (Lang::Ja, "読み取れない")] {
        let html = page(&run, &[], lang);
        for path in ["/proc/osrelease", "/sys/online", "/sys/srbds", "/proc/tcp_wmem", "ethtool -i eth0", "ip link"] {
            assert!(html.contains(&format!("{path}: Permission denied")) && html.contains(words), "{path}");
        }
    }
}

#[test]
fn what_the_cards_read_stands_in_the_report_with_what_became_of_it() {
    let mut run = fixture::run();
    let card = Card {
        model: "Intel Corporation 82599ES".into(),
        connector: Connector::Fibre.into(),
        module: Module { form: "SFP".into(), wavelength_nm: Some(850), ..Module::default() }.into(),
        top_speed_mbps: 10_000_u32.into(),
        ..Card::default()
    };
    let readings = |celsius, received_mw| {
        let lanes = vec![LaneReadings { received_mw, sent_mw: 0.5, bias_ma: 7.0 }];
        Readings {
            up: Reading::Known(true),
            carrier: Some(true),
            temperatures: vec![("loc1".into(), celsius)],
            module: ModuleReadings { celsius: 38.5, volts: 3.3, lanes, received_limits: None }.into(),
            ..Readings::default()
        }
    };
    let read = |environment: &mut Environment, celsius, received_mw| {
        let end = &mut environment.endpoints[0];
        end.interfaces[0].card = Some(card.clone());
        end.readings = [("eth0".to_owned(), readings(celsius, received_mw))].into();
    };
    assert!(!page(&run, &[], Lang::En).contains("What the cards read"), "there is none");
    read(&mut run.before, 41.0, 0.4);
    read(run.after.as_mut().unwrap(), 54.0, 0.0);
    let cards = page(&run, &[], Lang::En);
    for said in
        ["Intel Corporation 82599ES", "loc1 41 °C → loc1 54 °C", "850 nm", "0.400 mW", "no signal", "up, 10.00 Gbit/s"]
    {
        assert!(cards.contains(said), "{said}");
    }
    assert!(run.changes().is_empty(), "nobody changed anything");
    assert!(page(&run, &[], Lang::Ja).contains("カードの読み取り値"));
}

#[test]
fn transfers_stand_in_a_table_with_what_is_missing_and_what_is_damaged() {
    let plan = "name = \"transfer\"\nrepeats = 3\n[[transfer]]\ncontents = [\"file\", \"small-files\"]\n[[limits]]\nmetric = \"damaged\"\nat_most = \"0\"";
    let (run, outcomes) = fixture::run_of_plan(plan);
    for (lang, words) in [
        (
            Lang::En,
            [
                "vsftpd is not installed at b: sudo apt install vsftpd",
                "NOT RUN",
                "damaged",
                "too short to say what limited it",
                "10,000 × 4 KiB",
            ],
        ),
        (
            Lang::Ja,
            [
                "b に vsftpd がインストールされていません: sudo apt install vsftpd",
                "未実施",
                "破損",
                "短すぎて、制限要因も",
                "個/秒",
            ],
        ),
    ] {
        let shown = [page(&run, &outcomes, lang), summary(&run, &outcomes, lang)];
        assert!(words.iter().all(|word| shown[0].contains(word)), "{}", shown[0]);
        assert!(shown.iter().all(|text| text.contains(words[1]) && !text.contains('⟦')), "{}", shown[1]);
        assert!(shown[0].contains("/usr/bin/client 198.18.0.2 40001"), "{}", shown[0]);
    }
    let source = "id = \"files\"\ntitle = { en = \"Files of others\" }\nkind = \"somebody\"\n[[figures]]\nmetric = \"transfer\"\n\
                  statistic = \"mean\"\nvalue = \"60.2 MiB/s\"\nconditions = { tool = \"scp\" }";
    let source = Reference::parse(source).expect("a source");
    let beside = beside(&run, Some(verdict::beside_references(&run, &[source], &verdict::Chosen::All)));
    assert!(
        beside.matches("Files of others").count() > 2,
        "in the table's title, the legend and the words of the bar: {beside}"
    );
    let csv = report::csv(&Material::of(&run, &fixture::assessed(&run, &outcomes))).expect("figures can be written");
    assert_eq!(csv.lines().count(), 1 + 3 * run.plan.specs().len(), "{csv}");
}

#[test]
fn checks_of_forwarding_stand_in_a_table_with_their_first_fault() {
    let plan = "name = \"forwarding\"\n[[forwarding]]\n[[forwarding]]\nip = 6\nframes = 20\n[[limits]]\nmetric = \"checks_failed\"\nat_most = \"0\"";
    let (run, outcomes) = fixture::run_of_plan(plan);
    for (lang, words) in [
        (
            Lang::En,
            [
                "TTL or hop limit 64 → 64, expected 63",
                "only on interfaces of that VLAN",
                "IPv6, 20 frames",
                "not applicable",
                "FAIL",
            ],
        ),
        (
            Lang::Ja,
            [
                "TTL(ホップリミット) 64 → 64(正しくは 63)",
                "その VLAN のインターフェースだけ",
                "20フレーム",
                "対象外",
                "不合格",
            ],
        ),
    ] {
        let shown = [page(&run, &outcomes, lang), summary(&run, &outcomes, lang)];
        assert!(words.iter().all(|word| shown[0].contains(word)), "{}", shown[0]);
        assert!(shown.iter().all(|text| text.contains(words[0]) && !text.contains('⟦')), "{}", shown[1]);
    }
    let csv = report::csv(&Material::of(&run, &fixture::assessed(&run, &outcomes))).expect("figures can be written");
    assert_eq!(csv.lines().count(), 1 + 2 * 17, "a row for each check: {csv}");
    assert!(csv.contains("hop-limit,failed,4438,4438"), "{csv}");
}
