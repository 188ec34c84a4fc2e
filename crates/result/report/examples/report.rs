//! Prints the report of a made-up run, to look at: `cargo run -p wireproof-report --example report -- ja limits`.
//! The first word is the language, the second `quick`, `wide`, `limits`, `interrupted` or `compare`, the third `text` for the
//! terminal; for all but `compare` also `md` or `csv`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::env;

use wireproof_report as report;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let lang: report::Lang = words.first().map_or("en", String::as_str).parse()?;
    if words.get(1).is_some_and(|word| word == "compare") {
        print!("{}", compare(lang, words.get(2).is_some_and(|word| word == "text")));
        return Ok(());
    }
    let (run, outcomes) = match words.get(1).map(String::as_str) {
        Some("limits") => fixture::run_with_limits(),
        Some("wide") => (fixture::wide_run(), vec![]),
        Some("interrupted") => (fixture::interrupted_run(), vec![]),
        _ => (fixture::run(), vec![]),
    };
    let assessment = fixture::assessed(&run, &outcomes);
    let material = report::Material::of(&run, &assessment);
    match words.get(2).map(String::as_str) {
        Some("text") => print!("{}", report::summary(&material, lang, None)),
        Some("md") => print!("{}", report::markdown(&material, lang)),
        Some("csv") => print!("{}", report::csv(&material)?),
        _ => print!("{}", report::html(&material, lang)),
    }
    Ok(())
}

fn compare(lang: report::Lang, as_text: bool) -> String {
    let [run, slower] = fixture::compared_runs();
    let comparison = verdict::compare(&run, std::slice::from_ref(&slower), 0.05);
    if as_text {
        report::comparison(&comparison, lang)
    } else {
        let assessed = [&run, &slower].map(|run| fixture::assessed(run, &[]));
        let runs = [report::Material::of(&run, &assessed[0]), report::Material::of(&slower, &assessed[1])];
        report::comparison_html(&comparison, &runs, lang)
    }
}
