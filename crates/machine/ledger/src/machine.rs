//! Each kind of change on the machine: what is there before, making it, and taking it back.

use std::collections::BTreeMap;

use kernel::{device, ethtool, interface as setting_of, link, namespace, process, route, sysctl};
use model::{Before, Change, LinkEnd, Mtu, port::StampSetting};

use crate::{Error, Failure, file::Entry, managers, port};

/// A change that is ready to be made: what to record first.
pub(crate) struct Prepared {
    pub(crate) before: Before,
    /// Identity of each namespace it concerns.
    pub(crate) namespaces: BTreeMap<String, u64>,
    /// A new namespace exists before it has its name, so that its identity can be recorded first.
    unnamed: Option<namespace::Unnamed>,
}

impl Prepared {
    /// Reads what is there, and refuses to take what is somebody else's. Changes nothing.
    pub(crate) fn read(change: &Change) -> Result<Self, Error> {
        refuse_taken(change)?;
        if let Change::Namespace { name } = change {
            let unnamed = namespace::Unnamed::new()?;
            let namespaces = [(name.clone(), unnamed.identity())].into();
            return Ok(Self { before: Before::Absent, namespaces, unnamed: Some(unnamed) });
        }
        let unseen = |error| Error::Before { change: change.to_string(), error };
        let before = before(change).map_err(unseen)?;
        let namespaces = identities(change).map_err(|error| unseen(error.into()))?;
        Ok(Self { before, namespaces, unnamed: None })
    }

    /// Makes the change.
    pub(crate) fn make(self, change: &Change) -> Result<(), Failure> {
        if self.before == Before::Same {
            return Ok(());
        }
        match change {
            Change::LeftAlone { manager, interface, mac } => managers::leave_alone(*manager, interface, mac),
            change => Ok(self.make_in_kernel(change)?),
        }
    }

    fn make_in_kernel(self, change: &Change) -> kernel::Result<()> {
        match change {
            Change::Namespace { name } => self.unnamed.map_or(Ok(()), |unnamed| unnamed.publish(name)),
            Change::Veth { a, b, mtu } => link::create_veth(a, b, *mtu),
            Change::Bridge { namespace, interface, ports } => link::create_bridge(namespace, interface, ports),
            Change::Gro { namespace, interface } => set_gro(namespace, interface, true),
            Change::Address { namespace, interface, address, prefix } => {
                link::add_address(namespace, interface, *address, *prefix)
            }
            Change::Route { namespace, interface, to, prefix, via } => {
                route::add(namespace, interface, (*to, *prefix), *via)
            }
            Change::LinkUp { namespace, interface } => link::set_up(namespace, interface),
            Change::Mtu { namespace, interface, mtu } => link::set_mtu(namespace, interface, *mtu),
            Change::Sysctl { namespace, key, value } => set(namespace, key, value),
            Change::Stamping { namespace, interface } => stamp(namespace, interface, StampSetting::ALL),
            Change::InterfaceSetting { namespace, interface, setting, value } => {
                set_interface(namespace, interface, setting, value)
            }
            Change::PromptInterrupts { namespace, interface } => namespace::within(namespace, || {
                let numbers = ethtool::coalescing(interface)?;
                numbers.map_or(Ok(()), |numbers| ethtool::set_coalescing(interface, &ethtool::prompt(&numbers)))
            })?,
            Change::Steering { namespace, interface, to, queue } => {
                namespace::within(namespace, || ethtool::steer(interface, *to, *queue))?
            }
            Change::Port { interface, namespace } => device::send(interface, namespace),
            Change::LeftAlone { .. } => Ok(()),
        }
    }
}

fn refuse_taken(change: &Change) -> Result<(), Error> {
    match change {
        Change::Namespace { name } if namespace::exists(name) => {
            Err(Error::Taken { what: format!("namespace {name}"), remove: format!("ip netns delete {name}") })
        }
        Change::Veth { a, b, .. } => [a, b].into_iter().try_for_each(|end| refuse_taken_end(end, change)),
        Change::Bridge { namespace, interface, .. } => {
            let end = LinkEnd { namespace: namespace.clone(), interface: interface.clone() };
            refuse_taken_end(&end, change)
        }
        _ => Ok(()),
    }
}

fn refuse_taken_end(end: &LinkEnd, change: &Change) -> Result<(), Error> {
    let LinkEnd { namespace, interface } = end;
    let exists = link::exists(namespace, interface);
    if exists.map_err(|error| Error::Before { change: change.to_string(), error: error.into() })? {
        let remove = format!("ip -netns {namespace} link delete {interface}");
        return Err(Error::Taken { what: format!("interface {end}"), remove });
    }
    Ok(())
}

fn before(change: &Change) -> Result<Before, Failure> {
    Ok(match change {
        Change::Namespace { .. } | Change::Veth { .. } | Change::Bridge { .. } => Before::Absent,
        Change::Gro { namespace, interface } => {
            same_or(Before::Absent, namespace::within(namespace, || ethtool::gro(interface))??)
        }
        Change::Port { interface, .. } | Change::LeftAlone { interface, .. } => port::before(interface)?,
        Change::Address { namespace, interface, address, .. } => {
            same_or(Before::Absent, link::has_address(namespace, interface, *address)?)
        }
        Change::Route { namespace, interface, to, prefix, via } => {
            same_or(Before::Absent, route::exists(namespace, interface, (*to, *prefix), *via)?)
        }
        Change::LinkUp { namespace, interface } => same_or(Before::Down, link::is_up(namespace, interface)?),
        Change::Stamping { namespace, interface } => {
            let stamping = namespace::within(namespace, || ethtool::stamping(interface))??;
            stamping.map_or(Before::Same, |stamping| Before::Stamping(stamping.set))
        }
        Change::InterfaceSetting { namespace, interface, setting, value } => {
            let now = namespace::within(namespace, || setting_of::read(interface, setting))??;
            if now == *value { Before::Same } else { Before::Value(now) }
        }
        Change::PromptInterrupts { namespace, interface } => {
            let now = namespace::within(namespace, || ethtool::coalescing(interface))??;
            now.filter(|now| ethtool::prompt(now) != *now).map_or(Before::Same, Before::Numbers)
        }
        Change::Steering { namespace, interface, to, queue } => {
            let is_there = namespace::within(namespace, || ethtool::is_steered(interface, *to, *queue))??;
            same_or(Before::Absent, is_there)
        }
        Change::Mtu { namespace, interface, .. } => Before::Value(link::mtu(namespace, interface)?.0.to_string()),
        Change::Sysctl { namespace, key, .. } => Before::Value(namespace::within(namespace, || sysctl::read(key))??),
    })
}

/// What is there already was not made by us, and stays.
fn same_or(otherwise: Before, is_there: bool) -> Before {
    if is_there { Before::Same } else { otherwise }
}

fn set_gro(namespace: &str, interface: &str, on: bool) -> kernel::Result<()> {
    namespace::within(namespace, || ethtool::set_gro(interface, on))?
}

fn stamp(namespace: &str, interface: &str, setting: StampSetting) -> kernel::Result<()> {
    namespace::within(namespace, || ethtool::set_stamping(interface, setting))?
}

fn set_interface(namespace: &str, interface: &str, setting: &str, value: &str) -> kernel::Result<()> {
    namespace::within(namespace, || setting_of::write(interface, setting, value))?
}

fn identities(change: &Change) -> kernel::Result<BTreeMap<String, u64>> {
    let mut identities = BTreeMap::new();
    for name in namespaces(change) {
        identities.extend(namespace::identity(name)?.map(|identity| (name.to_owned(), identity)));
    }
    Ok(identities)
}

fn namespaces(change: &Change) -> Vec<&str> {
    match change {
        Change::Namespace { name: namespace }
        | Change::Bridge { namespace, .. }
        | Change::Gro { namespace, .. }
        | Change::Address { namespace, .. }
        | Change::Route { namespace, .. }
        | Change::LinkUp { namespace, .. }
        | Change::Mtu { namespace, .. }
        | Change::Sysctl { namespace, .. }
        | Change::Stamping { namespace, .. }
        | Change::InterfaceSetting { namespace, .. }
        | Change::PromptInterrupts { namespace, .. }
        | Change::Steering { namespace, .. }
        | Change::Port { namespace, .. } => vec![namespace],
        Change::LeftAlone { .. } => vec![],
        Change::Veth { a, b, .. } => vec![&a.namespace, &b.namespace],
    }
}

/// Takes a change back. Says whether there was anything to do: what is gone already, went with its namespace, or was there
/// before, is left as it is.
pub(crate) fn take_back(entry: &Entry) -> Result<bool, Failure> {
    match (&entry.change, &entry.before) {
        (Change::Port { namespace, .. }, Before::Port(state)) => port::give_back(namespace, state, entry),
        (Change::LeftAlone { manager, interface, mac }, before) => {
            managers::release(*manager, interface, mac, before.port())
        }
        _ => Ok(take_back_in_kernel(entry)?),
    }
}

fn take_back_in_kernel(entry: &Entry) -> kernel::Result<bool> {
    match (&entry.change, &entry.before) {
        (_, Before::Same) => Ok(false),
        (Change::Namespace { name }, _) => take_back_namespace(name, entry),
        (Change::Veth { a, b, .. }, _) => {
            // One namespace may be gone and the pair still be there: the other end then takes it away.
            Ok(take_back_end(a, entry)? || take_back_end(b, entry)?)
        }
        (Change::Bridge { namespace, interface, .. }, _) => {
            within_ours(namespace, entry, || link::delete(namespace, interface))
        }
        (Change::Gro { namespace, interface }, _) => {
            within_ours(namespace, entry, || set_gro(namespace, interface, false))
        }
        (Change::Address { namespace, interface, address, prefix }, _) => {
            within_ours(namespace, entry, || link::remove_address(namespace, interface, *address, *prefix))
        }
        (Change::Route { namespace, interface, to, prefix, via }, _) => {
            within_ours(namespace, entry, || route::remove(namespace, interface, (*to, *prefix), *via))
        }
        (Change::LinkUp { namespace, interface }, _) => {
            within_ours(namespace, entry, || device::set_down(namespace, interface))
        }
        (Change::Stamping { namespace, interface }, Before::Stamping(before)) => {
            within_ours(namespace, entry, || stamp(namespace, interface, *before))
        }
        (Change::InterfaceSetting { namespace, interface, setting, .. }, Before::Value(value)) => {
            within_ours(namespace, entry, || set_interface(namespace, interface, setting, value))
        }
        (Change::PromptInterrupts { namespace, interface }, Before::Numbers(numbers)) => {
            within_ours(namespace, entry, || {
                namespace::within(namespace, || ethtool::set_coalescing(interface, numbers))?
            })
        }
        (Change::Steering { namespace, interface, to, queue }, _) => {
            within_ours(namespace, entry, || namespace::within(namespace, || ethtool::unsteer(interface, *to, *queue))?)
        }
        (Change::Mtu { namespace, interface, .. }, Before::Value(mtu)) => match mtu.parse() {
            Ok(mtu) => within_ours(namespace, entry, || link::set_mtu(namespace, interface, Mtu(mtu))),
            Err(_) => Ok(false),
        },
        (Change::Sysctl { namespace, key, .. }, Before::Value(value)) => {
            within_ours(namespace, entry, || set(namespace, key, value))
        }
        // No such pair is ever recorded.
        (
            Change::Mtu { .. }
            | Change::Sysctl { .. }
            | Change::Stamping { .. }
            | Change::InterfaceSetting { .. }
            | Change::PromptInterrupts { .. }
            | Change::Port { .. }
            | Change::LeftAlone { .. },
            _,
        ) => Ok(false),
    }
}

fn take_back_namespace(name: &str, entry: &Entry) -> kernel::Result<bool> {
    match namespace::identity(name) {
        Err(error) if error.says_gone() => return Ok(false),
        // Without a namespace: we were killed between making the file and mounting on it.
        identity => match identity? {
            Some(identity) if !is_recorded(identity, name, entry) => return Ok(false),
            Some(_) => end_processes_in(name)?,
            None => {}
        },
    }
    namespace::delete(name).map(|()| true)
}

fn end_processes_in(name: &str) -> kernel::Result<()> {
    let mut others = namespace::processes_in(name)?;
    others.retain(|pid| *pid != std::process::id());
    process::end(&others)
}

fn take_back_end(end: &LinkEnd, entry: &Entry) -> kernel::Result<bool> {
    within_ours(&end.namespace, entry, || link::delete(&end.namespace, &end.interface))
}

/// Undoes something in a namespace, if that is still the one it was done in. Nothing is to do where the thing is gone.
fn within_ours(namespace: &str, entry: &Entry, undo: impl FnOnce() -> kernel::Result<()>) -> kernel::Result<bool> {
    let undo_if_ours = || match namespace::identity(namespace)? {
        Some(identity) if is_recorded(identity, namespace, entry) => undo().map(|()| true),
        _ => Ok(false),
    };
    match undo_if_ours() {
        Err(error) if error.says_gone() => Ok(false),
        result => result,
    }
}

pub(crate) fn is_recorded(identity: u64, namespace: &str, entry: &Entry) -> bool {
    entry.namespaces.get(namespace) == Some(&identity)
}

fn set(namespace: &str, key: &str, value: &str) -> kernel::Result<()> {
    namespace::within(namespace, || sysctl::write(key, value))?
}
