//! Facts about the other machine, read before anything is started or changed there.

use std::{
    io::Read,
    net::IpAddr,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use super::{Ssh, SshError};
use crate::{framing::NOISE_SKIPPED, pipes::harvest};

/// Time limit of a login, even with a slow name service.
const LOGIN: Duration = Duration::from_secs(30);

/// Marker in front of the answers, after a login script's output.
const MARK: &str = "wireproof-looks-around";

/// A line for each answer. `sudo -n` never prompts.
const QUESTIONS: &str = "echo; echo wireproof-looks-around; uname -m; id -u; command -v wireproof || echo; \
    if [ \"$(id -u)\" -eq 0 ]; then echo no; elif sudo -n true 2>/dev/null; then echo yes; else echo refused; fi; \
    echo \"${SSH_CONNECTION:-}\"";

/// Facts about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteFacts {
    /// Its architecture, as in `uname -m`.
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
    let mut command = ssh.command(&["sh", "-c", QUESTIONS].map(str::to_owned));
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = spawned.map_err(|error| SshError::start(ssh, error))?;
    let (out, err) = (collect(child.stdout.take()), collect(child.stderr.take()));
    let status = wait(&mut child);
    let (out, err) = (harvest(out), harvest(err));
    let to = || ssh.destination.clone();
    if out.total > NOISE_SKIPPED {
        return Err(SshError::Talkative { to: to(), most: NOISE_SKIPPED });
    }
    let status = status.ok_or_else(|| SshError::Slow { to: to(), by_hand: ssh.by_hand(&["true"]), waited: LOGIN })?;
    let facts = parse(&out.text());
    facts.ok_or_else(|| match status {
        Some(0) => SshError::Printed { to: to(), printed: out.text() },
        _ => SshError::refused(ssh, &err.text()),
    })
}

/// Output: its beginning and its length in bytes.
#[derive(Default)]
struct Printed {
    kept: Vec<u8>,
    total: usize,
}

impl Printed {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

/// Reads to the end, so that the writer does not fail.
fn collect(stream: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Printed> {
    thread::spawn(move || {
        let (mut printed, mut chunk) = (Printed::default(), [0; 4096]);
        let Some(mut stream) = stream else { return printed };
        // After an error, the bytes read so far are used.
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            let room = NOISE_SKIPPED - printed.kept.len();
            printed.kept.extend_from_slice(&chunk[..length.min(room)]);
            printed.total += length;
        }
        printed
    })
}

/// The exit status; the outer `None` means that it took too long and was ended.
fn wait(child: &mut Child) -> Option<Option<i32>> {
    let until = Instant::now() + LOGIN;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status.code()),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(10)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}

fn parse(printed: &str) -> Option<RemoteFacts> {
    let mut answers = printed.lines().skip_while(|line| *line != MARK).skip(1);
    let mut answer = || answers.next().map(|line| line.trim().to_owned());
    let (architecture, uid, wireproof, sudo) = (answer()?, answer()?, answer()?, answer()?);
    let connection = answer()?;
    let mut words = connection.split_whitespace();
    let (near, far) = (words.next(), words.nth(1));
    // A dual-stack server writes IPv4 as IPv6.
    let address = |word: Option<&str>| Some(word?.split('%').next()?.parse::<IpAddr>().ok()?.to_canonical());
    Some(RemoteFacts {
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
        let said =
            format!("Welcome!\nwireproof\n\n{MARK}\nx86_64\n1000\n/usr/local/bin/wireproof\nyes\n{connection}\n");
        let facts = parse(&said).expect("all answers");
        assert_eq!((facts.architecture.as_str(), facts.uid, facts.sudo), ("x86_64", 1000, true));
        assert_eq!(facts.wireproof.as_deref(), Some("/usr/local/bin/wireproof"));
        assert_eq!((facts.near, facts.far), ("198.18.0.1".parse().ok(), "198.18.0.2".parse().ok()));
        let bare = parse(&format!("\n{MARK}\naarch64\n0\n\nno\n\n")).expect("all answers");
        assert_eq!((bare.wireproof, bare.sudo, bare.near, bare.far), (None, false, None, None));
        assert_eq!(parse("This account is not available.\n"), None);
    }
}
