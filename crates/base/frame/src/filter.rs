//! Choice of frames: words such as `udp port 53`, all of which have to hold.

use std::{fmt, net::IpAddr, str::FromStr};

use crate::parse::{Ip, Network, Packet, Transport, parse};
use crate::tag::Tag;

/// Terms that all have to hold; without any, every frame is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter(Vec<Term>);

/// A property of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    /// Tagged by a sender of ours; a number is that of its sequence.
    Stream(Option<u16>),
    Arp,
    Udp,
    Tcp,
    Icmp,
    Port(u16),
    Host(IpAddr),
    Vlan(u16),
}

/// Words that choose nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0}; a filter is made of stream, stream NUMBER, udp, tcp, icmp, arp, port NUMBER, host ADDRESS and vlan NUMBER, like \"udp port \
     53\": all of them have to hold"
)]
pub struct FilterError(String);

impl Filter {
    /// Whether a frame (without FCS) is chosen. One that cannot be read is chosen by no term.
    pub fn chooses(&self, frame: &[u8]) -> bool {
        self.0.is_empty() || parse(frame).is_ok_and(|packet| self.0.iter().all(|term| term.holds(&packet)))
    }
}

impl Term {
    fn holds(self, packet: &Packet<'_>) -> bool {
        let ip = match &packet.network {
            Network::Ip(ip) => Some(ip),
            Network::Arp(_) | Network::Other(_) => None,
        };
        match self {
            Self::Stream(number) => tag(ip).is_some_and(|tag| number.is_none_or(|number| number == tag.stream)),
            Self::Arp => matches!(packet.network, Network::Arp(_)),
            Self::Udp => ip.is_some_and(|ip| ip.protocol == 17),
            Self::Tcp => ip.is_some_and(|ip| ip.protocol == 6),
            Self::Icmp => ip.is_some_and(|ip| matches!(ip.transport, Transport::Icmp(_))),
            Self::Port(port) => ip.is_some_and(|ip| match ip.transport {
                Transport::Ports(ports) => [ports.source, ports.destination].contains(&port),
                _ => false,
            }),
            Self::Host(host) => match &packet.network {
                Network::Ip(ip) => [ip.source, ip.destination].contains(&host),
                Network::Arp(arp) => [arp.sender, arp.target].map(IpAddr::from).contains(&host),
                Network::Other(_) => false,
            },
            Self::Vlan(id) => packet.vlans.iter().any(|vlan| vlan.id == id),
        }
    }
}

fn tag(ip: Option<&Ip<'_>>) -> Option<Tag> {
    match ip?.transport {
        Transport::Ports(ports) => Tag::read(ports.payload, ports.payload.len()),
        _ => None,
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        let mut words = text.split_whitespace().filter(|word| *word != "and").peekable();
        let mut terms = Vec::new();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| FilterError(format!("\"{word}\" is followed by a value")));
            terms.push(match word {
                "udp" => Term::Udp,
                "tcp" => Term::Tcp,
                "icmp" => Term::Icmp,
                "arp" => Term::Arp,
                "port" => Term::Port(read(word, value()?)?),
                "host" => Term::Host(read(word, value()?)?),
                "vlan" => Term::Vlan(read(word, value()?)?),
                "stream" => {
                    Term::Stream(words.next_if(|word| word.parse::<u16>().is_ok()).and_then(|word| word.parse().ok()))
                }
                other => return Err(FilterError(format!("\"{other}\" is no word of a filter"))),
            });
        }
        Ok(Self(terms))
    }
}

fn read<T: FromStr>(word: &str, value: &str) -> Result<T, FilterError> {
    value.parse().map_err(|_| FilterError(format!("\"{value}\" cannot follow \"{word}\"")))
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, term) in self.0.iter().enumerate() {
            let gap = if index > 0 { " " } else { "" };
            match term {
                Term::Stream(None) => write!(f, "{gap}stream"),
                Term::Stream(Some(number)) => write!(f, "{gap}stream {number}"),
                Term::Arp => write!(f, "{gap}arp"),
                Term::Udp => write!(f, "{gap}udp"),
                Term::Tcp => write!(f, "{gap}tcp"),
                Term::Icmp => write!(f, "{gap}icmp"),
                Term::Port(port) => write!(f, "{gap}port {port}"),
                Term::Host(host) => write!(f, "{gap}host {host}"),
                Term::Vlan(id) => write!(f, "{gap}vlan {id}"),
            }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Mtu, Stream,
        stream::{Mac, Vlan},
    };

    use super::*;
    use crate::{Compiled, Place, resolve::who_has};

    fn frame(stream: &Stream) -> Vec<u8> {
        let place = Place {
            source_mac: Mac([2, 0, 0, 0, 0, 1]),
            next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
            source: "198.18.0.1".parse().unwrap(),
            destination: "198.18.0.2".parse().unwrap(),
            mtu: Mtu(1500),
        };
        let compiled = Compiled::new(stream, &place).unwrap();
        let mut buffer = vec![0; compiled.longest()];
        let length = compiled.write(&mut buffer, 0, Tag { stream: 7, ..Tag::default() });
        buffer.truncate(length);
        buffer
    }

    #[test]
    fn all_words_have_to_hold() {
        let vlan = Vlan { id: 100, priority: 0, tpid: None };
        let tagged = frame(&Stream { vlans: vec![vlan], ..Stream::default() });
        let arp =
            who_has(Mac([2, 0, 0, 0, 0, 1]), "198.18.0.1".parse().unwrap(), "198.18.0.2".parse().unwrap()).unwrap();
        let chooses = |words: &str, frame: &[u8]| words.parse::<Filter>().unwrap().chooses(frame);
        for words in ["", "stream", "stream 7", "udp port 49185", "udp and vlan 100 host 198.18.0.2", "port 49184"] {
            assert!(chooses(words, &tagged), "{words}");
        }
        for words in ["stream 8", "tcp", "udp port 1", "vlan 101", "host 198.18.0.3", "arp", "icmp"] {
            assert!(!chooses(words, &tagged), "{words}");
        }
        assert!(chooses("arp host 198.18.0.2", &arp) && !chooses("udp", &arp) && !chooses("stream", &arp));
        assert!(chooses("", &[1, 2, 3]) && !chooses("udp", &[1, 2, 3]), "too short to be read");
    }

    #[test]
    fn words_are_read_back_as_they_are_shown_and_others_refused() {
        let words = "stream 7 udp tcp icmp arp port 53 host 2001:2::1 vlan 9 stream";
        assert_eq!(words.parse::<Filter>().unwrap().to_string(), words);
        for wrong in ["udp or tcp", "port", "port http", "host here", "port 65536", "vlan"] {
            let error = wrong.parse::<Filter>().unwrap_err().to_string();
            assert!(error.contains("like \"udp port 53\""), "{wrong}: {error}");
        }
    }
}
