//! From words on the command line to a plan.

use std::{fs, path::Path};

use model::Plan;

use crate::{cli::Measure, exit::Words};

/// Plans that come with the program.
const BUILT_IN: [(&str, &str); 3] = [
    ("quick", include_str!("../../plans/quick.toml")),
    ("latency", include_str!("../../plans/latency.toml")),
    ("goodput", include_str!("../../plans/goodput.toml")),
];

/// Reads a plan by name or path and changes it as the options say.
pub(super) fn read(plan: &Path, options: &Measure, more: Vec<String>) -> anyhow::Result<Plan> {
    let built_in = BUILT_IN.iter().find(|(name, _)| plan == Path::new(name));
    let toml = match built_in {
        Some((_, toml)) => (*toml).to_owned(),
        None => read_file(plan)?,
    };
    let sets = [more, sets_of(options), options.set.clone()].concat();
    Plan::parse(&toml, &sets).map_err(|error| Words(format!("plan {}: {error}", plan.display())).into())
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let names = BUILT_IN.map(|(name, _)| name).join(", ");
    let bytes = fs::read(path).map_err(|error| {
        Words(format!(
            "plan {}: {error}; give a plan file, or one of the plans that come with wireproof: {names}",
            path.display()
        ))
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..good].iter().filter(|byte| **byte == b'\n').count() + 1;
        Words(format!("plan {}: line {line} is not UTF-8 text; save the file as UTF-8", path.display()))
    })?;
    Ok(text)
}

/// Each option that changes a plan, as the key it changes.
fn sets_of(options: &Measure) -> Vec<String> {
    let sizes = (!options.frame_sizes.is_empty()).then_some(&options.frame_sizes);
    [
        options.repeats.map(|repeats| format!("repeats={repeats}")),
        sizes.map(|sizes| format!("latency.frame_sizes={sizes:?}")),
        options.count.map(|count| format!("latency.count={count}")),
        options.duration.map(|duration| format!("goodput.duration={duration}")),
        options.streams.map(|streams| format!("goodput.streams={streams}")),
    ]
    .into_iter()
    .flatten()
    .collect()
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
