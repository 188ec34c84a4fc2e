//! Settings of zero-copy cards for polling programs. They are recorded in a ledger first, and undone at the end or,
//! after a `kill -9`, by the next user.

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::mpsc::Sender,
};

use kernel::{link, link::Link, namespace};
use ledger::Ledger;
use model::{
    Change,
    bypass::{NotSet, Record, Wait},
    change,
};

use super::Event;
use crate::{Control, Grant};

/// Number of empty polls after which the kernel still leaves interrupts off, and the interval in ns until it polls itself.
///
/// Short compared with a program that sleeps, as packets of all programs may wait that long.
const DEFERRED: [(&str, &str); 2] = [("napi_defer_hard_irqs", "2"), ("gro_flush_timeout", "50000")];
/// Limit of simultaneous rules: cards have room for few.
const MOST_RULES: usize = 64;

/// A zero-copy card whose queues a program polls.
#[derive(Clone, Debug)]
struct Card {
    /// Interface and the interface's index.
    interface: String,
    index: u32,
    queues: u32,
    /// Whether its driver accepts rules, as far as known.
    takes_rules: bool,
}

/// The cards and their changed settings.
pub(super) struct Cards {
    cards: Vec<Card>,
    namespace: String,
    ledger: Option<Ledger>,
    /// Number of changes that last for all programs.
    settings: usize,
    /// Flows of a program for which rules were requested.
    steered: Vec<(u32, SocketAddr)>,
    tell: Sender<Event>,
}

impl Cards {
    /// The cards of a grant, for programs that wait like this. The owner's name is unique.
    pub(super) fn prepare(grant: &Grant, wait: Wait, owner: &str, tell: Sender<Event>) -> Self {
        let is_missed = |it: &&crate::Granted| wait != Wait::Sleep && it.is_zero_copy() && !it.is_busy_polled();
        for it in grant.interfaces.iter().filter(is_missed) {
            // The receiver may have ended.
            let _ = tell.send(Event::NotSet(NotSet::NoPolling { interface: it.name.clone() }));
        }
        let polled = grant.interfaces.iter().filter(|granted| granted.is_busy_polled());
        let card = |it: &crate::Granted| Card {
            interface: it.name.clone(),
            index: it.index,
            queues: it.queues.len() as u32,
            takes_rules: true,
        };
        Self::of(polled.map(card).collect(), wait, ledger::directory(), owner, tell)
    }

    fn of(cards: Vec<Card>, wait: Wait, directory: &Path, owner: &str, tell: Sender<Event>) -> Self {
        let is_changed = |card: &Card| wait == Wait::Spin || card.queues > 1;
        let mut all = Self { namespace: String::new(), ledger: None, settings: 0, steered: Vec::new(), cards, tell };
        if !all.cards.iter().any(is_changed) {
            return all;
        }
        match all.begin(directory, owner) {
            Err(why) => all.say(NotSet::Nothing { why }),
            Ok(()) if wait == Wait::Spin => all.cards.clone().iter().for_each(|card| all.defer(card)),
            Ok(()) => {}
        }
        all.settings = all.ledger.as_ref().map_or(0, Ledger::standing);
        all
    }

    /// Reports a setting that a card rejected; everything else goes on. The receiver may have ended.
    fn say(&self, what: NotSet) {
        let _ = self.tell.send(Event::NotSet(what));
    }

    /// Opens a ledger. Changes of killed launchers are undone first: they are not the original state.
    fn begin(&mut self, directory: &Path, owner: &str) -> Result<(), String> {
        ledger::undo_stale(directory).map_err(|error| error.to_string())?;
        self.namespace = namespace::own_name().map_err(|error| error.to_string())?;
        self.ledger = Some(Ledger::open(directory, owner).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Defers interrupts while a program polls; without polling they come at once.
    fn defer(&mut self, card: &Card) {
        let (namespace, interface) = (self.namespace.clone(), card.interface.clone());
        let deferred = DEFERRED.map(|(setting, value)| {
            Change::InterfaceSetting(change::InterfaceSetting {
                namespace: namespace.clone(),
                interface: interface.clone(),
                setting: setting.to_owned(),
                value: value.to_owned(),
            })
        });
        let prompt = Change::PromptInterrupts(change::PromptInterrupts { namespace, interface });
        for change in deferred.into_iter().chain([prompt]) {
            if let Err(why) = self.apply(change) {
                self.say(NotSet::Setting { why });
            }
        }
    }

    fn apply(&mut self, change: Change) -> Result<(), String> {
        let applied = self.ledger.as_mut().map_or(Ok(()), |ledger| ledger.apply(change));
        applied.map_err(|error| error.to_string())
    }

    /// Steers packets for a program's sockets to one queue on multi-queue cards, so that it polls only that one.
    ///
    /// It is the last queue, because unspecific traffic arrives on the first.
    pub(super) fn steer(&mut self, control: &Control) {
        let takes_rules = |card: &Card| card.queues > 1 && card.takes_rules;
        if self.ledger.is_none() || !self.cards.iter().any(takes_rules) {
            return;
        }
        let sockets = control.records();
        let links = link::list().unwrap_or_default();
        let cards: Vec<Card> = self.cards.iter().filter(|card| takes_rules(card)).cloned().collect();
        cards.iter().for_each(|card| self.steer_to(card, &sockets, &links));
    }

    fn steer_to(&mut self, card: &Card, sockets: &[Record], links: &[Link]) {
        let link = links.iter().find(|link| link.index == card.index);
        for to in link.map_or(Vec::new(), |link| flows(sockets, link)) {
            if self.steered.contains(&(card.index, to)) || self.steered.len() == MOST_RULES {
                continue;
            }
            self.steered.push((card.index, to));
            let (namespace, interface, queue) = (self.namespace.clone(), card.interface.clone(), card.queues - 1);
            if let Err(why) = self.apply(Change::Steering(change::Steering { namespace, interface, to, queue })) {
                self.say(NotSet::Rule { interface: card.interface.clone(), why });
                return self.cards.iter_mut().filter(|it| it.index == card.index).for_each(|it| it.takes_rules = false);
            }
        }
    }

    /// Removes the rules of an ended program.
    pub(super) fn forget(&mut self) {
        self.steered.clear();
        let undone = self.ledger.as_mut().map(|ledger| ledger.undo_last(ledger.standing() - self.settings));
        undone
            .and_then(Result::err)
            .into_iter()
            .for_each(|error| self.say(NotSet::GivenBack { why: error.to_string() }));
    }

    /// Restores all settings.
    pub(super) fn give_back(&mut self) {
        let undone = self.ledger.take().map(|mut ledger| ledger.undo_all());
        undone
            .and_then(Result::err)
            .into_iter()
            .for_each(|error| self.say(NotSet::GivenBack { why: error.to_string() }));
    }
}

/// Flows of a program's bypassed sockets, for the addresses of a link.
fn flows(sockets: &[Record], link: &Link) -> Vec<SocketAddr> {
    let live = sockets.iter().filter(|socket| socket.fate.is_ok() && !socket.closed);
    let heard = live.filter_map(|socket| socket.local).flat_map(|local| {
        let ours = link.addresses.iter().map(|(address, _)| *address);
        ours.filter(move |address| hears(local.ip(), *address))
            .map(move |address| SocketAddr::new(address, local.port()))
    });
    let mut flows: Vec<SocketAddr> = Vec::new();
    heard.for_each(|flow| {
        if !flows.contains(&flow) {
            flows.push(flow)
        }
    });
    flows
}

fn hears(bound: IpAddr, address: IpAddr) -> bool {
    match bound.to_canonical() {
        // Over IPv4 too, unless the socket excludes it: an extra rule does no harm.
        IpAddr::V6(any) if any.is_unspecified() => true,
        IpAddr::V4(any) if any.is_unspecified() => address.is_ipv4(),
        bound => bound == address,
    }
}

#[cfg(test)]
mod tests;
