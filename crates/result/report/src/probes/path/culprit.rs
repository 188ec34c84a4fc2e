//! Culprits of a path MTU in words.

use model::{Culprit, CulpritKind};

use crate::texts::Texts;

/// Cause of a low path MTU, in words.
pub(super) fn words(culprit: &Culprit, t: &Texts) -> String {
    let none = || t.get("not-known");
    let host = culprit.host.clone().unwrap_or_else(none);
    let device = culprit.device.clone().unwrap_or_else(none);
    let (host, device): (&dyn std::fmt::Display, &dyn std::fmt::Display) = (&host, &device);
    let at = [("host", host), ("device", device)];
    match culprit.kind {
        CulpritKind::OwnInterface => t.with("culprit-own-interface", &at),
        CulpritKind::PeerInterface => t.with("culprit-peer-interface", &at),
        CulpritKind::BridgeMember => t.with("culprit-bridge-member", &at),
        CulpritKind::MiddleHop => t.with("culprit-middle-hop", &at[..1]),
        CulpritKind::BlackHole => t.with("culprit-black-hole", &at[..1]),
        CulpritKind::IcmpFiltered => t.with("culprit-icmp-filtered", &at[..1]),
    }
}

/// The same in a few words, for a line of the terminal.
pub(super) fn in_short(culprit: &Culprit, t: &Texts) -> String {
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| t.get("not-known"));
    let (host, device) = (named(&culprit.host), named(&culprit.device));
    match culprit.kind {
        CulpritKind::OwnInterface | CulpritKind::PeerInterface => {
            t.with("short-interface", &[("device", &device), ("host", &host)])
        }
        CulpritKind::BridgeMember => t.with("short-bridge-member", &[("device", &device), ("host", &host)]),
        CulpritKind::MiddleHop => t.with("short-router", &[("host", &host)]),
        CulpritKind::BlackHole => t.get("short-black-hole"),
        CulpritKind::IcmpFiltered => t.get("short-icmp-filtered"),
    }
}

#[cfg(test)]
mod tests {
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
