//! The path to a host that runs nothing of ours.

use std::{
    io::{IsTerminal, stderr},
    net::{IpAddr, ToSocketAddrs},
};

use agent::{PathControl, PathError, Toward, toward};
use bed::{Inspected, InspectedRef};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::{IpVersion, Mtu, PathTo, environment::InterfaceFacts, inspection::HostReadings, trial::PathDevice};
use report::PathToDocument;

use super::{answer, language, own_program};
use crate::{
    cli::{Common, PathOptions, Reach},
    exit::{Exit, Words},
    output::say,
};

/// Start of a destination that ssh reaches, whose devices are read, too.
const SSH: &str = "ssh://";

/// `wireproof path DEST`: the first address of each IP version, unless one version is asked for.
pub(super) fn path_to(
    destination: &str,
    options: &PathOptions,
    reach: &Reach,
    common: &Common,
) -> anyhow::Result<Exit> {
    let far = destination.starts_with(SSH).then(|| FarHost::read(destination, reach)).transpose()?;
    let addresses = match &far {
        Some(far) => far.addresses(options.ip)?,
        None => addresses(destination, options.ip)?,
    };
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    for address in addresses {
        match search(address, options, common) {
            Ok(mut path) => {
                path.devices.extend(far.iter().flat_map(|far| far.devices(address)));
                let conclusion = verdict::path_to(&path);
                found.push((path, conclusion));
            }
            Err(error) => failed.push(error),
        }
    }
    if found.is_empty() {
        anyhow::bail!(failed.iter().map(PathError::to_string).collect::<Vec<_>>().join("; "));
    }
    if !common.quiet {
        failed.iter().for_each(|error| say(&error.to_string()));
    }
    let words = report::path_to(destination, &found, language(common));
    answer(&PathToDocument::of(destination, found), || words, common)?;
    Ok(Exit::Done)
}

/// A host that ssh reaches.
struct FarHost {
    /// Its name, as ssh takes it.
    name: String,
    /// Address there of the ssh connection.
    address: Option<IpAddr>,
    readings: HostReadings,
}

impl FarHost {
    /// Reads its devices. On FreeBSD nothing of ours runs.
    fn read(destination: &str, reach: &Reach) -> anyhow::Result<Self> {
        let host: InspectedRef = destination.parse().map_err(Words)?;
        let (inspected, address) = bed::reached(&host, &reach.of_bed(), &own_program()?)?;
        let readings = match inspected {
            Inspected::Linux(readings) => *readings,
            Inspected::FreeBsd(said) => freebsd::host(&said),
        };
        Ok(Self { name: host.host().to_owned(), address, readings })
    }

    /// Addresses of its name; of a name that ssh alone knows, the address of the connection.
    fn addresses(&self, ip: Option<IpVersion>) -> Result<Vec<IpAddr>, Words> {
        let is_asked = |address: &IpAddr| ip.is_none_or(|ip| IpVersion::of(*address) == ip);
        addresses(&self.name, ip)
            .or_else(|error| self.address.filter(is_asked).map(|address| vec![address]).ok_or(error))
    }

    /// The interface with this address, what is under it, and the bridge or bond that it belongs to.
    fn devices(&self, address: IpAddr) -> Vec<PathDevice> {
        let all: Vec<&InterfaceFacts> = self.readings.interfaces().map(|(_, facts)| facts).collect();
        let is_address = |text: &String| text.split('/').next().and_then(|text| text.parse().ok()) == Some(address);
        let Some(own) = all.iter().find(|facts| facts.addresses.iter().any(is_address)) else { return Vec::new() };
        let lower = own.settings.as_ref().and_then(|settings| settings.lower.clone());
        let is_below =
            |facts: &&&InterfaceFacts| facts.master.as_ref() == Some(&own.name) || lower.as_ref() == Some(&facts.name);
        let below: Vec<_> = all.iter().filter(is_below).collect();
        let is_only = below.len() == 1;
        let master = all.iter().filter(|facts| own.master.as_ref() == Some(&facts.name));
        let devices = [(own, true)].into_iter().chain(below.into_iter().map(|it| (it, is_only)));
        let devices = devices.chain(master.map(|it| (it, false)));
        let device = |(facts, on_path): (&&InterfaceFacts, bool)| {
            Some(PathDevice {
                host: self.readings.host.hostname.clone(),
                name: facts.name.clone(),
                kind: facts.settings.as_ref().map(|settings| settings.kind.clone()).unwrap_or_default(),
                mtu: Mtu(facts.mtu.copied()?),
                master: facts.master.clone(),
                on_path,
            })
        };
        devices.filter_map(device).collect()
    }
}

fn search(address: IpAddr, options: &PathOptions, common: &Common) -> Result<PathTo, PathError> {
    let wanted = Toward { address, method: options.method, rounds: options.hops.unwrap_or(0), tcp: options.tcp };
    let (table, lang) = (live_table(common), language(common));
    let found = toward(&wanted, &PathControl::default(), |hops| table.set_message(report::hops(&hops, lang)));
    table.finish_and_clear();
    found
}

/// Words on a terminal that the next ones replace; nothing elsewhere.
fn live_table(common: &Common) -> ProgressBar {
    let is_shown = !common.quiet && stderr().is_terminal();
    let target = if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let table = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_spinner());
    table.with_style(style)
}

fn addresses(destination: &str, ip: Option<IpVersion>) -> Result<Vec<IpAddr>, Words> {
    let plain = destination.trim_start_matches('[').trim_end_matches(']');
    let all: Vec<IpAddr> = match plain.parse() {
        Ok(address) => vec![address],
        Err(_) => {
            let resolved = (plain, 0).to_socket_addrs();
            let resolved = resolved.map_err(|error| {
                Words(format!("{destination} is no address, and its name cannot be resolved: {error}; write an address, like 198.18.0.2"))
            })?;
            resolved.map(|address| address.ip()).collect()
        }
    };
    let first = |wanted: IpVersion| all.iter().copied().find(|address| IpVersion::of(*address) == wanted);
    let chosen: Vec<IpAddr> = [IpVersion::V4, IpVersion::V6]
        .into_iter()
        .filter(|it| ip.is_none_or(|ip| ip == *it))
        .filter_map(first)
        .collect();
    if chosen.is_empty() {
        let version = ip.map_or_else(String::new, |ip| format!("{ip} "));
        return Err(Words(format!(
            "{destination} has no {version}address; leave --ip out to search the other version"
        )));
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_a_far_host_are_those_around_its_address() {
        let facts = |name: &str, mtu, addresses: &[&str], master: Option<&str>| InterfaceFacts {
            name: name.into(),
            mtu: model::Reading::Known(mtu),
            addresses: addresses.iter().map(|it| (*it).to_owned()).collect(),
            master: master.map(str::to_owned),
            ..InterfaceFacts::default()
        };
        let interfaces = vec![
            facts("ix0", 9000, &[], Some("bridge0")),
            facts("tap0", 1500, &[], Some("bridge0")),
            facts("bridge0", 9000, &["198.18.0.2/24"], None),
            facts("em0", 1500, &["192.0.2.7/24"], None),
        ];
        let end = model::environment::EndpointFacts { interfaces, ..Default::default() };
        let readings = HostReadings { ends: vec![end], ..HostReadings::default() };
        let far = FarHost { name: "no name".into(), address: "192.0.2.7".parse().ok(), readings };
        let of = |address: &str| -> Vec<(String, u32, bool)> {
            let devices = far.devices(address.parse().unwrap());
            devices.into_iter().map(|device| (device.name, device.mtu.0, device.on_path)).collect()
        };
        let named = |name: &str, mtu, on_path| (name.to_owned(), mtu, on_path);
        assert_eq!(
            of("198.18.0.2"),
            [named("bridge0", 9000, true), named("ix0", 9000, false), named("tap0", 1500, false)]
        );
        assert_eq!((of("192.0.2.7"), of("198.18.0.9")), (vec![named("em0", 1500, true)], vec![]));
        assert_eq!(far.addresses(Some(IpVersion::V4)).unwrap(), ["192.0.2.7".parse::<IpAddr>().unwrap()]);
        assert!(far.addresses(Some(IpVersion::V6)).is_err());
    }

    #[test]
    fn an_address_is_taken_as_it_is_and_the_wrong_version_refused() {
        let v4: IpAddr = "198.18.0.2".parse().unwrap();
        assert_eq!(addresses("198.18.0.2", None).unwrap(), [v4]);
        assert_eq!(addresses("[2001:2::1]", None).unwrap(), ["2001:2::1".parse::<IpAddr>().unwrap()]);
        let error = addresses("198.18.0.2", Some(IpVersion::V6)).unwrap_err().to_string();
        assert!(error.contains("198.18.0.2 has no IPv6 address"), "{error}");
    }
}
