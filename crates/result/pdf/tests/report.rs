//! The report as a PDF, looked at with the tools that others look at PDFs with.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use model::{Assessment, Identity, LimitOutcome, NamedFile, Reference, Run, Typeset, identity::Paper};
use report::{Lang, Material};
use tempfile::{NamedTempFile, TempDir};
use wireproof_pdf::{pdf, without_glyph};

const LANGS: [Lang; 2] = [Lang::En, Lang::Ja];

fn runs() -> Vec<(Run, Vec<LimitOutcome>)> {
    let without_limits = [fixture::run(), fixture::interrupted_run(), fixture::wide_run()].map(|run| (run, vec![]));
    without_limits.into_iter().chain([fixture::run_with_limits()]).collect()
}

fn typeset(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> Typeset {
    report::typst(&Material::of(run, &fixture::assessed(run, outcomes)), lang)
}

fn set(run: &Run, outcomes: &[LimitOutcome], lang: Lang) -> Vec<u8> {
    pdf(typeset(run, outcomes, lang)).unwrap_or_else(|error| panic!("{error}"))
}

/// Name of a PDF in a program's words, which is where they have `PDF`.
fn said(pdf: &[u8], words: &[&str]) -> String {
    let file = NamedTempFile::new().unwrap();
    fs::write(&file, pdf).unwrap();
    let (program, words) = words.split_first().unwrap();
    let words = words.iter().map(|word| if *word == "PDF" { file.path().to_str().unwrap() } else { word });
    let output = Command::new(program).args(words).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}; ./x test installs it"));
    assert!(output.status.success(), "{program}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The text of a PDF, without what lines and columns put between its characters.
fn text(pdf: &[u8]) -> String {
    squeezed(&said(pdf, &["pdftotext", "-raw", "PDF", "-"]))
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn it_is_sound_embeds_its_fonts_and_can_be_copied_from_in_both_languages() {
    let run = fixture::wide_run();
    let sentences = [
        "There is nothing to pass or fail: the figures stand as they were measured.",
        "合否の判定は行わず、測定値のみを示します。",
    ];
    for (lang, sentence) in LANGS.into_iter().zip(sentences) {
        let pdf = set(&run, &[], lang);
        said(&pdf, &["qpdf", "--check", "PDF"]);
        let fonts = said(&pdf, &["pdffonts", "PDF"]);
        let fonts: Vec<&str> = fonts.lines().skip(2).collect();
        assert!(!fonts.is_empty() && fonts.iter().all(|font| font.contains(" yes yes yes ")), "{fonts:#?}");
        let text = text(&pdf);
        assert!(text.contains(&squeezed(sentence)), "{sentence}");
        // A figure of a table, and one that only a drawing has.
        assert!(text.contains("15.49") && text.contains("99.9%"));
    }
}

#[test]
fn it_is_tagged_for_screen_readers_and_paged_for_everybody() {
    let pdf = set(&fixture::run(), &[], Lang::Ja);
    // PDF/UA-1: every figure has its words, every heading its level.
    assert!(said(&pdf, &["pdfinfo", "-meta", "PDF"]).contains("<pdfuaid:part>1</pdfuaid:part>"));
    let info = said(&pdf, &["pdfinfo", "PDF"]);
    for said in ["ネットワーク検証報告書", "(A4)", "Tagged:          yes"] {
        assert!(info.contains(said), "{said}: {info}");
    }
    let pages = info.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap().trim();
    let text = said(&pdf, &["pdftotext", "PDF", "-"]);
    let sheets: Vec<&str> = text.trim_end_matches('\u{c}').split('\u{c}').collect();
    assert_eq!(sheets.len().to_string(), pages);
    for (number, sheet) in (1..).zip(sheets) {
        for mark in ["模擬環境", "20261121-101500-3fa9", &format!("{number} / {pages}")] {
            assert!(squeezed(sheet).contains(&squeezed(mark)), "sheet {number} lacks {mark}: {sheet}");
        }
    }
}

/// Sheets of a PDF.
fn sheets(pdf: &[u8]) -> u32 {
    let info = said(pdf, &["pdfinfo", "PDF"]);
    info.lines().find_map(|line| line.strip_prefix("Pages:")).unwrap().trim().parse().unwrap()
}

/// A sheet as it is seen, a row for each millimetre.
struct Sheet {
    is_turned: bool,
    /// Rows between header and footer: whether something is printed there.
    rows: Vec<bool>,
}

impl Sheet {
    /// From a picture with a point for each millimetre (PGM).
    fn of(picture: &[u8]) -> Self {
        let parts: Vec<&[u8]> = picture.splitn(5, u8::is_ascii_whitespace).collect();
        let [_, width, height, _, points] = parts[..] else { panic!("a PGM has five parts") };
        let [width, height] = [width, height].map(|size| str::from_utf8(size).unwrap().parse::<usize>().unwrap());
        let rows: Vec<bool> = points.chunks(width).map(|row| row.iter().any(|grey| *grey < 225)).collect();
        // The margins of `report.typ`.
        Self { is_turned: width > height, rows: rows[15..height - 13].to_vec() }
    }

    /// The share of its height that is empty in one piece.
    fn hole(&self) -> f64 {
        let longest = self.rows.split(|is_printed| *is_printed).map(<[bool]>::len).max();
        longest.unwrap_or_default() as f64 / self.rows.len() as f64
    }
}

/// Sheets with a great hole. The cover has a break after it, as a turned sheet has before and after it, and the document ends somewhere.
fn with_holes(pdf: &[u8]) -> Vec<String> {
    let folder = TempDir::new().unwrap();
    let [file, pictures] = ["report.pdf", "sheet"].map(|name| folder.path().join(name));
    fs::write(&file, pdf).unwrap();
    let done = Command::new("pdftoppm").args(["-gray", "-r", "25.4"]).args([&file, &pictures]).status().unwrap();
    assert!(done.success());
    fs::remove_file(file).unwrap();
    let mut pictures: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    pictures.sort();
    let sheets: Vec<Sheet> = pictures.iter().map(|picture| Sheet::of(&fs::read(picture).unwrap())).collect();
    let goes_on = |two: &&[Sheet]| two[0].is_turned == two[1].is_turned;
    let inner = (2..).zip(sheets.windows(2).skip(1)).filter(|(_, two)| goes_on(two));
    let holes = inner.map(|(number, two)| (number, two[0].hole())).filter(|(_, hole)| *hole > 0.3);
    holes.map(|(number, hole)| format!("{:.0} % of sheet {number}", 100.0 * hole)).collect()
}

const QUICK: &str = include_str!("../../../../plans/quick.toml");
const CERTIFY: &str = include_str!("../../../../plans/certify.toml");

/// A plan on a lab bed.
fn simulated(plan: &str) -> (Run, Assessment) {
    let (run, outcomes) = fixture::run_of_plan(plan);
    let assessment = fixture::assessed(&run, &outcomes);
    (run, assessment)
}

/// Plan `quick` through a bridge.
fn bridged() -> (Run, Assessment) {
    let run = fixture::through_bridge(fixture::run_of_plan(QUICK).0);
    let assessment = fixture::assessed(&run, &[]);
    (run, assessment)
}

/// Plan `certify` on hardware, beside the published figures that it goes by, for a customer.
fn certified() -> (Run, Assessment) {
    let (mut run, _) = fixture::run_of_plan(CERTIFY);
    run.bed.simulated = false;
    run.identity = fixture::run_with_limits().0.identity;
    let published = Reference::parse(include_str!("../../../../references/rx2540-exanic-2015.toml")).unwrap();
    let assessment = verdict::assess(&run, &[published], &verdict::Chosen::All);
    (run, assessment)
}

#[test]
fn documents_of_common_plans_are_short_and_without_holes_on_either_paper() {
    const A4: &str = "paper: \"a4\"";
    let mut wrong = Vec::new();
    let documents = [(simulated(QUICK), 10), (bridged(), 10), (simulated(CERTIFY), 25), (certified(), 25)];
    for ((run, assessment), most) in documents {
        for lang in LANGS {
            let a4 = report::typst(&Material::of(&run, &assessment), lang);
            assert!(a4.source.contains(A4));
            let letter = Typeset { source: a4.source.replace(A4, "paper: \"us-letter\""), files: a4.files.clone() };
            for (paper, document) in [("A4", a4), ("Letter", letter)] {
                let pdf = pdf(document).unwrap();
                let (sheets, holes) = (sheets(&pdf), with_holes(&pdf));
                let said = format!("{}, {lang}, {paper}: {sheets} sheets, holes {holes:?}", run.plan.name);
                println!("{said}");
                wrong.extend((sheets > most || !holes.is_empty()).then_some(said));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_sheet_is_of_the_paper_that_the_identity_names() {
    let mut run = fixture::wide_run();
    run.identity = Some(Identity { paper: Some(Paper::Letter), ..Identity::default() });
    let pdf = set(&run, &[], Lang::En);
    let info = said(&pdf, &["pdfinfo", "-f", "1", "-l", "-1", "PDF"]);
    let sizes: Vec<&str> = info.lines().filter(|line| line.contains(" size: ") && line.starts_with("Page ")).collect();
    assert!(sizes.len() > 5 && sizes.iter().all(|size| size.ends_with("(letter)")), "{info}");
    assert!(said(&pdf, &["pdftotext", "-l", "1", "PDF", "-"]).contains("Network verification report"));
}

#[test]
fn no_word_is_markup() {
    let hostile = r##"#panic("x") $x$ "q" \ *s* _e_ <label> @ref `raw` [c] {d} // n /* - = ~ ' & </svg>"##;
    let (mut run, outcomes) = fixture::run_with_limits();
    run.plan.name = hostile.to_owned();
    run.command = vec![hostile.to_owned()];
    run.bed.endpoints[0].namespace = hostile.to_owned();
    run.bed.endpoints[0].cpus_why = format!("{hostile}\u{1b}");
    run.before.hosts[0].hostname = hostile.to_owned();
    let text = text(&set(&run, &outcomes, Lang::En));
    assert!(text.matches(&squeezed(hostile)).count() >= 3, "{text}");
    // As a word of a shell, in the command that repeats the run.
    assert!(text.contains(&squeezed(&hostile.replace('\'', r"'\''"))), "{text}");
}

#[test]
fn no_character_is_an_empty_box() {
    let texts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/texts");
    for lang in LANGS {
        for file in fs::read_dir(texts.join(lang.to_string())).unwrap() {
            let words = fs::read_to_string(file.unwrap().path()).unwrap();
            assert_eq!(without_glyph(&words), BTreeSet::new());
        }
        for (run, outcomes) in runs() {
            let Typeset { source, files } = typeset(&run, &outcomes, lang);
            assert_eq!(without_glyph(&source), BTreeSet::new());
            for NamedFile { name, content } in files.into_iter().filter(|file| file.name.ends_with(".svg")) {
                assert_eq!(without_glyph(&String::from_utf8(content).unwrap()), BTreeSet::new(), "{name}");
            }
        }
    }
}

/// PDF/UA does not allow a character that no font here has. There is a PDF all the same.
#[test]
fn an_unknown_character_costs_no_report() {
    let mut run = fixture::run();
    run.plan.name = "\u{1f600}".to_owned();
    said(&set(&run, &[], Lang::Ja), &["qpdf", "--check", "PDF"]);
}

#[test]
fn every_run_gives_a_report_without_holes_and_the_same_run_the_same_bytes() {
    for (run, outcomes) in runs() {
        let once = set(&run, &outcomes, Lang::En);
        assert!(once.len() < 2_000_000, "{} bytes", once.len());
        assert!(once == set(&run, &outcomes, Lang::En), "the same run came out differently");
        assert_eq!(with_holes(&once), Vec::<String>::new(), "{} trials", run.trials.len());
    }
}

/// A debug build, beside other tests, takes some times as long.
#[test]
fn it_does_not_keep_anybody_waiting() {
    let (run, outcomes) = fixture::run_with_limits();
    assert!(run.trials.len() >= 60);
    let started = Instant::now();
    set(&run, &outcomes, Lang::Ja);
    let limit = Duration::from_secs(if cfg!(debug_assertions) { 60 } else { 5 });
    assert!(started.elapsed() < limit, "took {:?}", started.elapsed());
}
