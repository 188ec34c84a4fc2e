//! netstat(1): `netstat -m`, the memory of the network stack.

use std::collections::BTreeMap;

use crate::text::lines;

/// Use of one kind of buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// In use.
    pub current: u64,
    /// Kept for later.
    pub cache: u64,
    /// Both together.
    pub total: u64,
    /// Most that there may be (`kern.ipc.nmb…`); `None` where there is no limit.
    pub most: Option<u64>,
}

/// Buffers of the network stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mbufs {
    /// Uses by kind: `mbufs`, `mbuf clusters`, `4k jumbo clusters`, `9k jumbo clusters`, `16k jumbo clusters`.
    pub uses: BTreeMap<String, Use>,
    /// Requests that got no buffer, by kind: `mbufs`, `clusters`, `mbuf+clusters`, and the jumbo clusters `4k`, `9k`, `16k`.
    pub denied: BTreeMap<String, u64>,
    /// Requests that had to wait, likewise.
    pub delayed: BTreeMap<String, u64>,
}

impl Mbufs {
    /// Kinds of which nine tenths of the most are there or were asked for in vain.
    pub fn short(&self) -> impl Iterator<Item = &str> {
        let is_nearly_used = |of: &Use| of.most.is_some_and(|most| most > 0 && of.current >= most / 10 * 9);
        let used = self.uses.iter().filter(move |(_, of)| is_nearly_used(of)).map(|(kind, _)| kind.as_str());
        used.chain(self.denied.iter().filter(|(_, count)| **count > 0).map(|(kind, _)| kind.as_str()))
    }
}

/// Lines like `1/2/3/4 mbuf clusters in use (current/cache/total/max)` and `0/0/0 requests for mbufs denied (mbufs/clusters/mbuf+clusters)`.
pub fn read(text: &str) -> Mbufs {
    let mut mbufs = Mbufs::default();
    for line in lines(text) {
        let Some((counts, rest)) = line.trim().split_once(' ') else { continue };
        let counts: Option<Vec<u64>> = counts.split('/').map(|count| count.parse().ok()).collect();
        let (Some(counts), Some((what, legend))) =
            (counts, rest.split_once(" (current/cache").or(rest.rsplit_once(" (")))
        else {
            continue;
        };
        if let Some(kind) = what.strip_suffix(" in use").filter(|_| line.contains("(current/cache/total")) {
            if let [current, cache, total, most @ ..] = counts.as_slice() {
                let kind = kind.replace(" (page size)", "");
                mbufs
                    .uses
                    .insert(kind, Use { current: *current, cache: *cache, total: *total, most: most.first().copied() });
            }
        } else if what.starts_with("requests for ") {
            let place = match what.rsplit_once(' ') {
                Some((_, "denied")) => &mut mbufs.denied,
                Some((_, "delayed")) => &mut mbufs.delayed,
                _ => continue,
            };
            let kinds = legend.trim_end_matches(')').split('/').map(str::to_owned);
            place.extend(kinds.zip(counts));
        }
    }
    mbufs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::{NETSTAT_M_8, NETSTAT_M_13};

    #[test]
    fn buffers_have_uses_and_limits() {
        let mbufs = read(NETSTAT_M_13);
        assert_eq!(mbufs.uses["mbufs"], Use { current: 257, cache: 1018, total: 1275, most: None });
        assert_eq!(mbufs.uses["mbuf clusters"].most, Some(109_049));
        assert_eq!(mbufs.uses["4k jumbo clusters"], Use { current: 0, cache: 508, total: 508, most: Some(54_524) });
        assert_eq!((mbufs.denied.len(), mbufs.delayed.len()), (6, 6));
        assert_eq!(mbufs.short().count(), 0);
    }

    #[test]
    fn requests_in_vain_are_named() {
        let mbufs = read(NETSTAT_M_8);
        assert_eq!((mbufs.denied["mbufs"], mbufs.denied["clusters"], mbufs.denied["mbuf+clusters"]), (508, 7778, 5734));
        assert_eq!(mbufs.short().collect::<Vec<_>>(), ["clusters", "mbuf+clusters", "mbufs"]);
        let full = read("900/100/1000/1000 mbuf clusters in use (current/cache/total/max)\n");
        assert_eq!(full.short().collect::<Vec<_>>(), ["mbuf clusters"]);
    }
}
