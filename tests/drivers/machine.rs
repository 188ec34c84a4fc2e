//! A machine in QEMU.

use std::{
    fs, io,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    control::{Control, Done},
    lab::image,
    monitor::Monitor,
};

/// QEMU opens its sockets quickly, even on a busy machine.
const LONGEST_START: Duration = Duration::from_secs(30);

/// A running machine. It is switched off when dropped.
pub(crate) struct Machine {
    name: &'static str,
    /// Console output.
    console: PathBuf,
    words: Vec<String>,
    running: Running,
}

/// The process, and its control connections.
struct Running {
    process: Child,
    control: Control,
    monitor: Monitor,
}

/// A command that runs in the background of a machine.
#[derive(Clone, Copy)]
pub(crate) struct Background(u32);

impl Machine {
    /// Kills wireproof. Its measuring processes end by themselves afterwards: one may be gone before its turn comes.
    pub(crate) fn kill_wireproof(&mut self) {
        self.sh("pidof wireproof >/dev/null && { killall -9 wireproof; true; }").ok();
    }

    /// Boots a machine from files with its system and its disk, and waits until it is up; `cards` are QEMU's arguments.
    pub(crate) fn boot(
        name: &'static str,
        processors: u8,
        folder: &Path,
        files: [&Path; 2],
        cards: Vec<String>,
    ) -> Self {
        let console = folder.join(format!("{name}.console"));
        let mut words = fixed_words(name, processors, files);
        words.extend(cards);
        let running = Running::start(&console, &words)
            .unwrap_or_else(|error| panic!("{name} does not come up: {error}\n{}", tail(&console)));
        let mut machine = Self { name, console, words, running };
        machine.name_interfaces();
        machine
    }

    /// The kernel numbers interfaces in order of detection; here they get the names of their cards.
    fn name_interfaces(&mut self) {
        let renamed =
            |(name, mac)| format!("ip link set $(grep -l {mac} /sys/class/net/*/address | cut -d/ -f5) name {name}");
        let commands: Vec<_> = self.words.iter().filter_map(|word| named_card(word)).map(renamed).collect();
        self.sh(&commands.join(" && ")).ok();
    }

    /// Runs a shell command.
    pub(crate) fn sh(&mut self, command: &str) -> Done {
        match self.running.control.run(command) {
            Ok(done) => done,
            Err(error) => panic!("{} does not answer to {command:?}: {error}\n{}", self.name, tail(&self.console)),
        }
    }

    /// Runs wireproof.
    pub(crate) fn wireproof(&mut self, words: &str) -> Done {
        let done = self.sh(&format!("wireproof {words}"));
        assert!(!done.err.contains("panicked"), "{words}: {}", done.err);
        done
    }

    /// Starts a command in the background.
    pub(crate) fn start(&mut self, command: &str) -> Background {
        let number = self.sh("ls /tmp/*.started 2>/dev/null | wc -l").out.trim().parse().unwrap();
        let files = format!(">/tmp/{number}.out 2>/tmp/{number}.err");
        self.sh(&format!(
            "touch /tmp/{number}.started; ({command} {files}; echo $? >/tmp/{number}.status) >/dev/null 2>&1 &"
        ))
        .ok();
        Background(number)
    }

    /// Whether a background command has ended.
    pub(crate) fn has_ended(&mut self, Background(number): Background) -> bool {
        self.sh(&format!("test -s /tmp/{number}.status")).status == 0
    }

    /// Waits for a background command to end.
    pub(crate) fn end_of(&mut self, Background(number): Background) -> Done {
        self.until(&format!("test -s /tmp/{number}.status"));
        let status = self.sh(&format!("cat /tmp/{number}.status")).out.trim().parse().unwrap();
        let said = self.sh(&format!("cat /tmp/{number}.out; cat /tmp/{number}.err >&2"));
        Done { status, ..said }
    }

    /// Waits until a shell command succeeds.
    pub(crate) fn until(&mut self, command: &str) {
        let waits = format!(
            "end=$(($(date +%s) + 90)); while [ $(date +%s) -lt $end ]; do {command} && exit 0; sleep 0.2; done; exit 1"
        );
        let done = self.sh(&waits);
        let now = if done.status == 0 {
            String::new()
        } else {
            self.sh("ps; ip address; tail -n 5 /tmp/*.out /tmp/*.err; ! command -v nmcli || nmcli device").out
        };
        assert_eq!(done.status, 0, "{}: in vain waited for {command:?}: {now}", self.name);
    }

    /// Plugs or pulls the cable of a card.
    pub(crate) fn set_link(&mut self, card: &str, up: bool) {
        self.running.monitor.set_link(card, up).unwrap();
    }

    /// Removes a card.
    pub(crate) fn unplug(&mut self, card: &str) {
        self.running.monitor.unplug(card).unwrap();
    }

    /// Cuts the power, and switches the machine on again.
    pub(crate) fn power_cut(&mut self) {
        self.running.stop();
        self.running = Running::start(&self.console, &self.words)
            .unwrap_or_else(|error| panic!("{} does not come up again: {error}\n{}", self.name, tail(&self.console)));
        self.name_interfaces();
    }
}

impl Running {
    fn start(console: &Path, words: &[String]) -> io::Result<Self> {
        let [control, monitor] = ["control", "monitor"].map(|name| console.with_extension(name));
        let listen = |path: &Path| {
            let _ = fs::remove_file(path);
            UnixListener::bind(path)
        };
        let listeners = [listen(&control)?, listen(&monitor)?];
        let mut command = Command::new("setpriv");
        // QEMU ends with this process in any case.
        command.args(["--pdeathsig", "KILL", "qemu-system-x86_64"]).args(words);
        command.args(["-chardev", &format!("socket,id=control,path={}", control.display())]);
        command.args(["-chardev", &format!("socket,id=monitor,path={}", monitor.display())]);
        command.args(["-device", "virtserialport,chardev=control", "-mon", "chardev=monitor,mode=control"]);
        command.args(["-serial", &format!("file:{}", console.display())]);
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
        match greet(&listeners, &mut process) {
            Ok((control, monitor)) => Ok(Self { process, control, monitor }),
            Err(error) => {
                let _ = process.kill();
                let _ = process.wait();
                Err(error)
            }
        }
    }

    /// Like pulling the plug.
    fn stop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.running.stop();
        if thread::panicking() {
            eprintln!("the console of {}:\n{}", self.name, tail(&self.console));
        }
    }
}

/// Common to all machines, without QEMU's default devices.
fn fixed_words(name: &str, processors: u8, [initrd, disk]: [&Path; 2]) -> Vec<String> {
    // The kernel would calibrate the time stamp counter, wrongly if QEMU has to wait.
    let clock = "clocksource=hpet tsc=unstable";
    let append = format!(
        "console=ttyS0 loglevel=4 panic=-1 mitigations=off no_timer_check net.ifnames=0 {clock} hostname={name}"
    );
    // The machine's power is cut, not the computer's: writes need no flush.
    let disk = format!("file={},if=none,id=disk,format=raw,cache=unsafe", disk.display());
    let kernel = image("vmlinux");
    // All features of the emulation except slow ones: five-level page tables add a step to each lookup, and with "erms"
    // memory is copied byte by byte.
    let processor = "max,la57=off,erms=off";
    let processors = processors.to_string();
    let memory = if initrd.ends_with("initrd-systemd") { "1024" } else { "512" };
    let words: [&[&str]; 6] = [
        &["-machine", "q35", "-accel", "tcg", "-cpu", processor, "-smp", &processors, "-m", memory],
        &["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"],
        &["-kernel", kernel.to_str().unwrap(), "-initrd", initrd.to_str().unwrap()],
        &["-append", &append],
        &["-drive", &disk, "-device", "virtio-blk-pci,drive=disk"],
        &["-device", "virtio-serial-pci"],
    ];
    words.concat().into_iter().map(str::to_owned).collect()
}

/// Name and MAC address of a card in QEMU's arguments.
fn named_card(word: &str) -> Option<(String, String)> {
    let value = |key: &str| word.split(',').find_map(|part| part.strip_prefix(key)).map(str::to_owned);
    Some((value("id=")?, value("mac=")?))
}

fn greet([control, monitor]: &[UnixListener; 2], process: &mut Child) -> io::Result<(Control, Monitor)> {
    let (control, monitor) = (accept(control, process)?, accept(monitor, process)?);
    Ok((Control::wait(control)?, Monitor::open(monitor)?))
}

/// The connection that QEMU makes at its start.
fn accept(listener: &UnixListener, process: &mut Child) -> io::Result<UnixStream> {
    listener.set_nonblocking(true)?;
    let until = Instant::now() + LONGEST_START;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            Err(_) => {}
        }
        if let Some(status) = process.try_wait()? {
            return Err(io::Error::other(format!("QEMU ended with {status}; what it said is above")));
        }
        if Instant::now() > until {
            return Err(io::Error::other("QEMU does not connect"));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The end of a machine's console output.
fn tail(console: &Path) -> String {
    let said = fs::read(console).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.lines().collect();
    lines[lines.len().saturating_sub(40)..].join("\n")
}
