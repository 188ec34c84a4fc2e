//! Sends 64-byte frames by one engine, and says how fast: `send ENGINE INTERFACE SECONDS LOAD CORE,CORE…`

#![allow(clippy::unwrap_used, reason = "a tool for measuring, which may stop at once")]

use std::sync::atomic::{AtomicBool, AtomicU64};

use frame::{Compiled, Place};
use model::{Mtu, Nanos, Stream, stream::Mac};
use wireproof_engine::{AfPacket, Job, Sender, Xsk};
use xdp::socket::Mode;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [engine, interface, seconds, load, cpus] = args.as_slice() else {
        panic!("send ENGINE INTERFACE SECONDS LOAD CORE,CORE…");
    };
    let place = Place {
        source_mac: Mac([2, 0, 0, 0, 0, 1]),
        next_hop_mac: Mac([2, 0, 0, 0, 0, 2]),
        source: "198.18.0.1".parse().unwrap(),
        destination: "198.18.0.2".parse().unwrap(),
        mtu: Mtu(1500),
    };
    let streams = Stream::parse_file(&format!("[[stream]]\nload = \"{load}\"")).unwrap();
    let job = Job {
        interface: interface.clone(),
        loads: streams.iter().map(|stream| stream.load).collect(),
        streams: streams.iter().map(|stream| Compiled::new(stream, &place).unwrap()).collect(),
        line: None,
        cpus: cpus.split(',').map(|cpu| cpu.parse().unwrap()).collect(),
        token: 7,
        duration: Nanos((seconds.parse::<f64>().unwrap() * 1e9) as u64),
        most: None,
    };
    let mut sender: Box<dyn Sender> = match engine.as_str() {
        "xsk" => Box::new(Xsk::new(job, Mode::Any)),
        "af_packet" => Box::new(AfPacket::new(job)),
        other => panic!("{other} is no engine"),
    };
    let sent = sender.send(&AtomicBool::new(false), &AtomicU64::new(0)).unwrap();
    for stream in sent.streams {
        let (from, until) = stream.span.unwrap();
        let rate = stream.frames as f64 * 1e3 / (until.0 - from.0) as f64;
        println!(
            "{} frames, {rate:.3} Mpps, {} refused, {:?} given up",
            stream.frames, stream.refused, stream.given_up
        );
        if let Some(pacing) = stream.pacing {
            println!("gaps {:?}", pacing.gaps.summary());
            println!("errors {:?}", pacing.errors.summary());
            println!("behind {:?}", pacing.behind.summary());
        }
    }
}
