//! Answers requests over TCP: a thread with its listening socket and an epoll set of accepted connections.

use std::{
    io::{self, IoSlice, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use model::{
    WaitMode,
    probe::{Exchange, TransactionsSpec},
};
use rustix::{
    buffer::spare_capacity,
    event::{
        PollFd, PollFlags, Timespec,
        epoll::{self, EventData, EventFlags},
        poll,
    },
    fd::{AsFd, OwnedFd},
    io::Errno,
};
use socket2::Socket;

use crate::{
    Control, ProbeError,
    error::socket_error,
    socket::{STOP_CHECK, WOULD_BLOCK, accept, busy_poll_set, is_nothing_yet},
    transactions::served::{Reader, Service},
};

/// Bytes received in one call.
const BUFFER: usize = 64 << 10;

/// Events taken in one call.
const EVENTS: usize = 256;

/// Connections accepted before those that are there have their turn.
const ACCEPTED_AT_ONCE: usize = 64;

/// Connections beside those of the trial: of clients that did not close theirs yet, and of strangers.
const OTHERS: usize = 128;

/// Key of the listening socket in the epoll set.
const DOOR: u64 = u64::MAX;

/// A thread of the server.
pub(super) struct Server<'a> {
    service: &'a Service,
    mode: WaitMode,
    /// Whether the trial has one connection, which stays open.
    is_alone: bool,
    /// Connections at the most.
    most: usize,
    door: Socket,
    address: SocketAddr,
    epoll: OwnedFd,
    sessions: Vec<Option<Session>>,
    /// Places among them that are free.
    free: Vec<usize>,
    buffer: Vec<u8>,
}

/// A connection.
struct Session {
    socket: TcpStream,
    reader: Reader,
    /// The reply that is being sent, and how much of it was.
    reply: Option<(usize, u64)>,
    /// Bytes received behind a request whose reply is not sent yet.
    kept: Vec<u8>,
    has_answered: bool,
}

/// Next state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NextStep {
    /// It waits for a request.
    Hears,
    /// It waits for room to send.
    Sends,
    /// It is over.
    Ends,
}

impl Session {
    fn new(socket: TcpStream, service: &Service) -> Self {
        Self { socket, reader: service.reader(), reply: None, kept: Vec::new(), has_answered: false }
    }

    /// Receives once, and answers.
    #[inline]
    fn receive(&mut self, service: &Service, buffer: &mut [u8]) -> NextStep {
        match self.socket.read(buffer) {
            Ok(0) => NextStep::Ends,
            Ok(length) => self.answer(service, &buffer[..length]),
            Err(error) if is_nothing_yet(&error) => NextStep::Hears,
            Err(_) => NextStep::Ends,
        }
    }

    /// Answers the requests in these bytes, as far as there is room for the replies.
    #[inline]
    fn answer(&mut self, service: &Service, bytes: &[u8]) -> NextStep {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (taken, reply) = self.reader.take(service, rest);
            rest = &rest[taken..];
            let Some(reply) = reply else { continue };
            self.reply = Some((reply, 0));
            match self.send(service) {
                NextStep::Hears => {}
                NextStep::Sends => {
                    self.kept = rest.to_vec();
                    return NextStep::Sends;
                }
                NextStep::Ends => return NextStep::Ends,
            }
        }
        NextStep::Hears
    }

    /// Sends the rest of a reply.
    #[inline]
    fn send(&mut self, service: &Service) -> NextStep {
        let Some((reply, mut sent)) = self.reply else { return NextStep::Hears };
        loop {
            let unsent = service.unsent(reply, sent);
            let written = match unsent {
                [[], []] => break,
                [[], body] => self.socket.write(body),
                [head, []] => self.socket.write(head),
                [head, body] => self.socket.write_vectored(&[IoSlice::new(head), IoSlice::new(body)]),
            };
            match written {
                Ok(length) => sent += length as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == WOULD_BLOCK => {
                    self.reply = Some((reply, sent));
                    return NextStep::Sends;
                }
                Err(_) => return NextStep::Ends,
            }
        }
        (self.reply, self.has_answered) = (None, true);
        if service.reply(reply).closes { NextStep::Ends } else { NextStep::Hears }
    }

    /// There is room again: sends the rest, and answers requests received meanwhile.
    fn go_on(&mut self, service: &Service) -> NextStep {
        match self.send(service) {
            NextStep::Hears => {
                let kept = std::mem::take(&mut self.kept);
                self.answer(service, &kept)
            }
            other => other,
        }
    }
}

impl<'a> Server<'a> {
    pub(super) fn new(
        spec: &TransactionsSpec,
        service: &'a Service,
        door: Socket,
        address: SocketAddr,
    ) -> Result<Self, ProbeError> {
        let failed = |error: Errno| socket_error("wait for connections to", address)(error.into());
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        if spec.mode == WaitMode::BusyPoll {
            busy_poll_set(&epoll)?;
        }
        epoll::add(&epoll, door.as_fd(), EventData::new_u64(DOOR), EventFlags::IN).map_err(failed)?;
        Ok(Self {
            service,
            mode: spec.mode,
            is_alone: spec.connections == 1 && matches!(spec.exchange, Exchange::Rr { .. }),
            most: 2 * usize::from(spec.connections) + OTHERS,
            door,
            address,
            epoll,
            sessions: Vec::new(),
            free: Vec::new(),
            buffer: vec![0; BUFFER],
        })
    }

    /// Serves until stopped.
    pub(super) fn serve(mut self, control: &Control) -> Result<(), ProbeError> {
        let patience = if self.mode == WaitMode::Spin { Duration::ZERO } else { STOP_CHECK };
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let mut events = Vec::with_capacity(EVENTS);
        while !control.stopped() {
            events.clear();
            match epoll::wait(&self.epoll, spare_capacity(&mut events), Some(&patience)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(socket_error("wait for connections to", self.address)(error.into())),
            }
            for event in events.drain(..) {
                let (data, flags) = (event.data.u64(), event.flags);
                match data {
                    DOOR => self.accept()?,
                    place => self.happened(place as usize, flags, control)?,
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> Result<(), ProbeError> {
        for _ in 0..ACCEPTED_AT_ONCE {
            match accept(&self.door).map_err(socket_error("accept on", self.address))? {
                Some(accepted) => self.admit(accepted.into()),
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Takes a connection in; one too many is closed.
    fn admit(&mut self, socket: TcpStream) {
        if self.sessions.len() - self.free.len() >= self.most {
            return;
        }
        let place = self.free.pop().unwrap_or(self.sessions.len());
        let data = EventData::new_u64(place as u64);
        let is_added = epoll::add(&self.epoll, &socket, data, EventFlags::IN).is_ok();
        let session = is_added.then(|| Session::new(socket, self.service));
        match self.sessions.get_mut(place) {
            Some(free) => *free = session,
            None => self.sessions.push(session),
        }
        if !is_added {
            self.free.push(place);
        }
    }

    /// A connection has something to receive, or room to send.
    #[inline]
    fn happened(&mut self, place: usize, flags: EventFlags, control: &Control) -> Result<(), ProbeError> {
        let is_only = self.sessions.len() - self.free.len() == 1;
        let Some(session) = self.sessions.get_mut(place).and_then(Option::as_mut) else { return Ok(()) };
        let was_sending = session.reply.is_some();
        let mut course = if was_sending && flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
            session.go_on(self.service)
        } else {
            session.receive(self.service, &mut self.buffer)
        };
        if self.is_alone && is_only && session.has_answered && course == NextStep::Hears {
            let failed = |error: Errno| socket_error("wait for requests to", self.address)(error.into());
            // Each arriving packet would tell the epoll set otherwise.
            epoll::delete(&self.epoll, &session.socket).map_err(failed)?;
            course = stay(session, self.service, &mut self.buffer, self.mode, control, &self.door)
                .map_err(socket_error("wait for requests to", self.address))?;
            epoll::add(&self.epoll, &session.socket, EventData::new_u64(place as u64), EventFlags::IN)
                .map_err(failed)?;
            // Two connections take turns by the epoll set from now on: one of them is a stranger's.
            self.is_alone = course == NextStep::Ends;
        }
        self.follow(place, course, was_sending);
        Ok(())
    }

    /// Waits for what the connection needs next, or ends it.
    #[inline]
    fn follow(&mut self, place: usize, course: NextStep, was_sending: bool) {
        let events = match course {
            NextStep::Hears if was_sending => EventFlags::IN,
            NextStep::Sends if !was_sending => EventFlags::OUT,
            NextStep::Hears | NextStep::Sends => return,
            NextStep::Ends => return self.end(place),
        };
        let Some(session) = &self.sessions[place] else { return };
        if epoll::modify(&self.epoll, &session.socket, EventData::new_u64(place as u64), events).is_err() {
            self.end(place);
        }
    }

    fn end(&mut self, place: usize) {
        // Closing takes it out of the epoll set.
        self.sessions[place] = None;
        self.free.push(place);
    }
}

/// Calls after which it is looked whether another connection waits.
const LOOK: u32 = 1024;

/// Serves one connection without the epoll set, a call less for each transaction: until it ends, or another one comes.
fn stay(
    session: &mut Session,
    service: &Service,
    buffer: &mut [u8],
    mode: WaitMode,
    control: &Control,
    door: &Socket,
) -> io::Result<NextStep> {
    let spins = mode == WaitMode::Spin;
    if !spins {
        session.socket.set_read_timeout(Some(STOP_CHECK))?;
        session.socket.set_write_timeout(Some(STOP_CHECK))?;
    }
    session.socket.set_nonblocking(spins)?;
    let mut calls = 0_u32;
    while !control.stopped() {
        session.has_answered = false;
        let course = if session.reply.is_some() { session.go_on(service) } else { session.receive(service, buffer) };
        if course == NextStep::Ends {
            return Ok(NextStep::Ends);
        }
        calls = calls.wrapping_add(1);
        let waited_in_vain = !spins && !session.has_answered;
        if (waited_in_vain || calls.is_multiple_of(LOOK)) && has_come(door)? {
            session.socket.set_nonblocking(true)?;
            return Ok(course);
        }
    }
    Ok(NextStep::Ends)
}

/// Whether a connection waits to be accepted.
fn has_come(door: &Socket) -> io::Result<bool> {
    let mut door = [PollFd::new(door, PollFlags::IN)];
    match poll(&mut door, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
