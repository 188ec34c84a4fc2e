//! Each socket of a program has its own line, with the reason if it stays with the kernel.

use serde_json::Value;

use super::{running::Running, with_lab};
use crate::program::WIREPROOF;

/// Sockets of every kind, each in use, and one of them changed repeatedly.
const EVERY_KIND: &str = "
import ctypes, os, socket, sys
peer = sys.argv[1]
def udp(own=''):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((own, 0))
    s.connect((peer, 9))
    return s
def use(s):
    s.send(b'x')
listener = socket.create_server(('127.0.0.1', 0))
for n in range(3):
    tcp = socket.create_connection(listener.getsockname())
    end, _ = listener.accept()
    tcp.send(b'x'); end.recv(1)
    tcp.close(); end.close()
past, corked, shut, stdio, signals = [udp() for _ in range(5)]
use(past)
for n in range(50):
    corked.setsockopt(socket.IPPROTO_UDP, 1, 1)
    use(corked)
use(shut)
shut.shutdown(socket.SHUT_WR)
use(stdio)
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
libc.fdopen(ctypes.c_int(stdio.fileno()), b'r+')
elsewhere = udp('127.0.0.1') if len(sys.argv) > 2 else None
";

/// Number of sockets by reason, which is empty for bypassed ones.
fn reasons(account: &Value) -> Vec<(String, usize)> {
    let programs = account["programs"].as_array().unwrap().iter();
    let sockets = programs.flat_map(|program| program["sockets"].as_array().unwrap());
    let mut all: Vec<(String, usize)> = Vec::new();
    for socket in sockets {
        let why = socket["why_not"].as_str().unwrap_or_default();
        assert_eq!(socket["bypassed"].as_bool().unwrap(), why.is_empty());
        match all.iter_mut().find(|(known, _)| known == why) {
            Some((_, count)) => *count += 1,
            None => all.push((why.to_owned(), 1)),
        }
    }
    all
}

#[test]
fn every_socket_has_one_line_and_says_why_it_stays() {
    with_lab(|lab| {
        let peer = lab.address("b");
        let done = lab.bypass("a", &["--stats", "--json", "--", "python3", "-c", EVERY_KIND, &peer]);
        assert_eq!(done.status, 0, "{}", done.err);
        let account: Value = serde_json::from_str(&done.err).expect(&done.err);
        let found = reasons(&account);
        let count = |words: &str| found.iter().filter(|(why, _)| why.contains(words)).map(|(_, count)| count).sum();
        let counts: [usize; 4] = ["TCP, which passes through untouched", "UDP_CORK", "shutdown", "fdopen"].map(count);
        // Both ends of three connections; the listening socket received nothing.
        assert_eq!(counts, [6, 1, 1, 1], "{account:#}");
        assert_eq!(found.iter().find(|(why, _)| why.is_empty()).map(|(_, count)| *count), Some(1), "{account:#}");
    });
}

#[test]
fn who_has_no_queues_says_why_too() {
    with_lab(|lab| {
        let peer = lab.address("b");
        // Without UDP sockets, no process requests queues.
        let tcp = "import socket; s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(s.getsockname()); c.send(b'x')";
        let done = lab.bypass("a", &["--", "python3", "-c", tcp]);
        done.fails(0, &["TCP passes through untouched for now: 1 socket"]);
        let all = lab.bypass("a", &["--stats", "--", "python3", "-c", tcp]);
        all.fails(0, &["python3 (pid ", "through the kernel: it is TCP, which passes through untouched for now"]);
        // A child that runs another program while the first one has the queues.
        let one = format!(
            "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 0)); s.sendto(b'x', ('{peer}', 9))"
        );
        let two = format!("{one}; import subprocess; subprocess.run(['python3', '-c', {one:?}], check=True)");
        let done = lab.bypass("a", &["--stats", "--json", "--quiet", "--", "python3", "-c", &two]);
        let account: Value = serde_json::from_str(&done.err).expect(&done.err);
        let programs = account["programs"].as_array().unwrap();
        let granted: Vec<bool> = programs.iter().map(|program| program["granted"].as_bool().unwrap()).collect();
        assert_eq!(granted, [true, false], "{account:#}");
        let refused = &programs[1]["sockets"][0];
        assert_eq!(refused["why_not"], "its process was given no queues", "{account:#}");
        assert!(
            account["refused"][0]["why"].as_str().unwrap().starts_with("the queues are held by python3"),
            "{account:#}"
        );
        assert_eq!(account["kernel"]["flat"], Value::Null);
    });
}

/// Sends itself datagrams that the kernel refuses, one that it accepts, and frames for no socket.
const LOST: &str = "
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7000)); s.settimeout(5)
print('ready', flush=True)
s.recv(100)
for to in ('198.18.255.255', '198.18.255.255', '127.0.0.1'):
    try: s.sendto(b'x' * 9, (to, 9))
    except OSError as error: pass
";
/// One datagram with a wrong checksum, and a correct one.
const WRONG: &str = "
import socket, struct, sys
own, peer, interface = sys.argv[1:]
import subprocess
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b'', (peer, 9))
mac = bytes.fromhex(subprocess.run(['ip', 'neigh', 'show', peer], capture_output=True, text=True).stdout.split('lladdr ')[1].split()[0].replace(':', ''))
ip = lambda sum: struct.pack('>BBHHHBBH4s4s', 0x45, 0, 29, 0, 0, 64, 17, sum, socket.inet_aton(own), socket.inet_aton(peer))
words = sum(struct.unpack('>10H', ip(0)))
words = (words & 0xffff) + (words >> 16); words = ~((words & 0xffff) + (words >> 16)) & 0xffff
raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); raw.bind((interface, 0))
raw.send(mac + b'\\x02\\0\\0\\0\\0\\1' + b'\\x08\\0' + ip(words) + struct.pack('>HHHH', 7, 7000, 9, 0xbad) + b'x')
s.sendto(b'right', (peer, 7000))
";

#[test]
fn what_the_kernel_did_not_send_is_not_counted_and_what_no_socket_took_is() {
    with_lab(|lab| {
        let (own, peer) = (lab.address("a"), lab.address("b"));
        let started = lab.start("b", &["--stats", "--json", "--", "python3", "-c", LOST, &peer]);
        assert_eq!(started.line, "ready\n");
        let sent = lab.exec("a", &["python3", "-c", &WRONG.replace("\\\\", "\\"), &own, &peer, "lab-a"]);
        assert_eq!(sent.status, 0, "{}", sent.err);
        let ended = started.ended();
        let account: Value = serde_json::from_str(&ended.err).expect(&ended.err);
        let program = &account["programs"][0];
        // A broadcast address is refused, and so is one without a route.
        assert_eq!(program["sockets"][0]["through"]["sent"], 1, "{account:#}");
        assert_eq!(program["refused_frames"], 1, "{account:#}");
    });
}

#[test]
fn servers_that_fork_for_each_client_hear_its_first_line() {
    with_lab(|lab| {
        let address = lab.address("a");
        for (kind, port) in [("UDP4-LISTEN:7104,reuseaddr,fork", 7104), ("UDP4-RECVFROM:7105,fork", 7105)] {
            let server = [WIREPROOF, "bypass", "--quiet", "--", "socat", "-T", "1", kind, "EXEC:cat"];
            let _server = Running::start(lab, "a", &server, "").hears(lab, "a", port);
            for line in ["one", "two", "three"] {
                let ask = format!("(echo {line}; sleep 0.3) | socat -t 0.2 - UDP4:{address}:{port}");
                assert_eq!(lab.exec("b", &["sh", "-c", &ask]).out, format!("{line}\n"), "{kind}");
            }
        }
    });
}
