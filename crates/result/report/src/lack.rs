//! Words for missing properties of a machine or missing rights: cost and remedy.

use model::check::Lack;

use crate::{
    lang::Lang,
    texts::{Texts, name_and_fields},
};

/// The cost.
pub fn lack_costs(lack: Lack, lang: Lang) -> String {
    Texts::of(lang).get(&format!("lack-{}-costs", name_and_fields(&lack).0))
}

/// Remedy.
pub fn lack_remedy(lack: Lack, lang: Lang) -> String {
    Texts::of(lang).get(&format!("lack-{}-remedy", name_and_fields(&lack).0))
}

/// The labels in front of the two, for a list on the terminal.
pub fn lack_labels(lang: Lang) -> (String, String) {
    let t = Texts::of(lang);
    (t.get("lack-costs"), t.get("lack-remedy"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lack_is_explained_in_both_languages() {
        let all = [
            Lack::Store,
            Lack::Root,
            Lack::RootAndUserNamespaces,
            Lack::Cores,
            Lack::Ipv6,
            Lack::FastClock,
            Lack::BareMetal,
            Lack::LabBed,
            Lack::OtherDirection,
            Lack::Engine,
            Lack::EngineFrames,
        ];
        for lack in all {
            assert_ne!(lack_costs(lack, Lang::En), lack_costs(lack, Lang::Ja));
            assert_ne!(lack_remedy(lack, Lang::En), lack_remedy(lack, Lang::Ja));
        }
        assert_ne!(lack_labels(Lang::En), lack_labels(Lang::Ja));
    }
}
