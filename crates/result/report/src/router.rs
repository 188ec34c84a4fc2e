//! The XDP router as plain text.

use std::collections::BTreeMap;

use model::{Router, RouterPort};
use serde::Serialize;

use crate::{
    lang::Lang,
    show::grouped,
    terminal::{Row, table},
    texts::Texts,
};

/// The ports of a router with their packets, and where these went instead.
pub fn router(router: &Router, lang: Lang) -> String {
    let t = Texts::of(lang);
    let owner = match &router.owner {
        Some(process) => t.with("router-owned", &[("process", process)]),
        None => t.get("router-kept"),
    };
    let head = [
        t.get("router-col-port"),
        t.get("router-col-program"),
        t.get("router-col-forwarded"),
        t.get("router-col-passed"),
        t.get("router-col-dropped"),
    ];
    let rows = router.ports.iter().map(|port| row(port, t)).collect();
    let lines = [owner].into_iter().chain(table(head, rows)).chain([String::new()]);
    lines
        .chain(router.ports.iter().flat_map(|port| reasons(port, t)))
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
        + "\n"
}

/// Facts of a new router.
pub fn router_is_up(lang: Lang) -> String {
    let t = Texts::of(lang);
    format!("\n{}\n{}\n", t.get("router-filters"), t.get("router-hint"))
}

fn row(port: &RouterPort, t: &Texts) -> Row<5> {
    let counters = &port.counters;
    let cells = [
        port.name.clone(),
        t.of_value("router-mode", &port.mode),
        grouped(counters.forwarded),
        grouped(counters.passed.values().sum()),
        grouped(counters.dropped.values().sum()),
    ];
    Row(cells, vec![])
}

/// Why its program is generic, and where its packets went instead, a line a reason.
fn reasons(port: &RouterPort, t: &Texts) -> Vec<String> {
    let generic = port.why_generic.map(|why| {
        let why = t.of_value("router-why", &why);
        t.with("router-generic", &[("port", &port.name), ("why", &why)])
    });
    let passed = lines(port, &port.counters.passed, t, "router-passes", "router-passed");
    let dropped = lines(port, &port.counters.dropped, t, "router-drops", "router-dropped");
    generic.into_iter().chain(passed).chain(dropped).collect()
}

/// The most frequent reason first.
fn lines<R: Serialize>(
    port: &RouterPort,
    packets: &BTreeMap<R, u64>,
    t: &Texts,
    line: &str,
    reason: &str,
) -> Vec<String> {
    let mut packets: Vec<_> = packets.iter().collect();
    packets.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let line = |(why, count): (&R, &u64)| {
        let (count, why) = (grouped(*count), t.of_value(reason, why));
        t.with(line, &[("port", &port.name), ("packets", &count), ("why", &why)])
    };
    packets.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use model::router::{Dropped, Mode, Passed, PortCounters, WhyGeneric};

    use super::*;

    fn port(name: &str, why_generic: Option<WhyGeneric>, counters: PortCounters) -> RouterPort {
        let mode = if why_generic.is_some() { Mode::Generic } else { Mode::Native };
        RouterPort { name: name.to_owned(), mode, why_generic, counters }
    }

    #[test]
    fn a_router_is_told_with_the_reasons_for_the_kernel() {
        let counters = PortCounters {
            forwarded: 12_345,
            bytes: 740_700,
            passed: [(Passed::NotIp, 2), (Passed::NoNeighbour, 3)].into(),
            dropped: [(Dropped::Blackhole, 1)].into(),
        };
        let ports =
            vec![port("eth1", None, counters), port("eth2", Some(WhyGeneric::NoNative), PortCounters::default())];
        let mut it = Router { owner: Some(77), ports };
        assert_eq!(
            router(&it, Lang::En),
            "\
A router stands. It belongs to process 77, and ends with it.

  Port    Program  Forwarded  To the kernel  Dropped
  eth1  in driver     12,345              5        1
  eth2    generic          0              0        0

eth1: 3 to the kernel (MAC address of the next hop not known yet)
eth1: 2 to the kernel (neither IPv4 nor IPv6, like ARP)
eth1: 1 dropped (by a blackhole route)
eth2 forwards in generic mode, which is slower: its driver has no native XDP
"
        );
        it.owner = None;
        assert!(router(&it, Lang::En).starts_with("A router stands. It was kept: it needs no process.\n"));
        assert!(!router(&it, Lang::Ja).contains('⟦') && !router_is_up(Lang::Ja).contains('⟦'));
    }
}
