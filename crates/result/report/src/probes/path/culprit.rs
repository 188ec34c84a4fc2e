//! Culprits of a path MTU in words.

use std::fmt::Display;

use model::Culprit;

use crate::texts::Texts;

/// Cause of a low path MTU, in words.
pub(super) fn words(culprit: &Culprit, t: &Texts) -> String {
    said("culprit", culprit, t)
}

/// The same in a few words, for a line of the terminal.
pub(super) fn in_short(culprit: &Culprit, t: &Texts) -> String {
    said("short", culprit, t)
}

fn said(prefix: &str, culprit: &Culprit, t: &Texts) -> String {
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| t.get("not-known"));
    let at: [(&str, &dyn Display); 2] = [("host", &named(&culprit.host)), ("device", &named(&culprit.device))];
    t.of_value_with(prefix, &culprit.kind, &at)
}

#[cfg(test)]
mod tests {
    use model::CulpritKind;

    use super::*;
    use crate::lang::Lang;

    #[test]
    fn every_culprit_has_words_in_both_languages() {
        let (en, ja) = (Texts::of(Lang::En), Texts::of(Lang::Ja));
        for kind in [
            CulpritKind::OwnInterface,
            CulpritKind::PeerInterface,
            CulpritKind::BridgeMember,
            CulpritKind::MiddleHop,
            CulpritKind::BlackHole,
            CulpritKind::IcmpFiltered,
        ] {
            let it = Culprit { host: Some("b".into()), device: Some("eth1".into()), kind };
            assert_ne!(words(&it, en), words(&it, ja));
            assert!(!words(&it, en).contains('⟦') && !words(&it, ja).contains('⟦'));
        }
    }
}
