//! A job for tests.

use frame::{Compiled, Place};
use model::{Mtu, Nanos, Stream, stream::Mac};

use crate::Job;

/// A stream of 64-byte frames for each load, from one core.
pub(crate) fn job(loads: &[&str]) -> Job {
    let stream = |(number, load): (usize, &&str)| format!("[[stream]]\nname = \"{number}\"\nload = \"{load}\"\n");
    job_of(&loads.iter().enumerate().map(stream).collect::<String>())
}

/// Streams of a file, from one core.
pub(crate) fn job_of(streams: &str) -> Job {
    let place = Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().expect("an address"),
        destination: "198.18.0.2".parse().expect("an address"),
        mtu: Mtu(1500),
    };
    let streams = Stream::parse_file(streams).expect("streams");
    Job {
        first: 0,
        interface: "port0".to_owned(),
        loads: streams.iter().map(|stream| stream.load).collect(),
        streams: streams.iter().map(|stream| Compiled::new(stream, &place).expect("it fits")).collect(),
        line: None,
        cpus: vec![0],
        token: 7,
        duration: Nanos(1_000_000_000),
        most: None,
    }
}
