//! Strangers that find the server.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    net::{TcpStream, UdpSocket},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use super::*;

/// A server of this trial, while `work` has its address.
fn serve(spec: &TransactionsSpec, work: impl FnOnce(SocketAddr)) {
    let far = prepare(spec, Side::Far, &setup(spec.ip, None)).expect("a server");
    let peer = far.address().expect("it listens");
    let control = Control::default();
    thread::scope(|scope| {
        let serving = scope.spawn(|| far.run(&control, &NoWindow));
        let stopped = StopsAtEnd(&control);
        work(peer);
        drop(stopped);
        serving.join().expect("no panic").expect("it served");
    });
}

/// Stops the server also where the test fails.
struct StopsAtEnd<'a>(&'a Control);

impl Drop for StopsAtEnd<'_> {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// All that comes until the server ends the connection.
fn said(peer: SocketAddr, asked: &[u8]) -> String {
    let mut stream = TcpStream::connect(peer).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("settable");
    stream.write_all(asked).expect("sent");
    let mut said = Vec::new();
    // A server that ends a connection on which there is more to read resets it.
    let _ = stream.read_to_end(&mut said);
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn a_server_answers_what_is_asked_and_refuses_the_rest() {
    serve(&spec(http(HttpServer::Own, false)), |peer| {
        let asked = b"GET /empty HTTP/1.1\r\n\r\nGET /etc/passwd HTTP/1.1\r\n\r\nGET /index.html HTTP/1.0\r\n\r\n";
        let answers = said(peer, asked);
        let statuses: Vec<&str> = answers.lines().filter(|line| line.starts_with("HTTP/1.1")).collect();
        assert_eq!(statuses, ["HTTP/1.1 200 OK", "HTTP/1.1 404 Not Found", "HTTP/1.1 200 OK"]);
        assert_eq!(answers.chars().filter(|c| *c == '\0').count(), 1024, "the body");
        assert!(said(peer, b"\x16\x03\x01\x02\x00").starts_with("HTTP/1.1 400"));
        assert!(said(peer, b"PUT / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 400"));
        let endless = [b"GET / HTTP/1.1\r\nX: ".as_slice(), &[b'x'; http::LONGEST_HEAD - 19]].concat();
        assert!(said(peer, &endless).starts_with("HTTP/1.1 431"));
    });
}

#[test]
fn a_client_that_reads_nothing_stops_itself_alone() {
    serve(&spec(http(HttpServer::Own, false)), |peer| {
        let mut greedy = TcpStream::connect(peer).expect("it listens");
        greedy.set_write_timeout(Some(Duration::from_millis(200))).expect("settable");
        let asked = b"GET /folder/large HTTP/1.1\r\n\r\n".repeat(100);
        while greedy.write(&asked).is_ok() {}
        assert!(said(peer, b"GET /empty HTTP/1.0\r\n\r\n").starts_with("HTTP/1.1 200"));
        // Responses that it has asked for come once it reads.
        let mut buffer = vec![0; 1 << 20];
        greedy.set_read_timeout(Some(Duration::from_secs(10))).expect("settable");
        let mut came = 0;
        while came < 100 * 300_000 {
            came += greedy.read(&mut buffer).expect("more comes");
        }
    });
}

#[test]
fn connections_have_a_bound() {
    serve(&spec(rr(Protocol::Tcp)), |peer| {
        let streams: Vec<TcpStream> = (0..300).map(|_| TcpStream::connect(peer).expect("it listens")).collect();
        let mut open = 0;
        for mut stream in streams.iter() {
            stream.set_read_timeout(Some(Duration::from_millis(20))).expect("settable");
            open += usize::from(stream.read(&mut [0]).is_err());
        }
        assert_eq!(open, 2 + 128);
    });
}

#[test]
fn a_stranger_does_not_keep_the_client_out() {
    let spec = spec(rr(Protocol::Tcp));
    // A part of a request; and a whole one, with which the server stays.
    for asked in [18, 64] {
        serve(&spec, |peer| {
            let mut stranger = TcpStream::connect(peer).expect("it listens");
            stranger.write_all(&vec![b'r'; asked]).expect("sent");
            stranger.set_read_timeout(Some(Duration::from_millis(500))).expect("settable");
            assert_eq!(stranger.read_exact(&mut [0; 100]).is_ok(), asked == 64);
            let result = ask(&spec, &setup(IpVersion::V4, Some(peer))).expect("it measures");
            assert_whole(&spec, &result);
        });
    }
}

#[test]
fn a_stranger_that_asks_all_the_time_does_not_keep_the_client_out() {
    let spec = spec(rr(Protocol::Tcp));
    serve(&spec, |peer| {
        let mut stranger = TcpStream::connect(peer).expect("it listens");
        let greedy = thread::spawn(move || {
            let mut reply = [0; 100];
            while stranger.write_all(&[b'r'; 64]).is_ok() && stranger.read_exact(&mut reply).is_ok() {}
        });
        let result = ask(&spec, &setup(IpVersion::V4, Some(peer))).expect("it measures");
        assert_whole(&spec, &result);
        drop(greedy);
    });
}

#[test]
fn datagrams_of_strangers_are_not_answered() {
    serve(&spec(rr(Protocol::Udp)), |peer| {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("settable");
        socket.connect(peer).expect("loopback");
        let mut own = [0; 64];
        own[3] = 7;
        for strange in [&[0; 64][..], b"", &own[..63], &[own, own].concat()] {
            socket.send(strange).expect("sent");
        }
        assert!(socket.recv(&mut [0; 200]).is_err(), "a stranger was answered");
        own[7] = 9;
        socket.send(&own).expect("sent");
        let mut answer = [1; 200];
        assert_eq!(socket.recv(&mut answer).expect("answered"), 100);
        assert_eq!(answer[..8], own[..8]);
    });
}

#[test]
fn datagrams_that_answer_nothing_do_not_hold_the_client() {
    for connections in [1, 4] {
        let spec = TransactionsSpec { timeout: Nanos::from_millis(100), connections, ..spec(rr(Protocol::Udp)) };
        let server = UdpSocket::bind("127.0.0.1:0").expect("loopback");
        server.set_read_timeout(Some(Duration::from_millis(1))).expect("settable");
        let (peer, is_over) = (server.local_addr().expect("bound"), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut clients = BTreeSet::new();
                while !is_over.load(Relaxed) {
                    clients.extend(server.recv_from(&mut [0; 100]).map(|(_, client)| client));
                    for client in &clients {
                        let _ = server.send_to(&[0; 100], client);
                    }
                }
            });
            let result = ask(&spec, &setup(IpVersion::V4, Some(peer)));
            is_over.store(true, Relaxed);
            let result = result.expect("it measures");
            assert!(result.completed == 0 && result.failures() > 0, "{result:?}");
        });
    }
}
