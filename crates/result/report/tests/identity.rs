//! Identity of a report: issuer, classification, conditions, standards, revisions, times, and the command that repeats the run.

mod fixture;

use jiff::tz::TimeZone;
use model::{Identity, Photo, PhotoKind, Run};
use wireproof_report::{self as report, Lang, Material, PLAN_FILE, issued_before, signed_before};

const ISSUED: &str = r#"
classification = "Secret & own"
distribution = ["Purchasing", "Operation"]
date = 2026-11-20
conclusion = "Fit for delivery."
issuer = { name = "Issuer <Inc.>", address = "Street 1\nTokyo" }
conditions = { room = "Room 12", temperature = "23 °C", power_profile = "performance" }
[[standard]]
name = "RFC 2544"
deviations = ["Shorter trials.", "One port."]
[[standard]]
name = "RFC 9971"
[[change]]
revision = "A"
date = 2026-11-22
author = "H. Sato"
change = "First issue"
"#;

const LOGO: &[u8] = b"<svg/>";

fn issued() -> Run {
    let mut identity = Identity::parse(ISSUED).expect("an identity");
    let kind = PhotoKind::Svg;
    identity.photos.push(Photo { name: Photo::name_of_logo(kind), kind, sha256: String::new(), content: LOGO.into() });
    Run { identity: Some(identity), ..fixture::run() }
}

fn shown<T>(run: &Run, zone: &TimeZone, show: impl Fn(&Material<'_>) -> T) -> T {
    show(&Material { zone, ..Material::of(run, &fixture::assessed(run, &[])) })
}

fn html(run: &Run, lang: Lang) -> String {
    shown(run, &TimeZone::UTC, |material| report::html(material, lang))
}

#[test]
fn the_issuer_stands_at_the_head_of_each_form() {
    let run = issued();
    let page = html(&run, Lang::En);
    let head = page.split("<h1>").next().expect("a head");
    assert!(head.contains("src=\"data:image/svg+xml;base64,PHN2Zy8+\" alt=\"Issuer &lt;Inc.&gt;\""), "{head}");
    assert!(head.contains("<strong>Issuer &lt;Inc.&gt;</strong><br>Street 1<br>Tokyo"), "{head}");
    let markdown = shown(&run, &TimeZone::UTC, |material| report::markdown(material, Lang::En));
    assert!(markdown.starts_with("Issuer \\<Inc.\\>\\\nStreet 1\\\nTokyo\n\n# "), "{markdown:.80}");
    let paper = shown(&run, &TimeZone::UTC, |material| report::typst(material, Lang::En));
    assert!(paper.source.contains(r#", ("Issuer <Inc.>", ("Street 1","Tokyo",), "logo.svg"), (("#), "the cover");
    assert!(paper.files.iter().any(|file| file.name == "logo.svg" && file.content == LOGO));
    let without = html(&fixture::run(), Lang::En);
    assert!(!without.contains("class=\"issuer\""));
}

#[test]
fn classification_stands_on_every_sheet_and_recipients_on_the_first() {
    let mut run = issued();
    let page = html(&run, Lang::En);
    assert!(page.contains("aria-hidden=\"true\">Simulated environment · Secret &amp; own</p>"));
    assert!(page.contains("<dt>Distribution</dt><dd>Purchasing, Operation</dd>"));
    run.bed.simulated = false;
    assert!(html(&run, Lang::Ja).contains("aria-hidden=\"true\">Secret &amp; own</p>"));
}

#[test]
fn conditions_standards_and_revisions_are_shown_as_far_as_they_are_told() {
    let page = html(&issued(), Lang::En);
    for said in ["Ambient temperature", "23 °C", "Power profile", "Shorter trials. One port.", "First issue"] {
        assert!(page.contains(said), "{said}");
    }
    let row = page.split("<tr>").find(|row| row.contains("RFC 9971")).expect("a standard");
    assert!(row.contains(">None<"), "{row}");
    assert!(!page.contains("Relative humidity"));
    let japanese = html(&issued(), Lang::Ja);
    for said in ["機密区分", "配布先", "周囲温度", "準拠規格", "改版履歴"] {
        assert!(japanese.contains(said), "{said}");
    }
    let none = html(&fixture::run(), Lang::En);
    for unsaid in ["<dt>Classification", "<dt>Distribution", "Test conditions", "Standards that", "Revision history"] {
        assert!(!none.contains(unsaid), "{unsaid}");
    }
}

#[test]
fn sections_come_in_the_order_of_a_test_report_behind_the_revision_history() {
    let (mut run, outcomes) = fixture::run_with_limits();
    let identity = run.identity.as_mut().expect("an identity");
    let Identity { changes, conditions, .. } = Identity::parse(ISSUED).expect("an identity");
    (identity.changes, identity.conditions) = (changes, conditions);
    let assessment = fixture::assessed(&run, &outcomes);
    let page = report::html(&Material::of(&run, &assessment), Lang::En);
    let headings = page.split("<h2>").skip(1).filter_map(|rest| rest.split("</h2>").next());
    let expected = [
        "Revision history",
        "Summary",
        "Conclusion",
        "Scope",
        "Topology",
        "Environment",
        "Method",
        "Items verified",
        "Results",
        "Findings",
        "How to read this report",
    ];
    assert_eq!(headings.collect::<Vec<_>>(), expected);
    let (before, contents) = page.split_once("<nav class=\"contents\"").expect("the contents");
    assert!(before.contains("<section id=\"section-1\"><h2>Revision history</h2>"));
    assert!(contents.contains("<a href=\"#section-2\">Summary</a>") && !contents.contains("#section-1\""));
    let environment = contents.split("<h2>Environment").nth(1).expect("the environment");
    assert!(environment.find("23 °C").expect("the conditions") < environment.find("Machine ").expect("the machine"));
    let paper = report::typst(&Material::of(&run, &assessment), Lang::Ja).source;
    let places = ["#cover(", "#front[\n#heading(level: 1, \"改版履歴\")", "#contents()", "\"要約\""];
    let found = places.map(|place| paper.find(place).unwrap_or_else(|| panic!("{place}")));
    assert!(found.is_sorted(), "{found:?}");
}

#[test]
fn times_are_those_of_the_reader_and_documents_for_programs_stay_in_utc() {
    let (run, tokyo) = (fixture::run(), TimeZone::posix("JST-9").expect("a rule"));
    for form in [
        shown(&run, &tokyo, |material| {
            report::html(material, Lang::Ja).replace("<span class=\"quantity\">2026-11-21</span>", "2026-11-21")
        }),
        shown(&run, &tokyo, |material| report::markdown(material, Lang::Ja).replace('\\', "")),
        shown(&run, &tokyo, |material| report::typst(material, Lang::Ja).source),
    ] {
        assert!(form.contains("2026-11-21 19:15:00 JST (UTC+09:00)") && !form.contains("10:15:00 UTC"));
    }
    let document = shown(&run, &tokyo, |material| serde_json::to_string(&report::Document::of(material)));
    assert!(document.expect("JSON").contains("\"2026-11-21T10:15:00Z\""));
    assert!(shown(&run, &tokyo, report::csv).expect("CSV").contains("2026-11-21T10:"));
}

#[test]
fn a_date_of_issue_before_the_end_of_the_measurement_is_told() {
    let mut run = issued();
    let measured = |run: &Run, zone: &TimeZone| issued_before(run, zone).map(|(_, measured)| measured);
    assert_eq!(measured(&run, &TimeZone::UTC).as_deref(), Some("2026-11-21"));
    let whole = |date: &str| format!("<span class=\"quantity\">{date}</span>");
    let [issued, ended] = ["2026-11-20", "2026-11-21"].map(whole);
    let english = format!("<dd>{issued} (before the measurement ended on {ended})</dd>");
    assert!(html(&run, Lang::En).contains(&english), "{english}");
    let japanese = format!("<dd>{issued}(測定終了日 {ended} より前)</dd>");
    assert!(html(&run, Lang::Ja).contains(&japanese), "{japanese}");
    run.identity.as_mut().expect("one").date = "2026-11-21".parse().ok();
    assert_eq!(measured(&run, &TimeZone::UTC), None);
    let far_east = TimeZone::posix("<+14>-14").expect("a rule");
    assert_eq!(measured(&run, &far_east).as_deref(), Some("2026-11-22"), "it ended on the next day there");
    assert_eq!(measured(&fixture::run(), &TimeZone::UTC), None, "nobody dated it");
}

#[test]
fn a_signature_before_the_end_of_the_measurement_is_told() {
    let mut run = issued();
    let told =
        |run: &Run| signed_before(run, &TimeZone::UTC).iter().map(|(who, _)| who.to_string()).collect::<Vec<_>>();
    let identity = run.identity.as_mut().expect("one");
    identity.made_by = "H. Sato, 2026-11-20".parse().ok();
    identity.checked_by = "K. Abe, 2026-11-21".parse().ok();
    identity.approved_by = "M. Ito".parse().ok();
    assert_eq!(told(&run), ["H. Sato, 2026-11-20"]);
    assert!(told(&fixture::run()).is_empty());
}

#[test]
fn a_plan_of_somebody_stands_in_the_report_and_can_be_used() {
    let mut run = fixture::run();
    assert!(!html(&run, Lang::En).contains(PLAN_FILE), "a plan of the program has its name");
    run.command = ["wireproof", "verify", PLAN_FILE].map(str::to_owned).to_vec();
    let markdown = shown(&run, &TimeZone::UTC, |material| report::markdown(material, Lang::En));
    let (_, rest) = markdown.split_once("(plan.toml)</summary>\n\n```\n").expect("the plan");
    let (plan, _) = rest.split_once("```").expect("its end");
    assert_eq!(model::Plan::parse(plan, &[]).as_ref(), Ok(&run.plan));
    for lang in [Lang::En, Lang::Ja] {
        assert!(html(&run, lang).contains("wireproof verify plan.toml"));
    }
}

#[test]
fn a_kept_bed_is_made_before_the_command_that_uses_it() {
    let mut run = fixture::run();
    assert!(!html(&run, Lang::En).contains("wireproof bed up"), "the run makes its own");
    run.bed.name = "rack".to_owned();
    run.command = ["wireproof", "verify", "quick", "--bed", "rack"].map(str::to_owned).to_vec();
    for lang in [Lang::En, Lang::Ja] {
        let page = html(&run, lang);
        let first = page.find("wireproof bed up rack").expect("it is made");
        assert!(page.find("wireproof verify quick --bed rack").is_some_and(|then| first < then), "{page}");
    }
}

#[test]
fn captures_are_named_without_the_folder_that_they_were_in() {
    let plan =
        "name = \"p\"\n[[packets]]\nduration = \"1 s\"\nstream = [{ name = \"r\", replay = \"/home/x/a.pcap\" }]";
    let plan = model::Plan::parse(plan, &[]).expect("a plan");
    let command = ["wireproof", "verify", PLAN_FILE].map(str::to_owned).to_vec();
    let run = Run { plan, command, ..fixture::run() };
    let method = html(&run.with_captures_beside(), Lang::En);
    let method = method.split("<h3>Repeating the run").nth(1).and_then(|rest| rest.split("</section>").next());
    let method = method.expect("the command");
    assert!(method.contains("needs these captures: a.pcap") && !method.contains("/home/x"), "{method}");
}
