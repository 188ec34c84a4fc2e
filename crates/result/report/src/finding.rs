//! Words for checks and their findings.

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
        Finding::Words(words) => show::hypervisor(words, t),
        Finding::Ipv6(true) => t.get("found-ipv6-there"),
        Finding::Ipv6(false) => t.get("found-ipv6-missing"),
        Finding::Clock { cost, .. } => t.of_value_with("found", finding, &[("cost", &format!("{cost:.0}"))]),
        Finding::Unreadable { path, why } => t.with("unreadable", &[("path", path), ("why", why)]),
        Finding::Interface { speed_mbps, state, .. } => {
            let (speed, state) = (speed(*speed_mbps, t), show::link_state(state, t));
            t.of_value_with("found", finding, &[("speed", &speed), ("state", &state)])
        }
        Finding::Cable { port, speed_mbps, hears, heard_by } => {
            cable(port, &speed(*speed_mbps, t), &hears.join(", "), &heard_by.join(", "), t)
        }
        plain => t.of_value("found", plain),
    }
}

fn speed(mbps: Option<u32>, t: &Texts) -> String {
    mbps.map_or_else(|| t.get("found-speed-not-known"), |mbps| format!("{mbps} Mbit/s"))
}

fn cable(port: &str, speed: &str, hears: &str, heard_by: &str, t: &Texts) -> String {
    match (hears, heard_by) {
        ("", "") => t.with("found-no-port-of-ours", &[("port", &port), ("speed", &speed)]),
        (other, "") => t.with("found-hears", &[("port", &port), ("speed", &speed), ("other", &other)]),
        ("", other) => t.with("found-is-heard", &[("port", &port), ("speed", &speed), ("other", &other)]),
        (other, _) => t.with("found-cabled", &[("port", &port), ("speed", &speed), ("other", &other)]),
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
        let down = Finding::Interface {
            name: "eth1".into(),
            driver: "e1000e".into(),
            speed_mbps: None,
            mtu: 1500,
            state: "down".into(),
        };
        assert_eq!(finding_text(&down, Lang::Ja), "eth1: e1000e、速度不明、MTU 1500、ダウン");
        assert_eq!(finding_text(&Finding::Words("of unknown kind".into()), Lang::Ja), "種類不明");
        let tried = Finding::EngineTried { engine: "xsk".into(), sent: 200, received: 199 };
        assert_eq!(finding_text(&tried, Lang::En), "xsk: 200 frames sent, 199 received");
        assert_eq!(finding_text(&tried, Lang::Ja), "xsk: 送信 200 フレーム、受信 199 フレーム");
        let found = Finding::Clock { source: "tsc".into(), cost: 24.6 };
        assert_eq!(finding_text(&found, Lang::En), "tsc, 25 ns a reading");
        assert_ne!(subject_text(Subject::LabBed, Lang::En), subject_text(Subject::LabBed, Lang::Ja));
    }
}
