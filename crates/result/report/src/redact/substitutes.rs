//! What stands instead of each word, numbered as they come.

use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use super::patterns::{Kind, kind, pieces};

/// The words that were met, and what stands instead.
#[derive(Debug, Default)]
pub(super) struct Substitutes {
    /// Words known from where they stand, the longest first.
    words: Vec<(String, String)>,
    users: Vec<(String, String)>,
    macs: HashMap<String, usize>,
    uuids: HashMap<String, usize>,
    v4: HashMap<IpAddr, usize>,
    v6: HashMap<IpAddr, usize>,
}

impl Substitutes {
    pub(super) fn new(hosts: &[String], serials: &[String], users: &BTreeSet<String>) -> Self {
        let mut words = numbered("host", hosts);
        words.extend(numbered("serial", serials));
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        let users: Vec<String> = users.iter().cloned().collect();
        Self { words, users: numbered("user", &users), ..Self::default() }
    }

    /// The text with other hosts, serial numbers and users.
    pub(super) fn words_in(&self, text: &str) -> String {
        let with_words =
            self.words.iter().fold(text.to_owned(), |text, (word, other)| swap(&text, word, other, |_, _| true));
        // A user may be called like any word: only in a path, or before a host.
        let is_user = |before: Option<char>, after: Option<char>| before == Some('/') || after == Some('@');
        self.users.iter().fold(with_words, |text, (word, other)| swap(&text, word, other, is_user))
    }

    /// The text with other MAC and IP addresses and UUIDs.
    pub(super) fn addresses_in(&mut self, text: &str) -> String {
        let mut result = String::with_capacity(text.len());
        for piece in pieces(text) {
            let is_disk = result.ends_with("UUID=");
            result += &if is_disk { self.uuid(piece) } else { self.address(piece) };
        }
        result
    }

    /// One word, with an end of a sentence behind it, or several with a hyphen or a colon between them.
    fn address(&mut self, piece: &str) -> String {
        let (word, end) = piece.split_at(piece.trim_end_matches(['.', ':', '-']).len());
        if let Some(other) = self.other(piece) {
            return other;
        }
        if let Some(other) = self.other(word) {
            return other + end;
        }
        match ['-', ':'].into_iter().find(|between| word.contains(*between)) {
            None => piece.to_owned(),
            Some(between) => {
                let parts: Vec<String> = piece.split(between).map(|part| self.address(part)).collect();
                parts.join(&between.to_string())
            }
        }
    }

    /// What stands instead of this word, if anything does.
    fn other(&mut self, word: &str) -> Option<String> {
        Some(match kind(word)? {
            Kind::Uuid => self.uuid(word),
            Kind::Mac(digits) => self.mac(word, digits),
            Kind::Address(address) => self.ip(address),
        })
    }

    fn uuid(&mut self, word: &str) -> String {
        format!("uuid-{}", number(&mut self.uuids, word.to_lowercase()))
    }

    /// From the block for documentation (RFC 7042, section 2.1.2), and the numbers behind it.
    fn mac(&mut self, word: &str, digits: String) -> String {
        let mac = format!("{:012x}", 0x0000_5e00_5300_u64 + number(&mut self.macs, digits) as u64);
        let separator = if word.starts_with("enx") { "" } else { &word[2..3] };
        let pairs: Vec<&str> = (0..6).map(|pair| &mac[pair * 2..pair * 2 + 2]).collect();
        let prefix = if word.starts_with("enx") { "enx" } else { "" };
        prefix.to_owned() + &pairs.join(separator)
    }

    /// From the networks for documentation (RFC 5737, RFC 3849); IPv4 goes on in the one for private use that is used least.
    fn ip(&mut self, address: IpAddr) -> String {
        match address {
            IpAddr::V4(_) => {
                let number = number(&mut self.v4, address);
                let [.., high, low] = (number as u32).to_be_bytes();
                match high {
                    0 => Ipv4Addr::new(203, 0, 113, low).to_string(),
                    1 => Ipv4Addr::new(198, 51, 100, low).to_string(),
                    2 => Ipv4Addr::new(192, 0, 2, low).to_string(),
                    _ => Ipv4Addr::new(172, 31, high, low).to_string(),
                }
            }
            IpAddr::V6(_) => {
                let number = number(&mut self.v6, address) as u128;
                Ipv6Addr::from((0x2001_0db8_u128 << 96) + number).to_string()
            }
        }
    }
}

/// Each distinct word with a name and a number.
fn numbered(name: &str, words: &[String]) -> Vec<(String, String)> {
    let mut known: Vec<&String> = Vec::new();
    for word in words {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    known.into_iter().zip(1..).map(|(word, number)| (word.clone(), format!("{name}-{number}"))).collect()
}

/// The number of a word that was met, or the next one, from 1.
fn number<K: std::hash::Hash + Eq>(known: &mut HashMap<K, usize>, word: K) -> usize {
    let next = known.len() + 1;
    *known.entry(word).or_insert(next)
}

/// Puts `other` in the place of each `word`, in capitals or not, that is no part of a longer one, and that has the right
/// neighbours.
fn swap(text: &str, word: &str, other: &str, fits: impl Fn(Option<char>, Option<char>) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(&word.to_ascii_lowercase()) {
        let (previous, next) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        if !is_part(previous) && !is_part(next) && fits(previous, next) {
            result += &text[done..at];
            result += other;
            done = at + word.len();
        }
    }
    result + &text[done..]
}
