//! The words themselves: Fluent files, one for each language, compiled in.

use std::{fmt::Display, sync::LazyLock};

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};
use model::Metric;
use unic_langid::LanguageIdentifier;

use crate::lang::Lang;

/// A file for each subject, the same in both languages.
const ENGLISH: &[&str] = &[
    include_str!("../texts/en/bypass.ftl"),
    include_str!("../texts/en/cards.ftl"),
    include_str!("../texts/en/compare.ftl"),
    include_str!("../texts/en/dut.ftl"),
    include_str!("../texts/en/doctor.ftl"),
    include_str!("../texts/en/figures.ftl"),
    include_str!("../texts/en/identity.ftl"),
    include_str!("../texts/en/link.ftl"),
    include_str!("../texts/en/packets.ftl"),
    include_str!("../texts/en/page.ftl"),
    include_str!("../texts/en/references.ftl"),
    include_str!("../texts/en/preview.ftl"),
    include_str!("../texts/en/resumed.ftl"),
    include_str!("../texts/en/report.ftl"),
    include_str!("../texts/en/senders.ftl"),
    include_str!("../texts/en/sides.ftl"),
    include_str!("../texts/en/tcp.ftl"),
    include_str!("../texts/en/watch.ftl"),
];
const JAPANESE: &[&str] = &[
    include_str!("../texts/ja/bypass.ftl"),
    include_str!("../texts/ja/cards.ftl"),
    include_str!("../texts/ja/compare.ftl"),
    include_str!("../texts/ja/dut.ftl"),
    include_str!("../texts/ja/doctor.ftl"),
    include_str!("../texts/ja/figures.ftl"),
    include_str!("../texts/ja/identity.ftl"),
    include_str!("../texts/ja/link.ftl"),
    include_str!("../texts/ja/packets.ftl"),
    include_str!("../texts/ja/page.ftl"),
    include_str!("../texts/ja/references.ftl"),
    include_str!("../texts/ja/preview.ftl"),
    include_str!("../texts/ja/resumed.ftl"),
    include_str!("../texts/ja/report.ftl"),
    include_str!("../texts/ja/senders.ftl"),
    include_str!("../texts/ja/sides.ftl"),
    include_str!("../texts/ja/tcp.ftl"),
    include_str!("../texts/ja/watch.ftl"),
];

static EN: LazyLock<Texts> = LazyLock::new(|| Texts::parse(Lang::En, ENGLISH));
static JA: LazyLock<Texts> = LazyLock::new(|| Texts::parse(Lang::Ja, JAPANESE));

/// All texts of one language.
pub(crate) struct Texts {
    pub(crate) lang: Lang,
    bundle: FluentBundle<FluentResource>,
}

impl Texts {
    pub(crate) fn of(lang: Lang) -> &'static Self {
        match lang {
            Lang::En => &EN,
            Lang::Ja => &JA,
        }
    }

    fn parse(lang: Lang, sources: &[&str]) -> Self {
        let locale: LanguageIdentifier = lang.to_string().parse().unwrap_or_default();
        let mut bundle = FluentBundle::new_concurrent(vec![locale]);
        // Fluent would wrap each value in invisible direction marks, which terminals and copied text show as rubbish.
        bundle.set_use_isolating(false);
        for source in sources {
            // What does not parse is left out here and fails the tests below.
            let resource = FluentResource::try_new((*source).to_owned()).unwrap_or_else(|(partial, _)| partial);
            bundle.add_resource_overriding(resource);
        }
        Self { lang, bundle }
    }

    /// The text of a key that takes no values.
    pub(crate) fn get(&self, key: &str) -> String {
        self.with(key, &[])
    }

    /// The text of a key with its values. A key that is missing shows itself in double brackets; tests look for these.
    pub(crate) fn with(&self, key: &str, values: &[(&str, &dyn Display)]) -> String {
        self.format(key, &values.iter().map(|(name, value)| (*name, value.to_string())).collect())
    }

    /// The text of a metric, of those with this prefix.
    pub(crate) fn of_metric(&self, prefix: &str, metric: Metric) -> String {
        self.get(&format!("{prefix}-{}", metric.name().replace('_', "-")))
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

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use model::check::{Lack, Subject};

    use super::*;

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
        let metrics: Vec<String> = Metric::ALL.iter().map(|metric| metric.name().replace('_', "-")).collect();
        let is_of_metric = |key: &str| {
            let name = key.strip_prefix("metric-").or_else(|| key.strip_prefix("compare-"));
            name.is_some_and(|name| metrics.iter().any(|metric| metric == name))
        };
        let subjects = Subject::ALL.map(|subject| format!("finding-{}", subject.key()));
        let lacks = Lack::ALL.map(|lack| ["costs", "remedy"].map(|part| format!("lack-{}-{part}", lack.key())));
        let of_checks: Vec<String> = subjects.into_iter().chain(lacks.into_iter().flatten()).collect();
        for key in &of_checks {
            assert!(keys.contains(key), "{key} has no text");
        }
        for key in &keys {
            let is_derived = crate::bypass::DERIVED.iter().any(|prefix| key.starts_with(prefix));
            // The layout and the kind of a bed name their texts.
            let of_bed = ["bed", "link"]
                .iter()
                .any(|head| key.starts_with(&format!("{head}-")) && sources.contains(&format!("\"{head}-{{")));
            let is_used = is_derived
                || of_bed
                || is_of_metric(key)
                || of_checks.contains(key)
                || sources.contains(&format!("\"{key}\""));
            assert!(is_used, "{key} is not used anywhere");
        }
        for metric in &metrics {
            assert!(keys.contains(&format!("metric-{metric}")), "metric {metric} has no text");
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
        for layout in ["lab", "lab-switch", "lab-bridge", "lab-router", "hosts", "hosts-several", "ports"] {
            let text = t.with(&format!("bed-{layout}"), &[("near", &1), ("far", &2), ("count", &3)]);
            assert!(!text.contains('⟦'), "{text}");
        }
        for kind in ["lab", "hosts", "ports"] {
            assert!(
                !t.get(&format!("link-{kind}")).contains('⟦') && !t.get(&format!("link-{kind}-meaning")).contains('⟦')
            );
        }
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
