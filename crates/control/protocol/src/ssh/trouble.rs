//! Errors of ssh, with advice.

use std::{io, time::Duration};

use super::Ssh;

/// The other machine is unusable.
#[derive(Debug, thiserror::Error)]
pub enum SshError {
    /// ssh is missing here.
    #[error(
        "cannot run \"{program}\" ({error}); install it (package openssh-client), or name another program with --ssh"
    )]
    Start {
        /// The program.
        program: String,
        /// The cause.
        error: io::Error,
    },
    /// The login was refused.
    #[error("cannot log in at {to}: {}{said}", .advice.as_ref().map(|advice| format!("{advice}; ssh said: ")).unwrap_or_default())]
    Refused {
        /// The machine.
        to: String,
        /// Message of ssh.
        said: String,
        /// Advice.
        advice: Option<String>,
    },
    /// A login that does not end.
    #[error("logging in at {to} takes longer than {waited:?}; try \"{by_hand}\" by hand")]
    Slow {
        /// The machine.
        to: String,
        /// The command line that logs in.
        by_hand: String,
        /// Waiting time.
        waited: Duration,
    },
    /// A login script with too much output.
    #[error(
        "{to} prints more than {} KiB where a command given to ssh should be heard; have its login \
         scripts print to terminals alone (in a shell: [ -t 1 ])", most / 1024
    )]
    Talkative {
        /// The machine.
        to: String,
        /// Bytes skipped at most.
        most: usize,
    },
    /// Another program answers there.
    #[error(
        "{to} does not run commands given to ssh, it printed {printed:?} instead; is there a shell for this user, and does its \
         login script let commands through?"
    )]
    Printed {
        /// The machine.
        to: String,
        /// Output.
        printed: String,
    },
}

/// Advice after an error.
pub(crate) fn advised(advice: &Option<String>) -> String {
    advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default()
}

impl SshError {
    pub(super) fn start(ssh: &Ssh, error: io::Error) -> Self {
        Self::Start { program: ssh.program.first().cloned().unwrap_or_default(), error }
    }

    pub(super) fn refused(ssh: &Ssh, stderr: &str) -> Self {
        let to = ssh.destination.clone();
        let is_silent = stderr.trim().is_empty();
        let said = if is_silent { "ssh ended without a word".to_owned() } else { in_one_line(stderr) };
        let by_hand = || format!("try \"{}\" by hand", ssh.by_hand(&[]));
        Self::Refused { advice: advice(stderr, ssh).or_else(|| (!is_silent).then(by_hand)), said, to }
    }
}

/// Advice if a session ends silently before our program starts.
pub(crate) const READ_BY_OTHERS: &str =
    "does a login script there read what was meant for it? Have it read from terminals alone (in a shell: [ -t 0 ])";

/// Whether ssh reports that its connection ended or failed.
pub(crate) fn tells_of_a_cut(stderr: &str) -> bool {
    let words = [
        "onnection to ",
        "onnection closed",
        "onnection reset",
        "onnection timed out",
        "Broken pipe",
        "not responding",
    ];
    words.iter().any(|word| stderr.contains(word))
        || stderr.contains("No route to host")
        || stderr.contains("Connection refused")
}

/// Words of ssh, and of the machine by it, on one line of bounded length.
fn in_one_line(text: &str) -> String {
    const MOST: usize = 2_000;
    // Banners are framed by "@".
    let lines = text.split(['\r', '\n']).map(|line| line.trim_matches(['@', ' ', '\t']));
    let line = lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" / ");
    let end = line.char_indices().nth(MOST).map(|(end, _)| end);
    end.map_or_else(|| line.clone(), |end| format!("{}…", &line[..end]))
}

/// Advice on a message of ssh about this machine; `None` if it is self-explanatory or unknown.
pub(crate) fn advice(stderr: &str, ssh: &Ssh) -> Option<String> {
    let by_hand = ssh.by_hand(&[]);
    let other_program = "that program is for another processor or system: install the one for it, or take it off the path and use \
                         --push where both are of one kind";
    let known: [(&str, String); 10] = [
        (
            "REMOTE HOST IDENTIFICATION HAS CHANGED",
            format!(
                "its key is not the one that is known: it may be another machine. Find out why, then \"ssh-keygen -R {}\" and \
                 \"{by_hand}\" once by hand",
                super::word(&ssh.known_host())
            ),
        ),
        (
            "Host key verification failed",
            format!("its key is not known yet: \"{by_hand}\" once by hand, and compare the fingerprint"),
        ),
        ("Permission denied (", format!("wireproof cannot type a password: set up a key with \"{}\"", ssh.copy_id())),
        (
            "Too many authentication failures",
            "name the key in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)".to_owned(),
        ),
        ("Could not resolve hostname", "check the name, or give it an address in ~/.ssh/config".to_owned()),
        (
            "Connection refused",
            match ssh.port {
                Some(port) => format!("no ssh server answers at port {port}: start it, or name another port"),
                None => "no ssh server answers there: start it, or name its port (ssh://host:port)".to_owned(),
            },
        ),
        ("timed out", "is it switched on, and does a firewall let ssh through?".to_owned()),
        ("Exec format error", other_program.to_owned()),
        ("required file not found", other_program.to_owned()),
        (
            "a password is required",
            "let this user use sudo without a password there (NOPASSWD in sudoers), or log in as root".to_owned(),
        ),
    ];
    known.into_iter().find(|(said, _)| stderr.contains(said)).map(|(_, advice)| advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ssh_says_is_told_with_what_to_do() {
        let ssh = Ssh { program: vec![], destination: "me@far".into(), port: None, caller: None };
        let told = |stderr: &str| SshError::refused(&ssh, stderr).to_string();
        let unknown = told(
            "No ED25519 host key is known for far and you have requested strict checking.\r\nHost key verification failed.\r\n",
        );
        assert!(unknown.contains("\"ssh me@far\" once by hand") && !unknown.contains('\r'), "{unknown}");
        let password = told("me@far: Permission denied (publickey,password).\r\n");
        assert!(password.contains("ssh-copy-id me@far"), "{password}");
        let noexec = told("sh: 1: /tmp/wireproof.x/wireproof: Permission denied\nis that folder mounted noexec?");
        assert!(!noexec.contains("ssh-copy-id"), "{noexec}");
        let foreign = told("bash: line 1: /usr/bin/wireproof: cannot execute binary file: Exec format error");
        assert!(foreign.contains("install the one for it"), "{foreign}");
        let banner = "@@@@@@@@\r\n@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @\r\n@@@@@@@@\r\nIt is possible.\r\n\
                      Host key verification failed.\r\n";
        let moved = Ssh { port: Some(2222), ..ssh.clone() };
        assert_eq!(
            SshError::refused(&moved, banner).to_string(),
            "cannot log in at me@far: its key is not the one that is known: it may be another machine. Find out why, then \
             \"ssh-keygen -R '[far]:2222'\" and \"ssh -p 2222 me@far\" once by hand; ssh said: WARNING: REMOTE HOST \
             IDENTIFICATION HAS CHANGED! / It is possible. / Host key verification failed."
        );
        assert!(told(&"x\n".repeat(60_000)).len() < 3_000, "a machine that says much");
        let own = Ssh { program: ["ssh", "-F", "my config"].map(str::to_owned).to_vec(), ..moved };
        let told_own = |stderr: &str| SshError::refused(&own, stderr).to_string();
        assert_eq!(
            told_own(
                "Welcome to Example Ltd.\r\nAll logins are recorded.\r\nme@far: Permission denied (publickey).\r\n"
            ),
            "cannot log in at me@far: wireproof cannot type a password: set up a key with \"ssh-copy-id -F 'my config' -p 2222 \
             me@far\"; ssh said: Welcome to Example Ltd. / All logins are recorded. / me@far: Permission denied (publickey).",
            "a banner stands behind our sentence"
        );
        let refused = "ssh: connect to host far port 2222: Connection refused";
        assert!(told_own(refused).contains("no ssh server answers at port 2222"), "{}", told_own(refused));
        assert!(told(refused).contains("ssh://host:port"), "{}", told(refused));
        assert_eq!(
            told("Welcome.\r\nodd\r\n"),
            "cannot log in at me@far: try \"ssh me@far\" by hand; ssh said: Welcome. / odd",
            "also where nothing is known about it"
        );
        assert_eq!(told(" "), "cannot log in at me@far: ssh ended without a word");
    }
}
