//! Facts about the other machine, read before anything is started or changed there.

use std::{net::IpAddr, time::Duration};

use super::{Ssh, SshError, ran::Bounds};
use crate::framing::NOISE_SKIPPED;

/// Time limit of a login, even with a slow name service.
const LOGIN: Duration = Duration::from_secs(30);

/// Marker in front of the answers, after a login script's output.
const MARK: &str = "wireproof-looks-around";

/// A line for each answer. `sudo -n` never prompts; other systems than Linux, on which nothing of ours runs, are not asked for it.
const QUESTIONS: &str = "echo; echo wireproof-looks-around; s=$(uname -s); echo \"$s\"; uname -m; id -u; \
    command -v wireproof || echo; \
    if [ \"$(id -u)\" -eq 0 ] || [ \"$s\" != Linux ]; then echo no; elif sudo -n true 2>/dev/null; then echo yes; else echo refused; fi; \
    echo \"${SSH_CONNECTION:-}\"";

/// Facts about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFacts {
    /// System, as in `uname -s`.
    pub system: String,
    /// Architecture, as in `uname -m`.
    pub architecture: String,
    /// User ID there.
    pub uid: u32,
    /// wireproof on that user's path, if any.
    pub wireproof: Option<String>,
    /// Whether that user may become root by sudo without a password.
    pub sudo: bool,
    /// Our address as seen from there; with a jump host, the jump host's.
    pub near: Option<IpAddr>,
    /// The connection's address at that machine.
    pub far: Option<IpAddr>,
}

/// Logs in and reads the facts; changes nothing.
pub fn remote_facts(ssh: &Ssh) -> Result<RemoteFacts, SshError> {
    let ran = ssh.run(&["sh", "-c", QUESTIONS], Bounds { bytes: NOISE_SKIPPED, time: LOGIN })?;
    let to = || ssh.destination.clone();
    if ran.is_long {
        return Err(SshError::Talkative { to: to(), most: NOISE_SKIPPED });
    }
    if ran.is_slow {
        return Err(SshError::Slow { to: to(), by_hand: ssh.by_hand(&["true"]), waited: LOGIN });
    }
    parse(&ran.out).ok_or_else(|| match ran.status {
        Some(0) => SshError::Printed { to: to(), printed: ran.out },
        _ => SshError::refused(ssh, &ran.err),
    })
}

fn parse(printed: &str) -> Option<RemoteFacts> {
    let mut answers = printed.lines().skip_while(|line| *line != MARK).skip(1);
    let mut answer = || answers.next().map(|line| line.trim().to_owned());
    let (system, architecture, uid, wireproof, sudo) = (answer()?, answer()?, answer()?, answer()?, answer()?);
    let connection = answer()?;
    let mut words = connection.split_whitespace();
    let (near, far) = (words.next(), words.nth(1));
    // A dual-stack server writes IPv4 as IPv6.
    let address = |word: Option<&str>| Some(word?.split('%').next()?.parse::<IpAddr>().ok()?.to_canonical());
    Some(RemoteFacts {
        system,
        architecture,
        uid: uid.parse().ok()?,
        wireproof: Some(wireproof).filter(|path| path.starts_with('/')),
        sudo: sudo == "yes",
        near: address(near),
        far: address(far),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine whose shell runs `first`; the command is its last argument.
    fn far(first: &str) -> Result<RemoteFacts, SshError> {
        let program = ["sh", "-c", &format!("{first}; for word; do :; done; eval \"$word\"")].map(str::to_owned).into();
        remote_facts(&Ssh { program, destination: "far".to_owned(), port: None, caller: None })
    }

    #[test]
    fn a_login_script_that_prints_a_little_is_skipped_and_one_that_prints_much_is_named() {
        let printing = |bytes: usize| far(&format!("head -c {bytes} /dev/zero | tr '\\0' x"));
        assert!(printing(60_000).expect("it answers behind that").uid < u32::MAX);
        for much in [70_000, 2_000_000] {
            let error = printing(much).expect_err("too much").to_string();
            assert!(error.starts_with("far prints more than 64 KiB") && error.contains("terminals alone"), "{error}");
        }
    }

    #[test]
    fn answers_are_found_after_whatever_a_login_script_prints() {
        let connection = "198.18.0.1 40000 198.18.0.2 22";
        let said = format!(
            "Welcome!\nwireproof\n\n{MARK}\nLinux\nx86_64\n1000\n/usr/local/bin/wireproof\nyes\n{connection}\n"
        );
        let facts = parse(&said).expect("all answers");
        assert_eq!((facts.system.as_str(), facts.architecture.as_str()), ("Linux", "x86_64"));
        assert_eq!((facts.uid, facts.sudo), (1000, true));
        assert_eq!(facts.wireproof.as_deref(), Some("/usr/local/bin/wireproof"));
        assert_eq!((facts.near, facts.far), ("198.18.0.1".parse().ok(), "198.18.0.2".parse().ok()));
        let bare = parse(&format!("\n{MARK}\nFreeBSD\naarch64\n0\n\nno\n\n")).expect("all answers");
        assert_eq!((bare.wireproof, bare.sudo, bare.near, bare.far), (None, false, None, None));
        assert_eq!(parse("This account is not available.\n"), None);
    }
}
