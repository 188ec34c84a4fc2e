//! Forms of identifying words.

use std::{collections::BTreeSet, iter, net::IpAddr, ops::Range};

/// Folders that hold a folder for each user.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// Kind of a word by its form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Hexadecimal digits in lower case, without separators: twelve of Ethernet, forty of InfiniBand.
    Mac(String),
    Uuid,
    Address(IpAddr),
    /// An address of a laboratory, or one that everybody has.
    Common,
}

/// Users whose home folders this text names.
pub(super) fn users(text: &str) -> BTreeSet<String> {
    let name =
        |rest: &str| rest.split(|c: char| c.is_whitespace() || "/:;,'\"()".contains(c)).next().map(str::to_owned);
    let names = HOMES.iter().flat_map(|home| text.split(home).skip(1)).filter_map(name);
    names.filter(|name| !name.is_empty()).collect()
}

/// The text in pieces: words that may hold an address, and the text between them.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || ":.-".contains(c);
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Longest text that is one address: the twenty bytes of InfiniBand.
const LONGEST: usize = 59;

/// Prefixes of names that systemd and others make of the MAC address of an interface.
const NAMES: [&str; 6] = ["enx", "wlx", "wwx", "slx", "ibx", "ib"];

/// Where the longest address stands in this piece, or the last one of these: between what separates words, or at a name's end.
pub(super) fn address_in(piece: &str) -> Option<(Range<usize>, Kind)> {
    let is_between = |c: char| ":-.".contains(c);
    let between: Vec<usize> = piece.match_indices(is_between).map(|(at, _)| at).collect();
    let of_words = iter::once(0).chain(between.iter().map(|at| at + 1));
    let starts = of_words.flat_map(|start| {
        let word = piece[start..].split(is_between).next().unwrap_or_default();
        [Some(start), start_in_name(word).map(|at| start + at)].into_iter().flatten()
    });
    let ends: Vec<usize> = between.iter().copied().chain([piece.len()]).collect();
    let ranges = starts.flat_map(|start| ends.iter().map(move |end| start..*end));
    let ranges = ranges.filter(|range| (1..=LONGEST).contains(&range.len()));
    let found = ranges.filter_map(|range| Some((range.clone(), kind_at(piece, &range)?)));
    found.max_by_key(|(range, _)| range.len())
}

/// The digits of a MAC address, in lower case, where these are all that this text is, with separators or without.
pub(super) fn digits_of_mac(text: &str) -> Option<String> {
    let bare = matches!(text.len(), 12 | 40) && is_hex(text);
    mac(text).or_else(|| bare.then(|| text.to_lowercase())).filter(|digits| digits.bytes().any(|digit| digit != b'0'))
}

/// Where a MAC address, or its first two digits, may begin within a name.
fn start_in_name(word: &str) -> Option<usize> {
    let named = NAMES.into_iter().find(|name| word.strip_prefix(name).is_some_and(is_bare_mac));
    let first = || {
        let (name, digits) = word.split_at_checked(word.len().checked_sub(2)?)?;
        let ends = name.ends_with(|c: char| !c.is_ascii_hexdigit());
        (ends && is_hex(digits)).then_some(name.len())
    };
    named.map(str::len).or_else(first)
}

/// All digits of Ethernet's, of a port's GUID, or of InfiniBand's.
fn is_bare_mac(word: &str) -> bool {
    matches!(word.len(), 12 | 16 | 40) && is_hex(word)
}

/// Numbers with more of them behind dots are a version.
fn kind_at(piece: &str, range: &Range<usize>) -> Option<Kind> {
    let name = piece[..range.start].rsplit([':', '-', '.']).next().unwrap_or_default();
    if !name.is_empty() {
        let word = &piece[range.clone()];
        let bare = (NAMES.contains(&name) && is_bare_mac(word)).then(|| word.to_lowercase());
        return bare.or_else(|| mac(word)).map(Kind::Mac);
    }
    let (before, after) = (&piece[..range.start], piece[range.end..].trim_end_matches('.'));
    let is_cut = before.ends_with('.') || after.starts_with('.');
    let word = &piece[range.clone()];
    let is_dotted = |kind: &Kind| matches!(kind, Kind::Address(_) | Kind::Common | Kind::Mac(_)) && word.contains('.');
    kind(word).filter(|kind| !is_cut || !is_dotted(kind))
}

fn kind(word: &str) -> Option<Kind> {
    if let Ok(address) = word.parse() {
        return Some(if is_common(address) { Kind::Common } else { Kind::Address(address) });
    }
    mac(word).map(Kind::Mac).or_else(|| is_uuid(word).then_some(Kind::Uuid))
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn mac(word: &str) -> Option<String> {
    // As Cisco writes them.
    let fours: Vec<&str> = word.split('.').collect();
    if fours.len() == 3 && fours.iter().all(|four| four.len() == 4 && is_hex(four)) {
        return Some(fours.concat().to_lowercase());
    }
    let pairs: Vec<&str> = word.split([':', '-']).collect();
    let is_mac = matches!(pairs.len(), 6 | 8..=20) && pairs.iter().all(|pair| pair.len() == 2 && is_hex(pair));
    is_mac.then(|| pairs.concat().to_lowercase())
}

/// With hyphens, or without, as systemd writes the machine's.
fn is_uuid(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    (lengths == [8, 4, 4, 4, 12] || lengths == [32]) && parts.into_iter().all(is_hex)
}

/// Whether the name of a file system or partition follows, which need not be a UUID of full length.
pub(super) fn names_disk(before: &str) -> bool {
    let before = before.trim_end_matches(['"', '\'']).to_ascii_lowercase();
    ["uuid=", "/by-uuid/", "/by-partuuid/"].iter().any(|end| before.ends_with(end))
}

/// The domains in which hosts of these names stand in this text. One of a single part, like `local`, says nothing.
pub(super) fn domains(text: &str, hosts: &[String]) -> BTreeSet<String> {
    let lower = text.to_ascii_lowercase();
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words = lower.split(|c: char| !is_name(c) && c != '.').map(|word| word.trim_end_matches('.'));
    let behind = |word: &'_ str| {
        let (host, domain) = word.split_once('.')?;
        let is_domain = domain.contains('.') && domain.ends_with(|c: char| c.is_ascii_alphabetic());
        (is_domain && hosts.iter().any(|known| known.eq_ignore_ascii_case(host))).then(|| domain.to_owned())
    };
    words.filter_map(behind).collect()
}

/// Loopback, nowhere, everywhere, netmasks; the networks of RFC 2544 and RFC 5180 (benchmarks), RFC 5737 and RFC 3849
/// (examples).
fn is_common(address: IpAddr) -> bool {
    if address.is_loopback() || address.is_unspecified() || address.is_multicast() {
        return true;
    }
    match address {
        IpAddr::V4(address) => {
            let bits = u32::from(address);
            let is_mask = bits.leading_ones() + bits.trailing_zeros() >= 32;
            let [a, b, ..] = address.octets();
            is_mask || address.is_documentation() || (a == 198 && b & 0xfe == 18)
        }
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            (a, b) == (0x2001, 0xdb8) || (a, b, c) == (0x2001, 2, 0)
        }
    }
}
