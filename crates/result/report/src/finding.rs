//! Words for checks and their findings.

use std::fmt::Display;

use model::check::{Finding, Subject};

use crate::{lang::Lang, show, texts::Texts};

/// The name of a subject.
pub fn subject_text(subject: Subject, lang: Lang) -> String {
    Texts::of(lang).of_value("finding", &subject)
}

/// A finding in words.
pub fn finding_text(finding: &Finding, lang: Lang) -> String {
    let t = Texts::of(lang);
    match finding {
        Finding::Failed { error: words } | Finding::Store { path: words } => words.clone(),
        Finding::Hypervisor { name } => show::hypervisor(name, t),
        Finding::Ipv6 { there: true } => t.get("found-ipv6-there"),
        Finding::Ipv6 { there: false } => t.get("found-ipv6-missing"),
        Finding::Clock { cost, .. } => t.of_value_with("found", finding, &[("cost", &format!("{cost:.0}"))]),
        Finding::Unreadable { path, why } => t.with("unreadable", &[("path", path), ("why", why)]),
        Finding::LinkElsewhere { speed_mbps, .. } => {
            t.of_value_with("found", finding, &[("speed", &speed(*speed_mbps, t))])
        }
        Finding::Kernel { version, .. } => {
            t.of_value_with("found", finding, &[("version", &show::reading_or_none(version, t, String::clone))])
        }
        Finding::Interface { driver, speed_mbps, mtu, state, .. } => {
            let (speed, state) = (speed(*speed_mbps, t), show::link_state(state, t));
            let driver = show::reading_or_none(driver, t, String::clone);
            let mtu = show::reading_or_none(mtu, t, u32::to_string);
            let values: [(&str, &dyn Display); 4] =
                [("driver", &driver), ("speed", &speed), ("mtu", &mtu), ("state", &state)];
            t.of_value_with("found", finding, &values)
        }
        Finding::Cable { ports: [port, other], speeds_mbps } => {
            t.with("found-cable", &[("port", port), ("other", other), ("speed", &speeds(speeds_mbps, t))])
        }
        Finding::OneWay { speeds_mbps, .. } => t.of_value_with("found", finding, &[("speed", &speeds(speeds_mbps, t))]),
        plain => t.of_value("found", plain),
    }
}

/// Speeds of two ports, once where they are the same.
fn speeds([one, other]: &[Option<u32>; 2], t: &Texts) -> String {
    if one == other { speed(*one, t) } else { format!("{} / {}", speed(*one, t), speed(*other, t)) }
}

fn speed(mbps: Option<u32>, t: &Texts) -> String {
    mbps.map_or_else(|| t.get("found-speed-not-known"), |mbps| format!("{mbps} Mbit/s"))
}

#[cfg(test)]
mod tests {
    use model::Reading;

    use super::*;

    #[test]
    fn what_was_found_is_said_in_both_languages() {
        let ports = ["eth1".to_owned(), "eth2".to_owned()];
        let cable = |speeds_mbps| finding_text(&Finding::Cable { ports: ports.clone(), speeds_mbps }, Lang::En);
        assert_eq!(cable([None, None]), "eth1 and eth2: cabled together, speed not known");
        assert_eq!(cable([Some(1000), Some(10_000)]), "eth1 and eth2: cabled together, 1000 Mbit/s / 10000 Mbit/s");
        let one_way = Finding::OneWay { from: "eth1".into(), to: "eth2".into(), speeds_mbps: [Some(1000); 2] };
        assert_eq!(
            finding_text(&one_way, Lang::Ja),
            "eth1、eth2: 1000 Mbit/s、eth1 から eth2 へは届くが、eth2 から eth1 へは届かない"
        );
        let elsewhere = Finding::LinkElsewhere { port: "eth1".into(), speed_mbps: None };
        assert_eq!(finding_text(&elsewhere, Lang::Ja), "eth1: 速度不明、対向はこのマシンのポートではない");
        let cores = Finding::Cores { count: 2 };
        for finding in [Finding::NamespacesAllowed, cores, Finding::Ipv6 { there: true }, Finding::NoPorts, one_way] {
            assert_ne!(finding_text(&finding, Lang::En), finding_text(&finding, Lang::Ja));
        }
        let down = Finding::Interface {
            name: "eth1".into(),
            driver: "e1000e".into(),
            speed_mbps: None,
            mtu: Reading::Known(1500),
            state: "down".into(),
        };
        assert_eq!(finding_text(&down, Lang::Ja), "eth1: e1000e、速度不明、MTU 1500、ダウン");
        let refused = Finding::Interface {
            name: "eth1".into(),
            driver: Reading::Unreadable { path: "ethtool -i eth1".into(), why: "Operation not permitted".into() },
            speed_mbps: None,
            mtu: Reading::Absent,
            state: "down".into(),
        };
        assert_eq!(
            finding_text(&refused, Lang::En),
            "eth1: cannot be read (ethtool -i eth1: Operation not permitted), speed not known, MTU –, down"
        );
        assert_eq!(finding_text(&Finding::Hypervisor { name: "of unknown kind".into() }, Lang::Ja), "種類不明");
        let tried = Finding::EngineTried { engine: "xsk".into(), sent: 200, received: 199 };
        assert_eq!(finding_text(&tried, Lang::En), "xsk: 200 frames sent, 199 received");
        assert_eq!(finding_text(&tried, Lang::Ja), "xsk: 送信 200 フレーム、受信 199 フレーム");
        let found = Finding::Clock { source: "tsc".into(), cost: 24.6 };
        assert_eq!(finding_text(&found, Lang::En), "tsc, 25 ns a reading");
        assert_ne!(subject_text(Subject::LabBed, Lang::En), subject_text(Subject::LabBed, Lang::Ja));
    }
}
