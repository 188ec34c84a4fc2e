//! From words on the command line to a plan.

use std::{fs, io, path::Path};

use model::Plan;

use crate::{cli::Measure, exit::Words, references};

/// Plans that come with the program.
const BUILT_IN: [(&str, &str); 4] = [
    ("quick", include_str!("../../plans/quick.toml")),
    ("latency", include_str!("../../plans/latency.toml")),
    ("goodput", include_str!("../../plans/goodput.toml")),
    ("path", include_str!("../../plans/path.toml")),
];

/// Reads a plan by name or path and changes it by these sets, and then by those given as `--set`.
pub(super) fn read(plan: &Path, sets: &[String], options: &Measure) -> anyhow::Result<Plan> {
    let built_in = BUILT_IN.iter().find(|(name, _)| plan == Path::new(name));
    let toml = match built_in {
        Some((_, toml)) => (*toml).to_owned(),
        None => read_file(plan)?,
    };
    let sets = [sets, &options.set].concat();
    let words = |why: String| Words(format!("plan {}: {why}", plan.display()));
    let read = Plan::parse(&toml, &sets).map_err(|error| words(error.to_string()))?;
    unknown_reference(&read).map_or(Ok(()), |why| Err(words(why)))?;
    Ok(read)
}

/// A limit that leans on nothing.
fn unknown_reference(plan: &Plan) -> Option<String> {
    let known: Vec<String> = references::all().into_iter().map(|reference| reference.id).collect();
    let id = plan.limits.iter().filter_map(|limit| limit.reference.as_ref()).find(|id| !known.contains(id))?;
    Some(format!("there is no reference \"{id}\" for its limits; there are {}", known.join(", ")))
}

/// No plan is longer.
const LONGEST: u64 = 1024 * 1024;

fn read_file(path: &Path) -> anyhow::Result<String> {
    let words = |why: String| Words(format!("plan {}: {why}", path.display()));
    let names = BUILT_IN.map(|(name, _)| name).join(", ");
    let unreadable = |error: io::Error| {
        words(format!("{error}; give a plan file, or one of the plans that come with wireproof: {names}"))
    };
    let about = fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(words("a plan is a file of at most 1 MiB".to_owned()).into());
    }
    let text = String::from_utf8(fs::read(path).map_err(unreadable)?).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        words(format!("line {line} is not UTF-8 text; save the file as UTF-8"))
    })?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_that_come_with_the_program_can_be_used() {
        for (name, toml) in BUILT_IN {
            let plan = Plan::parse(toml, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(plan.name, name);
            assert!(plan.limits.is_empty(), "{name} sets no limits");
        }
    }

    #[test]
    fn quick_takes_under_a_minute() {
        let plan = Plan::parse(BUILT_IN[0].1, &[]).unwrap();
        let seconds: f64 = plan.steps().iter().map(|step| run::estimate(&step.spec)).sum();
        assert!(seconds < 50.0, "{seconds} s");
    }
}
