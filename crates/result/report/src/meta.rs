//! An example of the file that says whose document a report is, in the reader's language.

use crate::lang::Lang;

/// TOML with a remark on each key, which can be used as it is.
pub fn meta_template(lang: Lang) -> &'static str {
    match lang {
        Lang::En => include_str!("../texts/en/meta.toml"),
        Lang::Ja => include_str!("../texts/ja/meta.toml"),
    }
}

#[cfg(test)]
mod tests {
    use model::{Identity, Verdict};

    use super::*;

    #[test]
    fn the_examples_can_be_used_and_show_every_key() {
        let [english, japanese] = [Lang::En, Lang::Ja].map(|lang| Identity::parse(meta_template(lang)).unwrap());
        for identity in [&english, &japanese] {
            // A key that an example leaves out is written as none, or as an empty list.
            let shown = identity.to_toml();
            let keys = |identity: &Identity| toml_keys(&serde_json::to_value(identity).unwrap());
            assert!(keys(identity).iter().all(|key| shown.contains(key.as_str())), "{shown}");
            assert!(identity.items.iter().any(|item| item.verdict == Verdict::NotRun), "one is not ticked yet");
        }
    }

    /// Each key that has a value, and each that has none.
    fn toml_keys(value: &serde_json::Value) -> Vec<String> {
        value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    }
}
