//! What is said at the end of what became of sockets, and where nothing is known of them.

use std::fs;

use super::{compiled, text, with_lab};

#[test]
fn what_the_library_has_not_seen_is_not_said_to_be_nothing() {
    with_lab(|lab| {
        let folder = lab.desk.path("programs");
        fs::create_dir(&folder).unwrap();
        let alone = compiled(&folder, "alone", &["-static"]);
        let all = lab.bypass("a", &["--stats", "--quiet", "--", text(&alone)]);
        all.fails(5, &["no socket was seen by the library: ", "alone is linked statically"]);
        lab.bypass("a", &["--stats", "--", "true"])
            .fails(0, &["no socket was seen by the library that goes under the program"]);
        for words in [["ip", "link", "add", "br0", "type", "bridge"].as_slice(), &["ip", "link", "set", "br0", "up"]] {
            assert_eq!(lab.exec("a", words).status, 0);
        }
        let bridge = lab.bypass("a", &["--stats", "--dev", "br0", "--", "true"]);
        bridge.fails(
            0,
            &[
                "br0 stays with the kernel: the driver of br0 has no native XDP, by which sockets go past the kernel",
                "none of the interfaces that were named can be bypassed",
                "no socket was seen by the library, which was not loaded",
            ],
        );
        assert!(!bridge.err.contains("--dev"), "{}", bridge.err);
    });
}

/// Some datagrams to where nobody listens, and then it is shut down.
const SHUT_DOWN: &str = "
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], 9))
for _ in range(20):
    try: s.send(b'x')
    except ConnectionRefusedError: pass
    time.sleep(0.01)
s.shutdown(socket.SHUT_WR)
idle = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
idle.connect((sys.argv[1], 9)); idle.setblocking(False)
try: idle.recv(9)
except OSError: pass
";

#[test]
fn a_socket_that_was_shut_down_in_the_end_was_past_the_kernel_and_one_without_datagrams_could_be() {
    with_lab(|lab| {
        let all = lab.bypass("a", &["--stats", "--", "python3", "-c", SHUT_DOWN, &lab.address("b")]);
        all.fails(0, &["past the kernel until it was shut down", "could go past the kernel; there were no datagrams"]);
        assert!(!all.err.contains("are among them"), "{}", all.err);
    });
}

/// Takes the queues, and starts others that want them too.
const MANY: &str = "
import socket, subprocess, sys
one = 'import socket, sys; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b\"x\", (sys.argv[1], 9))'
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 0)); s.sendto(b'x', (sys.argv[1], 9))
for _ in range(4): subprocess.run(['python3', '-c', one, sys.argv[1]], check=True)
";

#[test]
fn programs_that_are_refused_alike_are_said_together_and_kept_one_by_one() {
    with_lab(|lab| {
        let peer = lab.address("b");
        let all = lab.bypass("a", &["--stats", "--quiet", "--", "python3", "-c", MANY, &peer]);
        all.fails(0, &["and 3 processes more of it: through the kernel: held by python3", "3 sockets of the others: "]);
        let short = lab.bypass("a", &["--", "python3", "-c", MANY, &peer]);
        short.fails(0, &["and 3 sockets more of python3: through the kernel: its process was given no queues"]);
        let done = lab.bypass("a", &["--stats", "--json", "--quiet", "--", "python3", "-c", MANY, &peer]);
        let account: serde_json::Value = serde_json::from_str(&done.err).expect(&done.err);
        assert_eq!(account["refused"].as_array().unwrap().len(), 4, "{account:#}");
    });
}
