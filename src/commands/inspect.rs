//! A host looked over for a goal: its findings and its cards.

use bed::BedError;
use freebsd::Readings;
use model::{
    Cards, Reading, Run,
    inspection::{Conditions, Finding, HostReadings, Severity},
};
use report::{Compared, InspectedHost, InspectionDocument, inspected, inspected_differences};

use super::{
    answer, language, own_program,
    runs::{load, open},
};
use crate::{
    cli::{Common, InspectOptions},
    exit::{Exit, Words},
};

/// A host with its findings.
struct Inspected {
    readings: HostReadings,
    cards: Cards,
    findings: Vec<Finding>,
}

/// `wireproof inspect`. A narrow bus or a bad setting is only slower than it could be; what is wrong fails.
pub(super) fn inspect(options: &InspectOptions, common: &Common) -> anyhow::Result<Exit> {
    let conditions = options.conditions();
    let run = options.since.as_ref().map(|run| load(&open(common)?, run)).transpose()?;
    let one = Inspected::of(read(options, options.host.as_ref())?, options.host.as_ref(), &conditions)?;
    let other = match &options.other {
        Some(host) => Some(Inspected::of(read(options, Some(host))?, Some(host), &conditions)?),
        None => None,
    };
    let since = run.as_ref().map(|run| since(run, &one.readings)).transpose()?;
    let differences = match (&other, &since) {
        (Some(other), _) => Some(one.readings.differences(&other.readings)),
        (None, Some(before)) => Some(before.differences(&one.readings)),
        (None, None) => None,
    };
    let exit =
        if one.is_wrong() || other.as_ref().is_some_and(Inspected::is_wrong) { Exit::Failed } else { Exit::Done };
    let name = run.map(|run| run.id.to_string());
    let entry = other.as_ref().map(Inspected::entry);
    let document = InspectionDocument::of(&conditions, one.entry(), entry, name.clone(), differences.clone());
    let words = || {
        let lang = language(common);
        let compared = match (&other, &name) {
            (Some(other), _) => {
                let (one, other) = (&one.readings.host.hostname, &other.readings.host.hostname);
                Some(Compared::Hosts { one, other })
            }
            (None, Some(run)) => Some(Compared::Run(run)),
            (None, None) => None,
        };
        let differences = compared.zip(differences.as_deref());
        let differences = differences.map(|(of, all)| inspected_differences(&of, all, lang));
        let hosts = [Some(&one), other.as_ref()].into_iter().flatten().map(|host| {
            let name = &host.readings.host.hostname;
            let findings = inspected(name, conditions.goal, &host.findings, lang);
            format!("{findings}\n{}", report::cards(&host.cards, lang))
        });
        differences.into_iter().chain(hosts).collect::<Vec<_>>().join("\n")
    };
    answer(&document, words, common)?;
    Ok(exit)
}

fn read(options: &InspectOptions, host: Option<&bed::InspectedRef>) -> anyhow::Result<bed::Inspected> {
    let program = own_program()?;
    let readings: Result<bed::Inspected, BedError> = match host {
        Some(host) => bed::inspected_there(host, &options.reach.of_bed(), &program),
        None => bed::inspected_here(&program),
    };
    Ok(readings?)
}

impl Inspected {
    fn of(read: bed::Inspected, host: Option<&bed::InspectedRef>, conditions: &Conditions) -> Result<Self, Words> {
        let (readings, findings, unread) = match read {
            bed::Inspected::Linux(readings) => {
                let findings = checks::host(&readings, conditions);
                (*readings, findings, None)
            }
            bed::Inspected::FreeBsd(said) => {
                let mut readings = freebsd::host(&said);
                if readings.host.hostname.is_empty() {
                    readings.host.hostname = host.map(ToString::to_string).unwrap_or_default();
                }
                let of_checks = Readings::of(&said);
                let unread = match &of_checks.interfaces {
                    Reading::Unreadable { path, why } => Some(format!("{path}: {why}")),
                    _ => None,
                };
                (readings, checks::freebsd(&of_checks, conditions), unread)
            }
        };
        let mut cards = readings.cards();
        if let Some(interface) = &conditions.interface {
            check_name(interface, &readings, unread)?;
            cards.ports.retain(|port| port.interface.name == *interface);
            cards.refused.clear();
        }
        Ok(Self { readings, cards, findings })
    }

    fn is_wrong(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Fail)
    }

    fn entry(&self) -> InspectedHost {
        InspectedHost::of(&self.readings, self.cards.clone(), &self.findings)
    }
}

/// Refuses a name that no interface has, with those that there are, or with why their names are not known.
fn check_name(interface: &str, readings: &HostReadings, unread: Option<String>) -> Result<(), Words> {
    if let Some(why) = unread {
        return Err(Words(format!("--dev {interface}: the interfaces of this machine could not be read: {why}")));
    }
    let names: Vec<&str> = readings.interfaces().map(|(_, interface)| interface.name.as_str()).collect();
    if names.contains(&interface) {
        return Ok(());
    }
    let there =
        if names.is_empty() { "this machine has none".to_owned() } else { format!("there is {}", names.join(", ")) };
    Err(Words(format!("--dev {interface}: no interface has this name; {there}")))
}

/// The readings of the same host before a run.
fn since(run: &Run, now: &HostReadings) -> Result<HostReadings, Words> {
    let machines: Vec<(String, String)> =
        run.bed.endpoints.iter().map(|end| (end.name.clone(), end.machine.clone())).collect();
    let name = &now.host.hostname;
    let before = HostReadings::of_run(&run.before, &machines).into_iter().find(|it| it.host.hostname == *name);
    // A namespace that was made for the run has settings of its own.
    let is_own = |end: &str| run.bed.endpoints.iter().any(|it| it.name == end && !it.namespace.is_empty());
    let before = before.map(|mut readings| {
        readings.ends.iter_mut().filter(|end| is_own(&end.endpoint)).for_each(|end| end.sysctls.clear());
        readings
    });
    before.ok_or_else(|| {
        let hosts: Vec<&str> = run.before.hosts.iter().map(|host| host.hostname.as_str()).collect();
        Words(format!("--since {}: the run was on {}, and not on {name}", run.id, hosts.join(" and ")))
    })
}

#[cfg(test)]
mod tests {
    use model::environment::{EndpointFacts, InterfaceFacts};

    use super::*;

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        let named = |name: &str| InterfaceFacts { name: name.to_owned(), ..InterfaceFacts::default() };
        let interfaces = vec![named("eth1"), named("eth2")];
        let readings = HostReadings {
            ends: vec![EndpointFacts { interfaces, ..EndpointFacts::default() }],
            ..HostReadings::default()
        };
        assert!(check_name("eth2", &readings, None).is_ok());
        assert!(check_name("eth3", &readings, None).unwrap_err().to_string().ends_with("there is eth1, eth2"));
        let unread = check_name("eth2", &readings, Some("ifconfig -vm: not found".to_owned()));
        assert!(unread.unwrap_err().to_string().ends_with("could not be read: ifconfig -vm: not found"));
    }
}
