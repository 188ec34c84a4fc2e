//! Properties of our readers for any input at all. `./x fuzz` looks for inputs that break them; `tests/corpus.rs` checks them for all
//! that are kept in `fuzz/corpus`.

use datagram::{Binding, DatagramHeader, Input, NextHop, SocketId, Sums, Versions};
use frame::{Compiled, Place, Tag};
use freebsd::{Readings, Said};
use import::Given;
use model::{
    Identity, IpVersion, Json, Mtu, Plan, Reading, Reference, Stream,
    inspection::{Conditions, Goal},
    search::{TrialResult, check_goals, parse_goals, parse_trials},
    stream::Mac,
    tuning::{Profile, from_tuned},
};
use pcap::Replay;
use protocol::{FromAgent, ToAgent, read_message, write_message};
use seal::Sums as FileSums;

// Readers inside of other crates, which are files of their own.
#[path = "../../crates/control/agent/src/bypass/image.rs"]
#[allow(dead_code, reason = "parts of the value are of use there alone")]
mod image;
#[path = "../../crates/machine/kernel/src/irqbalance/setup.rs"]
mod irqbalance_setup;
#[path = "../../crates/measure/probe/src/transfer/said.rs"]
mod said;
#[path = "../../src/identity/svg.rs"]
mod svg;

/// A frame from anywhere.
pub fn frame(input: &[u8]) {
    let Ok(packet) = frame::parse::parse(input) else { return };
    assert!(packet.vlans.len() <= model::stream::MOST_VLANS);
    if let Ok(Some(seen)) = frame::read(input) {
        assert!(seen.tag.is_none() || input.len() >= frame::tag::SHORT);
    }
}

/// A stream file: what is accepted reads back as itself, and its frames are those that a receiver reads.
pub fn stream(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(streams) = Stream::parse_file(text) else { return };
    for stream in streams {
        let written = toml::to_string(&stream).expect("a stream is TOML");
        assert_eq!(Stream::parse_file(&format!("[[stream]]\n{written}")).as_ref(), Ok(&vec![stream.clone()]));
        if let Ok(compiled) = Compiled::new(&stream, &place(stream.ip)) {
            frames_are_read(&compiled);
        }
    }
}

fn place(ip: IpVersion) -> Place {
    let (source, destination) = match ip {
        IpVersion::V4 => ([198, 18, 0, 1].into(), [198, 18, 0, 2].into()),
        IpVersion::V6 => ([0x2001, 2, 0, 0, 0, 0, 0, 1].into(), [0x2001, 2, 0, 0, 0, 0, 0, 2].into()),
    };
    let (source_mac, next_hop_mac) = (Mac([2, 0, 0, 0, 0, 1]), Mac([2, 0, 0, 0, 0, 2]));
    Place { source_mac, next_hop_mac, source, destination, mtu: Mtu(9000) }
}

fn frames_are_read(compiled: &Compiled) {
    let mut buffer = vec![0; compiled.longest()];
    for index in [0, 1, u64::from(compiled.flows) - 1, u64::from(compiled.flows), u64::MAX] {
        let tag = Tag { stream: 1, sequence: index & 0xffff_ffff_ffff, token: 2, time: 3 };
        let length = compiled.write(&mut buffer, index, tag);
        // A tag of VLANs of somebody's own making is one that nobody else can know.
        let Ok(Some(seen)) = frame::read(&buffer[..length]) else { continue };
        assert!(seen.intact);
        assert_eq!(seen.tag.map(|tag| tag.sequence), Some(tag.sequence));
    }
}

/// A profile of tuning, our own or one of tuned's: what is accepted is written and read again as the same, and gives a plan of which each
/// value has one outcome.
pub fn profile(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(profile) = Profile::parse(text) {
        let written = toml::to_string(&profile).expect("a profile is TOML");
        assert_eq!(Profile::parse(&written).as_ref(), Ok(&profile));
    }
    // It may be built on itself, and on one more.
    let mut read = |name: &str| ["one", "two"].contains(&name).then(|| text.to_owned());
    if let Ok((profile, _)) = from_tuned("one", &mut read) {
        assert!(!profile.values.is_empty());
    }
}

/// A file of goals or of recorded trials: what is accepted can be classified.
pub fn trials(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(goals) = parse_goals(text) {
        assert_eq!(check_goals(&goals), Ok(()));
    }
    let Ok(trials) = parse_trials(text) else { return };
    for TrialResult { load, duration_s, effective_s, loss_ratio } in trials {
        assert!([load, duration_s, effective_s].iter().all(|number| number.is_finite() && *number > 0.0));
        assert!((0.0..=1.0).contains(&loss_ratio));
    }
}

/// A capture: its frames are sent in order, or refused.
pub fn pcap(input: &[u8]) {
    let Ok(frames) = pcap::read(input) else { return };
    let count = frames.len() as u64;
    let Ok(replay) = Replay::new(frames, Mtu(1500)) else { return };
    for index in 0..count {
        assert!(replay.due(index) <= replay.due(index + 1));
        assert!(replay.frame(index).len() <= replay.longest());
    }
}

/// Frames for sockets in user space, each behind its length in two bytes: what a socket is given lies in the frame, and is for it.
pub fn input(input: &[u8]) {
    const PORT: u16 = 9;
    let own = Some([198, 18, 0, 2].into());
    let peer = Some(([198, 18, 0, 1], 7).into());
    let bindings = [
        Binding { address: None, port: PORT, peer: None, versions: Versions::Both, has_device: false, shares: false },
        Binding { address: own, port: PORT, peer: None, versions: Versions::V4, has_device: false, shares: false },
        Binding { address: own, port: PORT, peer, versions: Versions::V4, has_device: false, shares: false },
    ];
    let mut sockets = Input::default();
    for (id, binding) in (0..).zip(bindings) {
        sockets.bind(SocketId(id), binding);
    }
    let mut rest = input;
    while let Some((length, frames)) = rest.split_first_chunk() {
        let (frame, next) = frames.split_at(usize::from(u16::from_be_bytes(*length)).min(frames.len()));
        if let Some((id, arrived)) = sockets.sort(frame, Sums::PartialToo) {
            let binding = bindings[id.0 as usize];
            assert!(binding.hears(arrived.to.ip()) && binding.peer.is_none_or(|peer| peer == arrived.from));
            let (all, part) = (frame.as_ptr_range(), arrived.payload.as_ptr_range());
            assert!(arrived.to.port() == PORT && all.start <= part.start && part.end <= all.end);
        }
        rest = next;
    }
}

/// A frame for a socket in user space: what is read of it is written as a datagram that says the same.
pub fn datagram(input: &[u8]) {
    let Ok(arrived) = datagram::read(input, Sums::PartialToo) else { return };
    let (from, to) = (arrived.from, arrived.to);
    let header = DatagramHeader {
        from,
        to,
        ttl: arrived.ttl,
        traffic_class: arrived.traffic_class,
        identification: None,
        flow_label: 0,
    };
    let way = NextHop { source_mac: Mac([2, 0, 0, 0, 0, 1]), next_hop_mac: Mac([2, 0, 0, 0, 0, 2]), mtu: u16::MAX };
    let mut frame = vec![0; input.len()];
    let length = datagram::write(&way, &header, [arrived.payload].into_iter(), &mut frame).expect("it is no longer");
    assert_eq!(datagram::read(&frame[..length], Sums::Whole), Ok(arrived));
}

/// Output of commands of FreeBSD: any text is read, and counts, prefixes and links of what is read have bounds.
pub fn freebsd(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let said = || Reading::Known(text.to_owned());
    let said = Said {
        uname: said(),
        sysctl: said(),
        ifconfig: said(),
        pciconf: said(),
        devices: said(),
        counters: said(),
        protocols: said(),
        mbufs: said(),
        route: said(),
        interrupts: said(),
        dmesg: said(),
        modules: said(),
    };
    for port in freebsd::cards(&said).ports {
        let light = port.readings.module.or_default();
        assert!(light.lanes.len() <= 16 && light.lanes.iter().all(|lane| lane.received_mw.is_finite()));
        assert!(port.interface.card.is_some_and(|card| card.hops.len() <= 17));
    }
    assert!(freebsd::affinity::cores(text).len() <= 4096);
    let _ = freebsd::host(&said);
    for said in [&said, &Said::of(text)] {
        let readings = Readings::of(said);
        for goal in [Goal::Throughput, Goal::Latency, Goal::Router, Goal::Bypass] {
            let conditions = Conditions { goal, ..Conditions::default() };
            let findings = checks::freebsd(&readings, &conditions);
            assert!(findings.iter().all(|finding| !finding.read.place.is_empty()));
        }
    }
}

/// Properties of HTTP from a peer: a head is whole at its end and not before, whatever follows, and has an end.
pub fn http(input: &[u8]) {
    let is_long = input.len() >= http::LONGEST_HEAD;
    match http::request(input) {
        Ok(None) => assert!(!is_long),
        Ok(Some(head)) => {
            assert_eq!(http::request(&input[..head.length]), Ok(Some(head)));
            assert_eq!(http::request(&input[..head.length - 1]), Ok(None));
        }
        Err(_) => {}
    }
    match http::response(input) {
        Ok(None) => assert!(!is_long),
        Ok(Some(head)) => {
            assert_eq!(http::response(&input[..head.length]), Ok(Some(head)));
            assert_eq!(http::response(&input[..head.length - 1]), Ok(None));
        }
        Err(_) => {}
    }
}

/// A table of SMBIOS, and the configuration space of a PCI device: what is read of them lies within their bounds.
pub fn firmware(input: &[u8]) {
    for slot in firmware::slots(input) {
        assert!(slot.generation.is_none_or(|generation| (1..=6).contains(&generation)));
        assert!(slot.name.len() <= 3 * input.len());
    }
    if let Some(sizes) = firmware::sizes(input) {
        let is_size = |size: u32| size.is_power_of_two() && (128..=4096).contains(&size);
        assert!([sizes.payload, sizes.payload_most, sizes.read_request].into_iter().all(is_size));
    }
}

/// Output of another tool: the reference that it gives is written and read again.
pub fn import(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(reference) = import::read(text, &Given::default()) else { return };
    let written = written_reference(&reference);
    assert!(Reference::parse(&written).is_ok(), "{written}");
}

fn written_reference(reference: &Reference) -> String {
    toml::to_string(reference).expect("a reference is TOML")
}

/// Files in the user's hands: a plan, the identity of a report, a reference. An accepted one is written and read as the same.
pub fn plan(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(plan) = Plan::parse(text, &[]) {
        let written = plan.to_toml();
        assert_eq!(Plan::parse(&written, &[]).as_ref(), Ok(&plan), "{written}");
    }
    if let Ok(identity) = Identity::parse(text) {
        assert_eq!(Identity::parse(&identity.to_toml()).as_ref(), Ok(&identity));
    }
    if let Ok(reference) = Reference::parse(text) {
        assert_eq!(Reference::parse(&written_reference(&reference)).as_ref(), Ok(&reference));
    }
}

/// Messages of a far agent or of a controller: a message that is read is written and read again. Text alone is framed first, so that an
/// input needs no length.
pub fn message(input: &[u8]) {
    one_message::<FromAgent>(input);
    one_message::<ToAgent>(input);
    let framed = [&(input.len() as u32).to_be_bytes(), input].concat();
    one_message::<FromAgent>(&framed);
    one_message::<ToAgent>(&framed);
}

fn one_message<T: Json>(mut bytes: &[u8]) {
    let Ok(message) = read_message::<T>(&mut bytes) else { return };
    let mut written = Vec::new();
    write_message(&mut written, &message).expect("it is as short as it was");
    assert!(read_message::<T>(&mut written.as_slice()).is_ok(), "{}", message.to_json());
}

/// A logo: an accepted one is a drawing without scripts.
pub fn svg(input: &[u8]) {
    if svg::check(input).is_ok() {
        let text = std::str::from_utf8(input).expect("SVG is text").to_ascii_lowercase();
        assert!(text.contains("svg") && !text.contains("<script") && !text.contains("<!doctype"));
    }
}

/// The sums of a report: what is accepted is written and read as the same.
pub fn sums(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(sums) = FileSums::parse(text) {
        assert_eq!(FileSums::parse(&sums.to_string()).expect("it was written by us"), sums);
    }
}

/// The file of a program that is to go past the kernel.
pub fn image(input: &[u8]) {
    if let image::Image::Script { interpreter, rest } = image::Image::read(input) {
        assert!(input.starts_with(b"#!") && interpreter.len() + rest.len() <= 3 * 256);
    }
}

/// Lines of the other end of a transfer, in pieces: a login has no word that a program would take for an option or for two.
pub fn transfer(input: &[u8]) {
    let mut lines = said::Lines::default();
    for piece in input.chunks(100) {
        let fits = lines.take(piece);
        while let Some(line) = lines.next() {
            one_line(&line);
        }
        if !fits {
            return;
        }
    }
}

fn one_line(line: &str) {
    assert!(!line.contains('\n'));
    if let Some(hello @ said::Hello { available, of_file, words }) = said::hello(line) {
        assert_eq!(said::hello(&format!("{available} {of_file} {words}")), Some(hello));
    }
    if let Some(answer @ said::Answer::Offer { size, port, words }) = said::answer(line) {
        assert_eq!(said::answer(&format!("{size} {port} {words}")), Some(answer));
        is_login(words);
    }
    is_login(line);
}

fn is_login(words: &str) {
    let Some(said::Login { key, user, room }) = said::login(words) else { return };
    let is_word = |word: &str| !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c.is_control());
    assert!([user, room].into_iter().chain(key.split(' ')).all(is_word));
    assert!(key.split(' ').count() == 2 && !user.starts_with('-') && room.starts_with('/'));
}

/// An answer of irqbalance: each interrupt that is read stands in it.
pub fn irqbalance(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for interrupt in irqbalance_setup::banned(&text) {
        assert!(text.split_whitespace().any(|word| word.parse::<u32>() == Ok(interrupt)));
    }
}
