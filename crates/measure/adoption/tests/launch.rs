//! A launcher and the programs that claim its grant, over a veth pair between two namespaces: the test program starts
//! itself as each of them. Needs root, and fails without.
#![allow(unsafe_code, reason = "fork, as a program has it")]

use std::{
    env, fs,
    io::{BufRead, BufReader, IoSliceMut, Write, stdin},
    net::{SocketAddr, TcpListener, UdpSocket},
    os::{fd::AsRawFd, unix::process::CommandExt},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc::{Receiver, channel},
    },
    thread::sleep,
    time::{Duration, Instant},
};

use grant::{Attachment, Grant, Launcher, NoGrant, claim, launch::Event};
use kernel::{link, namespace, sysctl};
use model::{
    LinkEnd, Mtu,
    bypass::{Agreement, Claim, Health, Hindrance, Reason, TrustedCounts},
};
use rustix::process::{Resource, Rlimit, setrlimit};
use stack::{Incoming, SocketId};
use wireproof_adoption::{
    before_exec, begin,
    data::receive,
    descriptors::{closing, live},
    inside::inside,
    reap_closed::with_bypass,
};
use xdp::steer::Flow;

/// The part that the started program plays.
const PART: &str = "WIREPROOF_TEST_PART";
const PORT: &str = "wp0";
const A: &str = "198.18.0.1";
const B: &str = "198.18.0.2";
const PATIENCE: Duration = Duration::from_secs(5);

fn main() {
    let name = || env::args().nth(1).expect("the launcher's socket");
    match env::var(PART).as_deref() {
        Ok("program") => program(&name()),
        Ok("becomes another") => become_another(&name()),
        Ok("poor program") => poor_program(&name()),
        Ok("faulty program") => faulty_program(),
        Ok("patient program") => patient_program(false),
        Ok("patient program with TCP") => patient_program(true),
        Ok("forking program") => forking_program(0),
        Ok("forking program with datagrams") => forking_program(4),
        Ok("program that becomes another") => replaced_program(),
        Ok("wiping program") => changing_program(&name(), wipe),
        Ok("boasting program") => changing_program(&name(), boast),
        Ok("complaining program") => complaining_program(&name()),
        Ok("first process") => first_process(),
        Ok("launcher") => launcher(),
        Ok("launching") => launching(&name()),
        _ => tell_all(),
    }
}

fn tell_all() {
    one_program_after_the_other_has_the_grant();
    a_program_that_becomes_another_gives_it_back();
    records_that_a_program_changes_do_not_change_the_count_of_xdp();
    whoever_is_killed_leaves_nothing_behind();
    what_becomes_of_interfaces_is_told();
    an_interface_that_cannot_be_had_is_named();
    a_program_that_cannot_use_its_grant_says_why();
    an_interface_that_is_gone_keeps_nobody_from_the_others();
    a_fault_is_said_of_what_was_past_the_kernel();
    records_are_taken_whatever_a_program_says();
    the_first_process_of_a_namespace_accepts_its_children();
    // These wait most of their time.
    let slow: [fn(); 7] = [
        a_launcher_that_is_stopped_costs_a_program_five_seconds_in_all,
        the_first_socket_that_asks_a_stopped_launcher_may_be_one_of_tcp,
        a_program_that_ended_before_it_was_answered_is_told_of,
        a_program_that_is_stopped_with_its_launcher_has_its_answer,
        a_child_that_asks_a_stopped_launcher_goes_on_through_the_kernel,
        datagrams_that_wait_at_a_fork_beside_a_stopped_launcher_are_counted,
        datagrams_that_wait_as_a_program_becomes_another_beside_a_stopped_launcher_are_counted,
    ];
    std::thread::scope(|scope| slow.into_iter().for_each(|tell| _ = scope.spawn(tell)));
    println!("18 stories passed");
}

/// Claims the grant, takes one flow, and reports its datagrams until its input ends.
fn program(name: &str) {
    let mut grant = match claim(name) {
        Ok(grant) => grant,
        Err(error) => return println!("{error}"),
    };
    let local = address(B, 7000);
    let _taken = grant.flows.insert(&Flow { local, peer: None }).expect("an empty table has room");
    let id = grant.control.add(7, 7);
    let slot = grant.control.slot(id);
    slot.set_fate(Ok(()));
    slot.set_ends(Some(local), None);
    println!("claimed {}", grant.frames.len());
    std::thread::spawn(|| {
        stdin().read_line(&mut String::new()).expect("readable");
        std::process::exit(0);
    });
    loop {
        let receiver = grant.interfaces[0].queues[0].receiver.as_mut().expect("both ways");
        receiver.receive(1, |packet| {
            let payload = &grant.umem.packet(&packet)[42..];
            slot.past.received(payload.len());
            println!("got {}", String::from_utf8_lossy(payload));
            grant.frames.push(packet.frame);
        });
        receiver.refill(&mut grant.frames);
    }
}

fn become_another(name: &str) {
    let _grant = claim(name).expect("it is free");
    println!("claimed");
    panic!("{}", Command::new("cat").env_remove(PART).exec());
}

/// Lacks memory for packets.
fn poor_program(name: &str) {
    let little = Rlimit { current: Some(1 << 20), maximum: None };
    setrlimit(Resource::As, little).expect("less is always granted");
    println!("{}", claim(name).err().expect("there is no room for it"));
}

/// A caught panic in our own code, with one bypassed socket and one that stays with the kernel.
fn faulty_program() {
    begin();
    let sockets = [(); 2].map(|()| UdpSocket::bind(address(B, 0)).expect("an address of ours"));
    kernel::socket::set_option(&sockets[1], libc::SOL_UDP, libc::UDP_CORK, 1).expect("settable");
    let live = sockets.each_ref().map(|socket| live(socket.as_raw_fd()).is_some());
    std::panic::set_hook(Box::new(|_| ()));
    let planted = inside(|| panic!("planted"));
    println!("{live:?} {planted:?} {:?}", live_now(&sockets));
}

/// Begins at a line of its input, and ends at the next one: sockets that could leave the kernel, after one of TCP where asked
/// for, and how many seconds they took.
fn patient_program(has_tcp: bool) {
    begin();
    println!("ready {}", std::process::id());
    next_line();
    let begun = Instant::now();
    let tcp = has_tcp.then(|| TcpListener::bind(address(B, 0)).expect("an address of ours"));
    assert!(tcp.as_ref().is_none_or(|tcp| live(tcp.as_raw_fd()).is_none()));
    let sockets = [(); 2].map(|()| UdpSocket::bind(address(B, 0)).expect("an address of ours"));
    let live = sockets.each_ref().map(|socket| live(socket.as_raw_fd()).is_some());
    sockets[0].send_to(b"hello", sockets[1].local_addr().expect("bound")).expect("by the kernel");
    sockets[1].recv(&mut [0; 5]).expect("by the kernel");
    println!("{live:?} {}", begun.elapsed().as_secs());
    next_line();
}

/// A bypassed socket for which so many datagrams wait.
fn socket_with_waiting(waiting: u64) -> (UdpSocket, SocketId) {
    begin();
    let socket = UdpSocket::bind(address(B, 7000)).expect("an address of ours");
    let id = live(socket.as_raw_fd()).expect("the grant is free");
    println!("ready {}", std::process::id());
    next_line();
    let begun = Instant::now();
    while with_bypass(|bypass| bypass.stack.arrivals(id)) != Some(waiting) {
        assert!(begun.elapsed() < PATIENCE, "they do not come");
        with_bypass(|bypass| bypass.stack.pump());
    }
    (socket, id)
}

/// Executes another program while datagrams wait.
fn replaced_program() {
    let (_socket, _) = socket_with_waiting(4);
    let begun = Instant::now();
    before_exec();
    println!("replaced {}", begun.elapsed().as_secs());
    panic!("{}", Command::new("cat").env_remove(PART).exec());
}

/// Receives three datagrams, changes its records, and ends.
fn changing_program(name: &str, change: impl FnOnce(&Grant)) {
    let mut grant = claim(name).expect("it is free");
    let local = address(B, 7000);
    let _taken = grant.flows.insert(&Flow { local, peer: None }).expect("an empty table has room");
    let slot = grant.control.slot(grant.control.add(7, 7));
    slot.set_fate(Ok(()));
    println!("claimed");
    let mut came = 0;
    while came < 3 {
        let receiver = grant.interfaces[0].queues[0].receiver.as_mut().expect("both ways");
        receiver.receive(1, |packet| {
            slot.past.received(5);
            came += 1;
            grant.frames.push(packet.frame);
        });
        receiver.refill(&mut grant.frames);
    }
    change(&grant);
}

/// Writes zeros over the page that it shares with the launcher.
fn wipe(_grant: &Grant) {
    let maps = fs::read_to_string("/proc/self/maps").expect("readable");
    let line = maps.lines().find(|line| line.contains("wireproof-control")).expect("it is mapped");
    let (begin, end) = line.split_once(' ').and_then(|(ends, _)| ends.split_once('-')).expect("two addresses");
    let [begin, end] = [begin, end].map(|text| usize::from_str_radix(text, 16).expect("hexadecimal"));
    // SAFETY: memory that is shared with another process, of which any bytes are valid.
    unsafe { std::ptr::write_bytes(begin as *mut u8, 0, end - begin) };
}

/// Counts four datagrams that did not come.
fn boast(grant: &Grant) {
    (0..4).for_each(|_| grant.control.slot(grant.control.add(7, 7)).past.received(5));
}

/// Forks while so many datagrams wait, receives one of them, and closes the socket, which its child has until the next line.
fn forking_program(waiting: u64) {
    let (socket, id) = socket_with_waiting(waiting);
    let begun = Instant::now();
    // SAFETY: this process has one thread.
    if unsafe { libc::fork() } == 0 {
        return forked(&socket, begun);
    }
    let mut text = [0; 9];
    let received = receive(id, &mut Incoming::new(&mut [IoSliceMut::new(&mut text)]), libc::MSG_DONTWAIT);
    closing(socket.as_raw_fd(), || drop(socket));
    println!("parent {received:?} {}", begun.elapsed().as_secs());
    // SAFETY: it writes nothing.
    unsafe { libc::wait(std::ptr::null_mut()) };
}

fn forked(socket: &UdpSocket, begun: Instant) {
    let is_live = live(socket.as_raw_fd()).is_some();
    socket.send_to(b"from the child", address(A, 5001)).expect("by the kernel");
    println!("child {is_live} {}", begun.elapsed().as_secs());
    next_line();
    socket.set_nonblocking(true).expect("settable");
    println!("child {:?}", socket.recv(&mut [0; 20]).map_err(|error| error.kind()));
}

fn next_line() {
    stdin().read_line(&mut String::new()).expect("readable");
}

/// Records a socket, and reports the grant as unusable.
fn complaining_program(name: &str) {
    let grant = claim(name).expect("it is free");
    grant.control.slot(grant.control.add(7, 7)).set_fate(Ok(()));
    let connection = grant.claim.as_ref().expect("another process granted it");
    rustix::net::send(connection, b"x", rustix::net::SendFlags::empty()).expect("the launcher is there");
}

/// A launcher as the first process of its PID namespace, and a program that it starts.
fn first_process() {
    let (tell, _heard) = channel();
    let attachment = Attachment::new(&[PORT.to_owned()]).expect("this test needs root");
    let launcher = Launcher::start(attachment, tell).expect("it can be granted");
    let mut command = Command::new("/proc/self/exe");
    command.env(PART, "program").arg(launcher.name()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("this program");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("readable");
    println!("{} {}", std::process::id(), line.trim_end());
    drop(child.stdin.take());
    child.wait().expect("ours");
}

fn live_now(sockets: &[UdpSocket]) -> Option<u64> {
    let id = live(sockets[0].as_raw_fd())?;
    with_bypass(|bypass| bypass.stack.arrivals(id))
}

fn launcher() {
    let (tell, _heard) = channel();
    let attachment = Attachment::new(&[PORT.to_owned()]).expect("this test needs root");
    let launcher = Launcher::start(attachment, tell).expect("it can be granted");
    println!("{}", launcher.name());
    stdin().read_line(&mut String::new()).expect("readable");
}

/// A launcher that starts a part of this program with the same input and output, and tells what it hears until that ends.
fn launching(part: &str) {
    let (tell, heard) = channel();
    let attachment = Attachment::new(&[PORT.to_owned()]).expect("this test needs root");
    let launcher = Launcher::start(attachment, tell).expect("it can be granted");
    let mut command = Command::new("/proc/self/exe");
    let mut program = command.env(PART, part).env("WIREPROOF_BYPASS", launcher.name()).spawn().expect("this program");
    let teller = std::thread::spawn(move || heard.iter().for_each(tell_of));
    program.wait().expect("ours");
    launcher.end().expect("readable");
    teller.join().expect("no panic");
}

fn tell_of(event: Event) {
    match event {
        Event::Refused { program, why } => println!("refused {}: {why}", program.process),
        Event::Ended(claim) => claim.sockets.iter().for_each(|socket| {
            println!("ended: {} received, {} dropped", socket.past.received, socket.dropped);
        }),
        Event::Trouble(error) => println!("trouble: {error}"),
        _ => {}
    }
}

/// A wire between two namespaces.
struct Wire {
    a: String,
    b: String,
}

impl Wire {
    fn up(test: &str) -> Self {
        let [a, b] = ["a", "b"].map(|end| format!("wptest{}{test}-{end}", std::process::id()));
        let wire = Self { a, b };
        let ends = [&wire.a, &wire.b].map(|name| {
            namespace::create(name).expect("this test needs root");
            LinkEnd { namespace: name.clone(), interface: PORT.to_owned() }
        });
        link::create_veth(&ends[0], &ends[1], Mtu(1500)).expect("veth");
        for (end, address) in ends.iter().zip([A, B]) {
            let disable = || sysctl::write("net.ipv6.conf.all.disable_ipv6", "1");
            namespace::within(&end.namespace, disable).expect("it exists").expect("settable");
            link::add_address(&end.namespace, PORT, address.parse().expect("an address"), 24).expect("it is new");
            link::set_up(&end.namespace, PORT).expect("it was just made");
        }
        wire
    }

    fn at_b<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        namespace::within(&self.b, f).expect("it exists")
    }

    fn launch(&self) -> (Launcher, Receiver<Event>) {
        let (tell, heard) = channel();
        let start = || Launcher::start(Attachment::new(&[PORT.to_owned()])?, tell);
        (self.at_b(start).expect("this test needs root"), heard)
    }

    fn start(&self, part: &str, argument: &str) -> Started {
        let mut command = Command::new("/proc/self/exe");
        command.env(PART, part).arg(argument).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = self.at_b(|| command.spawn()).expect("this program");
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Started { input: child.stdin.take(), lines, child }
    }

    /// A launcher that has started a part of this program, and the process of that.
    fn launching(&self, part: &str) -> (Started, u32) {
        link::set_up(&self.b, "lo").expect("it is there");
        let mut launcher = self.start("launching", part);
        let line = launcher.line();
        let program = line.strip_prefix("ready ").and_then(|pid| pid.parse().ok());
        (launcher, program.expect("it says so"))
    }

    /// Sends from any port: a process that another test forks holds a copy of an earlier socket until it executes its program.
    fn send(&self, text: &str) {
        let socket = namespace::within(&self.a, || UdpSocket::bind(address(A, 0))).expect("it exists").expect("ours");
        socket.send_to(text.as_bytes(), address(B, 7000)).expect("it goes");
    }

    /// Output of `ip` about the end at b.
    fn shown(&self) -> String {
        let shown = self.at_b(|| Command::new("ip").args(["link", "show", PORT]).output()).expect("iproute2");
        String::from_utf8(shown.stdout).expect("text")
    }

    fn has_xdp(&self) -> bool {
        self.shown().contains("xdp")
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for name in [&self.a, &self.b] {
            // An earlier test may have failed and left it.
            let _ = namespace::delete(name);
        }
    }
}

struct Started {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
}

impl Started {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).expect("readable");
        line.trim_end().to_owned()
    }

    /// The next line that begins like this.
    fn line_of(&mut self, begins: &str) -> String {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "it has ended, and does not say {begins}");
            if line.starts_with(begins) {
                return line;
            }
        }
    }

    /// Gives it a line of input.
    fn go_on(&mut self) {
        self.input.as_mut().expect("it is open").write_all(b"\n").expect("it reads");
    }

    /// Stops it, and waits until each of its threads is stopped: the others run on until one has seen the signal.
    fn stop(&self) {
        signal("-STOP", &[self.child.id()]);
        let folder = format!("/proc/{}/task", self.child.id());
        let threads = || fs::read_dir(&folder).expect("it runs").map(|thread| thread.expect("readable").path());
        soon(|| threads().all(|thread| is_in_state(&thread, 'T')));
    }

    fn resume(&self) {
        signal("-CONT", &[self.child.id()]);
    }

    fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("ours");
    }

    /// Ends it by closing its input.
    fn end(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("ours").success());
    }
}

fn address(ip: &str, port: u16) -> SocketAddr {
    SocketAddr::new(ip.parse().expect("an address"), port)
}

fn signal(name: &str, processes: &[u32]) {
    let status = Command::new("kill").arg(name).args(processes.iter().map(u32::to_string)).status();
    assert!(status.expect("coreutils").success());
}

/// Waits until the condition holds.
fn soon(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "it does not come to pass");
        sleep(Duration::from_millis(10));
    }
}

/// Whether a process or thread, by its folder in `/proc`, is in this state.
fn is_in_state(folder: &Path, state: char) -> bool {
    fs::read_to_string(folder.join("stat")).is_ok_and(|stat| stat.contains(&format!(") {state} ")))
}

/// Asserts that a line says a wait of five seconds behind these words.
fn took_five_seconds(line: &str, words: &str) {
    let seconds = line.strip_prefix(words).and_then(|seconds| seconds.trim().parse().ok());
    assert!(seconds.is_some_and(|seconds: u64| (5..10).contains(&seconds)), "{line}");
}

fn ended(heard: &Receiver<Event>) -> Claim {
    loop {
        match heard.recv_timeout(PATIENCE).expect("it ends") {
            Event::Ended(claim) => return claim,
            Event::Trouble(error) => panic!("{error}"),
            _ => {}
        }
    }
}

fn one_program_after_the_other_has_the_grant() {
    let wire = Wire::up("next");
    let (launcher, heard) = wire.launch();
    for round in 0..3 {
        let mut first = wire.start("program", launcher.name());
        // Memory and rings are new each time.
        assert_eq!(first.line(), "claimed 6144");
        let pid = first.child.id();
        assert!(matches!(heard.recv_timeout(PATIENCE), Ok(Event::Claimed(program)) if program.process == pid));
        assert!(launcher.is_held());
        let mut second = wire.start("program", launcher.name());
        let told = second.line();
        assert!(told.starts_with("the queues are held by ") && told.contains(&format!("(pid {pid})")), "{told}");
        second.end();
        assert!(matches!(heard.recv_timeout(PATIENCE), Ok(Event::Refused { why, .. }) if why.to_string() == told));

        wire.send("hello");
        assert_eq!(first.line(), "got hello");
        if round == 1 {
            first.end()
        } else {
            first.kill()
        }
        let claim = ended(&heard);
        let [record] = &claim.sockets[..] else { panic!("{claim:?}") };
        assert_eq!((record.process, record.fate, record.local), (pid, Ok(()), Some(address(B, 7000))));
        assert_eq!((record.past.received, record.past.received_bytes, claim.queues.len()), (1, 5, 1));
        assert_eq!((claim.witnessed.redirected, claim.agreement()), (1, Agreement::Agree));
    }
    assert!(!launcher.is_held());
    // Flows of an ended program are gone too.
    let kernel = wire.at_b(|| UdpSocket::bind(address(B, 7000))).expect("it is free");
    kernel.set_read_timeout(Some(PATIENCE)).expect("settable");
    wire.send("to the kernel");
    assert_eq!(kernel.recv(&mut [0; 20]).expect("it comes"), 13);
    assert_eq!(launcher.end().expect("readable").taken, 3);
    assert!(!wire.has_xdp());
}

fn a_fault_is_said_of_what_was_past_the_kernel() {
    let wire = Wire::up("fault");
    let (launcher, heard) = wire.launch();
    let mut command = Command::new("/proc/self/exe");
    command.env(PART, "faulty program").env("WIREPROOF_BYPASS", launcher.name()).stdout(Stdio::piped());
    let output = wire.at_b(|| command.output()).expect("this program");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[true, false] None None\n");
    let fates: Vec<_> = ended(&heard).sockets.iter().map(|record| record.fate).collect();
    assert_eq!(fates, [Err(Reason::Fault), Err(Reason::Cork)]);
}

fn records_are_taken_whatever_a_program_says() {
    let wire = Wire::up("says");
    let (launcher, heard) = wire.launch();
    wire.start("complaining program", launcher.name()).end();
    assert_eq!(ended(&heard).sockets.len(), 1);
    assert!(matches!(heard.recv_timeout(PATIENCE), Ok(Event::Refused { why: Hindrance::Unusable { .. }, .. })));
}

fn the_first_process_of_a_namespace_accepts_its_children() {
    let wire = Wire::up("first");
    let mut command = Command::new("unshare");
    command.args(["--pid", "--fork", "--mount-proc"]).arg(env::current_exe().expect("this program"));
    let output = wire.at_b(|| command.env(PART, "first process").output()).expect("util-linux");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "1 claimed 6144\n", "{output:?}");
}

/// A launcher that was stopped before its program asked it, and that program, which continued through the kernel.
fn unanswered(wire: &Wire, part: &str) -> (Started, u32) {
    let (mut launcher, program) = wire.launching(part);
    launcher.stop();
    launcher.go_on();
    took_five_seconds(&launcher.line(), "[false, false] ");
    (launcher, program)
}

fn is_told_of_once_the_launcher_goes_on(test: &str, part: &str) {
    let wire = Wire::up(test);
    let (mut launcher, program) = unanswered(&wire, part);
    launcher.resume();
    let told = format!("refused {program}: it had no answer for 5 s, as where wireproof bypass is stopped");
    assert_eq!(launcher.line(), told);
    launcher.end();
}

fn a_launcher_that_is_stopped_costs_a_program_five_seconds_in_all() {
    is_told_of_once_the_launcher_goes_on("stopped", "patient program");
}

fn the_first_socket_that_asks_a_stopped_launcher_may_be_one_of_tcp() {
    is_told_of_once_the_launcher_goes_on("tcp", "patient program with TCP");
}

fn a_program_that_ended_before_it_was_answered_is_told_of() {
    let wire = Wire::up("over");
    let (mut launcher, program) = unanswered(&wire, "patient program");
    drop(launcher.input.take());
    soon(|| is_in_state(Path::new(&format!("/proc/{program}")), 'Z'));
    launcher.resume();
    assert_eq!(launcher.line(), format!("refused {program}: it ended before it was answered"));
    launcher.end();
}

/// A terminal stops and continues both.
fn a_program_that_is_stopped_with_its_launcher_has_its_answer() {
    let wire = Wire::up("both");
    let (mut launcher, program) = wire.launching("patient program");
    launcher.stop();
    launcher.go_on();
    // It asks meanwhile.
    sleep(Duration::from_millis(500));
    signal("-STOP", &[program]);
    sleep(PATIENCE + Duration::from_secs(1));
    signal("-CONT", &[program, launcher.child.id()]);
    let line = launcher.line();
    assert!(line.starts_with("[true, true] "), "{line}");
    launcher.end();
}

/// Words of parent and child about a fork beside a launcher that was stopped.
fn forked_beside_stopped(wire: &Wire, part: &str, datagrams: usize) -> (Started, [String; 2]) {
    let (mut launcher, _) = wire.launching(part);
    let far = namespace::within(&wire.a, || UdpSocket::bind(address(A, 5001))).expect("it exists").expect("ours");
    far.set_read_timeout(Some(PATIENCE)).expect("settable");
    (0..datagrams).for_each(|_| wire.send("hello"));
    launcher.stop();
    launcher.go_on();
    let mut lines = [(); 2].map(|()| launcher.line());
    lines.sort();
    took_five_seconds(&lines[0], "child false ");
    assert_eq!(far.recv(&mut [0; 20]).expect("the child sent it"), 14);
    launcher.resume();
    (launcher, lines)
}

fn a_child_that_asks_a_stopped_launcher_goes_on_through_the_kernel() {
    let wire = Wire::up("asks");
    let (mut launcher, lines) = forked_beside_stopped(&wire, "forking program", 0);
    assert_eq!(lines[1], format!("parent Failed({}) 0", libc::EAGAIN));
    let told = launcher.line();
    assert!(told.starts_with("refused ") && told.contains(": it had no answer for 5 s"), "{told}");
    launcher.end();
}

fn datagrams_that_wait_at_a_fork_beside_a_stopped_launcher_are_counted() {
    let wire = Wire::up("waiting");
    let (mut launcher, lines) = forked_beside_stopped(&wire, "forking program with datagrams", 4);
    took_five_seconds(&lines[1], "parent Done(5) ");
    assert_eq!(launcher.line(), "ended: 1 received, 3 dropped");
    // The launcher delivers nothing that the program has kept.
    launcher.go_on();
    assert_eq!(launcher.line_of("child"), "child Err(WouldBlock)");
    launcher.end();
}

fn a_program_that_becomes_another_gives_it_back() {
    let wire = Wire::up("exec");
    let (launcher, heard) = wire.launch();
    let mut first = wire.start("becomes another", launcher.name());
    assert_eq!(first.line(), "claimed");
    assert_eq!(ended(&heard).program.process, first.child.id());
    let mut next = wire.start("program", launcher.name());
    assert_eq!(next.line(), "claimed 6144");
    first.end();
    next.end();
    ended(&heard);
    launcher.end().expect("readable");
}

fn datagrams_that_wait_as_a_program_becomes_another_beside_a_stopped_launcher_are_counted() {
    let wire = Wire::up("becomes");
    let (mut launcher, _) = wire.launching("program that becomes another");
    (0..4).for_each(|_| wire.send("hello"));
    launcher.stop();
    launcher.go_on();
    took_five_seconds(&launcher.line(), "replaced ");
    launcher.resume();
    assert_eq!(launcher.line(), "ended: 0 received, 4 dropped");
    launcher.end();
}

fn records_that_a_program_changes_do_not_change_the_count_of_xdp() {
    let wire = Wire::up("changes");
    let (launcher, heard) = wire.launch();
    let changed = |part: &str| {
        let mut program = wire.start(part, launcher.name());
        assert_eq!(program.line(), "claimed");
        (0..3).for_each(|_| wire.send("hello"));
        program.end();
        let claim = ended(&heard);
        assert_eq!(claim.witnessed, TrustedCounts { redirected: 3, handed_back: 0 });
        claim
    };
    let wiped = changed("wiping program");
    assert_eq!((wiped.sockets.len(), wiped.agreement()), (0, Agreement::Missing { packets: 3 }));
    let boasted = changed("boasting program");
    assert_eq!((boasted.sockets.len(), boasted.agreement()), (1, Agreement::TooMany { packets: 4 }));
    launcher.end().expect("readable");
}

fn a_program_that_cannot_use_its_grant_says_why() {
    let wire = Wire::up("poor");
    let (launcher, heard) = wire.launch();
    let mut poor = wire.start("poor program", launcher.name());
    let told = poor.line();
    assert!(told.starts_with("what the launcher handed over could not be used: "), "{told}");
    poor.end();
    let reason = told.rsplit_once(": ").expect("it says more").1;
    let why = loop {
        match heard.recv_timeout(PATIENCE).expect("it is told") {
            // No event if it ended before the handover was complete.
            Event::Claimed(_) => {}
            Event::Refused { why, .. } => break why,
            other => panic!("{other:?}"),
        }
    };
    assert!(why.to_string().ends_with(reason), "{why}");
    let mut next = wire.start("program", launcher.name());
    assert_eq!(next.line(), "claimed 6144");
    next.end();
    launcher.end().expect("readable");
}

fn whoever_is_killed_leaves_nothing_behind() {
    let wire = Wire::up("kill");
    let mut launcher = wire.start("launcher", "");
    let name = launcher.line();
    assert!(wire.has_xdp());
    let refused = wire.at_b(|| claim(&name)).err().expect("it did not start us");
    assert_eq!(refused.to_string(), "it is no program that this launcher started");
    launcher.kill();
    assert!(!wire.has_xdp());
    let gone = wire.at_b(|| claim(&name)).err().expect("it is gone");
    assert!(matches!(gone, NoGrant::NoLauncher(_)), "{gone}");
    // The next launcher gets the interface.
    let (launcher, _heard) = wire.launch();
    assert!(wire.has_xdp());
    launcher.end().expect("readable");
}

fn what_becomes_of_interfaces_is_told() {
    let wire = Wire::up("health");
    let (launcher, heard) = wire.launch();
    let grant = wire.at_b(|| claim(launcher.name())).expect("we are its own program");
    let expect = |wanted: Health| loop {
        if let Event::Interface { name, health } = heard.recv_timeout(PATIENCE).expect("it is told") {
            assert_eq!((name.as_str(), health), (PORT, wanted));
            return assert_eq!(grant.control.is_gone(0), wanted != Health::Well);
        }
    };
    let before = grant.control.generation();
    link::set_down(&wire.b, PORT).expect("it is there");
    expect(Health::Down);
    link::set_up(&wire.b, PORT).expect("it is there");
    expect(Health::Well);
    assert!(grant.control.generation() > before);

    let asks = AtomicBool::new(true);
    std::thread::scope(|scope| {
        // Constant requests do not prevent the launcher's checks.
        scope.spawn(|| {
            while asks.load(Relaxed) {
                assert!(wire.at_b(|| claim(launcher.name())).is_err());
                sleep(Duration::from_millis(200));
            }
        });
        let detached = Instant::now();
        detach_program_of(&wire);
        while !grant.control.is_gone(0) && detached.elapsed() < PATIENCE {
            sleep(Duration::from_millis(20));
        }
        asks.store(false, Relaxed);
        assert!(grant.control.is_gone(0));
    });
    expect(Health::NoProgram);
    link::delete(&wire.b, PORT).expect("it is there");
    expect(Health::Gone);
    drop(grant);
    ended(&heard);
    // Nothing can be granted now; only requesters learn of it, as the interfaces were reported before.
    assert!(matches!(wire.at_b(|| claim(launcher.name())), Err(NoGrant::Refused(_))));
    let asked = heard.recv_timeout(PATIENCE).expect("it is told");
    assert!(matches!(asked, Event::Refused { why: Hindrance::AllGone, .. }), "{asked:?}");
    launcher.end().expect("readable");
}

fn an_interface_that_is_gone_keeps_nobody_from_the_others() {
    const SECOND: &str = "wp1";
    let wire = Wire::up("two");
    let ends =
        [&wire.a, &wire.b].map(|namespace| LinkEnd { namespace: namespace.clone(), interface: SECOND.to_owned() });
    link::create_veth(&ends[0], &ends[1], Mtu(1500)).expect("veth");
    link::set_up(&wire.b, SECOND).expect("it was just made");
    let (tell, heard) = channel();
    let names = [PORT, SECOND].map(str::to_owned);
    let launcher = wire.at_b(|| Launcher::start(Attachment::new(&names)?, tell)).expect("this test needs root");
    let mut first = wire.start("program", launcher.name());
    assert_eq!(first.line(), "claimed 12288");
    link::delete(&wire.b, SECOND).expect("it is there");
    first.end();
    ended(&heard);
    let mut next = wire.start("program", launcher.name());
    assert_eq!(next.line(), "claimed 6144");
    wire.send("hello");
    assert_eq!(next.line(), "got hello");
    next.end();
    ended(&heard);
    launcher.end().expect("readable");
}

/// Detaches the program by force, as an administrator may.
fn detach_program_of(wire: &Wire) {
    let said_of_link = wire.shown();
    let program = said_of_link.split_once("prog/xdp id ").and_then(|(_, rest)| rest.split_whitespace().next());
    let program = format!(" prog {} ", program.expect("it has one"));
    let shown = Command::new("bpftool").args(["link", "list"]).output().expect("bpftool is installed");
    let text = String::from_utf8(shown.stdout).expect("text");
    let ours = text.lines().find(|line| line.contains(": xdp ") && line.contains(&program)).expect("it is listed");
    let id = ours.split(':').next().expect("it begins with it");
    let detached = Command::new("bpftool").args(["link", "detach", "id", id]).status().expect("it is installed");
    assert!(detached.success());
}

fn an_interface_that_cannot_be_had_is_named() {
    let wire = Wire::up("refused");
    let names = [PORT, "none0", "lo"].map(str::to_owned);
    let attachment = wire.at_b(|| Attachment::new(&names)).expect("this test needs root");
    let refused: Vec<String> = attachment.refused.iter().map(|(name, error)| format!("{name}: {error}")).collect();
    assert_eq!(attachment.interfaces().map(|(name, _)| name).collect::<Vec<_>>(), [PORT]);
    assert!(refused[0].starts_with("none0: there is no interface none0"), "{refused:?}");
    assert!(refused[1].starts_with("lo: ") && refused[1].contains("native XDP"), "{refused:?}");
    let again = wire.at_b(|| Grant::make(&[PORT.to_owned()])).err().expect("it has a program");
    assert!(again.to_string().contains("already has an XDP program"), "{again}");
    drop(attachment);
    sleep(Duration::from_millis(10));
    let (_attachment, grant) = wire.at_b(|| Grant::make(&[PORT.to_owned()])).expect("it is free again");
    let [interface] = &grant.interfaces[..] else { panic!("one") };
    assert_eq!((interface.mtu, interface.partial_checksums, interface.queues.len()), (1500, true, 1));
}
