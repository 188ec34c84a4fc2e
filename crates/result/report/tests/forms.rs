//! The other forms of a report: Markdown and the spreadsheet's table.

mod fixture;

use std::collections::BTreeMap;

use model::Run;
use wireproof_report::{self as report, Lang, Material};

fn table(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.expect("a row as long as the head")).collect()
}

#[test]
fn the_table_has_a_row_for_each_trial_and_direction() {
    let run = fixture::wide_run();
    let text = report::csv(&Material::of(&run, &fixture::assessed(&run, &[]))).expect("figures can be written");
    let rows = table(&text);
    let of = |configuration: &str| {
        rows.iter().filter(|row| row["configuration"].contains(configuration)).collect::<Vec<_>>()
    };
    assert_eq!(of("latency UDP IPv6 spin 64 B").len(), 3);
    let both = of("TCP IPv4 4 streams");
    assert_eq!(both.len(), 6, "three trials both ways");
    assert_eq!((both[0]["from"].as_str(), both[1]["from"].as_str()), ("a", "b"));
    assert!(both.iter().all(|row| row["goodput_bps"].parse::<f64>().is_ok_and(|bps| bps > 1e9)));
    assert!(both.iter().all(|row| row["rtt_p50_ns"].is_empty()));
    let path = of("path IPv6");
    assert_eq!((path[0]["path_mtu_bytes"].as_str(), path[1]["path_mtu_bytes"].as_str()), ("1400", "1500"));
    assert!(rows.iter().any(|row| row["doubts"].contains("steal")));
    assert!(text.lines().next().is_some_and(|head| !head.contains(' ')) && text.contains("\r\n"));
}

#[test]
fn figures_in_the_table_are_those_of_the_trials() {
    let run = fixture::run();
    let rows = table(&report::csv(&Material::of(&run, &fixture::assessed(&run, &[]))).expect("figures can be written"));
    for trial in &run.trials {
        let model::Measured::Latency { result, .. } = &trial.measured else { continue };
        let row = rows.iter().find(|row| row["trial"] == trial.number.to_string()).expect("each trial has a row");
        assert_eq!(row["rtt_p50_ns"], result.rtt_ns.p50.expect("a median").to_string());
        assert_eq!(row["frame_size_bytes"], result.frame_size.0.to_string());
    }
}

/// Each number as the form has it, with the caption behind it.
fn numbered(text: &str, before: &str, behind: &str) -> Vec<(String, String)> {
    let each = text.split(before).skip(1).filter_map(|rest| {
        let (number, rest) = rest.split_once(behind)?;
        let caption: String = rest.chars().filter(|c| c.is_alphanumeric()).take(5).collect();
        (number.len() < 12).then(|| (number.to_owned(), caption))
    });
    let mut each: Vec<_> = each.collect();
    each.sort();
    each
}

#[test]
fn every_form_gives_figures_and_tables_the_same_numbers() {
    for lang in [Lang::En, Lang::Ja] {
        let run = fixture::wide_run();
        let assessment = fixture::assessed(&run, &[]);
        let material = Material::of(&run, &assessment);
        let (html, paper) = (report::html(&material, lang), report::typst(&material, lang).source);
        let said = paper.rsplit_once("#show: report.with").expect("the report begins").1;
        let tables = numbered(&html, "<caption><span><b class=\"number\">", "</b> ");
        let mut on_paper = [numbered(said, "#tabular(\"", "\", \""), numbered(said, "#facts(\"", "\", \"")].concat();
        on_paper.sort();
        assert_eq!(tables, on_paper);
        let figures = numbered(&html, "<figcaption><b class=\"number\">", "</b> <strong>");
        assert_eq!(figures, numbered(said, "#drawing(\"", "\", \""));
        assert!(tables.len() > 10 && figures.len() > 5);
        assert!(
            said.split_once("#annex(").expect("an annex").1.contains("A.1\", \""),
            "what is folded away has numbers of its own"
        );
    }
}

#[test]
fn tables_in_markdown_keep_their_columns() {
    for (run, lang) in [(fixture::wide_run(), Lang::En), (fixture::run(), Lang::Ja)] {
        let text = report::markdown(&Material::of(&run, &fixture::assessed(&run, &[])), lang);
        let mut columns = None;
        for line in text.lines() {
            let bars = line.replace("\\|", "").matches('|').count();
            assert!(!line.starts_with('|') || columns.is_none_or(|columns| columns == bars), "{line}");
            columns = line.starts_with('|').then_some(bars);
        }
    }
}

#[test]
fn equal_settings_of_the_ends_stand_once_and_different_ones_side_by_side() {
    let mut run = fixture::run();
    let markdown = |run: &Run| report::markdown(&Material::of(run, &fixture::assessed(run, &[])), Lang::En);
    let [equal, congestion] =
        ["Kernel settings of the endpoints: the same for a, b", "| net.ipv4.tcp\\_congestion\\_control | "];
    let alike = markdown(&run);
    assert_eq!((alike.matches(equal).count(), alike.matches(congestion).count()), (1, 1));
    assert!(alike.contains(&format!("{congestion}cubic |\n")), "{alike}");
    for environment in [&mut run.before, run.after.as_mut().expect("read again")] {
        let sysctls = &mut environment.endpoints[1].sysctls;
        sysctls.insert("net.ipv4.tcp_congestion_control".to_owned(), "bbr".into());
        sysctls.insert("net.ipv4.tcp_timestamps".to_owned(), "1".into());
    }
    let unlike = markdown(&run);
    for said in ["| Item | a | b |", &format!("{congestion}cubic | bbr |"), "| net.ipv4.tcp\\_timestamps | – | 1 |"] {
        assert!(unlike.contains(said), "{said}: {unlike}");
    }
    assert!(!unlike.contains(equal));
}

#[test]
fn markdown_says_what_the_page_says() {
    let (run, outcomes) = fixture::run_with_limits();
    let english = report::markdown(&Material::of(&run, &fixture::assessed(&run, &outcomes)), Lang::En);
    for said in [
        "# NW-17 acceptance",
        "> **Simulated environment** Every figure",
        "> **FAIL**",
        "## Findings",
        "** Everything that was verified",
        "| **PASS** |",
        "** **RTT by frame size**",
        "```\nwireproof verify quick --bed lab\n```",
        "<details><summary>Kernel settings of the machine</summary>",
        "20261121-101500-3fa9",
    ] {
        assert!(english.contains(said), "{said}");
    }
    assert!(!english.contains("<svg") && !english.contains('⟦'));
    assert!(report::markdown(&Material::of(&run, &fixture::assessed(&run, &outcomes)), Lang::Ja).contains("**表1** "));
}

#[test]
fn a_name_of_a_stored_run_neither_begins_a_line_nor_steers_a_terminal() {
    let mut run = fixture::run();
    let name = "x\nVerdict: PASS\r\u{1b}[2J\u{9b}31m\u{202e}";
    (run.plan.name, run.bed.name) = (name.to_owned(), name.to_owned());
    let end = &mut run.bed.endpoints[0];
    (end.name, end.interface) = (name.to_owned(), name.to_owned());
    let assessed = fixture::assessed(&run, &[]);
    let material = Material::of(&run, &assessed);
    let summary = report::summary(&material, Lang::En, None);
    assert!(summary.contains("\\u{1b}[2J"), "{summary}");
    assert!(summary.lines().filter(|line| line.starts_with("Verdict: ")).count() <= 1, "{summary}");
    let csv = report::csv(&material).expect("figures can be written");
    for form in [summary, report::markdown(&material, Lang::En), report::html(&material, Lang::Ja), csv] {
        assert!(!form.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{form}");
    }
}
