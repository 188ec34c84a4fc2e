//! Prints the report of a made-up run, to look at: `cargo run -p wireproof-report --example sample -- ja limits`.
//! The first word is the language, the second `quick`, `wide`, `limits` or `interrupted`, the third `text` for the
//! terminal, `md` or `csv`.

#[path = "../tests/fixture/mod.rs"]
mod fixture;

use std::env;

use wireproof_report as report;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let lang: report::Lang = words.first().map_or("en", String::as_str).parse()?;
    let (run, outcomes) = match words.get(1).map(String::as_str) {
        Some("limits") => fixture::run_with_limits(),
        Some("wide") => (fixture::wide_run(), vec![]),
        Some("interrupted") => (fixture::interrupted_run(), vec![]),
        _ => (fixture::run(), vec![]),
    };
    let material = report::Material::of(&run, &outcomes);
    match words.get(2).map(String::as_str) {
        Some("text") => print!("{}", report::summary(&material, lang)),
        Some("md") => print!("{}", report::markdown(&material, lang)),
        Some("csv") => print!("{}", report::csv(&material)?),
        _ => print!("{}", report::html(&material, lang)),
    }
    Ok(())
}
