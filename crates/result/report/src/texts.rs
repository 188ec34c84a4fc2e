//! The words themselves: Fluent files, one for each language, compiled in.

use std::{
    fmt::Display,
    sync::{Arc, LazyLock},
};

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};
use jiff::tz::TimeZone;
use model::{Names, ProbeSpec, Run, json::value_of, plain::one_line};
use serde::Serialize;
use serde_json::{Map, Value};
use unic_langid::LanguageIdentifier;

use crate::lang::Lang;

// `ENGLISH` and `JAPANESE`: the texts of both languages, all files of their folders.
include!(concat!(env!("OUT_DIR"), "/texts.rs"));

static EN: LazyLock<Texts> = LazyLock::new(|| Texts::parse(Lang::En, ENGLISH));
static JA: LazyLock<Texts> = LazyLock::new(|| Texts::parse(Lang::Ja, JAPANESE));

/// All texts of one language.
pub(crate) struct Texts {
    pub(crate) lang: Lang,
    bundle: Arc<FluentBundle<FluentResource>>,
    /// Names of the configurations of the document.
    pub(crate) names: Names,
    /// Time zone of the times in the document.
    pub(crate) zone: TimeZone,
}

impl Texts {
    pub(crate) fn of(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &EN,
            Lang::Ja => &JA,
        }
    }

    /// The same for a document about these runs, whose configurations are told apart by name, in the time zone of its reader.
    pub(crate) fn about<'r>(lang: Lang, runs: impl IntoIterator<Item = &'r Run>, zone: TimeZone) -> Self {
        let specs = runs
            .into_iter()
            .flat_map(|run| run.plan.specs().into_iter().chain(run.trials.iter().map(|trial| trial.measured.spec())));
        Self { zone, ..Self::naming(lang, specs) }
    }

    /// The same for a document about these configurations.
    pub(crate) fn naming(lang: Lang, specs: impl IntoIterator<Item = ProbeSpec>) -> Self {
        Self { lang, bundle: Arc::clone(&Self::of(lang).bundle), names: Names::of(specs), zone: TimeZone::UTC }
    }

    fn parse(lang: Lang, sources: &[&str]) -> Self {
        let locale: LanguageIdentifier = lang.to_string().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![locale]);
        // Fluent would wrap each value in invisible direction marks, which terminals and copied text show as rubbish.
        bundle.set_use_isolating(false);
        for source in sources {
            // Messages that do not parse are left out here and fail the tests below.
            let resource = FluentResource::try_new((*source).to_owned()).unwrap_or_else(|(partial, _)| partial);
            bundle.add_resource_overriding(resource);
        }
        Self { lang, bundle: Arc::new(bundle), names: Names::default(), zone: TimeZone::UTC }
    }

    /// The text of a key that takes no values.
    pub(crate) fn get(&self, key: &str) -> String {
        self.with(key, &[])
    }

    /// The text of a key with its values, which cannot begin a line: many of them are names of others. A key that is missing shows itself in double brackets; tests look for these.
    pub(crate) fn with(&self, key: &str, values: &[(&str, &dyn Display)]) -> String {
        self.format(key, &values.iter().map(|(name, value)| (*name, one_line(&value.to_string()))).collect())
    }

    /// The text of a value: its serde name behind the prefix, with its fields.
    pub(crate) fn of_value(&self, prefix: &str, value: &impl Serialize) -> String {
        self.of_value_with(prefix, value, &[])
    }

    /// The same with values beside the fields, or in their place.
    pub(crate) fn of_value_with(
        &self,
        prefix: &str,
        value: &impl Serialize,
        beside: &[(&str, &dyn Display)],
    ) -> String {
        let (name, fields) = name_and_fields(value);
        let shown = |value: Value| if let Value::String(text) = value { one_line(&text) } else { value.to_string() };
        let fields = fields.into_iter().map(|(field, value)| (field, shown(value)));
        let beside = beside.iter().map(|(field, value)| ((*field).to_owned(), one_line(&value.to_string())));
        self.format(&format!("{prefix}-{name}"), &fields.chain(beside).collect())
    }

    /// The text of a key that takes no values; `None` if there is no such key.
    pub(crate) fn find(&self, key: &str) -> Option<String> {
        self.has(key).then(|| self.get(key))
    }

    /// Whether there is such a key.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.bundle.has_message(key)
    }

    /// The text of a key that reads differently for one and for many.
    pub(crate) fn count(&self, key: &str, count: u64) -> String {
        self.format(key, &[("count", count)].into_iter().collect())
    }

    fn format(&self, key: &str, args: &FluentArgs<'_>) -> String {
        let Some(pattern) = self.bundle.get_message(key).and_then(|message| message.value()) else {
            return format!("⟦{key}⟧");
        };
        let mut errors = Vec::new();
        let text = self.bundle.format_pattern(pattern, Some(args), &mut errors).into_owned();
        if errors.is_empty() { text } else { format!("⟦{key}: {errors:?}⟧") }
    }
}

/// Keys of the tags of enums that have one.
const TAGS: [&str; 3] = ["kind", "what", "why"];

/// The serde name of a value as in keys, and its fields; the field of a variant around one value is `value`.
pub(crate) fn name_and_fields(value: &impl Serialize) -> (String, Map<String, Value>) {
    let (name, fields) = match value_of(value) {
        Value::String(name) => (name, Map::new()),
        Value::Object(mut fields) => match TAGS.iter().find_map(|tag| fields.remove(*tag)) {
            Some(tag) => (tag.as_str().unwrap_or_default().to_owned(), fields),
            None => match fields.into_iter().next() {
                Some((name, Value::Object(fields))) => (name, fields),
                Some((name, value)) => (name, Map::from_iter([("value".to_owned(), value)])),
                None => Default::default(),
            },
        },
        _ => Default::default(),
    };
    (name.to_lowercase().replace(['_', ' '], "-"), fields)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use model::{
        Batch, Conclusion, Direction, Doubt, Evidence, FailureKind, Finding, Metric, Modifier, NotComparable,
        PathAdviceKind, PathMethod, Place, SendMethod, Stack, TransferMethod, Undecided, Verdict, WaitMode,
        card::{Cause, Connector},
        card_health::{CardFinding, Health},
        check::{self, Lack, Subject},
        inspection,
        limited::{CulpritKind, Wait},
        reference::{Condition, FigureMetric, Measurer, Statistic},
        rfc2544::Deviation,
        router,
        search::{Classification, Irregular},
        trial::{ForwardingCheck, ForwardingFault, ForwardingField, KernelTls, NotApplicable, Refusal, StageName},
        tuning::{StepOutcome, WhyLeftOut},
    };
    use schemars::JsonSchema;

    use super::*;
    use crate::{notice::Notice, preview::Obstacle};

    /// Names of all variants of an enum, as keys have them.
    fn names<T: JsonSchema>() -> Vec<String> {
        fn find(schema: &Value, names: &mut BTreeSet<String>) {
            let tag = |it: &Value| {
                TAGS.iter().chain(&["probe"]).find_map(|tag| it["properties"][tag]["const"].as_str().map(str::to_owned))
            };
            let variants = ["oneOf", "anyOf"].iter().filter_map(|of| schema[of].as_array()).flatten();
            let own = tag(schema).or_else(|| schema["const"].as_str().map(str::to_owned));
            let listed = schema["enum"].as_array().into_iter().flatten().filter_map(|it| Some(it.as_str()?.to_owned()));
            let required = schema["required"][0].as_str().map(str::to_owned).filter(|_| own.is_none());
            names.extend(own.into_iter().chain(listed).chain(required));
            variants.for_each(|variant| find(variant, names));
        }
        let mut found = BTreeSet::new();
        find(&schemars::schema_for!(T).to_value(), &mut found);
        assert!(!found.is_empty(), "{} has no variants", T::schema_name());
        found.iter().map(|name| name.to_lowercase().replace(['_', ' '], "-")).collect()
    }

    /// Keys that are made of the names of values.
    fn of_values() -> Vec<String> {
        let of = |prefix: &str, names: Vec<String>| -> Vec<String> {
            names.iter().map(|name| format!("{prefix}-{name}")).collect()
        };
        let and =
            |keys: Vec<String>, end: &str| -> Vec<String> { keys.iter().map(|key| format!("{key}-{end}")).collect() };
        let without = |mut keys: Vec<String>, special: &[&str]| {
            keys.retain(|key| !special.contains(&key.as_str()));
            keys
        };
        [
            of("metric", names::<Metric>()),
            of("doubt", names::<Doubt>()),
            without(of("evidence", names::<Evidence>()), &["evidence-counter", "evidence-waited"]),
            of("evidence-waited", names::<Wait>()),
            of("place", names::<Place>()),
            crate::changes::texts_of_keys(),
            without(of("remedy", names::<Place>()), &["remedy-intended-load", "remedy-not-known"]),
            without(of("why", names::<NotComparable>()), &["why-ip", "why-protocol"]),
            of("culprit", names::<CulpritKind>()),
            of("short", names::<CulpritKind>()),
            of("path-to-method", names::<PathMethod>()),
            of("path-to-remedy", names::<PathAdviceKind>()),
            of("refusal", names::<Refusal>()),
            of("verdict", names::<Verdict>()),
            of("undecided", names::<Undecided>()),
            of("todo", names::<Undecided>()),
            of("finding", names::<Finding>()),
            of("conclusion", names::<Conclusion>()),
            of("condition", names::<Condition>()),
            of("published", names::<FigureMetric>()),
            of("measurement", names::<ProbeSpec>()),
            of("failed", names::<FailureKind>()),
            of("transfer-method", names::<TransferMethod>()),
            of("transfer-kernel-tls", names::<KernelTls>()),
            of("forwarding-check", names::<ForwardingCheck>()),
            of("forwarding-fault", names::<ForwardingFault>()),
            of("forwarding-field", names::<ForwardingField>()),
            of("forwarding-reason", names::<NotApplicable>()),
            of("statistic", names::<Statistic>()),
            of("measurer", names::<Measurer>()),
            of("card-health", names::<Health>()),
            of("card-health-meaning", names::<Health>()),
            of("card-check-word", names::<Health>()),
            of("card-check", names::<CardFinding>()),
            of("card-advice", names::<CardFinding>()),
            of("stack", names::<Stack>()),
            of("mode", names::<WaitMode>()),
            of("direction", names::<Direction>()),
            of("batch", names::<Batch>()),
            of("stage", names::<StageName>()),
            of("router-mode", names::<router::Mode>()),
            of("tune-left-out", names::<WhyLeftOut>()),
            of("effect-outcome", names::<StepOutcome>()),
            of("tune-why", crate::tune::WHY.map(str::to_owned).into()),
            of("router-why", names::<router::WhyGeneric>()),
            of("router-passed", names::<router::Passed>()),
            of("router-dropped", names::<router::Dropped>()),
            without(of("send", names::<SendMethod>()), &["send-write"]),
            of("card-connector", names::<Connector>()),
            of("refused", names::<Cause>()),
            and(of("refused", names::<Cause>()), "fix"),
            of("classification", names::<Classification>()),
            of("irregular", names::<Irregular>()),
            of("deviation", names::<Deviation>()),
            of("modifier", names::<Modifier>()),
            of("notice", names::<Notice<'_>>()),
            of("preview-limit", names::<Obstacle>()),
            of("finding", names::<Subject>()),
            of("inspected", names::<inspection::Check>()),
            and(of("inspected", names::<inspection::Check>()), "why"),
            of("inspected-goal", names::<inspection::Goal>()),
            of("inspected-group", names::<inspection::Group>()),
            of("inspected-severity", names::<inspection::Severity>()),
            without(
                of("found", names::<check::Finding>()),
                &["found-failed", "found-store", "found-hypervisor", "found-ipv6", "found-unreadable"],
            ),
            and(of("lack", names::<Lack>()), "costs"),
            and(of("lack", names::<Lack>()), "remedy"),
        ]
        .concat()
    }

    fn keys(source: &str) -> Vec<String> {
        let key = |line: &str| line.split_once(" =").map(|(key, _)| key.to_owned());
        let starts_with_letter = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase());
        source.lines().filter(starts_with_letter).filter_map(key).collect()
    }

    fn own_sources(folder: &Path) -> String {
        let mut all = String::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                all += &own_sources(&path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                all += &fs::read_to_string(path).unwrap();
            }
        }
        all
    }

    #[test]
    fn both_languages_parse_and_have_the_same_keys_and_values() {
        let (english, japanese) = (ENGLISH.concat(), JAPANESE.concat());
        for source in ENGLISH.iter().chain(JAPANESE) {
            FluentResource::try_new((*source).to_owned()).map_err(|(_, errors)| errors).unwrap();
        }
        for source in [&english, &japanese] {
            let keys = keys(source);
            assert_eq!(keys.len(), keys.iter().collect::<BTreeSet<_>>().len(), "a key is there twice");
        }
        assert_eq!(keys(&english), keys(&japanese));
        let values = |line: &str| -> BTreeSet<String> {
            line.split("{ $").skip(1).map(|part| part.split(' ').next().unwrap().to_owned()).collect()
        };
        let one_line = |source: &str| -> Vec<(String, BTreeSet<String>)> {
            let lines = source.lines().filter(|line| line.contains(" = "));
            lines.map(|line| (line.split(" = ").next().unwrap().to_owned(), values(line))).collect()
        };
        let japanese = one_line(&japanese);
        for (key, values) in one_line(&english) {
            assert!(japanese.contains(&(key.clone(), values)), "{key} takes other values in Japanese");
        }
    }

    #[test]
    fn each_key_is_used_and_each_used_key_exists() {
        let sources = own_sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
        let keys = keys(&ENGLISH.concat());
        let of_values = of_values();
        for key in &of_values {
            assert!(keys.contains(key), "{key} has no text");
        }
        let compared: Vec<String> = names::<Metric>().iter().map(|name| format!("compare-{name}")).collect();
        for key in &keys {
            let is_derived = crate::bypass::DERIVED.iter().any(|prefix| key.starts_with(prefix));
            // The layout and the kind of a bed and the state of a link name their texts.
            let of_bed = ["bed", "link", "joint", "state"]
                .iter()
                .any(|head| key.starts_with(&format!("{head}-")) && sources.contains(&format!("\"{head}-{{")));
            let is_meaning = key.strip_suffix("-meaning").is_some_and(|term| sources.contains(&format!("\"{term}\"")));
            let is_used = is_derived
                || is_meaning
                || of_bed
                || of_values.contains(key)
                || compared.contains(key)
                || sources.contains(&format!("\"{key}\""));
            assert!(is_used, "{key} is not used anywhere");
        }
        for call in ["t.get(\"", "t.with(\"", "t.count(\""] {
            for used in sources.split(call).skip(1).map(|rest| rest.split('"').next().unwrap()) {
                assert!(keys.iter().any(|key| key == used), "{used} is used, but there is no such text");
            }
        }
    }

    #[test]
    fn each_layout_of_a_bed_has_its_words() {
        let t = Texts::of(Lang::En);
        for layout in [
            "lab",
            "lab-switch",
            "lab-bridge",
            "lab-router",
            "lab-vswitch",
            "lab-ovs",
            "lab-xdp-router",
            "hosts",
            "hosts-several",
            "hosts-one-kernel",
            "ports",
        ] {
            let text = t.with(&format!("bed-{layout}"), &[("near", &1), ("far", &2), ("count", &3)]);
            let link = [t.get(&format!("link-{layout}")), t.get(&format!("link-{layout}-meaning"))];
            assert!(!text.contains('⟦') && !link.concat().contains('⟦'), "{text} {link:?}");
        }
        for layout in
            ["lab-switch", "lab-bridge", "lab-vswitch", "lab-ovs", "hosts-several", "hosts-one-kernel", "ports"]
        {
            assert!(t.has(&format!("joint-{layout}")), "{layout}");
        }
        assert!(t.has("dut-cpus-lab-ovs"));
    }

    #[test]
    fn a_text_takes_its_values_and_a_missing_one_shows_itself() {
        let t = Texts::of(Lang::En);
        assert_eq!(t.count("streams", 1), "1 stream");
        assert_eq!(t.count("streams", 2), "2 streams");
        let absent = "no-such-key";
        assert_eq!(t.get(absent), "⟦no-such-key⟧");
    }
}
