//! A thread of the client: its share of the connections, and an epoll set that tells of them.

mod connection;
mod single;
mod start_times;

use std::{collections::VecDeque, sync::atomic::Ordering::Relaxed};

use kernel::clock;
use model::{FailureKind, Nanos, PacketRate, Protocol, WaitMode, probe::Exchange};
use rustix::{
    buffer::spare_capacity,
    event::{
        Timespec,
        epoll::{self, EventFlags},
    },
    fd::OwnedFd,
    io::Errno,
};

use self::{
    connection::{Connection, State},
    start_times::StartTimes,
};
use super::{
    reply::Progress,
    setting::Setting,
    so_far::{Exchange as Handover, InterimFeed},
    tally::{Span, Tally},
};
use crate::{
    ProbeError,
    error::socket_error,
    schedule::Schedule,
    socket::{STOP_CHECK, WOULD_BLOCK, busy_poll_set},
};

/// Bytes taken in one call.
const BUFFER: usize = 128 << 10;

/// Events taken in one call.
const EVENTS: usize = 256;

/// Connections of a thread that are being opened at the same time before the warm-up.
const OPENING: usize = 128;

/// Before a connection that failed is opened anew: no storm on a server that refuses.
const PAUSE: Nanos = Nanos::from_millis(10);

/// Time for all connections to be opened before the warm-up.
const SETUP: Nanos = Nanos::from_secs(10);

/// Interval of the loop's checks whether it should stop.
const LOOK: Nanos = Nanos(STOP_CHECK.as_nanos() as u64);

/// A thread of the client.
pub(super) struct Worker<'a> {
    setting: &'a Setting<'a>,
    handing: &'a Handover,
    epoll: OwnedFd,
    connections: Vec<Connection>,
    /// Connections without a transaction, in the order they became so.
    idle: VecDeque<u32>,
    /// Connections to be opened, and when.
    paused: VecDeque<(Nanos, u32)>,
    /// Connections that are being opened.
    opening: usize,
    /// Transactions that have begun and not ended.
    out: usize,
    /// When they began.
    transactions: StartTimes,
    /// When connections began to be opened without a transaction, or to end behind one.
    waits: StartTimes,
    tally: Tally,
    /// The first transaction of the schedule that has not begun, by its number. Threads have them in turn.
    next: u64,
    schedule: Option<Schedule>,
    /// The request whose turn it is.
    turn: usize,
    buffer: Vec<u8>,
    /// A datagram to be sent.
    datagram: Vec<u8>,
    is_udp: bool,
    connects_each_time: bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(setting: &'a Setting<'a>, number: usize, handing: &'a Handover) -> Result<Self, ProbeError> {
        let spec = setting.spec;
        let share = (number..usize::from(spec.connections)).step_by(setting.threads).count();
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| failed(setting, error))?;
        if spec.mode == WaitMode::BusyPoll {
            busy_poll_set(&epoll)?;
        }
        let is_udp = spec.exchange.protocol() == Protocol::Udp;
        Ok(Self {
            setting,
            handing,
            epoll,
            connections: (0..share).map(|_| Connection::default()).collect(),
            idle: VecDeque::with_capacity(share),
            paused: (0..share as u32).map(|index| (Nanos(0), index)).collect(),
            opening: 0,
            out: 0,
            transactions: StartTimes::new(share),
            waits: StartTimes::new(share),
            tally: Tally::new(Span::default()),
            next: number as u64,
            schedule: None,
            // Threads do not all ask for the same at the same time.
            turn: number % setting.requests.len(),
            buffer: vec![0; BUFFER],
            datagram: if is_udp { setting.requests[0].bytes.clone() } else { Vec::new() },
            is_udp,
            connects_each_time: spec.exchange.connects_each_time(),
        })
    }

    /// Opens the connections, and measures. Returns the counts not yet handed over.
    pub(super) fn run(mut self) -> Result<Tally, ProbeError> {
        if self.setting.spec.rate.is_some() {
            clock::wake_on_time()?;
        }
        let mut events = Vec::with_capacity(EVENTS);
        let span = self.set_up(&mut events)?;
        let mut feed = self.handing.feed(span);
        self.tally = Tally::new(span);
        self.schedule = self.setting.spec.rate.map(|rate| {
            let began = Nanos(span.opened.0 - self.setting.spec.warmup.0);
            Schedule::new(began, PacketRate(rate.0))
        });
        if self.schedule.is_none() && self.is_alone() {
            single::run(&mut self, span, &mut feed)?;
        } else {
            self.measure(span, &mut feed, &mut events)?;
        }
        if let Some(socket) = self.connections.iter().find_map(Connection::socket) {
            self.setting.look_for_queue(socket);
        }
        Ok(self.tally)
    }

    /// One connection that stays open needs no epoll set.
    fn is_alone(&self) -> bool {
        self.setting.spec.connections == 1 && !self.connects_each_time && self.idle.len() == 1
    }

    fn set_up(&mut self, events: &mut Vec<epoll::Event>) -> Result<Span, ProbeError> {
        let deadline = clock::now().0 + SETUP.0.min(self.setting.spec.timeout.0);
        if self.connects_each_time {
            self.idle.extend(self.paused.drain(..).map(|(_, index)| index));
        }
        let mut is_ready = false;
        loop {
            let now = clock::now();
            self.open_paused(now, if is_ready { 0 } else { OPENING });
            if !is_ready && (self.idle.len() == self.connections.len() || now.0 >= deadline) {
                is_ready = true;
                self.setting.ready.fetch_add(1, Relaxed);
            }
            if let Some(span) = self.setting.span() {
                return Ok(span);
            }
            self.step(Nanos(1_000_000), events)?;
        }
    }

    fn measure(
        &mut self,
        span: Span,
        feed: &mut InterimFeed<'_>,
        events: &mut Vec<epoll::Event>,
    ) -> Result<(), ProbeError> {
        let mut next_look = clock::now();
        if self.schedule.is_none() {
            let now = clock::now();
            for _ in 0..self.idle.len() {
                if let Some(index) = self.idle.pop_front() {
                    self.begin(index, now, now);
                }
            }
        }
        loop {
            let now = clock::now();
            self.begin_due(now);
            self.open_paused(now, usize::MAX);
            self.give_up(now);
            if now >= next_look {
                feed.tell(&mut self.tally, now);
                next_look = Nanos(now.0 + LOOK.0);
            }
            if now >= span.closed && self.is_over(span) {
                return Ok(());
            }
            let next = self.next_duty(span).map_or(next_look, |time| time.min(next_look));
            self.step(Nanos(next.0.saturating_sub(clock::now().0)), events)?;
        }
    }

    /// Whether all that began within the counted time has ended, and all that was to begin has begun.
    fn is_over(&self, span: Span) -> bool {
        self.out == 0 && self.schedule.is_none_or(|schedule| schedule.intended(self.next) >= span.closed)
    }

    /// When there is something to do even without an event.
    fn next_duty(&self, span: Span) -> Option<Nanos> {
        let timeout = self.setting.spec.timeout.0;
        let given_up = |start_times: &StartTimes| start_times.first().map(|began| Nanos(began.0 + timeout + 1));
        let paused = self.paused.front().map(|(time, _)| *time);
        let duties = [self.due(span), paused, given_up(&self.transactions), given_up(&self.waits)];
        duties.into_iter().flatten().min()
    }

    /// When the next transaction of the schedule is to begin, where there is a connection for it.
    fn due(&self, span: Span) -> Option<Nanos> {
        let intended = self.schedule?.intended(self.next);
        (!self.idle.is_empty() && intended < span.closed).then_some(intended)
    }

    /// Begins the transactions whose time has come, as far as connections are free.
    #[inline]
    fn begin_due(&mut self, now: Nanos) {
        let Some(schedule) = self.schedule else { return };
        loop {
            let intended = schedule.intended(self.next);
            if intended > now || intended >= self.tally.span.closed {
                return;
            }
            if now.0 - intended.0 > self.setting.spec.timeout.0 {
                self.next += self.setting.threads as u64;
                self.tally.failed(intended, FailureKind::Timeout, now);
                continue;
            }
            let Some(index) = self.idle.pop_front() else { return };
            self.next += self.setting.threads as u64;
            let departed = clock::now();
            // A transaction without a free connection waits for the server, not for the client.
            let due = intended.max(self.connections[index as usize].since);
            self.tally.departed(intended, due, departed);
            self.begin(index, intended, departed);
        }
    }

    /// Waits for events, and for so long at the most, and looks at them.
    fn step(&mut self, patience: Nanos, events: &mut Vec<epoll::Event>) -> Result<(), ProbeError> {
        let patience = if self.setting.spec.mode == WaitMode::Spin { Nanos(0) } else { patience };
        let timeout =
            Timespec { tv_sec: (patience.0 / 1_000_000_000) as i64, tv_nsec: (patience.0 % 1_000_000_000) as _ };
        events.clear();
        match epoll::wait(&self.epoll, spare_capacity(events), Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(failed(self.setting, error)),
        }
        for event in events.drain(..) {
            let flags = event.flags;
            self.happened(event.data.u64() as usize, flags);
            if self.schedule.is_some() && !self.idle.is_empty() {
                self.begin_due(clock::now());
            }
        }
        if self.setting.control.stopped() { Err(ProbeError::Cancelled) } else { Ok(()) }
    }

    /// Opens connections whose pause is over, so many at the same time.
    fn open_paused(&mut self, now: Nanos, at_once: usize) {
        while self.opening < at_once
            && let Some((time, index)) = self.paused.front().copied()
            && time <= now
        {
            self.paused.pop_front();
            if self.connects_each_time || self.connections[index as usize].is_open() {
                self.rest(index, now);
            } else {
                self.open(index, now);
            }
        }
    }

    /// The connection is free for another transaction.
    #[inline]
    fn rest(&mut self, index: u32, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        (connection.state, connection.since) = (State::Idle, now);
        let is_closed_loop = self.setting.spec.rate.is_none();
        // Before the warm-up the counted time is not known yet, and nothing begins.
        if is_closed_loop && now < self.tally.span.closed {
            // Without the time it took to count the one before.
            let now = clock::now();
            self.begin(index, now, now);
        } else {
            self.idle.push_back(index);
        }
    }

    /// Begins a transaction that counts from `begun`.
    #[inline]
    fn begin(&mut self, index: u32, begun: Nanos, now: Nanos) {
        self.out += 1;
        let connection = &mut self.connections[index as usize];
        (connection.begun, connection.since) = (Some(begun), now);
        self.transactions.push(begun, index, |index| self.connections[index as usize].begun);
        if self.connects_each_time {
            self.open(index, now);
        } else {
            self.request(index, now);
        }
    }

    fn open(&mut self, index: u32, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        connection.since = now;
        match connection.open(self.setting, &self.epoll, index, self.is_udp) {
            Err(error) => self.fail(index, kind_of(&error), now),
            Ok(()) if self.is_udp => self.rest(index, now),
            Ok(()) => {
                connection.state = State::Opening;
                self.opening += 1;
                if connection.begun.is_none() {
                    self.wait(index, now);
                }
            }
        }
    }

    /// Sends a request.
    #[inline]
    fn request(&mut self, index: u32, now: Nanos) {
        let requests = self.setting.requests;
        let (number, request) = (self.turn, &requests[self.turn]);
        self.turn = if number + 1 == requests.len() { 0 } else { number + 1 };
        let connection = &mut self.connections[index as usize];
        connection.state = State::Asking;
        let is_http = matches!(self.setting.spec.exchange, Exchange::Http { .. });
        connection.ask(request, number, is_http);
        let bytes = if self.is_udp {
            connection.label(self.setting.token, &mut self.datagram);
            &self.datagram
        } else {
            &request.bytes
        };
        if let Err(error) = connection.send(bytes) {
            self.fail(index, kind_of(&error), now);
        }
    }

    /// Something happened to a connection.
    #[inline]
    fn happened(&mut self, index: usize, flags: EventFlags) {
        let broken = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        let readable = flags.intersects(EventFlags::IN | EventFlags::RDHUP) || broken;
        if self.is_udp {
            return self.receive(index as u32, false);
        }
        match self.connections[index].state {
            State::Opening if broken => {
                let kind = self.connections[index].error().map_or(FailureKind::Other, |error| kind_of(&error));
                self.opening -= 1;
                self.fail(index as u32, kind, clock::now());
            }
            State::Opening if flags.contains(EventFlags::OUT) => self.opened(index as u32, readable),
            State::Opening => {}
            State::Ending if broken || flags.contains(EventFlags::RDHUP) => self.ended(index as u32, clock::now()),
            State::Asking | State::Idle | State::Ending if readable => {
                let may_end = flags.contains(EventFlags::RDHUP) || broken;
                self.receive(index as u32, may_end);
            }
            State::Asking if flags.contains(EventFlags::OUT) => self.go_on_sending(index as u32),
            _ => {}
        }
    }

    fn opened(&mut self, index: u32, readable: bool) {
        let now = clock::now();
        self.opening -= 1;
        let connection = &mut self.connections[index as usize];
        self.tally.connected(connection.since, now);
        if connection.begun.is_some() {
            self.request(index, now);
        } else {
            self.rest(index, now);
        }
        if readable {
            self.receive(index, true);
        }
    }

    #[cold]
    fn go_on_sending(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        if let Err(error) = connection.send(&self.setting.requests[connection.request].bytes) {
            self.fail(index, kind_of(&error), clock::now());
        }
    }

    /// Receives; `may_end` if the other end has closed its direction.
    fn receive(&mut self, index: u32, may_end: bool) {
        loop {
            let connection = &mut self.connections[index as usize];
            let received = match connection.receive(&mut self.buffer) {
                Err(error) if error.kind() == WOULD_BLOCK => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                received => received,
            };
            let now = clock::now();
            match (received, connection.state) {
                // One at a time, so that a flood of foreign datagrams does not hold the client.
                (Ok(length), _) if self.is_udp => return self.take_datagram(index, length, now),
                (Err(_), State::Idle | State::Closed) if self.is_udp => return,
                (Ok(0), State::Ending | State::Idle) => return self.ended(index, now),
                (Ok(0), _) => return self.fail(index, FailureKind::Closed, now),
                (Ok(length), State::Asking) => match connection.take(&self.buffer[..length]) {
                    Ok(Progress::More) if length < self.buffer.len() && !may_end => return,
                    Ok(Progress::More) => {}
                    Ok(Progress::Whole { closes }) => return self.whole(index, closes, may_end, now),
                    Err(kind) => return self.fail(index, kind, now),
                },
                (Ok(_), _) => return self.fail(index, FailureKind::Wrong, now),
                (Err(_), State::Ending | State::Idle) if !self.is_udp => return self.ended(index, now),
                (Err(error), _) => return self.fail(index, kind_of(&error), now),
            }
        }
    }

    /// Takes the awaited datagram, and throws another one away.
    fn take_datagram(&mut self, index: u32, length: usize, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        let datagram = &self.buffer[..length];
        let is_meant =
            matches!(connection.state, State::Asking) && connection.is_labelled(self.setting.token, datagram);
        if !is_meant {
            return;
        }
        if length as u64 == self.setting.requests[0].answer {
            self.whole(index, false, false, now);
        } else {
            self.fail(index, FailureKind::Wrong, now);
        }
    }

    /// A response is whole.
    #[inline]
    fn whole(&mut self, index: u32, closes: bool, has_ended: bool, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        if let Some(begun) = connection.begun.take() {
            self.out -= 1;
            if now.0.saturating_sub(begun.0) > self.setting.spec.timeout.0 {
                self.tally.failed(begun, FailureKind::Timeout, now);
            } else {
                self.tally.completed(begun, now);
            }
        }
        if !closes && !self.connects_each_time {
            return self.rest(index, now);
        }
        if let Some(socket) = connection.socket() {
            self.setting.look_for_queue(socket);
        }
        // The server ends the connection first, so that TIME_WAIT, and the port with it, is the server's.
        (connection.state, connection.since) = (State::Ending, now);
        if has_ended {
            self.ended(index, now);
        } else {
            self.wait(index, now);
        }
    }

    /// Something other than a transaction is waited for.
    #[inline]
    fn wait(&mut self, index: u32, since: Nanos) {
        self.waits.push(since, index, |index| self.connections[index as usize].waits_since());
    }

    /// The server has ended a connection on which nothing was asked.
    fn ended(&mut self, index: u32, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        connection.close();
        let was_idle = matches!(connection.state, State::Idle);
        if was_idle {
            self.idle.retain(|idle| *idle != index);
        }
        if self.connects_each_time {
            self.rest(index, now);
        } else if was_idle {
            connection.state = State::Closed;
            self.paused.push_back((Nanos(now.0 + PAUSE.0), index));
        } else {
            self.open(index, now);
        }
    }

    /// A transaction, or the opening of a connection, failed. Over UDP the socket stays.
    #[cold]
    fn fail(&mut self, index: u32, kind: FailureKind, now: Nanos) {
        let connection = &mut self.connections[index as usize];
        if matches!(connection.state, State::Idle) {
            self.idle.retain(|idle| *idle != index);
        }
        if !self.is_udp {
            connection.close();
        }
        connection.state = State::Closed;
        match connection.begun.take() {
            Some(begun) => {
                self.out -= 1;
                self.tally.failed(begun, kind, now);
            }
            None => {
                let since = connection.since;
                self.fail_next(since, kind, now);
            }
        }
        self.paused.push_back((Nanos(now.0 + PAUSE.0), index));
    }

    /// A connection that could not be opened fails the transaction that it was for: the next one.
    fn fail_next(&mut self, since: Nanos, kind: FailureKind, now: Nanos) {
        match self.schedule {
            None => self.tally.failed(since, kind, now),
            Some(schedule) => {
                let intended = schedule.intended(self.next);
                if intended <= now && intended < self.tally.span.closed {
                    self.next += self.setting.threads as u64;
                    self.tally.failed(intended, kind, now);
                }
            }
        }
    }

    /// Gives up transactions that exceed the timeout.
    #[inline]
    fn give_up(&mut self, now: Nanos) {
        let limit = Nanos(now.0.saturating_sub(self.setting.spec.timeout.0));
        let begun = |connections: &[Connection], index: u32| connections[index as usize].begun;
        while let Some(index) = self.transactions.take_before(limit, |index| begun(&self.connections, index)) {
            self.give_up_one(index, now);
        }
        let since = |connections: &[Connection], index: u32| connections[index as usize].waits_since();
        while let Some(index) = self.waits.take_before(limit, |index| since(&self.connections, index)) {
            self.give_up_one(index, now);
        }
    }

    #[cold]
    fn give_up_one(&mut self, index: u32, now: Nanos) {
        match self.connections[index as usize].state {
            State::Ending => self.ended(index, now),
            state => {
                self.opening -= usize::from(state == State::Opening);
                self.fail(index, FailureKind::Timeout, now);
            }
        }
    }
}

fn failed(setting: &Setting<'_>, error: Errno) -> ProbeError {
    socket_error("wait for connections to", setting.peer)(error.into())
}

/// The way of failing that an error of a socket is.
fn kind_of(error: &std::io::Error) -> FailureKind {
    match Errno::from_io_error(error) {
        Some(Errno::CONNREFUSED) => FailureKind::Refused,
        Some(Errno::ADDRNOTAVAIL) => FailureKind::NoPort,
        Some(Errno::MFILE | Errno::NFILE) => FailureKind::NoDescriptor,
        Some(Errno::CONNRESET | Errno::PIPE) => FailureKind::Reset,
        Some(Errno::TIMEDOUT) => FailureKind::Timeout,
        _ => FailureKind::Other,
    }
}
