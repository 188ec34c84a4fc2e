//! Substitutes for identifying words, numbered in order of appearance.

use std::{
    collections::{BTreeSet, HashMap},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use model::alike::distinct;

use super::patterns::{Kind, address_in, names_disk, pieces};

/// Where the system has disks by their serial numbers.
const BY_ID: &str = "/by-id/";

/// Identifying words so far and their substitutes.
#[derive(Debug, Default)]
pub(super) struct Substitutes {
    /// Hosts and domains, the longest first.
    names: Vec<(String, String)>,
    /// The longest first.
    serials: Vec<(String, String)>,
    users: Vec<(String, String)>,
    disks: HashMap<String, usize>,
    macs: HashMap<String, usize>,
    /// Digits of the machines' own MAC addresses: without separators no other word is known to be one.
    known_macs: BTreeSet<String>,
    uuids: HashMap<String, usize>,
    v4: HashMap<IpAddr, usize>,
    v6: HashMap<IpAddr, usize>,
}

/// Words that are known from where they stand.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) hosts: Vec<String>,
    pub(super) domains: BTreeSet<String>,
    pub(super) serials: Vec<String>,
    pub(super) users: BTreeSet<String>,
    /// Digits of MAC addresses, in lower case.
    pub(super) macs: BTreeSet<String>,
}

/// Shorter serial numbers are ordinary words.
const SHORTEST_SERIAL: usize = 4;

impl Substitutes {
    pub(super) fn new(known: &Known) -> Self {
        let longest_first = |mut words: Vec<(String, String)>| {
            words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
            words
        };
        Self {
            names: longest_first([numbered("host", &known.hosts), numbered("domain", &known.domains)].concat()),
            serials: longest_first(numbered("serial", &known.serials)),
            users: numbered("user", &known.users),
            known_macs: known.macs.clone(),
            ..Self::default()
        }
    }

    /// The text with other hosts, domains and users.
    pub(super) fn names_in(&self, text: &str) -> String {
        // A host may be called like any number: only where nothing else is said.
        let names = self.names.iter().filter(|(name, _)| !is_number(name) || name == text);
        let with_names = names.fold(text.to_owned(), |text, (word, other)| swap(&text, word, other, is_whole));
        // A user may be called like any word: only in a path, or before a host.
        let is_user = |before, after| is_whole(before, after) && (before == Some('/') || after == Some('@'));
        self.users.iter().fold(with_names, |text, (word, other)| swap(&text, word, other, is_user))
    }

    /// Substitute of a serial number.
    pub(super) fn serial(&self, text: &str) -> String {
        self.serials.iter().find(|(serial, _)| serial == text).map_or(text, |(_, other)| other).to_owned()
    }

    /// The text with substituted serial numbers; purely numeric ones only in text that a person wrote.
    pub(super) fn serials_in(&self, text: &str, is_personal: bool) -> String {
        let is_known = |serial: &str| {
            serial.chars().count() >= SHORTEST_SERIAL && (is_personal || serial.contains(char::is_alphabetic))
        };
        let serials = self.serials.iter().filter(|(serial, _)| is_known(serial));
        serials.fold(text.to_owned(), |text, (serial, other)| swap(&text, serial, other, is_whole))
    }

    /// The text with other MAC and IP addresses, UUIDs and disks.
    pub(super) fn addresses_in(&mut self, text: &str) -> String {
        let text = self.disks_in(text);
        let mut result = String::with_capacity(text.len());
        for piece in pieces(&text) {
            let is_disk = names_disk(&result) && !matches!(address_in(piece), Some((_, Kind::Uuid)));
            result += &if is_disk { self.uuid(piece) } else { self.address(piece) };
        }
        self.bare_macs_in(result)
    }

    /// Also within a name. After longer words: the digits may be the end of a UUID.
    fn bare_macs_in(&mut self, text: String) -> String {
        let lower = text.to_ascii_lowercase();
        let here: Vec<String> = self.known_macs.iter().filter(|digits| lower.contains(*digits)).cloned().collect();
        here.into_iter().fold(text, |text, digits| {
            let other = self.mac(&digits, digits.clone());
            swap(&text, &digits, &other, |_, _| true)
        })
    }

    /// Names of disks that are made from their serial numbers.
    fn disks_in(&mut self, text: &str) -> String {
        let mut parts = text.split(BY_ID);
        let mut result = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| c.is_whitespace() || "/,;'\"()".contains(c)).unwrap_or(part.len());
            let (name, rest) = part.split_at(end);
            let disk = name.split("-part").next().unwrap_or(name);
            result += &format!("{BY_ID}disk-{}{}", number(&mut self.disks, disk.to_owned()), &name[disk.len()..]);
            result += rest;
        }
        result
    }

    /// A word, or several with something between them: the longest address, and those before and behind it.
    fn address(&mut self, piece: &str) -> String {
        let Some((range, kind)) = address_in(piece) else { return piece.to_owned() };
        let (before, word, behind) = (&piece[..range.start], &piece[range.clone()], &piece[range.end..]);
        let before = self.address(before);
        let other = match kind {
            Kind::Common => word.to_owned(),
            Kind::Uuid => self.uuid(word),
            Kind::Mac(digits) => self.mac(word, digits),
            Kind::Address(address) => self.ip(address),
        };
        before + &other + &self.address(behind)
    }

    fn uuid(&mut self, word: &str) -> String {
        format!("uuid-{}", number(&mut self.uuids, word.to_lowercase()))
    }

    /// From the block for documentation (RFC 7042, section 2.1.2), and the numbers behind it; longer ones begin with zeros.
    fn mac(&mut self, word: &str, digits: String) -> String {
        let width = digits.len();
        let mac = format!("{:0width$x}", 0x0000_5e00_5300_u64 + number(&mut self.macs, digits) as u64);
        let parts = |length: usize| (0..width / length).map(|part| &mac[part * length..][..length]).collect::<Vec<_>>();
        match word.chars().find(|c| !c.is_ascii_hexdigit()) {
            None => mac,
            Some('.') => parts(4).join("."),
            Some(separator) => parts(2).join(&separator.to_string()),
        }
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
fn numbered<'a>(name: &str, words: impl IntoIterator<Item = &'a String>) -> Vec<(String, String)> {
    let known = distinct(words);
    known.into_iter().zip(1..).map(|(word, number)| (word.clone(), format!("{name}-{number}"))).collect()
}

fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}

/// The number of a word that was met, or the next one, from 1.
fn number<K: std::hash::Hash + Eq>(known: &mut HashMap<K, usize>, word: K) -> usize {
    let next = known.len() + 1;
    *known.entry(word).or_insert(next)
}

/// Whether what has these neighbours is no part of a longer word.
fn is_whole(before: Option<char>, after: Option<char>) -> bool {
    ![before, after].into_iter().flatten().any(char::is_alphanumeric)
}

/// Puts `other` in the place of each `word`, in capitals or not, that has the right neighbours.
fn swap(text: &str, word: &str, other: &str, fits: impl Fn(Option<char>, Option<char>) -> bool) -> String {
    let lower = text.to_ascii_lowercase();
    let (mut result, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in lower.match_indices(&word.to_ascii_lowercase()) {
        let (previous, next) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        if fits(previous, next) {
            result += &text[done..at];
            result += other;
            done = at + word.len();
        }
    }
    result + &text[done..]
}
