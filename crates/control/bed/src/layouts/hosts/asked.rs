//! Parser of other machines' names in `--bed`. Pure.

use std::str::FromStr;

use crate::{
    reference::{Network, Remote, SSH, address, remote},
    through::{self, DutRequest, Route},
};

/// This machine and others, as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// Requested options of the end here.
    pub(crate) near: Asked,
    /// The other machines; several send to this one. Never empty.
    pub(crate) far: Vec<Far>,
    /// A device between them.
    pub(crate) through: DutRequest,
}

/// Another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Far {
    pub(crate) remote: Remote,
    /// Requested options of its end.
    pub(crate) end: Asked,
    /// Whether its own programs shall take part.
    pub(crate) agentless: bool,
    /// First port that they listen at.
    pub(crate) port: u16,
}

/// Port of programs of another machine; no service is registered for it or those behind it.
const PORT: u16 = 17_198;

/// Requested options of an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Interface.
    pub(crate) interface: Option<String>,
    /// Addresses with prefix lengths; empty for the interface's own.
    pub(crate) addresses: Vec<Network>,
    /// Routes to the other side of a routing device under test.
    pub(crate) routes: Vec<Route>,
}

/// A text that does not name machines correctly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "\"{text}\": {why}; write hosts:ssh://[USER@]HOST[:PORT]?dev=INTERFACE, and where they shall have others than they have, \
     &addr=ADDRESS/LENGTH for the far end, &near-dev=INTERFACE and &near-addr=ADDRESS/LENGTH for the end here; &agent=none for a far \
     end that takes part by its own nc, and &far-port=PORT for the port of that; several hosts that \
     send to this one are joined by commas: hosts:ssh://HOST1?dev=…,ssh://HOST2?dev=…; what stands between comes last: ,routed or \
     ,via=GATEWAY1/LENGTH,GATEWAY2/LENGTH for a router, ,dut=ssh://[USER@]HOST where its counters are to be read"
)]
pub struct HostsReferenceError {
    text: String,
    why: String,
}

impl Asked {
    /// Name of the interface; empty by default.
    pub(crate) fn name(&self) -> &str {
        self.interface.as_deref().unwrap_or_default()
    }
}

impl Hosts {
    /// Prefix.
    pub(crate) const SCHEME: &str = "hosts:";

    /// Commands for configuring a device under test between them.
    pub(crate) fn commands_for_dut(&self, networks: u16) -> Vec<String> {
        let near = format!("{} of this host", self.near.name());
        let far: Vec<_> =
            self.far.iter().map(|far| format!("{} of {}", far.end.name(), far.remote.destination)).collect();
        let far = far.join(", ");
        self.through.commands(if self.far.len() > 1 { [&far, &near] } else { [&near, &far] }, networks)
    }
}

impl FromStr for Hosts {
    type Err = HostsReferenceError;

    fn from_str(text: &str) -> Result<Self, HostsReferenceError> {
        parse(text).map_err(|why| HostsReferenceError { text: text.to_owned(), why })
    }
}

fn parse(text: &str) -> Result<Hosts, String> {
    let list = text.strip_prefix(Hosts::SCHEME).and_then(|rest| rest.strip_prefix(SSH));
    let list = list.ok_or("the other machine is reached by ssh")?;
    let mut near = Asked::default();
    // The device follows the last machine.
    let mut commas = list.match_indices(',').map(|(at, _)| at);
    let parts = commas.find(|at| !list[at + 1..].starts_with(SSH)).unwrap_or(list.len());
    let (list, parts) = list.split_at(parts);
    let through = through::parse(parts)?;
    let next = format!(",{SSH}");
    let mut far = list.split(&next).map(|url| far(url, &mut near)).collect::<Result<Vec<_>, _>>()?;
    if near.interface.is_none() && !near.addresses.is_empty() {
        return Err("near-addr needs near-dev".to_owned());
    }
    if !through.gateways.is_empty() {
        place(&through, &mut near, &mut far)?;
    }
    Ok(Hosts { near, far, through })
}

/// One of the other machines; options of the end here may be given with any of them.
fn far(url: &str, near: &mut Asked) -> Result<Far, String> {
    let (machine, query) = url.split_once('?').unwrap_or((url, ""));
    let remote = remote(machine)?;
    let (mut end, mut agentless, mut port) = (Asked::default(), false, PORT);
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').ok_or_else(|| format!("\"{pair}\" is not KEY=VALUE"))?;
        match key {
            "dev" => interface(&mut end, key, value)?,
            "near-dev" => interface(near, key, value)?,
            "addr" => end.addresses.push(address(value)?),
            "near-addr" => near.addresses.push(address(value)?),
            "agent" if value == "none" => agentless = true,
            "agent" => return Err(format!("agent={value}: the only value is none")),
            "far-port" => port = far_port(value)?,
            _ => return Err(format!("there is no key \"{key}\"")),
        }
    }
    if end.interface.is_none() {
        return Err("the interface of the far end is not named".to_owned());
    }
    Ok(Far { remote, end, agentless, port })
}

/// Not one that needs root, and with room for those behind it.
fn far_port(value: &str) -> Result<u16, String> {
    let port = value.parse().ok().filter(|port| (1024..=64_000).contains(port));
    port.ok_or_else(|| format!("far-port={value} is no port from 1024 to 64000"))
}

/// Assigns the ends addresses beside the gateways, and routes through them. A single far host receives from here,
/// several send to here.
fn place(through: &DutRequest, near: &mut Asked, far: &mut [Far]) -> Result<(), String> {
    if near.interface.is_none() {
        return Err("behind a router no route shows which interface here is meant: name it with near-dev=".to_owned());
    }
    if !near.addresses.is_empty() || far.iter().any(|far| !far.end.addresses.is_empty()) {
        return Err("the addresses are those beside the gateways: leave addr= and near-addr= out, or routed and via="
            .to_owned());
    }
    let near_side = usize::from(far.len() > 1);
    let settle = |end: &mut Asked, side, place| {
        end.addresses = through.addresses(side, place);
        end.routes = through.routes(side);
    };
    settle(near, near_side, 0);
    far.iter_mut().enumerate().for_each(|(place, far)| settle(&mut far.end, 1 - near_side, place));
    Ok(())
}

fn interface(end: &mut Asked, key: &str, value: &str) -> Result<(), String> {
    let is_name = !value.is_empty() && value.len() <= 15 && !value.contains(|c: char| c == '/' || c.is_whitespace());
    if !is_name || end.interface.is_some() {
        return Err(format!("{key} names one interface, by 1 to 15 characters"));
    }
    end.interface = Some(value.to_owned());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_machine_is_named_as_in_a_url() {
        let text = "hosts:ssh://me@far.example:2222?dev=eth1&addr=198.18.0.2/24&addr=2001:2::2/64&near-dev=eth2";
        let hosts: Hosts = text.parse().expect("two machines");
        let far = &hosts.far[0];
        assert_eq!((far.remote.destination.as_str(), far.remote.port), ("me@far.example", Some(2222)));
        assert_eq!((far.end.interface.as_deref(), far.end.addresses.len()), (Some("eth1"), 2));
        assert_eq!((hosts.near.interface.as_deref(), hosts.near.addresses.len()), (Some("eth2"), 0));
        let hosts: Hosts = "hosts:ssh://[2001:2::2]:22?dev=eth1".parse().expect("two machines");
        assert_eq!((hosts.far[0].remote.destination.as_str(), hosts.far[0].remote.port), ("2001:2::2", Some(22)));
    }

    #[test]
    fn a_far_end_takes_part_by_its_own_programs_where_that_is_asked_for() {
        let of = |keys: &str| format!("hosts:ssh://beastie?dev=ix0{keys}").parse::<Hosts>();
        let far = |keys: &str| of(keys).map(|hosts| (hosts.far[0].agentless, hosts.far[0].port));
        assert_eq!([far(""), far("&agent=none&far-port=5201")], [Ok((false, PORT)), Ok((true, 5201))]);
        for wrong in ["&agent=nc", "&far-port=80", "&far-port=65535", "&far-port=x"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn several_machines_stand_in_a_list() {
        let text = "hosts:ssh://one?dev=eth1&addr=198.18.0.2/24,ssh://me@two:22?dev=eth2&near-dev=eth3";
        let hosts: Hosts = text.parse().expect("three machines");
        let far: Vec<_> = hosts.far.iter().map(|far| (far.remote.destination.as_str(), far.end.name())).collect();
        assert_eq!(far, [("one", "eth1"), ("me@two", "eth2")]);
        assert_eq!(hosts.near.name(), "eth3");
        let why = "hosts:ssh://one?dev=e&near-dev=x,ssh://two?dev=e&near-dev=y".parse::<Hosts>().expect_err("two");
        assert!(why.to_string().contains("near-dev names one interface"), "{why}");
    }

    #[test]
    fn hosts_on_two_sides_of_a_router_stand_beside_its_gateways() {
        let shown = |end: &Asked| {
            let addresses = end.addresses.iter().map(|(address, length)| format!("{address}/{length}"));
            let routes = end.routes.iter().map(|route| format!("{}/{} via {}", route.to, route.prefix, route.via));
            addresses.chain(routes).collect::<Vec<_>>()
        };
        let text = "hosts:ssh://me@far?dev=eth1&near-dev=eth2,via=198.18.4.1/24,198.18.5.1/24,dut=ssh://router";
        let two: Hosts = text.parse().expect("a router");
        assert_eq!(shown(&two.near), ["198.18.4.2/24", "198.18.5.0/24 via 198.18.4.1"]);
        assert_eq!(shown(&two.far[0].end), ["198.18.5.2/24", "198.18.4.0/24 via 198.18.5.1"]);
        let commands = two.commands_for_dut(1);
        assert_eq!(commands[0], "ip link set PORT1 up    # PORT1: the port that faces eth2 of this host");
        assert_eq!(commands[2], "ip link set PORT2 up    # PORT2: the port that faces eth1 of me@far");
        assert!(two.through.dut.is_some());

        let three: Hosts = "hosts:ssh://one?dev=e&near-dev=x,ssh://two?dev=f,via=198.18.4.1/24,198.18.5.1/24"
            .parse()
            .expect("a router");
        assert_eq!(shown(&three.near)[0], "198.18.5.2/24", "several send to this one");
        let far: Vec<_> = three.far.iter().map(|far| shown(&far.end)[0].clone()).collect();
        assert_eq!(far, ["198.18.4.2/24", "198.18.4.3/24"]);
        assert!(three.commands_for_dut(1)[0].ends_with("faces e of one, f of two"));

        let why = |text: &str| text.parse::<Hosts>().expect_err(text).to_string();
        assert!(why("hosts:ssh://far?dev=e,routed").contains("name it with near-dev="));
        assert!(
            why("hosts:ssh://far?dev=e&addr=198.18.0.2/24&near-dev=x,routed")
                .contains("leave addr= and near-addr= out")
        );
        assert!(why("hosts:ssh://far?dev=e&near-dev=x,rooted").contains("\"rooted\" is none of"));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let why = |text: &str| text.parse::<Hosts>().expect_err(text).to_string();
        assert!(why("hosts:far").contains("reached by ssh"));
        assert!(why("hosts:ssh://far").contains("interface of the far end is not named"));
        assert!(why("hosts:ssh://far:x?dev=eth1").contains("port"));
        for nobody in [
            "hosts:ssh://?dev=e",
            "hosts:ssh://-oProxyCommand=x?dev=e",
            "hosts:ssh://@far?dev=e",
            "hosts:ssh://a b?dev=e",
        ] {
            assert!(why(nobody).contains("no machine is named"), "{nobody}");
        }
        assert!(why("hosts:ssh://far?dev=e&addr=198.18.0.2").contains("198.18.0.2/24"));
        assert!(why("hosts:ssh://far?dev=e&addr=198.18.0.2/33").contains("not an address"));
        assert!(why("hosts:ssh://far?dev=e&device=x").contains("no key \"device\""));
        assert!(why("hosts:ssh://far?dev=e&dev=f").contains("one interface"));
    }
}
