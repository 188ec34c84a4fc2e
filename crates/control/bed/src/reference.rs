//! Common parts of references to beds: hosts reached by ssh, and addresses. Pure.

use std::net::IpAddr;

/// An address with its prefix length.
pub(crate) type Network = (IpAddr, u8);

/// Prefix of a host reached by ssh.
pub(crate) const SSH: &str = "ssh://";

/// A host reached by ssh.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Remote {
    /// Destination for ssh: `host` or `user@host`.
    pub(crate) destination: String,
    /// Port of its ssh server.
    pub(crate) port: Option<u16>,
}

impl Remote {
    /// The host without its user.
    pub(crate) fn host(&self) -> &str {
        self.destination.rsplit_once('@').map_or(&self.destination, |(_, host)| host)
    }
}

/// Parses `[USER@]HOST[:PORT]`.
pub(crate) fn remote(text: &str) -> Result<Remote, String> {
    let text = text.trim_end_matches('/');
    let (user, host) = text.rsplit_once('@').map_or((None, text), |(user, host)| (Some(user), host));
    let (host, port) = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((host, "")) => (host, None),
        Some((host, rest)) => (host, Some(rest.strip_prefix(':').ok_or("what follows the ] is no port")?)),
        None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
    };
    let port = port.map(str::parse).transpose().map_err(|_| "the port is no number up to 65535".to_owned())?;
    // ssh would take a word with a leading dash for an option.
    let is_word = |word: &&str| {
        !word.is_empty() && !word.starts_with('-') && !word.contains(|c: char| c.is_whitespace() || c.is_control())
    };
    if ![Some(host), user].iter().flatten().all(is_word) {
        return Err("no machine is named".to_owned());
    }
    Ok(Remote { destination: user.map_or(host.to_owned(), |user| format!("{user}@{host}")), port })
}

/// Parses an address with its prefix length.
pub(crate) fn address(text: &str) -> Result<Network, String> {
    let wrong = || format!("\"{text}\" is not an address with the length of its prefix, like 198.18.0.2/24");
    let (address, length) = text.split_once('/').ok_or_else(wrong)?;
    let (address, length): (IpAddr, u8) = (address.parse().map_err(|_| wrong())?, length.parse().map_err(|_| wrong())?);
    let most = if address.is_ipv4() { 32 } else { 128 };
    if length == 0 || length > most { Err(wrong()) } else { Ok((address, length)) }
}
