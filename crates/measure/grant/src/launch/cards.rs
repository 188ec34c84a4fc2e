//! What is set on zero-copy cards for programs that poll them: written in a ledger before, and undone at the end or, after a `kill -9`, by whoever
//! comes next.

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

/// How often the kernel leaves interrupts off after it has found nothing, and for how long each time, in ns, until it looks by itself. Short
/// beside what a program takes that goes to sleep, as packets of all programs may wait for so long.
const DEFERRED: [(&str, &str); 2] = [("napi_defer_hard_irqs", "2"), ("gro_flush_timeout", "50000")];
/// Most rules at a time: cards have room for few.
const MOST_RULES: usize = 64;

/// A zero-copy card whose queues a program polls.
#[derive(Clone, Debug)]
struct Card {
    /// Its interface, and that one's number.
    interface: String,
    index: u32,
    queues: u32,
    /// Whether its driver takes rules, as far as is known.
    takes_rules: bool,
}

/// The cards, and what is changed of them.
pub(super) struct Cards {
    cards: Vec<Card>,
    namespace: String,
    ledger: Option<Ledger>,
    /// Changes that stand for all programs.
    settings: usize,
    /// Flows of a program that rules were asked for.
    steered: Vec<(u32, SocketAddr)>,
    tell: Sender<Event>,
}

impl Cards {
    /// Those of a grant, set for programs that wait like this. The owner's name is nobody else's.
    pub(super) fn prepare(grant: &Grant, wait: Wait, owner: &str, tell: Sender<Event>) -> Self {
        let is_missed = |it: &&crate::Granted| wait != Wait::Sleep && it.is_zero_copy() && !it.is_busy_polled();
        for it in grant.interfaces.iter().filter(is_missed) {
            // Who does not listen any more does not want to know.
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

    /// Something that a card did not take; all goes on without it. Who does not listen any more does not want to know.
    fn say(&self, what: NotSet) {
        let _ = self.tell.send(Event::NotSet(what));
    }

    /// What somebody left behind who was killed would be taken for what was there before.
    fn begin(&mut self, directory: &Path, owner: &str) -> Result<(), String> {
        ledger::undo_stale(directory).map_err(|error| error.to_string())?;
        self.namespace = namespace::own_name().map_err(|error| error.to_string())?;
        self.ledger = Some(Ledger::open(directory, owner).map_err(|error| error.to_string())?);
        Ok(())
    }

    /// Has interrupts wait as long as a program polls, and come at once when none does.
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

    /// Has what is for a program's sockets come by one queue, on cards of many: it polls that alone then. The last one, as what is for nobody
    /// in particular comes by the first.
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

    /// Takes the rules of a program away that has ended.
    pub(super) fn forget(&mut self) {
        self.steered.clear();
        let undone = self.ledger.as_mut().map(|ledger| ledger.undo_last(ledger.standing() - self.settings));
        undone
            .and_then(Result::err)
            .into_iter()
            .for_each(|error| self.say(NotSet::GivenBack { why: error.to_string() }));
    }

    /// Gives everything back as it was.
    pub(super) fn give_back(&mut self) {
        let undone = self.ledger.take().map(|mut ledger| ledger.undo_all());
        undone
            .and_then(Result::err)
            .into_iter()
            .for_each(|error| self.say(NotSet::GivenBack { why: error.to_string() }));
    }
}

/// What the sockets of a program hear that are past the kernel now, of the addresses of a link.
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
        // Of IPv4 too, unless somebody said otherwise: a rule too many does no harm.
        IpAddr::V6(any) if any.is_unspecified() => true,
        IpAddr::V4(any) if any.is_unspecified() => address.is_ipv4(),
        bound => bound == address,
    }
}

#[cfg(test)]
mod tests;
