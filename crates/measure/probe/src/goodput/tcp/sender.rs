//! The side that sends.

use std::{
    fs::File,
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use kernel::{socket, stream};
use model::{
    GoodputSent, SendMethod,
    trial::{TcpState, ZeroCopied},
};

use super::{SEND_CHUNK, connection_states::ConnectionStates, granted};
use crate::{
    Control, ProbeError,
    error::socket_error,
    goodput::{
        DRAIN, DRAIN_IN_ALL,
        hello::look_up_often,
        setting::Setting,
        threads::send_with,
        timeline::{Counted, sum},
    },
    greeting::peer_of,
    socket::{STOP_CHECK, is_nothing_yet},
};

/// Time that the kernel may take to report its last sends, all of which have arrived.
const REPORTS: Duration = Duration::from_secs(1);

/// Data that a thread passes to the kernel, and the way of passing it.
enum SendCall<'a> {
    Write(&'static [u8]),
    ZeroCopy(&'static [u8]),
    Sendfile(&'a File),
}

/// Counts of one thread.
#[derive(Default)]
struct SentCounts {
    /// Times that no stream took anything.
    buffer_full: u64,
    /// Sends that the kernel took.
    sends: u64,
    reports: ZeroCopied,
}

/// Sends for warm-up and counted time, then waits until all of it has arrived.
pub(in crate::goodput) fn send(streams: &[TcpStream], setting: Setting<'_>) -> Result<GoodputSent, ProbeError> {
    let peer = peer_of(&streams[0])?;
    for stream in streams {
        stream.set_nonblocking(true).map_err(socket_error("set O_NONBLOCK for", peer))?;
    }
    let file = (setting.spec.send == SendMethod::Sendfile).then(|| stream::file_of_zeros(SEND_CHUNK)).transpose()?;
    let call = match (setting.spec.send, &file) {
        (SendMethod::Sendfile, Some(file)) => SendCall::Sendfile(file),
        (SendMethod::ZeroCopy, _) => SendCall::ZeroCopy(zeros()),
        _ => SendCall::Write(zeros()),
    };
    allow(&call, streams)?;
    let counters: Vec<AtomicU64> = streams.iter().map(|_| AtomicU64::new(0)).collect();
    let give = |share: &[usize], enough: &AtomicBool| {
        let share = share.iter().map(|number| (&streams[*number], &counters[*number])).collect::<Vec<_>>();
        call.give(&share, enough, peer)
    };
    let mut connection_states = ConnectionStates::new(streams, setting.spec);
    let tell = |passed| -> Result<(), ProbeError> {
        if let Some(segments) = connection_states.enter(passed)? {
            setting.control.resent(segments);
        }
        Ok(())
    };
    let (counted, states, given) = send_with(setting, &counters, give, tell, || states(streams))?;
    drain(streams, setting.control, peer, DRAIN)?;
    let Counted { bytes, seconds, .. } = counted;
    Ok(GoodputSent {
        counted_bytes: bytes,
        total_bytes: sum(&counters),
        counted_s: Some(seconds),
        tcp: connection_states.beside(states),
        datagrams: None,
        buffer_full: given.iter().map(|given| given.buffer_full).sum(),
        zero_copied: matches!(call, SendCall::ZeroCopy(_)).then(|| all_reports(streams, &given, peer)).transpose()?,
        buffer: granted(setting.spec, &streams[0], |socket| socket.send_buffer_size())
            .map_err(socket_error("ask SO_SNDBUF for", peer))?,
    })
}

/// The payload. It lives and stays zero as long as the process: with MSG_ZEROCOPY the kernel may read it, or send it again,
/// after this side has given up.
fn zeros() -> &'static [u8] {
    static ZEROS: OnceLock<Box<[u8]>> = OnceLock::new();
    ZEROS.get_or_init(|| vec![0; SEND_CHUNK].into())
}

fn allow(call: &SendCall<'_>, streams: &[TcpStream]) -> Result<(), ProbeError> {
    if let SendCall::ZeroCopy(_) = call {
        for stream in streams {
            stream::allow_zerocopy(stream).map_err(|error| ProbeError::Unable {
                what: "send = \"zerocopy\"".to_owned(),
                why: format!("{error}; write send = \"write\" instead"),
            })?;
        }
    }
    Ok(())
}

fn states(streams: &[TcpStream]) -> Result<Vec<TcpState>, ProbeError> {
    streams.iter().map(|stream| Ok(socket::tcp_state(stream)?)).collect()
}

impl SendCall<'_> {
    /// Gives to all these streams in turn until it is enough.
    fn give(
        &self,
        share: &[(&TcpStream, &AtomicU64)],
        enough: &AtomicBool,
        peer: SocketAddr,
    ) -> Result<SentCounts, ProbeError> {
        let mut given = SentCounts::default();
        // A stream that did not take all is left alone until it has room for more than a bit: small pieces cost as many calls.
        let mut has_room = vec![true; share.len()];
        while !enough.load(Relaxed) {
            let mut unreported = false;
            for ((stream, counter), has_room) in share.iter().zip(&mut has_room).filter(|(_, has_room)| **has_room) {
                match self.put(stream) {
                    Ok(length) => {
                        counter.fetch_add(length as u64, Relaxed);
                        given.sends += 1;
                        *has_room = length == SEND_CHUNK;
                    }
                    Err(error) if is_nothing_yet(&error) => *has_room = false,
                    Err(error) if stream::is_too_many_unreported(&error) => (*has_room, unreported) = (false, true),
                    Err(error) => return Err(socket_error("send to", peer)(error)),
                }
            }
            if !has_room.contains(&true) {
                given.buffer_full += 1;
                let streams = share.iter().map(|(stream, _)| *stream);
                has_room = self.wait(streams, unreported, &mut given.reports, peer)?;
            }
        }
        Ok(given)
    }

    fn put(&self, mut stream: &TcpStream) -> io::Result<usize> {
        match self {
            Self::Write(chunk) => stream.write(chunk),
            Self::ZeroCopy(chunk) => stream::send_zerocopy(stream, chunk),
            Self::Sendfile(file) => stream::send_file(stream, file, SEND_CHUNK),
        }
    }

    /// Sleeps until there is room, and says of each stream whether it has some. Reports are taken first, because a stream that has some does not let anybody sleep.
    fn wait<'a>(
        &self,
        streams: impl Iterator<Item = &'a TcpStream> + Clone,
        unreported: bool,
        reports: &mut ZeroCopied,
        peer: SocketAddr,
    ) -> Result<Vec<bool>, ProbeError> {
        let before = *reports;
        if let Self::ZeroCopy(_) = self {
            streams.clone().try_for_each(|stream| take_reports(stream, reports, peer))?;
        }
        if !unreported {
            return Ok(socket::wait_until_writable(streams, STOP_CHECK)?);
        }
        // Room for more reports is room for all.
        let all = streams.clone().map(|_| true).collect();
        if before == *reports {
            socket::wait_for_errors(streams, STOP_CHECK)?;
        }
        Ok(all)
    }
}

fn take_reports(stream: &TcpStream, reports: &mut ZeroCopied, peer: SocketAddr) -> Result<(), ProbeError> {
    let new =
        stream::zerocopy_reports(stream).map_err(socket_error("read MSG_ZEROCOPY reports of the stream to", peer))?;
    reports.zero_copied += new.zero_copied;
    reports.copied += new.copied;
    Ok(())
}

/// Outcome of all sends, once the last of them has arrived. One that is not reported in time is left out.
fn all_reports(streams: &[TcpStream], given: &[SentCounts], peer: SocketAddr) -> Result<ZeroCopied, ProbeError> {
    let mut reports = ZeroCopied::default();
    for given in given {
        reports.zero_copied += given.reports.zero_copied;
        reports.copied += given.reports.copied;
    }
    let (sends, waiting) = (given.iter().map(|given| given.sends).sum::<u64>(), Instant::now());
    loop {
        streams.iter().try_for_each(|stream| take_reports(stream, &mut reports, peer))?;
        if reports.zero_copied + reports.copied >= sends || waiting.elapsed() > REPORTS {
            return Ok(reports);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Ends each stream and waits for the receiver to do the same, which it does after the last byte. A path that is slow may take
/// its time, but no longer than `patience` without bringing anything.
fn drain(streams: &[TcpStream], control: &Control, peer: SocketAddr, patience: Duration) -> Result<(), ProbeError> {
    for stream in streams {
        look_up_often(stream).map_err(socket_error("clear O_NONBLOCK for", peer))?;
        stream.shutdown(Shutdown::Write).map_err(socket_error("shut down the stream to", peer))?;
    }
    let (began, mut moved, mut arrived) = (Instant::now(), Instant::now(), 0);
    for mut stream in streams {
        loop {
            let now_arrived = acknowledged(streams)?;
            if now_arrived > arrived {
                (arrived, moved) = (now_arrived, Instant::now());
            }
            match stream.read(&mut [0]) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if !is_nothing_yet(&error) => return Err(socket_error("drain to", peer)(error)),
                Err(_) if control.stopped() => return Err(ProbeError::Cancelled),
                Err(_) if moved.elapsed() > patience => {
                    return Err(ProbeError::NoAnswer { peer, waited: patience });
                }
                Err(_) if began.elapsed() > DRAIN_IN_ALL => {
                    return Err(ProbeError::SlowDrain { peer, waited: DRAIN_IN_ALL });
                }
                Err(_) => {}
            }
        }
    }
    Ok(())
}

/// Bytes of all streams that have arrived at the other end.
pub(in crate::goodput) fn acknowledged(streams: &[TcpStream]) -> Result<u64, ProbeError> {
    streams.iter().map(|stream| Ok(socket::tcp_progress(stream)?.acknowledged)).sum()
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, thread};

    use socket2::SockRef;

    use super::*;

    /// A stream with more in it than the other end has room for, and that end.
    fn full() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        SockRef::from(&listener).set_recv_buffer_size(16 << 10).expect("settable");
        let mut sender = TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback");
        SockRef::from(&sender).set_send_buffer_size(256 << 10).expect("settable");
        let receiver = listener.accept().expect("connected").0;
        sender.set_nonblocking(true).expect("settable");
        while sender.write(zeros()).is_ok() {}
        (sender, receiver)
    }

    #[test]
    fn a_drain_may_take_its_time_while_something_arrives() {
        const PATIENCE: Duration = Duration::from_millis(500);
        let (sender, mut receiver) = full();
        let peer = sender.peer_addr().expect("connected");
        thread::scope(|scope| {
            // Takes three times as long as it may come no further.
            scope.spawn(move || {
                let (mut total, mut chunk) = (0, vec![0; 8 << 10]);
                let began = Instant::now();
                while let Ok(length @ 1..) = receiver.read(&mut chunk) {
                    total += length;
                    if began.elapsed() < 3 * PATIENCE {
                        thread::sleep(PATIENCE / 10);
                    }
                }
                total
            });
            let began = Instant::now();
            drain(&[sender], &Control::default(), peer, PATIENCE).expect("drained");
            assert!(began.elapsed() > PATIENCE, "{:?}", began.elapsed());
        });
    }

    #[test]
    fn a_drain_that_comes_no_further_is_given_up() {
        let (sender, _receiver) = full();
        let peer = sender.peer_addr().expect("connected");
        let outcome = drain(&[sender], &Control::default(), peer, Duration::from_millis(300));
        assert!(matches!(outcome, Err(ProbeError::NoAnswer { .. })), "{outcome:?}");
    }

    #[test]
    fn a_connection_that_the_kernel_gave_up_has_not_brought_everything() {
        let (sender, _receiver) = full();
        SockRef::from(&sender).set_tcp_user_timeout(Some(Duration::from_millis(300))).expect("settable");
        let peer = sender.peer_addr().expect("connected");
        let outcome = drain(&[sender], &Control::default(), peer, Duration::from_secs(30));
        let Err(ProbeError::Socket { error, .. }) = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.kind(), io::ErrorKind::TimedOut, "{error}");
    }
}
