//! Words for what a check looks at and finds.

use model::check::{Finding, Subject};

use crate::{lang::Lang, texts::Texts};

/// The name of a subject.
pub fn subject_text(subject: Subject, lang: Lang) -> String {
    Texts::of(lang).get(&format!("finding-{}", subject.key()))
}

/// A finding in words.
pub fn finding_text(finding: &Finding, lang: Lang) -> String {
    let t = Texts::of(lang);
    match finding {
        Finding::Words(words) => words.clone(),
        Finding::Root => t.get("finding-is-root"),
        Finding::NamespacesAllowed => t.get("finding-namespaces-allowed"),
        Finding::NoNamespaces(why) => t.with("finding-no-namespaces", &[("why", why)]),
        Finding::Kernel { version, architecture } => {
            t.with("finding-kernel-read", &[("version", version), ("architecture", architecture)])
        }
        Finding::Cores(count) => t.with("finding-cores-read", &[("count", count)]),
        Finding::Ipv6(true) => t.get("finding-ipv6-there"),
        Finding::Ipv6(false) => t.get("finding-ipv6-missing"),
        Finding::Clock { source, cost } => {
            t.with("finding-clock-read", &[("source", source), ("cost", &format!("{cost:.0}"))])
        }
        Finding::Unreadable { path, why } => t.with("unreadable", &[("path", path), ("why", why)]),
        Finding::NoHypervisor => t.get("finding-no-hypervisor"),
        Finding::Interface { name, driver, speed_mbps, mtu, state } => {
            let speed = speed(*speed_mbps, t);
            let values: [(&str, &dyn std::fmt::Display); 5] =
                [("name", name), ("driver", driver), ("speed", &speed), ("mtu", mtu), ("state", state)];
            t.with("finding-interface-read", &values)
        }
        Finding::LabMade => t.get("finding-lab-made"),
        Finding::EngineTried { engine, sent, received } => {
            t.with("finding-engine-tried", &[("engine", engine), ("sent", sent), ("received", received)])
        }
        Finding::NoEngine { engine, why } => t.with("finding-no-engine", &[("engine", engine), ("why", why)]),
        Finding::NoPorts => t.get("finding-no-ports"),
        Finding::LeftAlone { port, why } => t.with("finding-left-alone", &[("port", port), ("why", why)]),
        Finding::NoLink(port) => t.with("finding-no-link", &[("port", port)]),
        Finding::Cable { port, speed_mbps, hears, heard_by } => {
            cable(port, &speed(*speed_mbps, t), &hears.join(", "), &heard_by.join(", "), t)
        }
    }
}

fn speed(mbps: Option<u32>, t: &Texts) -> String {
    mbps.map_or_else(|| t.get("finding-speed-not-known"), |mbps| format!("{mbps} Mbit/s"))
}

fn cable(port: &str, speed: &str, hears: &str, heard_by: &str, t: &Texts) -> String {
    match (hears, heard_by) {
        ("", "") => t.with("finding-no-port-of-ours", &[("port", &port), ("speed", &speed)]),
        (other, "") => t.with("finding-hears", &[("port", &port), ("speed", &speed), ("other", &other)]),
        ("", other) => t.with("finding-is-heard", &[("port", &port), ("speed", &speed), ("other", &other)]),
        (other, _) => t.with("finding-cabled", &[("port", &port), ("speed", &speed), ("other", &other)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_both_languages() {
        let cable = |hears: &[&str], heard_by: &[&str]| {
            let names = |names: &[&str]| names.iter().map(ToString::to_string).collect();
            let (hears, heard_by) = (names(hears), names(heard_by));
            let found = Finding::Cable { port: "eth1".into(), speed_mbps: None, hears, heard_by };
            finding_text(&found, Lang::Ja)
        };
        assert_eq!(cable(&["eth2"], &["eth2"]), "eth1: 速度不明、eth2 と接続");
        assert_eq!(cable(&["eth2"], &[]), "eth1: 速度不明、eth2 からは届くが、eth2 へは届かない");
        assert_eq!(cable(&[], &["eth2"]), "eth1: 速度不明、eth2 へは届くが、何も届かない");
        assert_eq!(cable(&[], &[]), "eth1: 速度不明、対向はこのマシンのポートではない");
        for finding in [Finding::NamespacesAllowed, Finding::Cores(2), Finding::Ipv6(true), Finding::NoPorts] {
            assert_ne!(finding_text(&finding, Lang::En), finding_text(&finding, Lang::Ja));
        }
        let tried = Finding::EngineTried { engine: "xsk".into(), sent: 200, received: 199 };
        assert_eq!(finding_text(&tried, Lang::En), "xsk: 200 frames sent, 199 received");
        assert_eq!(finding_text(&tried, Lang::Ja), "xsk: 送信 200 フレーム、受信 199 フレーム");
        let found = Finding::Clock { source: "tsc".into(), cost: 24.6 };
        assert_eq!(finding_text(&found, Lang::En), "tsc, 25 ns a reading");
        assert_ne!(subject_text(Subject::LabBed, Lang::En), subject_text(Subject::LabBed, Lang::Ja));
    }
}
