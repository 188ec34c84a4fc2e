//! Ports with several sockets: their order, and whether a kernel socket is among them.
//!
//! For each query, the kernel walks all sockets of the machine; for a program that opens thousands, one query covers
//! many of them.

use datagram::{Binding, SocketId};
use kernel::diag::Bound;

use super::{
    Core,
    allowance::Allowance,
    other_socket::Other,
    route_cache::Exit,
    socket::{Findings, Live, Local},
    take_flows,
};
use crate::ticks::Ticks;

/// Four times the time that queries may take at once.
const AHEAD_US: u64 = 200_000;
/// Sockets that the kernel named rank behind the others, which came to the head of its chain since.
const NAMED: u64 = 1 << 32;

/// Queries for ports.
pub(super) struct PortQueries {
    allowance: Allowance,
    /// The last port with a deferred query. Until the query, its sockets stay with the kernel.
    put_off: Option<u16>,
    ticks: Ticks,
}

impl PortQueries {
    pub(super) fn new(ticks: Ticks) -> Self {
        let allowance = Allowance::new(ticks.of_us(AHEAD_US));
        Self { allowance, put_off: None, ticks }
    }

    /// Whether a query is deferred.
    pub(super) fn is_put_off(&self) -> bool {
        self.put_off.is_some()
    }
}

impl Core {
    /// Determines whether the kernel may give another socket the datagrams for a socket that is bound but has no flows
    /// yet.
    pub(super) fn meet(&mut self, id: SocketId, now: u64) {
        let Some(live) = self.live(id) else { return };
        live.is_shared = live.options.shares_port;
        if !live.is_shared {
            return;
        }
        let port = live.options.local.port();
        if !self.may_look(now) {
            return self.put_off(port);
        }
        // A query for all ports includes the deferred ones.
        let port = Some(port).filter(|_| !self.looks.is_put_off());
        // Without an answer, the socket counts as the port's only one.
        if !self.looks_at(port, now)
            && let Some(live) = self.live(id)
        {
            live.is_shared = false;
        }
    }

    fn may_look(&self, now: u64) -> bool {
        self.looks.allowance.allows(now)
    }

    fn put_off(&mut self, port: u16) {
        if self.looks.put_off.replace(port) != Some(port) {
            self.each_of_port(port, |engine, number| engine.set_shared(number, true));
        }
    }

    /// Queries the sockets of a port, or of all, and applies the findings; returns whether the kernel answered. If not,
    /// it asks again later.
    fn looks_at(&mut self, port: Option<u16>, now: u64) -> bool {
        let begun = self.kernel.processor_time();
        let is_known = self.ask(port);
        if is_known {
            self.settle(port);
        }
        let took = self.kernel.processor_time().saturating_sub(begun).as_micros() as u64;
        let looks = &mut self.looks;
        looks.put_off = looks.put_off.filter(|_| port.is_some() || !is_known);
        looks.allowance.took(now, looks.ticks.of_us(took));
        is_known
    }

    /// Queries the sockets of a port, or of all, and stores the findings of each bypassed one; returns whether the
    /// kernel answered.
    fn ask(&mut self, port: Option<u16>) -> bool {
        let Self { kernel, sockets, inodes, input, exits, locals, .. } = self;
        sockets.iter_mut().flatten().for_each(|live| live.findings = Findings::default());
        let (mut place, mut done) = (NAMED, None);
        kernel.udp_sockets(port, &mut |bound| {
            place += 1;
            if let Some(live) = inodes.get(&bound.inode).and_then(|number| sockets.get_mut(*number as usize)?.as_mut())
            {
                live.findings.place = place;
            } else if done != Some(bound.port) && share_all(bound, input.of_port(bound.port), sockets, exits, locals) {
                done = Some(bound.port);
            }
        })
    }

    /// Applies the findings of a port, or of all ports.
    fn settle(&mut self, port: Option<u16>) {
        if let Some(port) = port {
            self.each_of_port(port, Self::take_findings);
            return self.order(port);
        }
        for number in 0..self.sockets.len() {
            self.take_findings(number);
            let port = self.sockets[number].as_ref().map_or(0, |live| live.options.local.port());
            // The port's first socket stands for all of them.
            if self.input.of_port(port).first().is_some_and(|(first, _)| first.0 as usize == number) {
                self.order(port);
            }
        }
    }

    fn each_of_port(&mut self, port: u16, mut work: impl FnMut(&mut Self, usize)) {
        for at in 0..self.input.of_port(port).len() {
            let number = self.input.of_port(port)[at].0.0 as usize;
            work(self, number);
        }
    }

    fn take_findings(&mut self, number: usize) {
        if let Some(live) = &self.sockets[number] {
            self.set_shared(number, live.findings.is_shared);
        }
    }

    fn set_shared(&mut self, number: usize, is_shared: bool) {
        let Self { sockets, exits, table, locals, control, .. } = self;
        if let Some(live) = sockets[number].as_mut()
            && live.options.shares_port
            && live.is_shared != is_shared
        {
            live.is_shared = is_shared;
            let fate = take_flows(live, exits, table, locals);
            control.slot(live.slot).set_fate(fate);
        }
    }

    /// Orders sockets with equal bindings.
    fn order(&mut self, port: u16) {
        let Self { sockets, input, .. } = self;
        for (place, (id, _)) in (1..).zip(input.of_port(port)) {
            if let Some(live) = sockets[id.0 as usize].as_mut().filter(|live| live.findings.place < NAMED) {
                live.findings.place = place;
            }
        }
        input.order(port, |id| sockets[id.0 as usize].as_ref().map_or(0, |live| live.findings.place));
    }

    /// Queries the other sockets of a port that a bypassed socket has.
    pub(super) fn look_at_port(&mut self, port: u16, now: u64) {
        let shares = |id: SocketId| self.sockets[id.0 as usize].as_ref().is_some_and(|live| live.options.shares_port);
        if !self.input.of_port(port).iter().any(|(id, _)| shares(*id)) {
            return;
        }
        if !self.may_look(now) {
            self.put_off(port);
        } else {
            // A query for all ports includes the deferred ones.
            self.looks_at(Some(port).filter(|_| !self.looks.is_put_off()), now);
        }
    }

    /// While a kernel socket shares a port, the kernel demultiplexes it.
    pub(super) fn look_at_ports(&mut self, now: u64) {
        if !self.sockets.iter().flatten().any(|live| live.options.shares_port) {
            self.looks.put_off = None;
        } else if self.may_look(now) {
            self.looks_at(None, now);
        }
    }

    /// Whether a bypassed socket has this port.
    pub(crate) fn has_port(&self, port: u16) -> bool {
        !self.input.of_port(port).is_empty()
    }
}

/// Adds another socket to the findings of the port; returns whether all bypassed sockets share the port by now.
fn share_all(
    bound: &Bound,
    ours: &[(SocketId, Binding)],
    sockets: &mut [Option<Live>],
    exits: &[Exit],
    locals: &[Local],
) -> bool {
    let other = Other::of(bound);
    if ours.is_empty() || !other.is_here(exits.iter().map(|exit| exit.index)) {
        return false;
    }
    let mut all = true;
    for (id, binding) in ours {
        let Some(live) = sockets.get_mut(id.0 as usize).and_then(Option::as_mut) else { continue };
        let addresses = locals.iter().map(|local| local.address);
        live.findings.is_shared = live.findings.is_shared || other.takes_from(binding, addresses);
        all &= live.findings.is_shared;
    }
    all
}
