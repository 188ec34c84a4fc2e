//! A session at a shell that runs FreeBSD's commands one after the other, and its output taken apart.
//!
//! The far end needs no program of ours: `/bin/sh` is there, whatever the user's login shell. The commands read and change nothing.

use std::sync::LazyLock;

use model::Reading;

/// Longest output of a session in bytes, more than all commands print.
pub const LONGEST_SESSION: usize = 16 << 20;

/// Seconds after which a command is ended (`timeout` is part of FreeBSD 10.3 and later).
const PATIENCE_S: u32 = 5;
/// Exit status of `timeout` for a command that it ended.
const ENDED: &str = "124";
/// Longest message of a failed command that is kept, in bytes.
const LONGEST_MESSAGE: usize = 300;

/// Lines before the output of a command and behind it.
const ASKS: &str = "wireproof-asks ";
const HEARD: &str = "wireproof-heard ";

/// Output of the commands; where one failed, its words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// `uname -a`.
    pub uname: Reading<String>,
    /// `sysctl` of the branches that matter.
    pub sysctl: Reading<String>,
    /// `ifconfig -vm`.
    pub ifconfig: Reading<String>,
    /// `pciconf -lvbc`, which needs root.
    pub pciconf: Reading<String>,
    /// `pciconf -lv`: names of the devices alone, which anybody may read.
    pub devices: Reading<String>,
    /// `netstat -idn`.
    pub counters: Reading<String>,
    /// `netstat -s`.
    pub protocols: Reading<String>,
    /// `netstat -m`.
    pub mbufs: Reading<String>,
    /// `route -n get default`.
    pub route: Reading<String>,
    /// `vmstat -i`.
    pub interrupts: Reading<String>,
    /// `dmesg`.
    pub dmesg: Reading<String>,
    /// `kldstat`.
    pub modules: Reading<String>,
}

/// A command, and the place of its output.
type Command = (&'static str, fn(&mut Said) -> &mut Reading<String>);

/// Branches of sysctl by importance: the last ones are long on a machine with many queues.
const SYSCTL: &str = "sysctl -i kern.osrelease kern.hostname kern.hostuuid kern.boottime kern.vm_guest kern.timecounter kern.ipc \
    vm.ndomains vm.pmap.pti machdep.hyperthreading_allowed net.inet net.inet6.ip6 net.isr net.route hw dev";

const COMMANDS: [Command; 12] = [
    ("uname -a", |said| &mut said.uname),
    (SYSCTL, |said| &mut said.sysctl),
    ("ifconfig -vm", |said| &mut said.ifconfig),
    ("pciconf -lvbc", |said| &mut said.pciconf),
    ("pciconf -lv", |said| &mut said.devices),
    ("netstat -m", |said| &mut said.mbufs),
    ("netstat -idn", |said| &mut said.counters),
    ("netstat -s", |said| &mut said.protocols),
    ("route -n get default", |said| &mut said.route),
    ("vmstat -i", |said| &mut said.interrupts),
    ("dmesg", |said| &mut said.dmesg),
    ("kldstat", |said| &mut said.modules),
];

/// Script for `sh -c`. csh allows neither a new line nor an exclamation mark within quotes.
///
/// Standard output goes on to the caller at once; standard error is kept and printed behind it, with the exit status.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    let asked = COMMANDS.map(|(command, _)| format!("ask {command}")).join("; ");
    format!(
        "LC_ALL=C; export LC_ALL; PATH=$PATH:/sbin:/bin:/usr/sbin:/usr/bin; export PATH; exec 3>&1; \
         t=; if timeout {PATIENCE_S} true 2>/dev/null; then t=\"timeout {PATIENCE_S}\"; fi; \
         ask() {{ printf \"\\n%s\\n\" \"{ASKS}$*\"; e=$($t \"$@\" 2>&1 >&3 </dev/null 3>&-); \
         printf \"\\n%s\\n%s\\n\" \"{HEARD}$?\" \"$e\"; }}; {asked}"
    )
});

/// The script that runs the commands, for `sh -c`: one line.
pub fn script() -> &'static str {
    &SCRIPT
}

impl Said {
    /// Takes the output of the script apart. A command whose output is not whole counts as one that failed.
    pub fn of(printed: &str) -> Self {
        let mut said = Self::default();
        let silent = |command: &str| failed(command, "the session ended before it ran");
        for (command, place) in COMMANDS {
            *place(&mut said) = silent(command);
        }
        let begin = format!("\n{ASKS}");
        // A login script may print before the first one.
        for part in printed.split(begin.as_str()).skip(1) {
            let (asked, rest) = part.split_once('\n').unwrap_or((part, ""));
            if let Some((command, place)) = COMMANDS.iter().find(|(command, _)| *command == asked) {
                *place(&mut said) = answer(command, rest);
            }
        }
        said
    }
}

fn failed(command: &str, why: &str) -> Reading<String> {
    let short = if command == SYSCTL { "sysctl" } else { command };
    Reading::Unreadable { path: short.to_owned(), why: why.to_owned() }
}

/// The output of a command, if it is whole: what is cut off would be read as another value.
fn answer(command: &str, rest: &str) -> Reading<String> {
    let end = format!("\n{HEARD}");
    let Some((text, tail)) = rest.split_once(end.as_str()) else {
        return failed(command, "the session ended before its output did");
    };
    let (status, message) = tail.split_once('\n').unwrap_or((tail, ""));
    match status.trim() {
        "0" if text.is_empty() || text.ends_with('\n') => Reading::Known(text.to_owned()),
        "0" => failed(command, "its output ends within a line"),
        ENDED => failed(command, &format!("it took longer than {PATIENCE_S} s")),
        status => {
            let last = message.lines().map(str::trim).rfind(|line| !line.is_empty());
            let other = || format!("exit status {status}");
            failed(
                command,
                &last.map_or_else(other, |last| last[..last.floor_char_boundary(LONGEST_MESSAGE)].to_owned()),
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(text: &str) -> Reading<String> {
        Reading::Known(text.to_owned())
    }

    fn why(reading: &Reading<String>) -> &str {
        match reading {
            Reading::Unreadable { why, .. } => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn outputs_are_told_apart_whatever_a_login_script_prints() {
        let said = Said::of(
            "Welcome!\nwireproof-asks\n\nwireproof-asks uname -a\nFreeBSD a 13.1-RELEASE\n\nwireproof-heard 0\n\n\
             \nwireproof-asks kldstat\n\nwireproof-heard 0\n\n\nwireproof-asks rm -r\nx\n\nwireproof-heard 0\n\n",
        );
        assert_eq!((&said.uname, &said.modules), (&known("FreeBSD a 13.1-RELEASE\n"), &known("")));
        assert_eq!(why(&said.sysctl), "the session ended before it ran");
    }

    #[test]
    fn a_command_that_fails_or_prints_half_is_one_that_said_nothing() {
        let of = |text: &str| Said::of(&format!("\nwireproof-asks pciconf -lvbc\n{text}")).pciconf;
        let missing = of("\nwireproof-heard 127\nsh: pciconf: not found\n");
        assert_eq!(missing, Reading::Unreadable { path: "pciconf -lvbc".into(), why: "sh: pciconf: not found".into() });
        assert_eq!(why(&of("ix0@pci0:2:0:0:\n\nwireproof-heard 124\n\n")), "it took longer than 5 s");
        assert_eq!(why(&of("ix0@pci0:2:0:0:\n\nwireproof-heard 1\n\n")), "exit status 1");
        assert_eq!(why(&of("ix0@pci0:2:0\nwireproof-heard 0\n\n")), "its output ends within a line");
        assert_eq!(why(&of("ix0@pci0:2:0:0:\n")), "the session ended before its output did");
        assert!(why(&of(&format!("\nwireproof-heard 1\n{}\n", "é".repeat(1000)))).len() <= LONGEST_MESSAGE);
    }

    #[test]
    fn the_script_passes_each_shell_as_one_line() {
        assert!(!script().contains(['\n', '!', '\'']) && script().len() < 1500, "{}", script());
    }
}
