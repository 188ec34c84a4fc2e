//! Another machine, reached through the user's own ssh with their settings and keys, without passwords.

mod look;
mod trouble;

use std::{ffi::OsString, process::Command};

pub use look::{Look, look};
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
    pub(crate) fn command(&self, words: &[String]) -> Command {
        let (program, arguments) = self.program.split_first().map_or(("ssh", &[][..]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        command.args(arguments).arg("-T").args(OPTIONS.iter().flat_map(|option| ["-o", option]));
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
    fn the_users_own_words_come_first_and_the_machine_last() {
        let program = ["ssh", "-F", "my config"].map(str::to_owned).to_vec();
        let ssh = Ssh { program, destination: "me@far".into(), port: Some(2222), caller: None };
        let command = ssh.command(&["true".into()]);
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy().into_owned()).collect();
        assert_eq!(args[..3], ["-F", "my config", "-T"]);
        for option in ["ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"] {
            assert!(args.iter().any(|arg| arg == option), "{option}");
        }
        assert_eq!(args[args.len() - 5..], ["-p", "2222", "--", "me@far", "'true'"]);
    }
}
