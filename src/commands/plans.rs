//! From words on the command line to a plan.

use std::{
    fs,
    path::{Path, PathBuf},
};

use model::{
    Plan, Stack,
    nearest::nearest,
    plan::{PacketsItem, PlanError},
    stream::{Load, Stream},
};

use crate::{
    cli::{PROBES, RFC2544},
    exit::Words,
    paths,
};

/// Plans that come with the program, beside the plan of each probe.
const OF_SEVERAL: [(&str, &str); 9] = [
    ("quick", include_str!("../../plans/quick.toml")),
    ("certify", include_str!("../../plans/certify.toml")),
    ("loopback", include_str!("../../plans/loopback.toml")),
    ("card", include_str!("../../plans/card.toml")),
    ("bufferbloat", include_str!("../../plans/bufferbloat.toml")),
    ("soak", include_str!("../../plans/soak.toml")),
    ("qos", include_str!("../../plans/qos.toml")),
    ("dut", include_str!("../../plans/dut.toml")),
    (RFC2544.name, RFC2544.plan),
];

/// All plans that come with the program, with their names.
fn built_in() -> impl Iterator<Item = (&'static str, &'static str)> {
    OF_SEVERAL.into_iter().chain(PROBES.iter().map(|probe| (probe.name, probe.plan)))
}

/// Their names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    built_in().map(|(name, _)| name)
}

/// Reads a plan by name or path, changed by options, and then by those given as `--set`. `stacks` are those that an option asks for.
pub(super) fn read(
    plan: &Path,
    sets: &[String],
    stacks: &[Stack],
    options: impl Fn(&mut Plan) -> Result<(), PlanError>,
) -> anyhow::Result<Plan> {
    let toml = match built_in().find(|(name, _)| plan == Path::new(name)) {
        Some((_, toml)) => toml.to_owned(),
        None => read_file(plan)?,
    };
    Ok(Plan::changed(&toml, sets, options).map_err(|error| Words(wrong(plan, &error, stacks)))?)
}

/// The fault in a plan, in the words of the command line if that caused it.
fn wrong(plan: &Path, error: &PlanError, stacks: &[Stack]) -> String {
    match error {
        PlanError::TcpBypass { .. } if !stacks.is_empty() => {
            "TCP does not go past the kernel yet, only UDP does: write --protocol udp with --stack bypass, or take --stack away".to_owned()
        }
        _ => format!("plan {}: {error}", plan.display()),
    }
}

/// Replaces the plan's packets by those of a stream file.
pub(super) fn send_streams_of(file: &Path, plan: &mut Plan) -> anyhow::Result<()> {
    let streams = streams_of(file)?;
    for item in &mut plan.packets {
        (item.stream, item.frame_sizes, item.sizes) = (streams.clone(), Vec::new(), None);
    }
    Ok(plan.check().map_err(|error| Words(format!("stream file {}: {error}", file.display())))?)
}

/// The streams of a file.
pub(super) fn streams_of(file: &Path) -> anyhow::Result<Vec<Stream>> {
    let words = |why: String| Words(format!("stream file {}: {why}", file.display()));
    let toml = paths::read_text(file, "a stream file", paths::LONGEST).map_err(words)?;
    let mut streams = Stream::parse_file(&toml).map_err(|error| words(error.to_string()))?;
    // Captures are named as they are seen from the stream file.
    for capture in streams.iter_mut().filter_map(|stream| stream.replay.as_mut()) {
        *capture = file.with_file_name(&*capture).to_string_lossy().into_owned();
    }
    Ok(streams)
}

/// Has the plan send a capture at each of these loads.
pub(super) fn replay(file: &Path, loads: &[Load], plan: &mut Plan) -> anyhow::Result<()> {
    let replay = Some(file.to_string_lossy().into_owned());
    let stream =
        |load: &Load| Stream { name: "replay".to_owned(), replay: replay.clone(), load: *load, ..Stream::default() };
    let at = |item: &PacketsItem, load: &Load| PacketsItem {
        stream: vec![stream(load)],
        frame_sizes: Vec::new(),
        sizes: None,
        rate: None,
        ..item.clone()
    };
    plan.packets = plan.packets.iter().flat_map(|item| loads.iter().map(move |load| at(item, load))).collect();
    Ok(plan.check().map_err(|error| Words(error.to_string()))?)
}

fn read_file(path: &Path) -> anyhow::Result<String> {
    let names = names().collect::<Vec<_>>().join(", ");
    let words = |why: String| {
        let meant = if path.exists() { None } else { meant(path, &beside(path)) };
        let meant = meant.map(|meant| format!("did you mean {}? Else ", meant.display())).unwrap_or_default();
        let hint = "give a plan file, or one of the plans that come with wireproof";
        Words(format!("plan {}: {why}; {meant}{hint}: {names}", path.display()))
    };
    Ok(paths::read_text(path, "a plan", paths::LONGEST).map_err(words)?)
}

/// Plan that an unknown name may mean: one that comes with the program, or a file beside.
fn meant(path: &Path, beside: &[String]) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let is_bare = Path::new(name) == path;
    let known = built_in().map(|(name, _)| name).filter(|_| is_bare);
    let files = beside.iter().map(String::as_str);
    nearest(name, known.chain(files)).map(|meant| path.with_file_name(meant))
}

/// Names of the files beside this one that may be plans.
fn beside(path: &Path) -> Vec<String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".toml")).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use procedure::Course;

    use super::*;

    #[test]
    fn plans_that_come_with_the_program_can_be_used() {
        for (name, toml) in built_in() {
            let plan = Plan::parse(toml, &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(plan.name, name);
            assert!(crate::references::built_in().check_limits(&plan).is_ok(), "{name}");
            // One trial decides a count.
            let is_count = |limit: &model::Limit| limit.metric.quantity() == model::Quantity::Count;
            let decides = plan.repeats.get() >= 6;
            assert!(plan.limits.iter().all(is_count) || decides, "{name}: its limits cannot be decided");
            assert!(toml.starts_with("# "), "{name} says what it is for");
        }
        let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/plans")).expect("a folder").map(|file| {
            let file = file.expect("a file").path();
            file.file_stem().and_then(|name| name.to_str().map(str::to_owned)).expect("a name")
        });
        for file in files {
            assert!(names().any(|name| name == file), "plans/{file}.toml is not listed in src/commands/plans.rs");
        }
    }

    #[test]
    fn a_plan_that_may_be_meant_is_named() {
        let meant = |path: &str, beside: &[&str]| {
            let beside: Vec<String> = beside.iter().map(|name| (*name).to_owned()).collect();
            meant(Path::new(path), &beside).map(|meant| meant.display().to_string())
        };
        assert_eq!(meant("cerify", &[]).as_deref(), Some("certify"));
        assert_eq!(meant("my/rak.toml", &["rack.toml", "other.toml"]).as_deref(), Some("my/rack.toml"));
        assert_eq!(meant("rak", &["rack.toml"]).as_deref(), Some("rack.toml"));
        assert_eq!(meant("my/cerify", &[]), None, "plans of the program are in no folder");
        assert_eq!(meant("zzz", &["rack.toml"]), None);
    }

    #[test]
    fn quick_takes_under_a_minute() {
        let plan = Plan::parse(OF_SEVERAL[0].1, &[]).unwrap();
        let seconds = Course::of(&plan, 1).remaining(run::estimate).seconds;
        assert!(seconds < 50.0, "{seconds} s");
    }

    fn hours(name: &str, sets: &[&str]) -> f64 {
        let toml = built_in().find(|(known, _)| *known == name).unwrap().1;
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let plan = Plan::parse(toml, &sets).unwrap();
        Course::of(&plan, 1).remaining(run::estimate).seconds / 3600.0
    }

    #[test]
    fn long_plans_take_as_long_as_they_say_and_can_be_scaled_down() {
        assert!((6.2..6.5).contains(&hours("certify", &[])), "{}", hours("certify", &[]));
        assert!((0.12..0.15).contains(&hours("loopback", &[])), "{}", hours("loopback", &[]));
        assert!((2.0..2.1).contains(&hours("soak", &[])), "{}", hours("soak", &[]));
        assert!((2.4..3.0).contains(&(60.0 * hours("bufferbloat", &[]))), "{}", hours("bufferbloat", &[]));
        assert!((9.0..11.0).contains(&(60.0 * hours("card", &[]))), "{}", hours("card", &[]));
        assert!((2.0..5.0).contains(&(60.0 * hours("dut", &[]))), "{}", hours("dut", &[]));
        assert!((7.5..9.0).contains(&hours("rfc2544", &[])), "{}", hours("rfc2544", &[]));
        let tried_out = ["repeats=1", "latency.count=1000", "goodput.duration=1 s"];
        assert!(hours("certify", &tried_out) < 20.0 / 3600.0);
        assert!((0.4..0.6).contains(&hours("certify", &["goodput.5.duration=100 s"])));
    }
}
