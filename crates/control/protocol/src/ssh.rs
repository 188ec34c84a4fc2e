//! Another machine, reached through the user's own ssh with their settings and keys, without passwords.

mod ran;
mod remote_facts;
mod trouble;

use std::{ffi::OsString, process::Command};

pub use ran::{Bounds, Ran};
pub use remote_facts::{RemoteFacts, remote_facts};
pub use trouble::SshError;
pub(crate) use trouble::{READ_BY_OTHERS, advice, advised, tells_of_a_cut};

/// The ssh connection to a machine.
#[derive(Clone, Debug)]
pub struct Ssh {
    /// The program with its arguments: `ssh`, or the user's replacement, like `ssh -F FILE`.
    pub program: Vec<String>,
    /// Destination for ssh: `host` or `user@host`.
    pub destination: String,
    /// Port, unless it is the default or set in the user's configuration.
    pub port: Option<u16>,
    /// The user to run it as; `None` for ourselves.
    pub caller: Option<Caller>,
}

/// The user who called this program, where it is root for that user.
#[derive(Clone, Debug)]
pub struct Caller {
    /// Has a program run as that user.
    pub run_as: fn(&mut Command),
    /// Environment of the user's programs: HOME, SSH_AUTH_SOCK and others.
    pub environment: Vec<(String, OsString)>,
}

/// In the order of ssh's manual page: no terminal, no password prompt, nothing forwarded, least of all the user's keys.
///
/// A shared connection of the user is used, but none is left open: its process would keep our pipe.
const OPTIONS: [&str; 7] = [
    "BatchMode=yes",
    "ClearAllForwardings=yes",
    "ConnectTimeout=10",
    "ControlMaster=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "RemoteCommand=none",
];

impl Ssh {
    /// A command that runs these words there. ssh passes them to the user's shell as one line: each is quoted, to
    /// arrive unchanged.
    pub fn command(&self, words: &[String]) -> Command {
        let (program, arguments) = self.program.split_first().map_or(("ssh", &[][..]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        // The first value of an option counts for ssh; of -A and -a, and of -X and -x, the last one does.
        command.args(arguments).args(["-T", "-a", "-x"]).args(OPTIONS.iter().flat_map(|option| ["-o", option]));
        if let Some(port) = self.port {
            command.args(["-p", &port.to_string()]);
        }
        command
            .args(["--", &self.destination])
            .arg(words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
        if let Some(caller) = &self.caller {
            (caller.run_as)(&mut command);
            command.envs(caller.environment.iter().map(|(name, value)| (name, value)));
        }
        command
    }
}

impl Ssh {
    /// The command line by which a user logs in there as this program does, with these words behind it.
    pub fn by_hand(&self, words: &[&str]) -> String {
        let program = if self.program.is_empty() { vec!["ssh".to_owned()] } else { self.program.clone() };
        self.typed(&program, words)
    }

    /// The command line that copies a key there.
    fn copy_id(&self) -> String {
        let options =
            self.program.split_first().filter(|(program, _)| is_ssh(program)).map_or(&[][..], |(_, rest)| rest);
        self.typed(&[&["ssh-copy-id".to_owned()], options].concat(), &[])
    }

    /// The machine's name among the known hosts.
    fn known_host(&self) -> String {
        let host = self.destination.rsplit_once('@').map_or(self.destination.as_str(), |(_, host)| host);
        self.port.map_or_else(|| host.to_owned(), |port| format!("[{host}]:{port}"))
    }

    fn typed(&self, program: &[String], words: &[&str]) -> String {
        let port = self.port.iter().flat_map(|port| ["-p".to_owned(), port.to_string()]);
        let words = words.iter().map(|word| (*word).to_owned());
        let all = program.iter().cloned().chain(port).chain([self.destination.clone()]).chain(words);
        all.map(|text| word(&text)).collect::<Vec<_>>().join(" ")
    }
}

fn is_ssh(program: &str) -> bool {
    program.rsplit('/').next() == Some("ssh")
}

/// A word as a person types it: quoted where a shell would not take it as it is.
fn word(text: &str) -> String {
    let is_plain = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,@%+~".contains(c));
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Quotes a word for a shell: in single quotes, only these characters are special.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_at_the_other_shell_as_they_are() {
        let odd = ["a b", "$HOME `id`", "it's", "", "--", "\\", "*;\"<&"];
        let script = format!("printf '%s\\n' {}", odd.map(quoted).join(" "));
        let printed = Command::new("sh").args(["-c", &script]).output().expect("a shell").stdout;
        assert_eq!(String::from_utf8(printed).expect("text"), odd.join("\n") + "\n");
    }

    #[test]
    fn a_hint_can_be_typed_as_it_is() {
        let ssh = |program: &[&str], port| Ssh {
            program: program.iter().map(|word| (*word).to_owned()).collect(),
            destination: "me@far".into(),
            port,
            caller: None,
        };
        let ported = ssh(&["/usr/bin/ssh", "-F", "my config"], Some(2222));
        assert_eq!(ported.by_hand(&["true"]), "/usr/bin/ssh -F 'my config' -p 2222 me@far true");
        assert_eq!(ported.copy_id(), "ssh-copy-id -F 'my config' -p 2222 me@far");
        assert_eq!(ported.known_host(), "[far]:2222");
        let plain = ssh(&[], None);
        assert_eq!([plain.by_hand(&[]), plain.known_host()], ["ssh me@far", "far"]);
        assert_eq!(ssh(&["tsh", "--proxy=x"], None).copy_id(), "ssh-copy-id me@far", "options of another program");
    }

    #[test]
    fn the_users_own_words_come_first_and_the_machine_last() {
        let program = ["ssh", "-F", "my config"].map(str::to_owned).to_vec();
        let ssh = Ssh { program, destination: "me@far".into(), port: Some(2222), caller: None };
        let command = ssh.command(&["true".into()]);
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[..5], ["-F", "my config", "-T", "-a", "-x"]);
        for option in ["ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"] {
            assert!(args.iter().any(|arg| arg == option), "{option}");
        }
        assert_eq!(args[args.len() - 5..], ["-p", "2222", "--", "me@far", "'true'"]);
    }
}
