//! What a machine or user may lack: what that costs, and what to do about it.

use crate::{lang::Lang, texts::Texts};

/// Something that is not as measuring would have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The store cannot be used.
    Store,
    /// Not root, but user namespaces are allowed.
    Root,
    /// Neither root nor user namespaces.
    RootAndUserNamespaces,
    /// Fewer than two cores.
    Cores,
    /// No IPv6.
    Ipv6,
    /// Reading the clock takes long.
    FastClock,
    /// The machine is a virtual one.
    BareMetal,
    /// No lab bed can be made.
    LabBed,
    /// A cable that carries one direction only.
    OtherDirection,
    /// A way of sending packets.
    Engine,
    /// Frames that a way of sending says it sent.
    EngineFrames,
}

impl Lack {
    /// What it costs.
    pub fn costs(self, lang: Lang) -> String {
        let t = Texts::of(lang);
        match self {
            Self::Store => t.get("lack-store-costs"),
            Self::Root => t.get("lack-root-costs"),
            Self::RootAndUserNamespaces => t.get("lack-namespaces-costs"),
            Self::Cores => t.get("lack-cores-costs"),
            Self::Ipv6 => t.get("lack-ipv6-costs"),
            Self::FastClock => t.get("lack-clock-costs"),
            Self::BareMetal => t.get("lack-metal-costs"),
            Self::LabBed => t.get("lack-lab-costs"),
            Self::OtherDirection => t.get("lack-direction-costs"),
            Self::Engine => t.get("lack-engine-costs"),
            Self::EngineFrames => t.get("lack-frames-costs"),
        }
    }

    /// What to do about it.
    pub fn remedy(self, lang: Lang) -> String {
        let t = Texts::of(lang);
        match self {
            Self::Store => t.get("lack-store-remedy"),
            Self::Root => t.get("lack-root-remedy"),
            Self::RootAndUserNamespaces => t.get("lack-namespaces-remedy"),
            Self::Cores => t.get("lack-cores-remedy"),
            Self::Ipv6 => t.get("lack-ipv6-remedy"),
            Self::FastClock => t.get("lack-clock-remedy"),
            Self::BareMetal => t.get("lack-metal-remedy"),
            Self::LabBed => t.get("lack-lab-remedy"),
            Self::OtherDirection => t.get("lack-direction-remedy"),
            Self::Engine => t.get("lack-engine-remedy"),
            Self::EngineFrames => t.get("lack-frames-remedy"),
        }
    }
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
            assert_ne!(lack.costs(Lang::En), lack.costs(Lang::Ja));
            assert_ne!(lack.remedy(Lang::En), lack.remedy(Lang::Ja));
        }
        assert_ne!(lack_labels(Lang::En), lack_labels(Lang::Ja));
    }
}
