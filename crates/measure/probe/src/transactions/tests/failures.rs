//! Servers that fail, and the counts of the client.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    sync::{
        RwLock,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use model::FailureKind;
use socket2::SockRef;

use super::*;

const HELLO: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// Behaviour of a server on each connection after a request.
#[derive(Clone, Copy)]
enum Behaviour {
    Sends(&'static [u8]),
    SendsAndWaits(&'static [u8]),
    Resets,
}

/// Whether, of transactions with a server that behaves so, all fail in this way alone.
fn assert_fails(spec: &TransactionsSpec, behaviour: Behaviour, kind: FailureKind) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
    let peer = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("accepted");
            thread::spawn(move || behave(stream, behaviour));
        }
    });
    let result = ask(spec, &setup(IpVersion::V4, Some(peer))).expect("it measures");
    let kinds: Vec<FailureKind> = result.failed.iter().map(|failed| failed.kind).collect();
    assert_eq!((kinds, result.completed), (vec![kind], 0), "{spec}");
    // Each is in the sample, over the timeout.
    assert_eq!((result.response_ns.n, result.response_ns.max), (result.failures(), None));
}

fn behave(mut stream: TcpStream, behaviour: Behaviour) {
    let mut request = [0; 64];
    // The client may have given up.
    if stream.read(&mut request).is_ok_and(|length| length > 0) {
        match behaviour {
            Behaviour::Sends(bytes) => {
                let _ = stream.write_all(bytes);
                let _ = stream.shutdown(std::net::Shutdown::Write);
                while stream.read(&mut request).is_ok_and(|length| length > 0) {}
            }
            Behaviour::SendsAndWaits(bytes) => {
                let _ = stream.write_all(bytes);
                while stream.read(&mut request).is_ok_and(|length| length > 0) {}
            }
            Behaviour::Resets => SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("settable"),
        }
    }
}

/// A page of 5 bytes, asked for a little while.
fn page(new_connections: bool, connections: u16) -> TransactionsSpec {
    let paths = vec![HttpPath { path: "/hello".to_owned(), size: Bytes(5) }];
    let exchange = Exchange::Http { server: HttpServer::Own, paths, new_connections };
    let duration = Nanos::from_millis(100);
    TransactionsSpec { connections, duration, warmup: Nanos(0), timeout: Nanos::from_secs(2), ..spec(exchange) }
}

#[test]
fn answers_that_are_none_are_wrong() {
    let answers: [&[u8]; 6] = [
        b"HTTP/1.1 404 Not Found\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
    ];
    for answer in answers {
        for (new_connections, connections) in [(false, 1), (false, 3), (true, 2)] {
            let spec = page(new_connections, connections);
            assert_fails(&spec, Behaviour::SendsAndWaits(answer), FailureKind::Wrong);
        }
    }
}

#[test]
fn each_way_of_failing_is_counted_as_such() {
    for (new_connections, connections) in [(false, 1), (false, 3), (true, 2)] {
        for mode in [WaitMode::Block, WaitMode::Spin] {
            let spec = TransactionsSpec { mode, ..page(new_connections, connections) };
            assert_fails(&spec, Behaviour::Sends(&HELLO[..HELLO.len() - 1]), FailureKind::Closed);
            assert_fails(&spec, Behaviour::Sends(&HELLO[..10]), FailureKind::Closed);
            assert_fails(&spec, Behaviour::Sends(b""), FailureKind::Closed);
            assert_fails(&spec, Behaviour::Resets, FailureKind::Reset);
            let spec = TransactionsSpec { timeout: Nanos::from_millis(30), ..spec };
            assert_fails(&spec, Behaviour::SendsAndWaits(&HELLO[..HELLO.len() - 1]), FailureKind::Timeout);
            assert_fails(&spec, Behaviour::SendsAndWaits(b""), FailureKind::Timeout);
        }
    }
}

#[test]
fn a_server_that_is_not_there_refuses() {
    // The port belongs to a socket that does not listen.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).expect("loopback");
    let peer = socket.local_addr().expect("bound").as_socket().expect("IPv4");
    for (exchange, rate) in [(rr(Protocol::Tcp), None), (crr(), None), (crr(), Some(TransactionRate(100)))] {
        let timeout = Nanos::from_millis(100);
        let spec = TransactionsSpec { connections: 3, timeout, rate, warmup: Nanos(0), ..spec(exchange) };
        let result = ask(&spec, &setup(IpVersion::V4, Some(peer))).expect("it measures");
        assert_eq!(result.failed.len(), 1, "{spec}: {:?}", result.failed);
        assert_eq!((result.failed[0].kind, result.completed), (FailureKind::Refused, 0));
        assert!(rate.is_none() || result.failed[0].count == 30, "{:?}", result.failed);
    }
}

#[test]
fn a_page_is_asked_for_again_where_the_server_ends_connections() {
    let spec = page(false, 2);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
    let peer = listener.local_addr().expect("bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
            thread::spawn(move || behave(stream.expect("accepted"), Behaviour::Sends(answer)));
        }
    });
    let result = ask(&spec, &setup(IpVersion::V4, Some(peer))).expect("it measures");
    assert!(result.completed > 2 && result.connected > 2 && result.failed.is_empty(), "{result:?}");
}

#[test]
fn a_lost_datagram_times_out() {
    for connections in [1, 2] {
        let server = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        let peer = server.local_addr().expect("bound");
        let dropped = AtomicU64::new(0);
        let spec = TransactionsSpec {
            connections,
            duration: Nanos::from_millis(700),
            warmup: Nanos(0),
            timeout: Nanos::from_millis(300),
            ..spec(rr(Protocol::Udp))
        };
        server.set_read_timeout(Some(Duration::from_millis(500))).expect("settable");
        let result = thread::scope(|scope| {
            scope.spawn(|| {
                let (mut datagram, mut answer) = ([0; 64], [0; 100]);
                while let Ok((length, from)) = server.recv_from(&mut datagram) {
                    assert_eq!(length, 64);
                    if [5, 9].contains(&datagram[7]) && datagram[4..7] == [0; 3] {
                        dropped.fetch_add(1, Relaxed);
                        continue;
                    }
                    answer[..8].copy_from_slice(&datagram[..8]);
                    server.send_to(&answer, from).expect("sent");
                }
            });
            ask(&spec, &setup(IpVersion::V4, Some(peer))).expect("it measures")
        });
        assert_eq!(
            (result.failures(), dropped.load(Relaxed)),
            (2 * u64::from(connections), 2 * u64::from(connections))
        );
        assert_eq!(result.failed[0].kind, FailureKind::Timeout);
        assert!(result.completed > 0);
    }
}

/// A server that stops for 100 ms after so many requests, all its connections together.
fn stops_once(listener: &TcpListener, after: u64) {
    let (asked, gate) = (AtomicU64::new(0), RwLock::new(()));
    thread::scope(|scope| {
        // The client closes them at its end.
        for _ in 0.. {
            let Ok((mut stream, _)) = listener.accept() else { return };
            let (asked, gate) = (&asked, &gate);
            scope.spawn(move || {
                let mut request = [0; 64];
                while stream.read_exact(&mut request).is_ok() {
                    if asked.fetch_add(1, Relaxed) == after {
                        let _closed = gate.write().expect("not poisoned");
                        thread::sleep(Duration::from_millis(100));
                    }
                    drop(gate.read());
                    if stream.write_all(&[0; 100]).is_err() {
                        return;
                    }
                }
            });
        }
    });
}

#[test]
fn a_server_that_stops_shows_in_each_transaction_that_was_due() {
    for (connections, mode) in [(1, WaitMode::Block), (8, WaitMode::Block), (8, WaitMode::Spin)] {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        let peer = listener.local_addr().expect("bound");
        let spec = TransactionsSpec {
            mode,
            connections,
            duration: Nanos::from_millis(500),
            rate: Some(TransactionRate(4000)),
            ..spec(rr(Protocol::Tcp))
        };
        let stopper = listener.try_clone().expect("a descriptor");
        let result = thread::scope(|scope| {
            scope.spawn(move || stops_once(&listener, 500));
            let result = ask(&spec, &setup(IpVersion::V4, Some(peer)));
            SockRef::from(&stopper).shutdown(std::net::Shutdown::Both).expect("it listens");
            result.expect("it measures")
        });
        // 400 transactions were due while the server stood still, and the first of them waited for all of it.
        let response = &result.response_ns;
        assert_eq!((response.n, result.failures()), (2000, 0), "{spec}");
        assert!(response.p90 >= Some(45_000_000), "{spec}: half of them waited for more than half of it: {response:?}");
        assert!(response.p99 >= Some(90_000_000), "{spec}: {response:?}");
        assert!(response.max >= Some(99_000_000), "{spec}: {response:?}");
    }
}

#[test]
fn a_stopped_client_gives_up_at_once() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
    let setup = setup(IpVersion::V4, Some(listener.local_addr().expect("bound")));
    for connections in [1, 3] {
        let spec = TransactionsSpec { connections, duration: Nanos::from_secs(60), ..spec(rr(Protocol::Tcp)) };
        let near = prepare(&spec, Side::Near, &setup).expect("a client");
        let control = Control::default();
        thread::scope(|scope| {
            let asking = scope.spawn(|| near.run(&control, &NoWindow));
            thread::sleep(Duration::from_millis(50));
            control.stop();
            assert!(matches!(asking.join().expect("no panic"), Err(ProbeError::Cancelled)));
        });
    }
}
