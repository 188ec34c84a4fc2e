//! Ports that several sockets have: who is first, and whether the kernel has a say.
//!
//! The kernel is asked for that, which looks at all sockets of the machine each time: who opens thousands of them has it asked for many at once.

use std::{os::fd::BorrowedFd, time::Duration};

use datagram::{Binding, SocketId};
use kernel::diag::{Bound, Room, udp_sockets};
use rustix::time::{ClockId, clock_gettime};

use super::{
    Engine,
    allowance::Allowance,
    socket::{Live, Local},
    take_flows,
};
use crate::{
    glance::ends,
    ports::Other,
    ticks::{self, Ticks},
    ways::Exit,
};

/// What asking may take at once, four times.
const AHEAD_US: u64 = 200_000;
/// Places of those that the kernel named are behind those of others, which came to the head of its chain since.
const NAMED: u64 = 1 << 32;

/// What a look at a port found out of a socket.
#[derive(Default)]
pub(super) struct Seen {
    /// Whether the kernel may give another one what comes for it.
    is_shared: bool,
    place: u64,
}

/// Looks at ports.
pub(super) struct Looks {
    room: Box<Room>,
    allowance: Allowance,
    /// The port of which one was put off last. All that have such a port are the kernel's as long.
    put_off: Option<u16>,
    ticks: Ticks,
}

impl Looks {
    pub(super) fn new(ticks: Ticks) -> Self {
        let allowance = Allowance::new(ticks.of_us(AHEAD_US));
        Self { room: Box::new([0; size_of::<Room>()]), allowance, put_off: None, ticks }
    }

    /// Whether one was put off.
    pub(super) fn is_put_off(&self) -> bool {
        self.put_off.is_some()
    }
}

impl Engine {
    /// Whether the kernel may give another one what comes for a socket that is bound by now, and has no flows yet.
    pub(super) fn meet(&mut self, id: SocketId) {
        let Some(live) = self.live(id) else { return };
        live.is_shared = live.look.shares_port;
        if !live.is_shared {
            return;
        }
        let port = live.look.local.port();
        if !self.may_look() {
            return self.put_off(port);
        }
        // Who looks at all looks at those that were put off.
        let port = Some(port).filter(|_| !self.looks.is_put_off());
        // Where the kernel says nothing, it is taken to be alone.
        if !self.looks_at(port)
            && let Some(live) = self.live(id)
        {
            live.is_shared = false;
        }
    }

    fn may_look(&self) -> bool {
        self.looks.allowance.allows(ticks::now())
    }

    fn put_off(&mut self, port: u16) {
        if self.looks.put_off.replace(port) != Some(port) {
            self.each_of_port(port, |engine, number| engine.set_shared(number, true));
        }
    }

    /// Looks who has a port, or any, and goes by that; whether the kernel said so. What it does not say is asked again by and by.
    fn looks_at(&mut self, port: Option<u16>) -> bool {
        let begun = processor_time();
        let is_known = self.ask(port);
        if is_known {
            self.settle(port);
        }
        let took = processor_time().saturating_sub(begun).as_micros() as u64;
        let looks = &mut self.looks;
        looks.put_off = looks.put_off.filter(|_| port.is_some() || !is_known);
        looks.allowance.took(ticks::now(), looks.ticks.of_us(took));
        is_known
    }

    /// Asks who has a port, or any, and takes down what that means for each of ours; whether the kernel said so.
    fn ask(&mut self, port: Option<u16>) -> bool {
        let Self { looks, sockets, inodes, input, exits, locals, .. } = self;
        sockets.iter_mut().flatten().for_each(|live| live.seen = Seen::default());
        let (mut place, mut done) = (NAMED, None);
        let told = udp_sockets(port, &mut looks.room, |bound| {
            place += 1;
            if let Some(live) = inodes.get(&bound.inode).and_then(|number| sockets.get_mut(*number as usize)?.as_mut())
            {
                live.seen.place = place;
            } else if done != Some(bound.port) && share_all(bound, input.of_port(bound.port), sockets, exits, locals) {
                done = Some(bound.port);
            }
        });
        told.is_ok()
    }

    /// Goes by what was found out of a port, or of all.
    fn settle(&mut self, port: Option<u16>) {
        if let Some(port) = port {
            self.each_of_port(port, Self::goes_by_what_was_seen);
            return self.order(port);
        }
        for number in 0..self.sockets.len() {
            self.goes_by_what_was_seen(number);
            let port = self.sockets[number].as_ref().map_or(0, |live| live.look.local.port());
            // Whoever is first stands for all of its port.
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

    fn goes_by_what_was_seen(&mut self, number: usize) {
        if let Some(live) = &self.sockets[number] {
            self.set_shared(number, live.seen.is_shared);
        }
    }

    fn set_shared(&mut self, number: usize, is_shared: bool) {
        let Self { sockets, exits, table, locals, control, .. } = self;
        if let Some(live) = sockets[number].as_mut()
            && live.look.shares_port
            && live.is_shared != is_shared
        {
            live.is_shared = is_shared;
            let fate = take_flows(live, exits, table, locals);
            control.slot(live.slot).set_fate(fate);
        }
    }

    /// Which of several that are alike is first.
    fn order(&mut self, port: u16) {
        let Self { sockets, input, .. } = self;
        for (place, (id, _)) in (1..).zip(input.of_port(port)) {
            if let Some(live) = sockets[id.0 as usize].as_mut().filter(|live| live.seen.place < NAMED) {
                live.seen.place = place;
            }
        }
        input.order(port, |id| sockets[id.0 as usize].as_ref().map_or(0, |live| live.seen.place));
    }

    /// One stays with the kernel: what others hear on its port may be for it.
    pub(super) fn stays_beside(&mut self, fd: BorrowedFd<'_>) {
        let (Some(local), _) = ends(fd) else { return };
        self.look_at_port(local.port());
    }

    /// Asks who has a port, where somebody past the kernel has it.
    pub(super) fn look_at_port(&mut self, port: u16) {
        let shares = |id: SocketId| self.sockets[id.0 as usize].as_ref().is_some_and(|live| live.look.shares_port);
        if !self.input.of_port(port).iter().any(|(id, _)| shares(*id)) {
            return;
        }
        if !self.may_look() {
            self.put_off(port);
        } else {
            // Who looks at all looks at those that were put off.
            self.looks_at(Some(port).filter(|_| !self.looks.is_put_off()));
        }
    }

    /// A port that one that is not past the kernel has too by now is the kernel's, which shares out what comes; until it has gone.
    pub(super) fn look_at_ports(&mut self) {
        if !self.sockets.iter().flatten().any(|live| live.look.shares_port) {
            self.looks.put_off = None;
        } else if self.may_look() {
            self.looks_at(None);
        }
    }

    /// Whether a socket past the kernel has this port.
    pub(crate) fn has_port(&self, port: u16) -> bool {
        !self.input.of_port(port).is_empty()
    }
}

/// Another one has a port: whether all of ours that have it too share it with that, or with one before.
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
        live.seen.is_shared = live.seen.is_shared || other.takes_from(binding, addresses);
        all &= live.seen.is_shared;
    }
    all
}

/// How long this thread has had a processor: what others do meanwhile is not counted.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}
