//! pktgen's commands for a stream, and its limitations. Pure.

use std::net::{Ipv4Addr, Ipv6Addr};

use frame::{Compiled, Sequence, Variation, tag::WHOLE};
use model::{IpVersion, Protocol, stream::Pacing};

use crate::{Job, pump::most};

/// pktgen's header: magic, number, seconds, microseconds, four bytes each.
const HEADER: usize = 16;
/// TTL or hop limit of every packet.
const TTL: u8 = 32;
/// Default TTL of our streams, which is not an explicit request.
const OUR_TTL: u8 = 64;
/// Its number has 32 bits, and has to be unique.
const MOST: f64 = u32::MAX as f64;
/// More frames per second than one core generates.
const FASTEST: f64 = 20e6;

const ETHERTYPE_VLAN: u16 = 0x8100;

/// Commands for each core's device; or the limitation, and an alternative.
pub(super) fn of(job: &Job) -> Result<Vec<Vec<String>>, String> {
    let [stream] = job.streams.as_slice() else { return refuse("several streams") };
    let load = &job.loads[0];
    if load.pacing != Pacing::Constant {
        return refuse("bursts, ramps, or gaps by chance,");
    }
    if load.after.is_some() {
        return refuse("a later beginning");
    }
    let rate = job.rates().map_err(|error| error.to_string())?[0];
    let cores = job.cpus.len();
    let a_core = rate.map(|rate| rate / cores as f64);
    let seconds = job.duration.as_secs_f64();
    let frames = a_core.unwrap_or(FASTEST) * seconds;
    if frames > MOST && job.most.is_none_or(|most| most as f64 > MOST) {
        return refuse("so many frames (its number has 32 bits)");
    }
    let same = headers(stream)?;
    let flows = flows(stream, cores)?;
    let device = |core: usize| {
        let count = a_core.map_or(u64::MAX, |_| frames.ceil() as u64).min(most(job, core));
        let count = rate.map_or(count, |rate| count.min(job.frames(0, core, rate)));
        let delay = a_core.map_or(0, |rate| (1e9 / rate).round() as u64);
        // 0 means no end.
        let mut words = vec![
            format!("count {}", if count == u64::MAX { 0 } else { count }),
            format!("delay {delay}"),
            "clone_skb 0".to_owned(),
            "flag QUEUE_MAP_CPU".to_owned(),
        ];
        words.extend(same.iter().cloned());
        words.extend(flows.clone());
        if cores > 1 {
            words.extend(ports("udp_src", number(&stream.bytes, stream.offsets.l4) + core as u16, 1));
        }
        words
    };
    Ok((0..cores).map(device).collect())
}

fn refuse<T>(what: &str) -> Result<T, String> {
    Err(format!("pktgen cannot send {what}"))
}

fn number(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Constant headers.
fn headers(stream: &Compiled) -> Result<Vec<String>, String> {
    let Compiled { bytes, offsets, .. } = stream;
    let [size] = stream.sizes.as_slice() else { return refuse("frames of several sizes") };
    if stream.protocol != Protocol::Udp {
        return refuse("TCP");
    }
    if bytes.iter().skip(offsets.tag + WHOLE).any(|byte| *byte != 0) {
        return refuse("a payload of anything but zeros");
    }
    let vlans = vlans(&bytes[12..offsets.l3 - 2])?;
    let least = offsets.tag + HEADER;
    if size.length < least {
        return refuse(&format!("frames of less than {} bytes (with FCS) here: its header takes 16", least + 4));
    }
    let mut words = vec![format!("pkt_size {}", size.length)];
    words.push(format!("dst_mac {}", mac(&bytes[..6])));
    words.push(format!("src_mac {}", mac(&bytes[6..12])));
    words.extend(vlans);
    words.extend(addresses(stream)?);
    words.extend(ports("udp_src", number(bytes, offsets.l4), 1));
    words.extend(ports("udp_dst", number(bytes, offsets.l4 + 2), 1));
    Ok(words)
}

fn mac(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// pktgen calls the outer of two tags svlan.
fn vlans(tags: &[u8]) -> Result<Vec<String>, String> {
    let names: &[&str] = if tags.len() > 4 { &["svlan", "vlan"] } else { &["vlan"] };
    let mut words = Vec::new();
    for (name, tag) in names.iter().zip(tags.as_chunks::<4>().0) {
        if number(tag, 0) != ETHERTYPE_VLAN {
            return refuse("VLAN tags of another type than 0x8100");
        }
        let control = number(tag, 2);
        words.extend([format!("{name}_id {}", control & 0xfff), format!("{name}_p {}", control >> 13)]);
    }
    Ok(words)
}

fn addresses(stream: &Compiled) -> Result<Vec<String>, String> {
    let ip = &stream.bytes[stream.offsets.l3..];
    let (class, ttl, word, words) = match stream.ip {
        IpVersion::V4 => {
            let address = |at: usize| Ipv4Addr::from([ip[at], ip[at + 1], ip[at + 2], ip[at + 3]]);
            let (source, destination) = (address(12), address(16));
            let words = [("src_min", source), ("src_max", source), ("dst_min", destination), ("dst_max", destination)];
            (ip[1], ip[8], "tos", words.map(|(name, address)| format!("{name} {address}")).to_vec())
        }
        IpVersion::V6 => {
            let address = |at: usize| {
                let mut octets = [0; 16];
                octets.copy_from_slice(&ip[at..at + 16]);
                Ipv6Addr::from(octets)
            };
            let words = vec![format!("src6 {}", address(8)), format!("dst6 {}", address(24))];
            ((number(ip, 0) >> 4) as u8, ip[7], "traffic_class", words)
        }
    };
    if ![TTL, OUR_TTL].contains(&ttl) {
        return refuse(&format!("a ttl of {ttl} (all its packets have {TTL})"));
    }
    Ok(words.into_iter().chain((class > 0).then(|| format!("{word} {class:02x}"))).collect())
}

/// One field that is incremented per frame: pktgen changes all varying fields together.
fn flows(stream: &Compiled, cores: usize) -> Result<Vec<String>, String> {
    let variation = match stream.variations.as_slice() {
        [] => return Ok(Vec::new()),
        [one] => one,
        _ => return refuse("flows that differ in several fields"),
    };
    let Variation { divisor: 1, count, values: Sequence::Step { first, step: 1 }, .. } = variation else {
        return refuse("flows by lists, steps or random values");
    };
    if *count != stream.flows {
        return refuse("fewer flows than its field has values");
    }
    let (l3, l4) = (stream.offsets.l3, stream.offsets.l4);
    let range = |name: &str| {
        let ends = [("min", *first), ("max", first + count - 1)];
        ends.map(|(end, address)| format!("{name}_{end} {}", Ipv4Addr::from(address))).to_vec()
    };
    let is_v4 = stream.ip == IpVersion::V4;
    match variation.offset {
        at if at == l4 && cores > 1 => refuse("flows by source ports from several cores"),
        at if [l4, l4 + 2].contains(&at) && first + count > u32::from(u16::MAX) => refuse("flows up to port 65535"),
        at if at == l4 => Ok(ports("udp_src", *first as u16, *count as u16)),
        at if at == l4 + 2 => Ok(ports("udp_dst", *first as u16, *count as u16)),
        at if is_v4 && at == l3 + 12 => Ok(range("src")),
        at if is_v4 && at == l3 + 16 => Ok(range("dst")),
        _ => refuse("flows by MAC addresses, or by those of IPv6"),
    }
}

/// For several ports, the maximum is exclusive.
fn ports(name: &str, first: u16, count: u16) -> Vec<String> {
    let end = if count == 1 { first } else { first + count };
    vec![format!("{name}_min {first}"), format!("{name}_max {end}")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn told(stream: &str) -> Result<Vec<Vec<String>>, String> {
        of(&fixture::job_of(&format!("[[stream]]\n{stream}")))
    }

    fn refused(stream: &str) -> String {
        told(stream).expect_err("it cannot")
    }

    #[test]
    fn a_plain_stream_is_told_whole() {
        let words = told("load = \"20 kpps\"").expect("it can").remove(0).join("\n");
        let expected = "count 20000\ndelay 50000\nclone_skb 0\nflag QUEUE_MAP_CPU\npkt_size 60\n\
                        dst_mac 02:00:00:00:00:02\nsrc_mac 02:00:00:00:00:01\n\
                        src_min 198.18.0.1\nsrc_max 198.18.0.1\ndst_min 198.18.0.2\ndst_max 198.18.0.2\n\
                        udp_src_min 49184\nudp_src_max 49184\nudp_dst_min 49185\nudp_dst_max 49185";
        assert_eq!(words, expected);
        let flat_out = told("").expect("it can").remove(0).join("\n");
        assert!(flat_out.starts_with("count 0\ndelay 0\n"), "{flat_out}");
    }

    #[test]
    fn tags_classes_flows_and_cores_are_told() {
        let has = |stream: &str, wanted: &[&str]| {
            let words = told(stream).unwrap_or_else(|why| panic!("{stream}: {why}")).remove(0);
            assert!(wanted.iter().all(|word| words.contains(&(*word).to_owned())), "{stream}: {words:?}");
        };
        has("vlans = [\"100 priority 5\"]\ndscp = 34\nsizes = \"128\"", &["vlan_id 100", "vlan_p 5", "tos 88"]);
        has("flows = 10", &["udp_src_min 1024", "udp_src_max 1034"]);
        has("destination_ip = \"198.18.0.2..198.18.0.9\"", &["dst_min 198.18.0.2", "dst_max 198.18.0.9"]);
        let job = crate::Job { cpus: vec![0, 1], ..fixture::job_of("[[stream]]\nload = \"20 kpps\"") };
        let cores = of(&job).expect("it can");
        assert!(cores[1].contains(&"udp_src_min 49185".to_owned()) && cores[1].contains(&"count 10000".to_owned()));
        assert!(cores[0].contains(&"delay 100000".to_owned()), "{cores:?}");
    }

    #[test]
    fn what_it_cannot_do_is_refused_by_name() {
        for (stream, why) in [
            ("sizes = \"imix\"", "several sizes"),
            ("protocol = \"tcp\"", "TCP"),
            ("payload = \"ones\"\nsizes = \"128\"", "anything but zeros"),
            ("ttl = 5", "a ttl of 5"),
            ("vlans = [\"10\"]", "less than 66 bytes"),
            ("load = \"1 kpps poisson\"", "by chance"),
            ("source_port = \"1, 7\"", "lists"),
            ("source_port = \"1..4\"\ndestination_port = \"1..4\"", "several fields"),
            ("source_mac = \"02:00:00:00:01:00..02:00:00:00:01:ff\"", "MAC addresses"),
            ("vlans = [\"10\", \"20\"]", "0x8100"),
        ] {
            let error = refused(stream);
            assert!(error.starts_with("pktgen cannot send ") && error.contains(why), "{stream}: {error}");
        }
        let long = crate::Job { duration: model::Nanos(3_600_000_000_000), ..fixture::job(&["flat out"]) };
        assert!(of(&long).expect_err("too many").contains("32 bits"));
    }
}
