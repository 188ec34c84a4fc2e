//! What this kernel, this machine and this user can do, and what each missing piece costs.

use std::{path::Path, sync::atomic::AtomicBool};

use bed::{BedRef, Cabling, Reach, Session, Survey, Taking, Wanted};
use kernel::{clock, privilege, user_namespace};
use model::{Engine, Privilege, card::Cable, environment::InterfaceFacts};
use report::{Finding, Lack, Lang, Subject, lack_labels};
use run::Proof;
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
#[derive(Clone)]
struct Check {
    check: Subject,
    severity: Severity,
    read: Finding,
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
    fn ok(check: Subject, read: Finding) -> Self {
        Self { check, severity: Severity::Ok, read, lack: None }
    }

    fn not(check: Subject, severity: Severity, read: Finding, lack: Lack) -> Self {
        Self { check, severity, read, lack: Some(lack) }
    }

    /// With an error, which is English.
    fn failed(check: Subject, error: String, lack: Lack) -> Self {
        Self::not(check, Severity::Fail, Finding::Words(error), lack)
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
        checks.push(Check::failed(Subject::UserNamespace, error.to_string(), Lack::RootAndUserNamespaces));
    }
    let privilege = privilege::current();
    if privilege != Privilege::User {
        checks.extend(machine(&program));
        let (bed, wrap, taking, reach) = (BedRef::Lab, Vec::new(), Taking::default(), Reach::default());
        checks.extend(lab(&Wanted {
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
        Ok(path) => Check::ok(Subject::Store, Finding::Words(path.display().to_string())),
        Err(error) => Check::failed(Subject::Store, in_words(&error), Lack::Store),
    }
}

fn user() -> Check {
    match (privilege::current(), user_namespace::allowed()) {
        (Privilege::Root | Privilege::UserNamespace, _) => Check::ok(Subject::User, Finding::Root),
        (Privilege::User, Ok(())) => Check::not(Subject::User, Severity::Info, Finding::NamespacesAllowed, Lack::Root),
        (Privilege::User, Err(why)) => Check::not(
            Subject::User,
            Severity::Fail,
            Finding::NoNamespaces(why.to_string()),
            Lack::RootAndUserNamespaces,
        ),
    }
}

fn machine(program: &Path) -> Vec<Check> {
    match bed::survey(program) {
        Ok(survey) => facts(&survey),
        Err(error) => vec![Check::failed(Subject::Machine, error.to_string(), Lack::LabBed)],
    }
}

fn facts(survey: &Survey) -> Vec<Check> {
    let host = &survey.host;
    let mut checks = vec![
        Check::ok(
            Subject::Kernel,
            Finding::Kernel { version: host.kernel.clone(), architecture: host.architecture.clone() },
        ),
        cores(survey.lab.cpus.allowed.len()),
        ipv6(survey.lab.ipv6),
        clock(&host.clock_source),
        virtual_machine(&host.hypervisor),
    ];
    checks.extend(survey.interfaces.iter().map(|interface| {
        let read = Finding::Interface {
            name: interface.name.clone(),
            driver: interface.driver.clone(),
            speed_mbps: interface.speed_mbps,
            mtu: interface.mtu,
            state: interface.state.clone(),
        };
        Check::ok(Subject::Interface, read)
    }));
    checks
}

/// Each port that was tried, with the port that it is cabled to, and those that were left alone.
fn cables(found: &Cabling) -> Vec<Check> {
    if found.tried.is_empty() && found.left.is_empty() {
        return vec![Check::ok(Subject::Cabling, Finding::NoPorts)];
    }
    let tried = found.tried.iter().map(|port| cable(port, &found.cables));
    let left = found
        .left
        .iter()
        .map(|(port, why)| Check::ok(Subject::Cabling, Finding::LeftAlone { port: port.clone(), why: why.clone() }));
    tried.chain(left).collect()
}

fn cable(port: &InterfaceFacts, cables: &[Cable]) -> Check {
    let name = port.name.clone();
    if port.state != "up" {
        return Check::ok(Subject::Cabling, Finding::NoLink(name));
    }
    let hears: Vec<String> = cables.iter().filter(|it| it.to == name).map(|it| it.from.clone()).collect();
    let heard_by: Vec<String> = cables.iter().filter(|it| it.from == name).map(|it| it.to.clone()).collect();
    let is_one_way = hears.is_empty() != heard_by.is_empty();
    let found = Finding::Cable { port: name, speed_mbps: port.speed_mbps, hears, heard_by };
    if is_one_way {
        return Check::not(Subject::Cabling, Severity::Warn, found, Lack::OtherDirection);
    }
    Check::ok(Subject::Cabling, found)
}

fn cores(usable: usize) -> Check {
    let read = Finding::Cores(usable);
    if usable >= 2 {
        return Check::ok(Subject::Cores, read);
    }
    Check::not(Subject::Cores, Severity::Warn, read, Lack::Cores)
}

fn ipv6(there: bool) -> Check {
    if there {
        return Check::ok(Subject::Ipv6, Finding::Ipv6(true));
    }
    Check::not(Subject::Ipv6, Severity::Info, Finding::Ipv6(false), Lack::Ipv6)
}

fn clock(source: &str) -> Check {
    let cost = clock::cost();
    let read = Finding::Clock { source: source.to_owned(), cost };
    if cost < SLOW_CLOCK {
        return Check::ok(Subject::Clock, read);
    }
    Check::not(Subject::Clock, Severity::Warn, read, Lack::FastClock)
}

fn virtual_machine(hypervisor: &str) -> Check {
    if hypervisor.is_empty() {
        return Check::ok(Subject::Hypervisor, Finding::NoHypervisor);
    }
    Check::not(Subject::Hypervisor, Severity::Info, Finding::Words(hypervisor.to_owned()), Lack::BareMetal)
}

/// Makes a lab bed, tries each engine in it, and gives it back.
fn lab(wanted: &Wanted) -> Vec<Check> {
    let mut engines = Vec::new();
    let made = Session::open(wanted, &AtomicBool::new(false)).and_then(|mut session| {
        engines.extend(ENGINES.map(|engine| tried(engine, &mut session)));
        session.close()
    });
    let bed = match made {
        Ok(()) => Check::ok(Subject::LabBed, Finding::LabMade),
        Err(error) => Check::failed(Subject::LabBed, error.to_string(), Lack::LabBed),
    };
    [vec![bed], engines].concat()
}

const ENGINES: [Engine; 5] = [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp, Engine::Pktgen];

/// A few frames by an engine: all of them come, or it is not to be trusted.
fn tried(engine: Engine, session: &mut Session) -> Check {
    let proof = run::prove(engine, session, &AtomicBool::new(false));
    let engine = engine.to_string();
    match proof {
        Ok(Proof { sent, received }) => {
            let found = Finding::EngineTried { engine, sent, received };
            match sent > 0 && sent == received {
                true => Check::ok(Subject::Engine, found),
                false => Check::not(Subject::Engine, Severity::Warn, found, Lack::EngineFrames),
            }
        }
        Err(why) => Check::not(Subject::Engine, Severity::Info, Finding::NoEngine { engine, why }, Lack::Engine),
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
        "check": check.check.text(Lang::En),
        "severity": check.severity,
        "read": check.read.text(Lang::En),
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
    let found = format!("{mark}   {}: {}\n", check.check.text(lang), check.read.text(lang));
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
        (check.severity, check.read.text(Lang::En))
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
