//! The words of live rates. Whoever draws them every second looks them up once.

use crate::{lang::Lang, texts::Texts};

/// Words of `watch` in one language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchWords {
    lang: Lang,
    /// Heading of the names of interfaces.
    pub interface: String,
    /// Heading of their links.
    pub link: String,
    /// What was received, and what was sent.
    pub ways: [String; 2],
    /// Packets there was no room for.
    pub dropped: String,
    /// Bad packets.
    pub errors: String,
    /// Rates of the last interval.
    pub now: String,
    /// Mean rates.
    pub mean: String,
    /// The highest rates.
    pub peak: String,
    /// Sums.
    pub total: String,
    /// Share of the line.
    pub line: String,
    /// Packets.
    pub packets: String,
    /// A link that is up.
    pub up: String,
    /// An interface that is set down.
    pub down: String,
    /// An interface without a carrier.
    pub no_carrier: String,
    /// An interface that is not there any more.
    pub gone: String,
    /// The network namespace that the program is in.
    pub own: String,
    /// A driver's queue.
    pub queue: String,
    /// What XDP programs did.
    pub xdp: String,
    /// A driver's other counters.
    pub driver: String,
    /// What a share of the line counts.
    pub line_note: String,
    /// What keys do.
    pub keys: String,
    /// The same where there is little room.
    pub keys_short: String,
    /// There is nothing to show.
    pub nothing: String,
}

impl WatchWords {
    /// In this language.
    pub fn of(lang: Lang) -> Self {
        let t = Texts::of(lang);
        Self {
            lang,
            interface: t.get("watch-interface"),
            link: t.get("watch-link"),
            ways: [t.get("watch-received"), t.get("watch-sent")],
            dropped: t.get("watch-dropped"),
            errors: t.get("watch-errors"),
            now: t.get("watch-now"),
            mean: t.get("watch-mean"),
            peak: t.get("watch-peak"),
            total: t.get("watch-total"),
            line: t.get("watch-line"),
            packets: t.get("watch-packets"),
            up: t.get("watch-up"),
            down: t.get("watch-down"),
            no_carrier: t.get("watch-no-carrier"),
            gone: t.get("watch-gone"),
            own: t.get("watch-own"),
            queue: t.get("watch-queue"),
            xdp: t.get("watch-xdp"),
            driver: t.get("watch-driver"),
            line_note: t.get("watch-line-note"),
            keys: t.get("watch-keys"),
            keys_short: t.get("watch-keys-short"),
            nothing: t.get("watch-nothing"),
        }
    }

    /// So many interfaces.
    pub fn count(&self, count: usize) -> String {
        let t = Texts::of(self.lang);
        t.count("watch-count", count as u64)
    }

    /// Which of so many interfaces are shown.
    pub fn range(&self, first: usize, last: usize, count: usize) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-range", &[("first", &first), ("last", &last), ("count", &count)])
    }

    /// How often it is read.
    pub fn every(&self, interval: &str) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-every", &[("interval", &interval)])
    }

    /// What a graph shows: so many seconds, and its highest rate.
    pub fn graph(&self, seconds: u64, rate: &str) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-graph", &[("seconds", &seconds), ("rate", &rate)])
    }

    /// A terminal that is too small.
    pub fn small(&self, columns: u16, rows: u16) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-small", &[("columns", &columns), ("rows", &rows)])
    }

    /// A namespace that cannot be read.
    pub fn unread(&self, namespace: &str, why: &str) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-unread", &[("namespace", &namespace), ("why", &why)])
    }

    /// For how long was watched.
    pub fn watched(&self, time: &str) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-watched", &[("time", &time)])
    }

    /// Interfaces without traffic.
    pub fn idle(&self, names: &str) -> String {
        let t = Texts::of(self.lang);
        t.with("watch-idle", &[("names", &names)])
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
