//! Prints the PDF of a made-up run, to look at: `cargo run -p wireproof-pdf --example pdf -- ja limits > sample.pdf`.
//! The first word is the language, the second `quick`, `bridge`, `certify`, `wide`, `limits` or `interrupted`; a third, `typst`, prints the source.

#[path = "../../report/tests/fixture/mod.rs"]
mod fixture;

use std::{
    env,
    error::Error,
    io::{self, Write},
    time::Instant,
};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let lang: report::Lang = words.first().map_or("en", String::as_str).parse()?;
    let (run, outcomes) = match words.get(1).map(String::as_str) {
        Some("limits") => fixture::run_with_limits(),
        Some("wide") => (fixture::wide_run(), vec![]),
        Some("certify") => fixture::run_of_plan(include_str!("../../../../plans/certify.toml")),
        Some("quick") => fixture::run_of_plan(include_str!("../../../../plans/quick.toml")),
        Some("bridge") => {
            let (run, outcomes) = fixture::run_of_plan(include_str!("../../../../plans/quick.toml"));
            (fixture::through_bridge(run), outcomes)
        }
        Some("interrupted") => (fixture::interrupted_run(), vec![]),
        _ => (fixture::run(), vec![]),
    };
    let typeset = report::typst(&report::Material::of(&run, &fixture::assessed(&run, &outcomes)), lang);
    if words.get(2).is_some_and(|word| word == "typst") {
        print!("{}", typeset.source);
        return Ok(());
    }
    let started = Instant::now();
    let pdf = wireproof_pdf::pdf(typeset)?;
    eprintln!("{} KB in {:.2?}", pdf.len() / 1000, started.elapsed());
    Ok(io::stdout().write_all(&pdf)?)
}
