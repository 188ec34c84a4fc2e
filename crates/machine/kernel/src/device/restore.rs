//! Restores the state that a move removed from a port, and any other difference.

use std::{
    fmt::Display,
    io, thread,
    time::{Duration, Instant},
};

use model::{NicState, nic::Saved};
use netlink_packet_core::{NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE};
use netlink_packet_route::{
    RouteNetlinkMessage,
    link::{AfSpecInet6, AfSpecUnspec, LinkAttribute, LinkFlags, LinkMessage, Prop},
};
use rustix::time::{ClockId, clock_gettime};

use super::{
    addresses::{ADDRESSES, NEIGHBOURS, aged, is_ipv6},
    key,
    message::Kind,
    multicast, queueing, read,
    routes::{NEXTHOPS, ROUTES, renumbered, replaces},
};
use crate::{error::Result, ethtool, link::bytes_of_mac, link_message::switch, netlink::request, sysctl};

/// Routes may use an IPv6 address after duplicate address detection (RFC 4862, section 5.4).
const ADDRESS_READY: Duration = Duration::from_secs(3);

/// Time for autonegotiation between two cards.
const LINK: Duration = Duration::from_secs(6);

/// Restores a port of this namespace, under its present name. Goes on after a failure.
///
/// Returns a command for each failure, with the reason.
pub fn restore(interface: &str, wanted: &NicState) -> Result<Vec<String>> {
    let now = read(interface)?;
    let mut port = Port { name: interface.to_owned(), index: now.identity.index, wanted, failed: Vec::new() };
    port.name_it(&now);
    port.set_link(&now);
    port.set_driver();
    // Once before it is up, since some apply at that time, and once after, since that resets some.
    //
    // The kernel also resets ipv6.conf.mtu whenever the link comes up, so this setting cannot be kept.
    port.write_settings();
    port.add_addresses(false);
    port.switch(&now);
    port.set_token(&now);
    port.add_addresses(true);
    let failed = port.write_settings();
    port.failed.extend(failed);
    port.add_nexthops();
    port.add_routes();
    port.add("ip", &NEIGHBOURS, &wanted.neighbours, NLM_F_CREATE | NLM_F_REPLACE);
    port.add_queueing(&now);
    port.add_multicast(&now);
    Ok(port.failed)
}

struct Port<'a> {
    name: String,
    index: u32,
    wanted: &'a NicState,
    failed: Vec<String>,
}

impl Port<'_> {
    fn name_it(&mut self, now: &NicState) {
        let name = &self.wanted.identity.name;
        if self.name != *name {
            // Renaming overwrites address labels: labelled addresses are added again afterwards.
            for saved in self.wanted.addresses.iter().filter(|saved| !is_ipv6(saved)) {
                let _ = ADDRESSES.take_away(&saved.message, self.index);
            }
            // Older kernels rename only interfaces that are down.
            let down = if now.flags.up { switch(&self.name, false) } else { Ok(()) };
            let renamed = down.and_then(|()| self.change([LinkAttribute::IfName(name.clone())]));
            let command = format!("ip link set {} name {name}", self.name);
            if self.is_done(&command, renamed) {
                self.name.clone_from(name);
            }
        }
        for altname in self.wanted.altnames.iter().filter(|it| !now.altnames.contains(it)) {
            let mut message = self.message();
            message.attributes.push(LinkAttribute::PropList(vec![Prop::AltIfName(altname.clone())]));
            let flags = NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND;
            let added = request(RouteNetlinkMessage::NewLinkProp(message), flags).map(drop);
            self.is_done(&format!("ip link property add dev {} altname {altname}", self.name), added);
        }
    }

    fn set_link(&mut self, now: &NicState) {
        let (name, wanted) = (self.name.clone(), self.wanted);
        if now.mac != wanted.mac {
            let set = self.change([LinkAttribute::Address(bytes_of_mac(&wanted.mac))]);
            self.is_done(&format!("ip link set {name} address {}", wanted.mac), set);
        }
        if now.mtu != wanted.mtu {
            let set = self.change([LinkAttribute::Mtu(wanted.mtu.0)]);
            self.is_done(&format!("ip link set {name} mtu {}", wanted.mtu.0), set);
        }
        if now.queue_length != wanted.queue_length {
            let set = self.change([LinkAttribute::TxQueueLen(wanted.queue_length)]);
            self.is_done(&format!("ip link set {name} txqueuelen {}", wanted.queue_length), set);
        }
        let flags = [
            ("promisc", LinkFlags::Promisc, now.flags.promiscuous, wanted.flags.promiscuous),
            ("allmulticast", LinkFlags::Allmulti, now.flags.all_multicast, wanted.flags.all_multicast),
        ];
        for (word, flag, _, wanted) in flags.into_iter().filter(|(_, _, now, wanted)| now != wanted) {
            let mut message = self.message();
            message.header.change_mask = flag;
            message.header.flags = if wanted { flag } else { LinkFlags::empty() };
            let set = request(RouteNetlinkMessage::SetLink(message), 0).map(drop);
            self.is_done(&format!("ip link set {name} {word} {}", on_or_off(wanted)), set);
        }
    }

    fn set_driver(&mut self) {
        for (what, error) in ethtool::set_settings(&self.name, &self.wanted.driver) {
            if what == "stamping" {
                self.failed.push(format!("hwstamp_ctl -i {} … ({error})", self.name));
                continue;
            }
            let option = match what {
                "rings" => "-G",
                "channels" => "-L",
                "coalescing" => "-C",
                "pause" => "-A",
                _ => "-K",
            };
            self.failed.push(format!("ethtool {option} {} … ({error})", self.name));
        }
    }

    /// Writes settings; returns the commands of those that failed.
    fn write_settings(&self) -> Vec<String> {
        let write = |(setting, value): (&String, &String)| {
            let key = key(setting, &self.name);
            let is_other = sysctl::read(&key).ok().as_ref() != Some(value);
            let written = if is_other { sysctl::write(&key, value) } else { Ok(()) };
            written.err().map(|error| format!("sysctl -w {key}=\"{value}\" ({error})"))
        };
        self.wanted.settings.iter().filter_map(write).collect()
    }

    fn switch(&mut self, now: &NicState) {
        let up = self.wanted.flags.up;
        if up || now.flags.up {
            let switched = switch(&self.name, up);
            self.is_done(&format!("ip link set {} {}", self.name, if up { "up" } else { "down" }), switched);
        }
    }

    /// The interface part of router-announced IPv6 addresses; settable only while the port is up.
    fn set_token(&mut self, now: &NicState) {
        let Some(token) = self.wanted.token.filter(|_| now.token != self.wanted.token) else { return };
        let spec = AfSpecUnspec::Inet6(vec![AfSpecInet6::Token(token)]);
        let set = self.change([LinkAttribute::AfSpecUnspec(vec![spec])]);
        self.is_done(&format!("ip token set {token} dev {}", self.name), set);
    }

    /// IPv6 addresses only once it is up: they are removed when it is down.
    fn add_addresses(&mut self, ipv6: bool) {
        let now_s = clock_gettime(ClockId::Boottime).tv_sec as u64;
        let age = now_s.saturating_sub(self.wanted.read_at_s);
        let aged = self
            .wanted
            .addresses
            .iter()
            .filter(|saved| is_ipv6(saved) == ipv6)
            .filter_map(|saved| Some(Saved { message: aged(&saved.message, age)?, ..saved.clone() }));
        self.add("ip", &ADDRESSES, &aged.collect::<Vec<_>>(), NLM_F_CREATE | NLM_F_EXCL);
    }

    /// The kernel accepts none for a port without a link.
    fn add_nexthops(&mut self) {
        let nexthops = self.wanted.nexthops.clone();
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        self.add_all("ip", &nexthops, LINK, |port, saved| port.tell(&NEXTHOPS, saved, flags));
    }

    /// A gateway may need another route that comes later.
    fn add_routes(&mut self) {
        let old = self.wanted.identity.index;
        let routes: Vec<_> = self.wanted.routes.iter().map(|saved| renumbered(saved, old, self.index)).collect();
        let flags = |saved: &Saved| if replaces(saved) { NLM_F_REPLACE } else { NLM_F_APPEND };
        self.add_all("ip", &routes, ADDRESS_READY, |port, saved| {
            port.tell(&ROUTES, saved, NLM_F_CREATE | flags(saved))
        });
    }

    /// A discipline below a class needs the class first, and the reverse.
    ///
    /// An object with the same words already exists; its counters never compare equal.
    fn add_queueing(&mut self, now: &NicState) {
        let [old, new] = [now, self.wanted].map(|state| format!(" dev {} ", state.identity.name));
        let mut there: Vec<String> = now.queueing.iter().map(|saved| saved.words.replacen(&old, &new, 1)).collect();
        let mut missing = self.wanted.queueing.clone();
        missing.retain(|saved| {
            let place = there.iter().position(|words| *words == saved.words);
            place.map(|place| there.swap_remove(place)).is_none()
        });
        self.add_all("tc", &missing, ADDRESS_READY, |port, saved| port.tell_queueing(saved));
    }

    /// Several filters may share a place that takes one other object.
    fn tell_queueing(&self, saved: &Saved) -> io::Result<()> {
        let flags = if saved.words.starts_with("filter") { NLM_F_EXCL } else { NLM_F_REPLACE };
        self.tell(queueing::kind(saved), saved, NLM_F_CREATE | flags)
    }

    fn add_multicast(&mut self, now: &NicState) {
        for address in self.wanted.multicast.iter().filter(|it| !now.multicast.contains(it)) {
            let entered = multicast::enter(&self.name, address);
            self.is_done(&format!("ip maddress add {address} dev {}", self.name), entered);
        }
    }

    /// Creates objects that depend on each other: failed ones are retried after the others.
    fn add_all(
        &mut self,
        program: &str,
        all: &[Saved],
        patience: Duration,
        tell: impl Fn(&Self, &Saved) -> io::Result<()>,
    ) {
        let until = Instant::now() + patience;
        let mut left: Vec<&Saved> = all.iter().collect();
        loop {
            let before = left.len();
            left.retain(|saved| tell(self, saved).is_err());
            if left.is_empty() || (left.len() == before && Instant::now() > until) {
                break;
            }
            if left.len() == before {
                thread::sleep(Duration::from_millis(100));
            }
        }
        for saved in left {
            let entry = tell(self, saved);
            self.is_done(&format!("{program} {}", saved.words), entry);
        }
    }

    fn add(&mut self, program: &str, kind: &Kind, all: &[Saved], flags: u16) {
        for saved in all {
            let entry = self.tell(kind, saved, flags);
            self.is_done(&format!("{program} {}", saved.words), entry);
        }
    }

    /// An existing object is as it should be.
    fn tell(&self, kind: &Kind, saved: &Saved, flags: u16) -> io::Result<()> {
        match kind.tell(&saved.message, self.index, flags) {
            Err(error) if error.raw_os_error() == Some(libc::EEXIST) => Ok(()),
            entry => entry,
        }
    }

    fn message(&self) -> LinkMessage {
        let mut message = LinkMessage::default();
        message.header.index = self.index;
        message
    }

    fn change(&self, attributes: impl IntoIterator<Item = LinkAttribute>) -> io::Result<()> {
        let mut message = self.message();
        message.attributes.extend(attributes);
        request(RouteNetlinkMessage::SetLink(message), 0).map(drop)
    }

    /// Records the command for a failed step.
    fn is_done(&mut self, command: &str, result: io::Result<()>) -> bool {
        if let Err(error) = &result {
            self.failed.push(format!("{command} ({error})"));
        }
        result.is_ok()
    }
}

fn on_or_off(on: bool) -> impl Display {
    if on { "on" } else { "off" }
}
