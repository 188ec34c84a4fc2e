//! Final messages about sockets, also without any record of them.

use std::fs;

use super::{ASK, compiled, text, with_lab};
use crate::schemas::Schemas;

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
                "no interface is bypassed: all goes through the kernel",
                "no socket was seen by the library, which was not loaded",
            ],
        );
        assert!(!bridge.err.contains("--dev"), "{}", bridge.err);
    });
}

/// Some datagrams to a port without a receiver; then the socket is shut down.
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
        all.fails(
            0,
            &["past the kernel until it was shut down", "could go past the kernel; it sent and received nothing"],
        );
        assert!(!all.err.contains("are among them"), "{}", all.err);
    });
}

/// Echoes twenty datagrams, and then writes zeros over its records.
const WIPE: &str = "
import ctypes, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5)
s.bind((sys.argv[1], 7000))
print('ready', flush=True)
for _ in range(20):
    data, peer = s.recvfrom(99)
    s.sendto(data, peer)
for line in open('/proc/self/maps'):
    if 'wireproof-control' in line:
        begin, end = (int(part, 16) for part in line.split()[0].split('-'))
        ctypes.memset(begin, 0, end - begin)
print('wiped', flush=True)
";

#[test]
fn a_program_that_wipes_its_records_does_not_wipe_the_count_of_xdp() {
    with_lab(|lab| {
        let address = lab.address("b");
        let wiped = |options: &[&str]| {
            let program = lab.start("b", &[options, &["--", "python3", "-c", WIPE, &address]].concat());
            assert_eq!(lab.exec("a", &["python3", "-c", ASK, &address, "20"]).out, "all came back\n");
            let ended = program.ended();
            assert_eq!((ended.status, ended.out.as_str()), (0, "wiped\n"), "{}", ended.err);
            ended.err
        };
        let said = wiped(&["--stats"]);
        assert!(said.contains(" of them are in no record: they waited when a socket or the program ended"), "{said}");
        let account: serde_json::Value = serde_json::from_str(&wiped(&["--stats", "--json"])).unwrap();
        let program = &account["programs"][0];
        assert_eq!(program["sockets"], serde_json::json!([]), "{account:#}");
        // The first one may have passed through the kernel.
        let [redirected, missing] = ["redirected", "in_no_record"].map(|count| program["xdp"][count].as_u64().unwrap());
        assert!(redirected >= 18 && missing == redirected, "{account:#}");
        Schemas::of(lab.desk).holds("bypass", &account);
    });
}

/// Claims the queues, and starts other programs that want them too.
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
        all.fails(
            0,
            &[
                "and 3 processes more of it: through the kernel: the queues are held by python3",
                "3 sockets of the others: ",
            ],
        );
        let short = lab.bypass("a", &["--", "python3", "-c", MANY, &peer]);
        short.fails(0, &[" of python3, and 3 sockets more: through the kernel: its process was given no queues"]);
        let done = lab.bypass("a", &["--stats", "--json", "--quiet", "--", "python3", "-c", MANY, &peer]);
        let account: serde_json::Value = serde_json::from_str(&done.err).expect(&done.err);
        assert_eq!(account["refused"].as_array().unwrap().len(), 4, "{account:#}");
        Schemas::of(lab.desk).holds("bypass", &account);
    });
}

/// Sends by an interface, removes it, and goes on.
const REMOVE: &str = "
import socket, subprocess, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('198.18.9.1', 7000))
for _ in range(20): s.sendto(b'x', ('198.18.9.2', 9))
subprocess.run(['ip', 'link', 'del', 'v0'], check=True)
time.sleep(0.5)
try: s.sendto(b'x', ('198.18.9.2', 9))
except OSError: pass
print('went on', flush=True)
";

#[test]
fn an_interface_that_is_removed_is_said_to_be_and_the_program_goes_on() {
    with_lab(|lab| {
        let far = lab.address("b");
        for words in [
            "link add v0 type veth peer name v1",
            "addr add 198.18.9.1/24 dev v0",
            "link set v0 up",
            "link set v1 up",
            "neigh add 198.18.9.2 lladdr 02:00:00:00:00:09 dev v0 nud permanent",
        ] {
            let words: Vec<&str> = words.split(' ').collect();
            assert_eq!(lab.exec("a", &[&["ip"], words.as_slice()].concat()).status, 0);
        }
        let next =
            "import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (sys.argv[1], 9))";
        let script = "python3 -c \"$0\" && exec python3 -c \"$1\" $2";
        let all = lab.bypass("a", &["--stats", "--dev", "v0", "--", "sh", "-c", script, REMOVE, next, &far]);
        all.fails(
            0,
            &[
                "wireproof bypass: v0 is gone: its sockets go through the kernel\n",
                "past the kernel at first, then through the kernel: its interface is gone",
                "goes through the kernel: each interface that was bypassed is gone, or has lost wireproof's XDP program\n",
                "\ninterface v0: gone before the end, and its counters with it\n",
            ],
        );
        assert_eq!(all.out, "went on\n");
        assert_eq!(all.err.matches("each interface that was bypassed is gone").count(), 2, "{}", all.err);
    });
}

#[test]
fn people_are_told_in_japanese_where_they_ask_for_it_and_programs_in_english() {
    with_lab(|lab| {
        let peer = lab.address("b");
        let many = ["--", "python3", "-c", MANY, &peer];
        let bypass = |words: &[&str]| lab.bypass("a", &[words, &many].concat());
        bypass(&["--stats", "--lang", "ja"]).fails(
            0,
            &[
                "はカーネルを経由します: キューは python3 (pid ",
                "): バイパス可能、データグラムはすべてカーネル経由(宛先がバイパス対象のインターフェースの先にないか、次ホップの MAC アドレスが未解決)\n    バイパス: 受信 0(0 B)、送信 0(0 B)、キューあふれまたは fork・exec の際の破棄 0\n",
                "ほか同じプログラムの 3 プロセス: カーネル経由: キューは python3 (pid ",
                "  ほかのプロセスのソケット 3 個: カーネル経由: プロセスにキューが割り当てられなかった\n",
                "\n  lab-a のキュー 0: コピーモード\n",
                "\n自己申告: ",
                "\nXDP によりバイパスした受信: ",
                "\nインターフェース lab-a: 受信 ",
                "\nカーネル自身の UDP カウンター: 受信 ",
            ],
        );
        bypass(&["--lang", "ja"])
            .fails(0, &["wireproof bypass: python3 のソケット 3(", "ほかソケット 3 個: カーネル経由: "]);
        let account: serde_json::Value =
            serde_json::from_str(&bypass(&["--json", "--quiet", "--lang", "ja"]).err).unwrap();
        assert!(
            account["refused"][0]["why"].as_str().unwrap().starts_with("the queues are held by python3"),
            "{account:#}"
        );
        lab.bypass("a", &["--lang", "ja", "--dev", "none0", "--", "true"]).fails(2, &["there is no interface none0"]);
        assert_eq!(lab.exec("a", &["ip", "link", "set", "lab-a", "down"]).status, 0);
        lab.bypass("a", &["--lang", "ja", "--", "true"]).fails(
            0,
            &["アドレスを持つ有効なインターフェースがありません。すべてカーネルを経由します。--dev IF で指定してください"],
        );
    });
}

/// Waits for a datagram and forks; once the parent has ended, the child receives it.
const DAEMON: &str = "
import os, select, socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 7000))
print('ready', flush=True)
select.select([s], [], [], 10)
if os.fork(): os._exit(0)
time.sleep(1.5)
s.settimeout(5)
print(s.recv(99).decode(), flush=True)
";
/// Sends past the kernel. Another process takes the queues as soon as this one becomes another program, which sends by the same socket.
const BECOME: &str = "
import os, socket, subprocess, sys
peer = sys.argv[1]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('', 0)); s.connect((peer, 9)); os.set_inheritable(s.fileno(), True)
for _ in range(20):
    try: s.send(b'x')
    except ConnectionRefusedError: pass
other = 'import socket, sys, time; time.sleep(0.5); s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind((str(), 0)); s.sendto(b\"x\", (sys.argv[1], 9)); time.sleep(3)'
subprocess.Popen(['python3', '-c', other, peer])
later = 'import socket, sys, time; time.sleep(2); socket.socket(fileno=int(sys.argv[1])).send(b\"x\")'
os.execvp('python3', ['python3', '-c', later, str(s.fileno())])
";

#[test]
fn what_went_through_the_kernel_after_a_fork_or_exec_has_the_reason_of_that() {
    with_lab(|lab| {
        let address = lab.address("b");
        let daemon = lab.start("b", &["--stats", "--", "python3", "-c", DAEMON, &address]);
        assert_eq!(daemon.line, "ready\n");
        let send =
            "import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'kept', (sys.argv[1], 7000))";
        assert_eq!(lab.exec("a", &["python3", "-c", send, &address]).status, 0);
        let ended = daemon.ended();
        assert_eq!((ended.status, ended.out.as_str()), (0, "kept\n"), "{}", ended.err);
        assert!(ended.err.contains("they had come before its first use or before a fork or exec"), "{}", ended.err);
        assert!(!ended.err.contains("the MAC address of the next hop was not known"), "{}", ended.err);

        let words = ["--stats", "--json", "--quiet", "--", "python3", "-c", BECOME, &address];
        let done = lab.bypass("a", &words);
        let account: serde_json::Value = serde_json::from_str(&done.err).expect(&done.err);
        let programs = account["programs"].as_array().unwrap();
        let of_first: Vec<_> = programs.iter().filter(|it| it["pid"] == programs[0]["pid"]).collect();
        let said: Vec<_> = of_first.iter().map(|it| &it["sockets"][0]["why_not"]).collect();
        assert_eq!(said, [&serde_json::Value::Null, &"its process was given no queues".into()], "{account:#}");
    });
}
