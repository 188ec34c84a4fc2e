//! What this kernel, this machine and this user can do, and what each missing piece costs.

use std::path::Path;

use bed::{BedRef, Cabling, Reach, Session, Survey, Taking, Wanted};
use kernel::{clock, privilege, user_namespace};
use model::{Privilege, card::Cable, environment::InterfaceFacts};
use report::{Lack, Lang, lack_labels};
use serde::Serialize;
use serde_json::{Value, json};
use store::Store;

use super::{language, own_program, print, print_json};
use crate::{
    cli::Common,
    exit::{Exit, in_words},
    paths,
};

/// Reading the clock this slowly (in nanoseconds) shows in a round-trip time.
const SLOW_CLOCK: f64 = 100.0;

/// One thing looked at.
struct Check {
    check: &'static str,
    severity: Severity,
    /// What was found.
    read: String,
    /// What is not as wanted.
    lack: Option<Lack>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Ok,
    Info,
    Warn,
    Fail,
}

impl Check {
    fn ok(check: &'static str, read: impl Into<String>) -> Self {
        Self { check, severity: Severity::Ok, read: read.into(), lack: None }
    }

    fn not(check: &'static str, severity: Severity, read: impl Into<String>, lack: Lack) -> Self {
        Self { check, severity, read: read.into(), lack: Some(lack) }
    }
}

/// `wireproof doctor --cabling`
pub(super) fn cabling(common: &Common) -> anyhow::Result<Exit> {
    tell(&cables(&bed::cabling(&own_program()?)?), common)?;
    Ok(Exit::Done)
}

/// `wireproof doctor`
pub(super) fn doctor(common: &Common) -> anyhow::Result<Exit> {
    // The store belongs to the user: look before a user namespace may change who we are.
    let mut checks = vec![store(common), user()];
    let program = own_program()?;
    if privilege::current() == Privilege::User
        && let Err(error) = user_namespace::become_root()
    {
        checks.push(Check::not("user namespace", Severity::Fail, error.to_string(), Lack::RootAndUserNamespaces));
    }
    let privilege = privilege::current();
    if privilege != Privilege::User {
        checks.extend(machine(&program));
        let (bed, wrap, taking, reach) = (BedRef::Lab, Vec::new(), Taking::default(), Reach::default());
        checks.push(lab(&Wanted {
            bed,
            mtu: None,
            cpus: None,
            wrap,
            taking,
            stamps: false,
            privilege,
            program,
            reach,
        }));
    }
    tell(&checks, common)?;
    let failed = checks.iter().any(|check| check.severity == Severity::Fail);
    Ok(if failed { Exit::CouldNot } else { Exit::Done })
}

fn store(common: &Common) -> Check {
    let opened = paths::store(common.store.as_deref()).and_then(|path| {
        Store::open(&path)?;
        Ok(path)
    });
    match opened {
        Ok(path) => Check::ok("store", path.display().to_string()),
        Err(error) => Check::not("store", Severity::Fail, in_words(&error), Lack::Store),
    }
}

fn user() -> Check {
    match (privilege::current(), user_namespace::allowed()) {
        (Privilege::Root | Privilege::UserNamespace, _) => Check::ok("user", "root"),
        (Privilege::User, Ok(())) => {
            Check::not("user", Severity::Info, "not root; user namespaces are allowed", Lack::Root)
        }
        (Privilege::User, Err(why)) => Check::not(
            "user",
            Severity::Fail,
            format!("not root, and no user namespaces: {why}"),
            Lack::RootAndUserNamespaces,
        ),
    }
}

fn machine(program: &Path) -> Vec<Check> {
    match bed::survey(program) {
        Ok(survey) => facts(&survey),
        Err(error) => vec![Check::not("machine", Severity::Fail, error.to_string(), Lack::LabBed)],
    }
}

fn facts(survey: &Survey) -> Vec<Check> {
    let host = &survey.host;
    let mut checks = vec![
        Check::ok("kernel", format!("{} on {}", host.kernel, host.architecture)),
        cores(survey.lab.cpus.allowed.len()),
        ipv6(survey.lab.ipv6),
        clock(&host.clock_source),
        virtual_machine(&host.hypervisor),
    ];
    checks.extend(survey.interfaces.iter().map(|interface| {
        let speed = interface.speed_mbps.map_or("speed not known".to_owned(), |speed| format!("{speed} Mbit/s"));
        let read =
            format!("{}: {}, {speed}, MTU {}, {}", interface.name, interface.driver, interface.mtu, interface.state);
        Check::ok("interface", read)
    }));
    checks
}

/// Each port that was tried, with the port that it is cabled to, and those that were left alone.
fn cables(found: &Cabling) -> Vec<Check> {
    if found.tried.is_empty() && found.left.is_empty() {
        return vec![Check::ok("cabling", "this machine has no ports that a cable could be in")];
    }
    let tried = found.tried.iter().map(|port| cable(port, &found.cables));
    let left = found.left.iter().map(|(port, why)| Check::ok("cabling", format!("{port}: left alone; {why}")));
    tried.chain(left).collect()
}

fn cable(port: &InterfaceFacts, cables: &[Cable]) -> Check {
    let name = &port.name;
    let speed = port.speed_mbps.map_or("speed not known".to_owned(), |speed| format!("{speed} Mbit/s"));
    let hears: Vec<&str> = cables.iter().filter(|it| it.to == *name).map(|it| it.from.as_str()).collect();
    let heard_by: Vec<&str> = cables.iter().filter(|it| it.from == *name).map(|it| it.to.as_str()).collect();
    let one_way =
        |what: String| Check::not("cabling", Severity::Warn, format!("{name}: {speed}, {what}"), Lack::OtherDirection);
    match (hears.join(", "), heard_by.join(", ")) {
        _ if port.state != "up" => {
            Check::ok("cabling", format!("{name}: no link; no cable, or nobody at its other end"))
        }
        (hears, heard_by) if hears.is_empty() && heard_by.is_empty() => {
            Check::ok("cabling", format!("{name}: {speed}; what is at its other end is no port of this machine"))
        }
        (hears, heard_by) if heard_by.is_empty() => one_way(format!("hears {hears}, which does not hear it")),
        (hears, heard_by) if hears.is_empty() => one_way(format!("is heard by {heard_by}, and hears nothing")),
        (hears, _) => Check::ok("cabling", format!("{name}: {speed}, cabled to {hears}")),
    }
}

fn cores(usable: usize) -> Check {
    let read = format!("{usable} usable");
    if usable >= 2 {
        return Check::ok("cores", read);
    }
    Check::not("cores", Severity::Warn, read, Lack::Cores)
}

fn ipv6(there: bool) -> Check {
    if there {
        return Check::ok("IPv6", "there");
    }
    Check::not("IPv6", Severity::Info, "the kernel has none", Lack::Ipv6)
}

fn clock(source: &str) -> Check {
    let cost = clock::cost();
    let read = format!("{source}, {cost:.0} ns a reading");
    if cost < SLOW_CLOCK {
        return Check::ok("clock", read);
    }
    Check::not("clock", Severity::Warn, read, Lack::FastClock)
}

fn virtual_machine(hypervisor: &str) -> Check {
    if hypervisor.is_empty() {
        return Check::ok("hypervisor", "none seen");
    }
    Check::not("hypervisor", Severity::Info, hypervisor, Lack::BareMetal)
}

/// Makes a lab bed and gives it back.
fn lab(wanted: &Wanted) -> Check {
    match Session::open(wanted).and_then(Session::close) {
        Ok(()) => Check::ok("lab bed", "made and taken down again"),
        Err(error) => Check::not("lab bed", Severity::Fail, error.to_string(), Lack::LabBed),
    }
}

fn tell(checks: &[Check], common: &Common) -> anyhow::Result<()> {
    if common.json {
        return print_json(&json!({ "checks": checks.iter().map(entry).collect::<Vec<_>>() }));
    }
    let lang = language(common);
    print(&checks.iter().map(|check| line(check, lang)).collect::<String>())
}

/// As JSON, which is English always.
fn entry(check: &Check) -> Value {
    json!({
        "check": check.check,
        "severity": check.severity,
        "read": check.read,
        "costs": check.lack.map(|lack| lack.costs(Lang::En)),
        "fix": check.lack.map(|lack| lack.remedy(Lang::En)),
    })
}

fn line(check: &Check, lang: Lang) -> String {
    let mark = match check.severity {
        Severity::Ok => "ok  ",
        Severity::Info => "info",
        Severity::Warn => "warn",
        Severity::Fail => "FAIL",
    };
    let found = format!("{mark}   {}: {}\n", check.check, check.read);
    let (costs, remedy) = lack_labels(lang);
    let more = check
        .lack
        .map(|lack| format!("       {costs}: {}\n       {remedy}: {}\n", lack.costs(lang), lack.remedy(lang)));
    found + &more.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(state: &str, cables: &[(&str, &str)]) -> (Severity, String) {
        let port = InterfaceFacts { name: "eth1".into(), state: state.into(), ..InterfaceFacts::default() };
        let cables: Vec<Cable> =
            cables.iter().map(|(from, to)| Cable { from: (*from).into(), to: (*to).into() }).collect();
        let check = cable(&port, &cables);
        (check.severity, check.read)
    }

    #[test]
    fn a_cable_is_whole_one_way_elsewhere_or_not_there() {
        let whole = said("up", &[("eth1", "eth2"), ("eth2", "eth1"), ("eth3", "eth4")]);
        assert_eq!(whole, (Severity::Ok, "eth1: speed not known, cabled to eth2".to_owned()));
        let (severity, read) = said("up", &[("eth2", "eth1")]);
        assert!(severity == Severity::Warn && read.contains("hears eth2, which does not hear it"), "{read}");
        let (severity, read) = said("up", &[("eth1", "eth2")]);
        assert!(severity == Severity::Warn && read.contains("is heard by eth2, and hears nothing"), "{read}");
        assert!(said("up", &[("eth3", "eth4")]).1.contains("no port of this machine"));
        assert!(said("down", &[]).1.contains("no link"));
    }
}
