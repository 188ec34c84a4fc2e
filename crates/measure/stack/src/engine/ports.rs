//! Ports that several sockets have: who is first, and whether the kernel has a say.

use std::{
    collections::{HashMap, HashSet},
    os::fd::BorrowedFd,
};

use datagram::SocketId;
use kernel::diag::Bound;

use super::{Engine, socket::Live, take_flows};
use crate::{
    glance::ends,
    look::Look,
    ports::{Others, on},
};

impl Engine {
    /// Who has the port of a socket; nobody where it is its own alone.
    pub(super) fn who_shares(&self, look: &Look) -> Vec<Bound> {
        let all = if look.shares_port { on(Some(look.local.port())).unwrap_or_default() } else { Vec::new() };
        // Its own alone.
        if all.len() > 1 { all } else { Vec::new() }
    }

    /// Whether the kernel may give another one what comes for this one.
    pub(super) fn is_shared(&self, live: &Live, all: &[Bound]) -> bool {
        if all.is_empty() {
            return false;
        }
        let mut past = self.inodes();
        past.insert(live.inode);
        self.shares(live, &Others::of(all, &past))
    }

    fn shares(&self, live: &Live, others: &Others) -> bool {
        let interfaces: Vec<u32> = self.exits.iter().map(|exit| exit.index).collect();
        others.share_with(&live.look.binding, self.locals.iter().map(|local| local.address), &interfaces)
    }

    fn inodes(&self) -> HashSet<u64> {
        self.sockets.iter().flatten().map(|live| live.inode).collect()
    }

    /// Goes by who has a port, or all of them, and by the order in which they were bound to it.
    pub(super) fn settle_port(&mut self, all: &[Bound]) {
        if all.is_empty() {
            return;
        }
        let ports: HashSet<u16> = all.iter().map(|bound| bound.port).collect();
        let others = Others::of(all, &self.inodes());
        for number in 0..self.sockets.len() {
            let Some(live) = self.sockets[number].as_ref() else { continue };
            if !live.look.shares_port || !ports.contains(&live.look.local.port()) {
                continue;
            }
            let is_shared = self.shares(live, &others);
            if live.is_shared != is_shared {
                self.set_shared(number, is_shared);
            }
        }
        self.order(all);
    }

    fn set_shared(&mut self, number: usize, is_shared: bool) {
        let Self { sockets, exits, table, locals, control, .. } = self;
        if let Some(live) = sockets[number].as_mut() {
            live.is_shared = is_shared;
            let fate = take_flows(live, exits, table, locals);
            control.slot(live.slot).set_fate(fate);
        }
    }

    /// Which of several that are alike is first.
    fn order(&mut self, all: &[Bound]) {
        let Self { sockets, input, .. } = self;
        let Some(first) = all.first().filter(|first| all.len() > 1 && all.iter().all(|bound| bound.port == first.port))
        else {
            return;
        };
        let numbers = sockets.iter().enumerate().filter_map(|(number, live)| Some((live.as_ref()?.inode, number)));
        let numbers: HashMap<u64, usize> = numbers.collect();
        let ids = all.iter().filter_map(|bound| numbers.get(&bound.inode)).map(|number| SocketId(*number as u32));
        input.order(first.port, ids);
    }

    /// One stays with the kernel: what others hear on its port may be for it.
    pub(super) fn stays_beside(&mut self, fd: BorrowedFd<'_>) {
        let (Some(local), _) = ends(fd) else { return };
        self.look_at_port(local.port());
    }

    /// Asks who has a port, where somebody past the kernel has it.
    pub(super) fn look_at_port(&mut self, port: u16) {
        let is_ours = |live: &Live| live.look.shares_port && live.look.local.port() == port;
        if self.sockets.iter().flatten().any(is_ours)
            && let Some(all) = on(Some(port))
        {
            self.settle_port(&all);
        }
    }

    /// Whether a socket past the kernel has this port.
    pub(crate) fn has_port(&self, port: u16) -> bool {
        self.sockets.iter().flatten().any(|live| live.look.local.port() == port)
    }
}
