//! The words of live rates, looked up once before they are drawn every second.

use crate::{lang::Lang, texts::Texts};

/// The words, each found by its key.
macro_rules! words {
    ($($(#[$of:meta])+ $word:ident = $key:literal,)+) => {
        /// Words of `watch` in one language.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct WatchWords {
            lang: Lang,
            /// Received and sent.
            pub ways: [String; 2],
            $($(#[$of])+ pub $word: String,)+
        }

        impl WatchWords {
            /// In this language.
            pub fn of(lang: Lang) -> Self {
                let t = Texts::of(lang);
                Self { lang, ways: [t.get("watch-received"), t.get("watch-sent")], $($word: t.get($key)),+ }
            }
        }
    };
}

words! {
    /// Heading of the names of interfaces.
    interface = "watch-interface",
    /// Heading of their links.
    link = "watch-link",
    /// Packets there was no room for.
    dropped = "watch-dropped",
    /// Bad packets.
    errors = "watch-errors",
    /// Rates of the last interval.
    now = "watch-now",
    /// Mean rates.
    mean = "watch-mean",
    /// The highest rates.
    peak = "watch-peak",
    /// Sums.
    total = "watch-total",
    /// Share of the line.
    line = "watch-line",
    /// Packets.
    packets = "watch-packets",
    /// A link that is up.
    up = "watch-up",
    /// An interface that is set down.
    down = "watch-down",
    /// An interface without a carrier.
    no_carrier = "watch-no-carrier",
    /// An interface that is not there any more.
    gone = "watch-gone",
    /// The network namespace that the program is in.
    own = "watch-own",
    /// A driver's queue.
    queue = "watch-queue",
    /// Counts of XDP programs.
    xdp = "watch-xdp",
    /// A driver's other counters.
    driver = "watch-driver",
    /// Layer that a share of the line counts.
    line_note = "watch-line-note",
    /// Meaning of keys.
    keys = "watch-keys",
    /// The same where there is little room.
    keys_short = "watch-keys-short",
    /// There is nothing to show.
    nothing = "watch-nothing",
}

impl WatchWords {
    /// So many interfaces.
    pub fn count(&self, count: usize) -> String {
        Texts::of(self.lang).count("watch-count", count as u64)
    }

    /// The shown ones of so many interfaces.
    pub fn range(&self, first: usize, last: usize, count: usize) -> String {
        Texts::of(self.lang).with("watch-range", &[("first", &first), ("last", &last), ("count", &count)])
    }

    /// How often it is read.
    pub fn every(&self, interval: &str) -> String {
        Texts::of(self.lang).with("watch-every", &[("interval", &interval)])
    }

    /// Caption of a graph: its length in seconds, and its highest rate.
    pub fn graph(&self, seconds: u64, rate: &str) -> String {
        Texts::of(self.lang).with("watch-graph", &[("seconds", &seconds), ("rate", &rate)])
    }

    /// A terminal that is too small.
    pub fn small(&self, columns: u16, rows: u16) -> String {
        Texts::of(self.lang).with("watch-small", &[("columns", &columns), ("rows", &rows)])
    }

    /// A namespace that cannot be read.
    pub fn unread(&self, namespace: &str, why: &str) -> String {
        Texts::of(self.lang).with("watch-unread", &[("namespace", &namespace), ("why", &why)])
    }

    /// For how long was watched.
    pub fn watched(&self, time: &str) -> String {
        Texts::of(self.lang).with("watch-watched", &[("time", &time)])
    }

    /// Interfaces without traffic.
    pub fn idle(&self, names: &str) -> String {
        Texts::of(self.lang).with("watch-idle", &[("names", &names)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_all_words() {
        let [en, ja] = [Lang::En, Lang::Ja].map(|lang| {
            let words = WatchWords::of(lang);
            let said = [
                words.count(1),
                words.count(200),
                words.range(1, 20, 200),
                words.every("1 s"),
                words.graph(60, "1 Gbit/s"),
                words.small(40, 5),
                words.unread("wp1-a", "why"),
                words.watched("0:01"),
                words.idle("eth1"),
            ];
            format!("{words:?} {said:?}")
        });
        assert!(!en.contains('⟦') && !ja.contains('⟦'), "{en}{ja}");
        assert!(
            en.contains("\"1 interface\"") && en.contains("200 interfaces") && ja.contains("200 インターフェース"),
            "{en}"
        );
    }
}
