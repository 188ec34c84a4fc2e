//! The launcher's thread: waits for requests, the end of the granted program, and changes.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::Sender,
    },
    time::{Duration, Instant},
};

use kernel::{link, watch::Watch};
use model::bypass::{Claim, Health, Hindrance, NotHandedOver, Program, Queue, Refusal, Steering, TrustedCounts};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SocketFlags, accept_with},
};
use xdp::{socket::Socket, steer};

use super::{
    BACKLOG, Event,
    cards::Cards,
    outside::PageServer,
    programs::{self, Requester},
};
use crate::{Attachment, Grant, GrantError, handover, returned};

/// Interval of the checks that the steering program is still attached, which nothing reports.
const LOOK: Duration = Duration::from_secs(1);

pub(super) struct Server {
    attachment: Attachment,
    cards: Cards,
    sources: EventSources,
    tell: Sender<Event>,
    is_held: Arc<AtomicBool>,
    health: Vec<Health>,
    /// Grant for the next request.
    ready: Option<Grant>,
    held: Option<ActiveGrant>,
    /// Time of the last check.
    looked: Instant,
}

/// Inputs.
pub(super) struct EventSources {
    /// Requests for the grant.
    pub(super) listener: OwnedFd,
    /// Requests for the page of sockets without a grant.
    pub(super) outside: PageServer,
    /// The kernel's notifications of changes.
    pub(super) watch: Watch,
    /// The owner's request to stop.
    pub(super) stop: OwnedFd,
}

/// A grant in use by a program.
struct ActiveGrant {
    program: Program,
    connection: OwnedFd,
    /// A child that inherited the connection does not keep the grant.
    process: OwnedFd,
    grant: Grant,
    /// Packets that XDP had redirected before, for earlier programs, if that could be read.
    redirected_before: Option<u64>,
    /// Datagrams put into the kernel's queues for the program.
    handed_back: u64,
}

/// Pending work.
#[derive(Default)]
struct PendingEvents {
    stop: bool,
    news: bool,
    ended: bool,
    spoken: bool,
    asked: bool,
    visited: bool,
}

impl Server {
    pub(super) fn new(
        attachment: Attachment,
        cards: Cards,
        ready: Grant,
        sources: EventSources,
        tell: Sender<Event>,
        is_held: Arc<AtomicBool>,
    ) -> Self {
        let health = attachment.interfaces().map(|_| Health::Well).collect();
        Self {
            attachment,
            cards,
            sources,
            tell,
            is_held,
            health,
            ready: Some(ready),
            held: None,
            looked: Instant::now(),
        }
    }

    pub(super) fn serve(mut self) -> Result<Steering, GrantError> {
        let counters = self.rounds();
        self.cards.give_back();
        counters
    }

    fn rounds(&mut self) -> Result<Steering, GrantError> {
        self.check_interfaces();
        loop {
            let awaited = self.wait()?;
            if awaited.stop {
                self.end_claim();
                self.tell_of_waiting();
                let (programs, beyond) = (self.sources.outside.written(), self.sources.outside.beyond());
                self.tell(Event::UngrantedSockets { programs, beyond });
                return self.attachment.counters();
            }
            if awaited.news {
                self.check_interfaces();
                // Short-lived sockets need no rule.
                self.held.iter().for_each(|held| self.cards.steer(&held.grant.control));
            }
            // Before other requests: the grant may be free by now.
            if awaited.ended || awaited.spoken && !self.is_served() {
                self.end_claim();
                self.make_ready();
            }
            if awaited.asked {
                self.answer();
            }
            if awaited.visited {
                self.sources.outside.answer().into_iter().for_each(|refusal| self.tell_of(refusal));
            }
        }
    }

    fn wait(&self) -> Result<PendingEvents, GrantError> {
        let held = self.held.as_ref();
        let mut polled = vec![
            PollFd::new(&self.sources.stop, PollFlags::IN),
            PollFd::new(&self.sources.watch, PollFlags::IN),
            PollFd::new(&self.sources.listener, PollFlags::IN),
            PollFd::from_borrowed_fd(self.sources.outside.fd(), PollFlags::IN),
        ];
        let connection = held.map(|held| &held.connection);
        let process = held.map(|held| &held.process);
        polled.extend([connection, process].into_iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN)));
        // Constant requests do not prevent the checks.
        let left = Timespec::try_from(LOOK.saturating_sub(self.looked.elapsed())).unwrap_or_default();
        match poll(&mut polled, Some(&left)) {
            Err(Errno::INTR) => Ok(PendingEvents::default()),
            Err(error) => Err(GrantError::Call { call: "poll", io: error.into() }),
            Ok(_) => {
                let is_ready = |fd: &PollFd<'_>| !fd.revents().is_empty();
                Ok(PendingEvents {
                    stop: is_ready(&polled[0]),
                    news: is_ready(&polled[1]) || self.looked.elapsed() >= LOOK,
                    asked: is_ready(&polled[2]),
                    visited: is_ready(&polled[3]),
                    spoken: polled.get(4).is_some_and(is_ready),
                    ended: polled[4..].iter().skip(1).any(is_ready),
                })
            }
        }
    }

    /// The receiver may have ended.
    fn tell(&self, event: Event) {
        let _ = self.tell.send(event);
    }

    fn tell_of(&self, Refusal { program, why }: Refusal) {
        self.tell(Event::Refused { program, why });
    }

    /// Announces a change, and checks the interfaces.
    fn check_interfaces(&mut self) {
        self.looked = Instant::now();
        match self.sources.watch.has_news() {
            Ok(true) => self.grants().for_each(|grant| grant.control.change()),
            Ok(false) => {}
            Err(error) => self.tell(Event::Trouble(error.into())),
        }
        let now = match self.looked() {
            Ok(now) => now,
            Err(error) => return self.tell(Event::Trouble(error)),
        };
        for (number, (name, health)) in now.into_iter().enumerate() {
            if self.health[number] != health {
                self.health[number] = health;
                self.mark(number);
                self.tell(Event::Interface { name, health });
            }
        }
    }

    fn looked(&mut self) -> Result<Vec<(String, Health)>, GrantError> {
        let links = link::list()?;
        self.attachment.follow(&links)?;
        let look = |(name, index): (&str, u32)| {
            let link = links.iter().find(|link| link.index == index);
            let health = match link {
                None => Health::Gone,
                Some(_) if self.attachment.attachment(name)? == steer::Attachment::Gone => Health::NoProgram,
                Some(link) if !link.up => Health::Down,
                Some(_) => Health::Well,
            };
            Ok((name.to_owned(), health))
        };
        self.attachment.interfaces().map(look).collect()
    }

    fn grants(&self) -> impl Iterator<Item = &Grant> {
        self.held.iter().map(|held| &held.grant).chain(&self.ready)
    }

    fn mark(&self, interface: usize) {
        let is_gone = self.health[interface] != Health::Well;
        self.grants().for_each(|grant| grant.control.set_gone(interface, is_gone));
    }

    fn answer(&mut self) {
        let Ok(connection) = accept_with(&self.sources.listener, SocketFlags::CLOEXEC) else { return };
        let refusal = match programs::requester(&connection) {
            Ok(requester) => match self.granted() {
                Ok(grant) => return self.hand_over(requester, connection, grant),
                Err(why) => Refusal { program: requester.program, why },
            },
            Err(refusal) => refusal,
        };
        // A requester that has ended needs no answer.
        let _ = handover::refuse(&connection, &refusal.why.to_string());
        self.tell_of(refusal);
    }

    fn granted(&mut self) -> Result<Grant, Hindrance> {
        if let Some(ActiveGrant { program: Program { process, name }, .. }) = &self.held {
            return Err(Hindrance::HeldBy { program: name.clone(), pid: *process });
        }
        match self.ready.take() {
            Some(grant) => Ok(grant),
            None => Ok(self.attachment.grant()?),
        }
    }

    /// Tells of programs whose requests have had no answer when the launcher ends, as after it was stopped.
    fn tell_of_waiting(&mut self) {
        let waiting = std::iter::from_fn(|| accept_with(&self.sources.listener, SocketFlags::CLOEXEC).ok());
        for connection in waiting.take(BACKLOG) {
            programs::requester(&connection).err().into_iter().for_each(|refusal| self.tell_of(refusal));
        }
        for _ in 0..BACKLOG {
            self.sources.outside.answer().into_iter().for_each(|refusal| self.tell_of(refusal));
        }
    }

    fn hand_over(&mut self, requester: Requester, connection: OwnedFd, grant: Grant) {
        let Requester { program, process } = requester;
        let redirected_before = self.redirected();
        let handed = self.attachment.table().and_then(|table| {
            let call = |io| GrantError::Call { call: "sendmsg of a grant", io };
            handover::hand_over(&connection, &grant, table.as_fd()).map_err(call)
        });
        let holder = program.clone();
        self.held =
            Some(ActiveGrant { program: holder, connection, process, grant, redirected_before, handed_back: 0 });
        (0..self.health.len())
            .filter(|number| self.health[*number] != Health::Well)
            .for_each(|number| self.mark(number));
        match handed {
            Ok(()) => {
                self.is_held.store(true, Relaxed);
                self.tell(Event::Claimed(program));
            }
            // It may have gone already because the first part was unusable.
            Err(error) => {
                let told = self.held.take().and_then(|held| complained(&held));
                self.tell(told.unwrap_or(Event::Trouble(error)));
                self.make_ready();
            }
        }
    }

    /// Serves a request of the program with the grant; `false` if its claim has ended.
    fn is_served(&mut self) -> bool {
        let Some(held) = &mut self.held else { return false };
        let served = returned::serve(&held.connection, &held.grant);
        held.handed_back += u64::from(served == Some(true));
        served.is_some()
    }

    /// Packets that XDP has redirected. If they cannot be read, the error is reported.
    fn redirected(&self) -> Option<u64> {
        match self.attachment.counters() {
            Ok(steering) => Some(steering.taken),
            Err(error) => {
                self.tell(Event::Trouble(error));
                None
            }
        }
    }

    /// Collects the program's records; its grant is dropped afterwards.
    fn end_claim(&mut self) {
        let Some(held) = self.held.take() else { return };
        self.is_held.store(false, Relaxed);
        self.cards.forget();
        let complaint = complained(&held);
        let ActiveGrant { program, grant, redirected_before, handed_back, .. } = held;
        let queues = grant.interfaces.iter().flat_map(|interface| {
            let counted = |(number, socket): (u32, &Socket)| {
                let (interface, zero_copy) = (interface.name.clone(), socket.is_zero_copy());
                let counted = socket.statistics().ok()?;
                let (ring_full, no_frame, dropped) = (counted.ring_full, counted.no_frame, counted.dropped);
                Some(Queue { interface, number, zero_copy, lost: NotHandedOver { ring_full, no_frame, dropped } })
            };
            (0..).zip(&interface.queues).filter_map(counted)
        });
        let mut claim = Claim {
            program,
            sockets: grant.control.records(),
            beyond: grant.control.beyond(),
            refused: grant.control.refused(),
            queues: queues.collect(),
            witnessed: TrustedCounts { redirected: 0, handed_back },
            is_counted: false,
        };
        // The last reading: XDP counts a packet before the program or the kernel does.
        let redirected = since(redirected_before, self.redirected());
        (claim.is_counted, claim.witnessed.redirected) = (redirected.is_some(), redirected.unwrap_or_default());
        drop(grant);
        // Records and packets count, whatever the complaint.
        if complaint.is_none() || !claim.sockets.is_empty() || claim.witnessed.redirected > 0 {
            let mut before = self.sources.outside.before_claim(claim.program.process);
            // A socket that was bypassed later counts once.
            before.retain(|record| claim.sockets.iter().all(|socket| socket.cookie != record.cookie));
            claim.sockets.splice(..0, before);
            self.tell(Event::Ended(claim));
        }
        complaint.into_iter().for_each(|complaint| self.tell(complaint));
    }

    /// New memory and sockets, and an empty table: no state passes from one program to the next.
    fn make_ready(&mut self) {
        match self.attachment.grant() {
            Ok(grant) => self.ready = Some(grant),
            // Reported for each interface at the time, and to each requester.
            Err(GrantError::Hindered(Hindrance::AllGone)) => {}
            Err(error) => self.tell(Event::Trouble(error)),
        }
        (0..self.health.len()).for_each(|number| self.mark(number));
    }
}

/// Difference of two readings of a counter, if there are both.
fn since(before: Option<u64>, now: Option<u64>) -> Option<u64> {
    before.zip(now).map(|(before, now)| now.saturating_sub(before))
}

/// The event for a program that could not use its grant.
fn complained(held: &ActiveGrant) -> Option<Event> {
    let why = handover::complaint(&held.connection)?;
    Some(Event::Refused { program: held.program.clone(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_known_from_two_readings_alone() {
        assert_eq!((since(Some(3), Some(5)), since(Some(5), Some(3))), (Some(2), Some(0)));
        assert_eq!([since(None, Some(5)), since(Some(3), None), since(None, None)], [None; 3]);
    }
}
