//! A program of the far machine that takes part in a measurement, through one ssh session.

use std::{
    io::{BufRead, BufReader, Read},
    net::SocketAddr,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use model::{GoodputSide, Profile, SideFigures, SideSetup, probe::FarService};
use probe::{Control, Prepared, ProbeError, Window};
use protocol::Agentless;

/// Starts a program at each port, says so, and tells of each that ends. The end of its input ends them all: nothing stays behind a
/// connection that is cut. Two processes wait for it, so that nothing stays behind a killed one either: sshd closes the input of a session
/// whose shell has gone. The pipe that an echo needs is removed as soon as it is open. One line without single quotes and exclamation
/// marks, as csh wants it.
///
/// Arguments: the service, the address, the first port, and the number of ports.
const SCRIPT: &str = "LC_ALL=C; export LC_ALL; PATH=$PATH:/usr/local/bin:/usr/bin:/bin; export PATH; \
    what=$1 address=$2 port=$3 count=$4; \
    command -v nc >/dev/null || { echo \"wireproof-failed there is no nc on the path of this user\"; exit 1; }; \
    exec 9<&0; (cat <&9 >/dev/null; kill 0) & \
    while [ \"$count\" -gt 0 ]; do case $what in \
    sink) { nc -d -l \"$address\" \"$port\" >/dev/null; echo wireproof-ended; } 9<&- & ;; \
    source) { nc -l \"$address\" \"$port\" </dev/zero >/dev/null; echo wireproof-ended; } 9<&- & ;; \
    *) u=; [ \"$what\" = echo-tcp ] || u=-u; \
    d=$(mktemp -d \"${TMPDIR:-/tmp}/wireproof.XXXXXXXX\") && mkfifo \"$d/echo\" && exec 8<>\"$d/echo\" && rm -r \"$d\" || { \
    echo \"wireproof-failed no named pipe can be made there\"; kill 0; }; \
    { nc $u -l \"$address\" \"$port\" <&8 | cat >&8; echo wireproof-ended; } 9<&- & ;; esac; \
    port=$((port + 1)); count=$((count - 1)); done; \
    sleep 1; echo wireproof-listens; cat <&9 >/dev/null; kill 0";

const FAILED: &str = "wireproof-failed ";
const LISTENS: &str = "wireproof-listens";
const ENDED: &str = "wireproof-ended";

/// Time for the login and the start of the program.
const START: Duration = Duration::from_secs(13);

/// Time for the session to end once its input has ended.
const FAREWELL: Duration = Duration::from_secs(3);

/// Longest time until a wish to stop is seen.
const LOOK: Duration = Duration::from_millis(50);

/// Lines that wait to be read.
const WAITING: usize = 16;

/// Bytes kept of what ssh and the program say, and of a line.
const WORDS: u64 = 4_000;

/// A program that listens. Dropping it ends the program.
pub(super) struct FarProgram {
    session: Session,
    service: FarService,
    address: SocketAddr,
    /// Programs that have not ended.
    running: usize,
}

/// An ssh session with the script. Dropping it ends both.
struct Session {
    to: String,
    child: Child,
    /// While it is open, the program lives.
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    complaints: Receiver<String>,
}

impl FarProgram {
    /// Starts the program and waits until it listens.
    pub(super) fn start(machine: &Agentless, profile: &Profile, setup: &SideSetup) -> Result<Self, ProbeError> {
        let Some(service) = profile.agentless else {
            return Err(unable(&machine.ssh.destination, "this measurement needs wireproof there"));
        };
        let count = match service {
            FarService::Sink | FarService::Source => profile.threads,
            FarService::EchoTcp | FarService::EchoUdp => 1,
        };
        let address = SocketAddr::new(setup.local, machine.port);
        let mut session = Session::start(machine, service, address, count)?;
        session.wait_until_it_listens(address)?;
        Ok(Self { session, service, address, running: count })
    }
}

impl Prepared for FarProgram {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    /// A connection ends its program, and the near side sees it where that was too early. Datagrams have no end.
    fn run(mut self: Box<Self>, control: &Control, _: &dyn Window) -> Result<SideFigures, ProbeError> {
        let serves_until_told = matches!(self.service, FarService::EchoTcp | FarService::EchoUdp);
        loop {
            match self.session.lines.recv_timeout(LOOK) {
                Ok(line) if line == ENDED && self.service == FarService::EchoUdp => return Err(self.session.ended()),
                Ok(line) if line == ENDED => {
                    self.running -= 1;
                    if self.running == 0 {
                        break;
                    }
                }
                Ok(_) | Err(RecvTimeoutError::Timeout) if control.stopped() && serves_until_told => break,
                Ok(_) | Err(RecvTimeoutError::Timeout) if control.stopped() => return Err(ProbeError::Cancelled),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.session.ended()),
            }
        }
        Ok(match self.service {
            FarService::Sink | FarService::Source => {
                SideFigures::Goodput(Box::new(GoodputSide { sent: None, received: None }))
            }
            FarService::EchoTcp | FarService::EchoUdp => SideFigures::LatencyFar {
                answered: 0,
                overflowed: 0,
                through_kernel: None,
                zero_copy: None,
                load: None,
            },
        })
    }
}

impl Session {
    fn start(machine: &Agentless, service: FarService, at: SocketAddr, count: usize) -> Result<Self, ProbeError> {
        let what = match service {
            FarService::Sink => "sink",
            FarService::Source => "source",
            FarService::EchoTcp => "echo-tcp",
            FarService::EchoUdp => "echo-udp",
        };
        let (address, port, count) = (at.ip().to_string(), at.port().to_string(), count.to_string());
        let words = ["/bin/sh", "-c", SCRIPT, "sh", what, &address, &port, &count].map(str::to_owned);
        let to = machine.ssh.destination.clone();
        let mut command = machine.ssh.command(&words);
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| unable(&to, &format!("ssh cannot be started here: {error}")))?;
        let (sender, lines) = mpsc::sync_channel(WAITING);
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        thread::spawn(move || stdout.into_iter().for_each(|stdout| pass_on(stdout, &sender)));
        let (complain, complaints) = mpsc::sync_channel(1);
        thread::spawn(move || {
            let mut said = Vec::new();
            if let Some(mut stderr) = stderr {
                let _ = stderr.by_ref().take(WORDS).read_to_end(&mut said);
                let _ = std::io::copy(&mut stderr, &mut std::io::sink());
            }
            complain.send(String::from_utf8_lossy(&said).trim().to_owned())
        });
        let stdin = child.stdin.take();
        Ok(Self { to, child, stdin, lines, complaints })
    }

    fn wait_until_it_listens(&mut self, at: SocketAddr) -> Result<(), ProbeError> {
        let until = Instant::now() + START;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                // A host that never stops to speak has no more time than one that is silent.
                Ok(_) if left.is_zero() => {
                    return Err(unable(&self.to, &format!("nc did not listen at {at} within {START:?}")));
                }
                Ok(line) if line == LISTENS => return Ok(()),
                Ok(line) => {
                    let failed = line.strip_prefix(FAILED);
                    if let Some(why) = failed.or((line == ENDED).then_some("nc ended at once")) {
                        let said = self.farewell();
                        return Err(unable(&self.to, &format!("{why}{}{}", quoted(&said), advice(&said, at))));
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(unable(&self.to, &format!("nc did not listen at {at} within {START:?}")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
            }
        }
    }

    /// The error for a session that ended before its time.
    fn ended(&mut self) -> ProbeError {
        let said = self.farewell();
        unable(
            &self.to,
            &format!("the program there ended, or its ssh session, before the measurement did{}", quoted(&said)),
        )
    }

    /// Ends the session; returns what was said on the way.
    fn farewell(&mut self) -> String {
        self.stdin = None;
        let until = Instant::now() + FAREWELL;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        // Fails only if it has ended, as intended.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A child of ssh may keep its standard error open.
        self.complaints.recv_timeout(FAREWELL).unwrap_or_default()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.farewell();
    }
}

/// Passes lines on until nobody takes them; of long ones pieces.
fn pass_on(from: impl Read, to: &SyncSender<String>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(WORDS).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if to.send(String::from_utf8_lossy(&line).trim_end().to_owned()).is_err() => return,
            Ok(_) => {}
        }
    }
}

fn unable(to: &str, why: &str) -> ProbeError {
    ProbeError::Unable { what: format!("a program of {to} in the place of wireproof"), why: why.to_owned() }
}

fn quoted(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}

fn advice(said: &str, at: SocketAddr) -> String {
    let is_taken = said.contains("in use");
    let advice = format!("; something there has port {} or one behind it: name another with far-port=PORT", at.port());
    if is_taken { advice } else { String::new() }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::Write,
        net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket},
    };

    use model::{GoodputSpec, IpVersion, ProbeSpec, Protocol, fixture};
    use protocol::Ssh;

    use super::*;

    /// Runs the command, which is the last argument of ssh, in a session of its own, as sshd does.
    fn machine(path: &str, port: u16) -> Agentless {
        let line = format!("{path} for word; do :; done; exec setsid sh -c \"$word\"");
        let program = ["sh", "-c", &line].map(str::to_owned).into();
        let ssh = Ssh { program, destination: "far".to_owned(), port: None, caller: None };
        Agentless { ssh, system: "Linux".to_owned(), port }
    }

    /// A port that was free a moment ago, and the next one as well.
    fn free_port() -> u16 {
        let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        let any = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback").local_addr().expect("bound").port();
        (0..100).map(|_| any()).find(|port| *port < 60_000 && free(port + 1)).expect("some are free")
    }

    fn goodput(streams: u16) -> Profile {
        ProbeSpec::from(GoodputSpec { streams, ..fixture::goodput(Protocol::Tcp) }).profile()
    }

    fn echo(service: FarService) -> Profile {
        Profile { agentless: Some(service), ..goodput(1) }
    }

    fn start(machine: &Agentless, profile: &Profile) -> Result<FarProgram, ProbeError> {
        FarProgram::start(machine, profile, &fixture::setup(IpVersion::V4, None))
    }

    /// Processes whose arguments hold a text.
    fn processes(text: &str) -> usize {
        let all = fs::read_dir("/proc").expect("it is mounted").flatten();
        let lines = all.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).replace('\0', " ").contains(text)).count()
    }

    /// Waits until no program listens at this port any more.
    fn assert_gone(port: u16) {
        let until = Instant::now() + Duration::from_secs(20);
        while processes(&format!("127.0.0.1 {port}")) > 0 {
            assert!(Instant::now() < until, "it is still there");
            thread::sleep(Duration::from_millis(20));
        }
    }

    struct NoWindow;

    impl Window for NoWindow {
        fn opened(&self) {}
        fn closed(&self) {}
    }

    #[test]
    fn the_script_passes_each_shell_as_one_line() {
        assert!(!SCRIPT.contains(['\n', '!', '\'']), "{SCRIPT}");
    }

    #[test]
    fn a_line_without_an_end_comes_in_pieces() {
        let (sender, lines) = mpsc::sync_channel(WAITING);
        pass_on(&*vec![b'x'; 10_000], &sender);
        drop(sender);
        assert_eq!(lines.iter().map(|line| line.len()).collect::<Vec<_>>(), [4_000, 4_000, 2_000]);
    }

    #[test]
    fn a_sink_takes_all_streams_and_ends_with_them() {
        let port = free_port();
        let program = start(&machine("", port), &goodput(2)).expect("it listens");
        for port in [port, port + 1] {
            let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
            stream.write_all(&[0; 100_000]).expect("it is taken");
        }
        let figures = Box::new(program).run(&Control::default(), &NoWindow).expect("it ends with its streams");
        assert!(matches!(figures, SideFigures::Goodput(_)));
        assert_gone(port);
    }

    #[test]
    fn an_echo_sends_back_until_it_is_told_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = format!("export TMPDIR={};", folder.path().display());
        for service in [FarService::EchoTcp, FarService::EchoUdp] {
            let port = free_port();
            let program = start(&machine(&path, port), &echo(service)).expect("it listens");
            let (to, mut back) = ((Ipv4Addr::LOCALHOST, port), [0; 5]);
            if service == FarService::EchoTcp {
                let mut stream = TcpStream::connect(to).expect("it listens");
                for _ in 0..3 {
                    stream.write_all(b"hello").expect("sent");
                    stream.read_exact(&mut back).expect("sent back");
                }
            } else {
                let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
                socket.set_read_timeout(Some(Duration::from_secs(10))).expect("settable");
                for _ in 0..3 {
                    socket.send_to(b"hello", to).expect("sent");
                    assert_eq!(socket.recv(&mut back).expect("sent back"), 5);
                }
            }
            assert_eq!(&back, b"hello");
            assert_eq!(fs::read_dir(folder.path()).expect("it is there").count(), 0, "the pipe has no name any more");
            let control = Control::default();
            control.stop();
            Box::new(program).run(&control, &NoWindow).expect("it was told");
            assert_gone(port);
        }
    }

    #[test]
    fn a_port_that_is_taken_and_a_missing_nc_are_errors_with_what_to_do() {
        let port = free_port();
        let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("free");
        let error = start(&machine("", port), &goodput(1)).err().expect("it is taken").to_string();
        assert!(error.contains("in use") && error.contains("far-port=PORT"), "{error}");
        drop(taken);
        // The shell and its tools alone are on the path.
        let tools = tempfile::tempdir().expect("a folder");
        for tool in ["cat", "sh", "sleep"] {
            let found = ["/usr/bin", "/bin"].map(|folder| format!("{folder}/{tool}"));
            let found = found.iter().find(|path| fs::exists(path).is_ok_and(|is_there| is_there)).expect("a tool");
            std::os::unix::fs::symlink(found, tools.path().join(tool)).expect("a link");
        }
        let script = SCRIPT.replace(":/usr/local/bin:/usr/bin:/bin", "");
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &script, "sh", "sink", "127.0.0.1", "1", "1"]).env("PATH", tools.path());
        let out = shell.output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&out.stdout), "wireproof-failed there is no nc on the path of this user\n");
    }

    #[test]
    fn a_killed_shell_and_a_cut_session_end_the_measurement_and_leave_nothing() {
        for is_killed in [true, false] {
            let port = free_port();
            let program = start(&machine("", port), &echo(FarService::EchoTcp)).expect("it listens");
            let _stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("it listens");
            let mut program = Box::new(program);
            if is_killed {
                program.session.child.kill().expect("it runs");
            }
            // sshd closes the input of a session whose shell has gone, too.
            program.session.stdin = None;
            let error = program.run(&Control::default(), &NoWindow).expect_err("it has gone").to_string();
            assert!(error.contains("ended") && error.contains("far"), "{error}");
            assert_gone(port);
        }
    }
}
