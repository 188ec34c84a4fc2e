//! Streams: what frames a sender makes, the same in stream files (TOML), flags, messages and trials.
//!
//! A stream file is a list of `[[stream]]` tables. Every part is written in words, as on the command line:
//!
//! ```toml
//! [[stream]]
//! name = "voice"
//! sizes = "64..128 step 2"
//! vlans = ["100 priority 5"]
//! source_ip = "198.18.0.1..198.18.0.100"
//! source_port = "1024..1123"
//! flows = 10000
//! load = "10 % poisson"
//! ```
//!
//! # Flows
//!
//! The frames of a stream are numbered from 0 (`index`), and frame `index` belongs to flow `index mod flows`. Each field that
//! varies takes its value from the number of the flow alone, like the wheels of an odometer: the first field (source port,
//! destination port, source IP, destination IP, source MAC, destination MAC, in this order) turns with each flow, the next one
//! when all that turn faster have been through. Random fields draw a value for each flow. So whoever knows the number of a frame knows all of it.

mod load;
mod mac;
mod payload;
mod sizes;
mod values;
mod vlan;
pub(crate) mod words;

use std::{collections::HashSet, net::IpAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{
    load::{BROADCASTS, DOUBLINGS, Load, NoLineRate, Pacing, RAMP, Rate, is_counted},
    mac::{Mac, MacError},
    payload::Payload,
    sizes::{LARGEST_FRAME, Sizes},
    values::{Field, LONGEST_LIST, Values, low_bytes},
    vlan::Vlan,
    words::WordsError,
};
use crate::{
    frame_size::MIN_FRAME,
    network::{IpVersion, Protocol},
    toml_text::from_toml,
};

/// Different flows of a stream at the most.
pub const MOST_FLOWS: u32 = 1_000_000;
/// Streams of one file at the most.
pub const MOST_STREAMS: usize = 256;
/// Destination networks of a stream at the most.
pub const MOST_NETWORKS: u16 = 256;
/// VLAN tags of a frame at the most.
pub const MOST_VLANS: usize = 2;
/// Source port of UDP and TCP unless another is asked for, as in RFC 2544, C.2.6.4.
pub const SOURCE_PORT: u16 = 49_184;
/// Destination port unless another is asked for: the port beside it, which a receiver without privilege can open.
pub const DESTINATION_PORT: u16 = 49_185;

/// Form of frames, number of their flows, and their rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Stream {
    /// Name in results.
    pub name: String,
    /// A capture (pcap or pcapng) whose frames are sent as they are, round after round; all that says what frames look like is then
    /// left out. Both ends read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// SHA-256 of the capture in hexadecimal; a run notes it where it is not given. Another file is refused, at each end and by `resume`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_sha256: Option<String>,
    /// Sizes of its frames.
    pub sizes: Sizes,
    /// VLAN tags, the outer one first.
    pub vlans: Vec<Vlan>,
    /// IPv4 or IPv6.
    pub ip: IpVersion,
    /// UDP, or TCP segments without a connection.
    pub protocol: Protocol,
    /// Differentiated services code point, 0 to 63.
    pub dscp: u8,
    /// Time to live, or hop limit of IPv6, 1 to 255.
    pub ttl: u8,
    /// `None` is the port's own.
    pub source_mac: Option<Values<Mac>>,
    /// `None` is the next hop's.
    pub destination_mac: Option<Values<Mac>>,
    /// `None` is the port's own.
    pub source_ip: Option<Values<IpAddr>>,
    /// `None` is the other end's.
    pub destination_ip: Option<Values<IpAddr>>,
    /// Destination networks, one after the other, each with its own flow: the other end's address, and the same one in the networks behind it. `None`
    /// is that address alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub networks: Option<u16>,
    /// `None` is [`SOURCE_PORT`], or as many as the flows need.
    pub source_port: Option<Values<u16>>,
    /// `None` is [`DESTINATION_PORT`], or as many as the flows need.
    pub destination_port: Option<Values<u16>>,
    /// Number of different flows; `None` is as many as the fields make. Where no field varies, ports do that are not set.
    pub flows: Option<u32>,
    /// Payload behind the tag.
    pub payload: Payload,
    /// Rate.
    pub load: Load,
}

/// A stream file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    stream: Vec<Stream>,
}

crate::json!(File);

/// A stream that cannot be sent, or a file that holds none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// Not TOML, an unknown key, or words that say nothing; the text carries line and column.
    #[error("{0}")]
    Toml(String),
    /// The file has none, or too many.
    #[error("the file has {0} streams: write 1 to {MOST_STREAMS} [[stream]] tables")]
    Count(usize),
    /// Readable, but it asks for what cannot be.
    #[error("stream \"{name}\": {why}")]
    Meaning {
        /// Name.
        name: String,
        /// The fault and the possible values.
        why: String,
    },
}

impl Default for Stream {
    /// Frames of 64 bytes, IPv4 and UDP, one flow, flat out.
    fn default() -> Self {
        Self {
            name: "stream".to_owned(),
            replay: None,
            replay_sha256: None,
            sizes: Sizes::List(vec![MIN_FRAME]),
            vlans: Vec::new(),
            ip: IpVersion::V4,
            protocol: Protocol::Udp,
            dscp: 0,
            ttl: 64,
            source_mac: None,
            destination_mac: None,
            source_ip: None,
            destination_ip: None,
            networks: None,
            source_port: None,
            destination_port: None,
            flows: None,
            payload: Payload::default(),
            load: Load::default(),
        }
    }
}

impl Stream {
    /// Reads a stream file; all streams are checked.
    pub fn parse_file(toml: &str) -> Result<Vec<Self>, StreamError> {
        let file: File = from_toml(toml).map_err(|error| StreamError::Toml(error.in_text))?;
        if file.stream.is_empty() || file.stream.len() > MOST_STREAMS {
            return Err(StreamError::Count(file.stream.len()));
        }
        Self::check_all(&file.stream)?;
        Ok(file.stream)
    }

    /// Whether each can be meant, and is told from the others in results.
    pub fn check_all(streams: &[Self]) -> Result<(), StreamError> {
        streams.iter().try_for_each(Self::check)?;
        let mut names = HashSet::new();
        match streams.iter().find(|stream| !names.insert(&stream.name)) {
            Some(Self { name, .. }) => {
                let why =
                    "another stream has this name too; results are told apart by it, so write name = \"…\" into each";
                Err(StreamError::Meaning { name: name.clone(), why: why.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Whether all that it says can be meant.
    pub fn check(&self) -> Result<(), StreamError> {
        let meaning = |why| StreamError::Meaning { name: self.name.clone(), why };
        self.check_replay()
            .and_then(|()| self.check_headers())
            .and_then(|()| self.check_addresses())
            .map_err(meaning)?;
        self.flow_count().map(drop)
    }

    /// A capture determines its own frames.
    fn check_replay(&self) -> Result<(), String> {
        let Self { name, replay, replay_sha256, load, .. } = self.clone();
        match replay {
            None if replay_sha256.is_some() => {
                Err("replay_sha256 is that of a capture: write replay = \"FILE\", too".to_owned())
            }
            None if load.rate == Rate::Captured => {
                Err("there is no capture that says when frames leave: write replay = \"FILE\", or another load"
                    .to_owned())
            }
            Some(_) if (Self { name, replay, replay_sha256, load, ..Self::default() }) != *self => {
                Err("a replay sends the frames of its capture as they are: beside replay write name and load alone"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    fn check_headers(&self) -> Result<(), String> {
        if self.name.trim().is_empty() || self.name.chars().count() > 64 || self.name.chars().any(char::is_control) {
            return Err("a name has 1 to 64 characters, and no control characters".to_owned());
        }
        if self.vlans.len() > MOST_VLANS {
            return Err(format!("{} VLAN tags are too many: {MOST_VLANS} at the most", self.vlans.len()));
        }
        if self.dscp > 63 {
            return Err(format!("there is no DSCP {}: use 0 to 63", self.dscp));
        }
        if self.ttl == 0 {
            return Err("no router passes a ttl of 0 on: use 1 to 255".to_owned());
        }
        Ok(())
    }

    fn check_addresses(&self) -> Result<(), String> {
        let macs = self.source_mac.iter().flat_map(Values::named);
        if let Some(group) = macs.into_iter().find(|mac| mac.is_group()) {
            return Err(format!("source_mac {group} names a group: no frame comes from one"));
        }
        let named = |values: &Option<Values<IpAddr>>| values.iter().flat_map(Values::named).collect::<Vec<_>>();
        let (sources, destinations) = (named(&self.source_ip), named(&self.destination_ip));
        if let Some(group) = sources.iter().find(|address| address.is_multicast()) {
            return Err(format!("source_ip {group} names a group: no packet comes from one"));
        }
        if let Some(networks) = self.networks
            && (self.destination_ip.is_some() || !(1..=MOST_NETWORKS).contains(&networks))
        {
            return Err(format!("networks is 1 to {MOST_NETWORKS}, and takes the place of destination_ip"));
        }
        match sources.iter().chain(&destinations).find(|address| IpVersion::of(**address) != self.ip) {
            Some(other) => Err(format!("{other} is not {}: write ip = {}", self.ip, u8::from(IpVersion::of(*other)))),
            None => Ok(()),
        }
    }

    /// Name of its capture, without folders.
    pub fn capture(&self) -> Option<&str> {
        self.replay.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path))
    }

    /// Names its capture without folders.
    pub(crate) fn leave_folder(&mut self) {
        self.replay = self.capture().map(str::to_owned);
    }

    /// Words that quote the path of its capture, with the name alone.
    pub(crate) fn without_folder(&self, words: &str) -> String {
        match (&self.replay, self.capture()) {
            (Some(path), Some(name)) => words.replace(path.as_str(), name),
            _ => words.to_owned(),
        }
    }

    /// Number of different flows that it makes: as many as it says, or as many as its fields make.
    pub fn flow_count(&self) -> Result<u32, StreamError> {
        let most = u64::from(MOST_FLOWS);
        let why = match (self.flows, self.counted_flows()) {
            (Some(flows), _) if flows == 0 || flows > MOST_FLOWS => {
                format!("flows = {flows} cannot be: use 1 to {MOST_FLOWS}")
            }
            (None, None) => format!("random values go on for ever: write how many flows there are, 1 to {MOST_FLOWS}"),
            (None, Some(made)) if made > most => {
                format!("its fields make {made} flows: write flows, 1 to {MOST_FLOWS}, to use the first of them")
            }
            (Some(flows), Some(made)) if u64::from(flows) > made.max(self.flows_by_ports(made)) => {
                let possible = made.max(self.flows_by_ports(made));
                format!("its fields make {possible} flows, and {flows} are asked for: give one of them more values")
            }
            (Some(flows), _) => return Ok(flows),
            (None, Some(made)) => return Ok(made as u32),
        };
        Err(StreamError::Meaning { name: self.name.clone(), why })
    }

    /// Number of different flows that its fields make; `None` where one of them is random.
    fn counted_flows(&self) -> Option<u64> {
        let macs =
            [&self.source_mac, &self.destination_mac].map(|values| values.as_ref().map_or(Some(1), Values::count));
        let ips = [&self.source_ip, &self.destination_ip].map(|values| values.as_ref().map_or(Some(1), Values::count));
        let networks = Some(u64::from(self.networks.unwrap_or(1)));
        let ports =
            [&self.source_port, &self.destination_port].map(|values| values.as_ref().map_or(Some(1), Values::count));
        macs.into_iter()
            .chain(ips)
            .chain([networks])
            .chain(ports)
            .try_fold(1_u64, |product, count| Some(product.saturating_mul(count?)))
    }

    /// Number of flows by ports that nobody has set, where the fields make only one.
    fn flows_by_ports(&self, made: u64) -> u64 {
        let free = [&self.source_port, &self.destination_port].into_iter().filter(|port| port.is_none()).count();
        match (made, free) {
            (1, 2) => u64::from(MOST_FLOWS),
            (1, 1) => u64::from(FREE_PORTS),
            _ => 1,
        }
    }

    /// Source and destination port of all flows. Where flows are asked for and no field makes them, ports do that nobody has
    /// set: the source port from 1024 on, and where that is set or has not enough of them, the destination port.
    pub fn ports(&self) -> (Values<u16>, Values<u16>) {
        let source = self.source_port.clone().unwrap_or(Values::One(SOURCE_PORT));
        let destination = self.destination_port.clone().unwrap_or(Values::One(DESTINATION_PORT));
        let flows = self.flows.unwrap_or(1);
        if flows == 1 || self.counted_flows() != Some(1) {
            return (source, destination);
        }
        match (&self.source_port, &self.destination_port) {
            (None, None) => {
                (from(FIRST_FREE_PORT, flows.min(FREE_PORTS)), from(DESTINATION_PORT, flows.div_ceil(FREE_PORTS)))
            }
            (None, Some(_)) => (from(FIRST_FREE_PORT, flows), destination),
            (Some(_), None) => (source, from(FIRST_FREE_PORT, flows)),
            (Some(_), Some(_)) => (source, destination),
        }
    }
}

/// Ports that flows are made by: those that need no privilege.
const FIRST_FREE_PORT: u16 = 1024;
const FREE_PORTS: u32 = 65_536 - FIRST_FREE_PORT as u32;

/// So many ports from this one on, as far as there are.
fn from(first: u16, count: u32) -> Values<u16> {
    match first.saturating_add(u16::try_from(count.saturating_sub(1)).unwrap_or(u16::MAX)) {
        last if last == first => Values::One(first),
        last => Values::Range { first, last, step: 1 },
    }
}

#[cfg(test)]
mod tests;
