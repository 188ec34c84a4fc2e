//! Words of the other end, which may lie: lines, and what they say. Pure.

/// Longest line. Keys have some hundred bytes.
const LONGEST: usize = 16 << 10;

/// Word instead of an answer, where an end lacks a program.
pub(super) const LACKS: &str = "lacks";

/// Bytes that were read of a connection and not yet heard.
#[derive(Default)]
pub(super) struct Lines(Vec<u8>);

impl Lines {
    /// Takes what was read; `false` where there is too much of it.
    pub(super) fn take(&mut self, bytes: &[u8]) -> bool {
        self.0.extend_from_slice(bytes);
        self.0.len() <= LONGEST
    }

    /// The next whole line.
    pub(super) fn next(&mut self) -> Option<String> {
        let end = self.0.iter().position(|byte| *byte == b'\n')?;
        let line: Vec<u8> = self.0.drain(..=end).collect();
        Some(String::from_utf8_lossy(&line[..end]).into_owned())
    }
}

/// Beginning of the near end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hello<'a> {
    /// Its available memory.
    pub(super) available: u64,
    /// Size of a file on disk there; 0 without one.
    pub(super) of_file: u64,
    /// Words of the method.
    pub(super) words: &'a str,
}

/// Beginning of the near end; `None` where it lacks its program.
pub(super) fn hello(line: &str) -> Option<Hello<'_>> {
    let mut parts = line.splitn(3, ' ');
    let (available, of_file) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Hello { available, of_file, words: parts.next().unwrap_or_default() })
}

/// The far end's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// It lacks a program.
    Lacks,
    /// Size of the contents, port of the server, and words of the method.
    Offer { size: u64, port: u16, words: &'a str },
}

/// The far end's answer; `None` where it is none.
pub(super) fn answer(line: &str) -> Option<Answer<'_>> {
    if line == LACKS {
        return Some(Answer::Lacks);
    }
    let mut parts = line.splitn(3, ' ');
    let (size, port) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(Answer::Offer { size, port, words: parts.next().unwrap_or_default() })
}

/// Destination of a client of ssh.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Login<'a> {
    /// Key of the host.
    pub(super) key: &'a str,
    /// User.
    pub(super) user: &'a str,
    /// Folder.
    pub(super) room: &'a str,
}

/// A login: none of its words is an option of a program, or a second word to one.
pub(super) fn login(words: &str) -> Option<Login<'_>> {
    let (rest, room) = words.rsplit_once(' ')?;
    let (key_of_host, user) = rest.rsplit_once(' ')?;
    let is_plain = |word: &str, more: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c));
    let is_user = !user.is_empty() && !user.starts_with('-') && is_plain(user, "_.-@+");
    is_user.then_some(Login { key: key(key_of_host)?, user, room: path(room)? })
}

/// A path from the root, of letters that mean nothing to any program.
pub(super) fn path(words: &str) -> Option<&str> {
    let is_plain = words.chars().all(|c| c.is_ascii_alphanumeric() || "/_.-".contains(c));
    (words.starts_with('/') && is_plain).then_some(words)
}

/// A public key: its kind, and its bytes in Base64.
pub(super) fn key(words: &str) -> Option<&str> {
    let (kind, key) = words.split_once(' ')?;
    let is_kind = !kind.is_empty() && kind.chars().all(|c| c.is_ascii_alphanumeric() || "-.@".contains(c));
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || "+/=".contains(c));
    (is_kind && is_key).then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_heard_one_by_one_and_one_without_an_end_is_none() {
        let mut lines = Lines::default();
        assert!(lines.take(b"one\ntw") && lines.take(b"o\n"));
        assert_eq!([lines.next(), lines.next(), lines.next()], [Some("one".into()), Some("two".into()), None]);
        assert!(lines.take(&[b'x'; LONGEST]) && !lines.take(b"x") && lines.next().is_none());
    }

    #[test]
    fn what_an_end_says_is_read() {
        let (available, of_file) = (900, 70);
        assert_eq!(hello("900 70 ssh-ed25519 AAAA"), Some(Hello { available, of_file, words: "ssh-ed25519 AAAA" }));
        assert_eq!(hello("900 70 "), Some(Hello { available, of_file, words: "" }));
        assert_eq!([hello("900"), hello(LACKS), hello("-1 0 x"), hello("")], [None; 4]);
        assert_eq!(answer("7 22 a b c"), Some(Answer::Offer { size: 7, port: 22, words: "a b c" }));
        assert_eq!(answer("7 0 "), Some(Answer::Offer { size: 7, port: 0, words: "" }));
        assert_eq!((answer(LACKS), answer("7"), answer("7 65536 x")), (Some(Answer::Lacks), None, None));
    }

    #[test]
    fn no_word_of_a_login_is_an_option_or_a_second_word() {
        let there = "ssh-ed25519 AAAAC3/+= nobody /dev/shm/wireproof-transfer-1/room";
        let expected =
            Login { key: "ssh-ed25519 AAAAC3/+=", user: "nobody", room: "/dev/shm/wireproof-transfer-1/room" };
        assert_eq!(login(there), Some(expected));
        for user in ["-Dsh\t-c\tid;", "-oProxyCommand=id", "a\tb", ""] {
            assert_eq!(login(&there.replace("nobody", user)), None, "{user:?}");
        }
        for room in ["room", "/a\tb", "/a\"b", "/a;b", ""] {
            assert_eq!(login(&format!("ssh-ed25519 AAAA nobody {room}")), None, "{room:?}");
        }
        assert_eq!(login("nobody /room"), None);
        for wrong in ["", "ssh-ed25519", "ssh-ed25519 A B", "command=\"id\" ssh-ed25519", "ssh-ed25519 A\tB"] {
            assert_eq!(key(wrong), None, "{wrong:?}");
        }
    }
}
