//! What an identifying word looks like, wherever it stands.

use std::{collections::BTreeSet, net::IpAddr};

/// Folders that hold a folder for each user.
const HOMES: [&str; 2] = ["/home/", "/Users/"];

/// What a word is by its looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Twelve hexadecimal digits in lower case, without separators.
    Mac(String),
    Uuid,
    Address(IpAddr),
}

/// Users whose home folders this text names.
pub(super) fn users(text: &str) -> BTreeSet<String> {
    let name =
        |rest: &str| rest.split(|c: char| c.is_whitespace() || "/:;,'\"()".contains(c)).next().map(str::to_owned);
    let names = HOMES.iter().flat_map(|home| text.split(home).skip(1)).filter_map(name);
    names.filter(|name| !name.is_empty()).collect()
}

/// The text in pieces: what may be one word with an address in it, and what stands between two.
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

/// What this word is, if it tells whose it is. Addresses for laboratories and for examples do not.
pub(super) fn kind(word: &str) -> Option<Kind> {
    if let Some(digits) = mac(word) {
        return Some(Kind::Mac(digits));
    }
    if is_uuid(word) {
        return Some(Kind::Uuid);
    }
    word.parse().ok().filter(|address| !is_common(*address)).map(Kind::Address)
}

fn mac(word: &str) -> Option<String> {
    let hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    // The name that systemd gives an interface after its MAC address.
    if let Some(digits) = word.strip_prefix("enx").filter(|digits| digits.len() == 12 && hex(digits)) {
        return Some(digits.to_lowercase());
    }
    let pairs: Vec<&str> = word.split([':', '-']).collect();
    let is_mac = pairs.len() == 6 && pairs.iter().all(|pair| pair.len() == 2 && hex(pair));
    is_mac.then(|| pairs.concat().to_lowercase())
}

fn is_uuid(word: &str) -> bool {
    let lengths: Vec<usize> = word.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && word.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
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
