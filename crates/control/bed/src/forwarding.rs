//! Checks before a measurement that the ends reach each other, directly or through a routing device under test.

use std::{
    net::IpAddr,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use model::{Answer, Bed, Endpoint, Gateway, IpVersion};
use protocol::{AgentLink, Reply, Request};

use crate::{
    error::BedError,
    links,
    machine::{REQUEST, confused},
    through::DutUnreachable,
};

/// Time until new ports and addresses are usable.
const SETTLED: Duration = Duration::from_secs(6);

/// A switch may block a new link for 30 s (spanning tree: listening, learning).
const SWITCH: Duration = Duration::from_secs(35);

/// Drops addresses of an IP version that does not get through, with the reason; an error if none does.
pub(crate) fn check(
    bed: &mut Bed,
    ports: &mut [AgentLink],
    interrupt: &AtomicBool,
) -> Result<Vec<DutUnreachable>, BedError> {
    let gateways = bed.dut.as_ref().map(|dut| dut.gateways.clone()).unwrap_or_default();
    let mut closed: Vec<DutUnreachable> = Vec::new();
    for ip in [IpVersion::V4, IpVersion::V6] {
        let of_version: Vec<&Gateway> =
            gateways.iter().filter(|gateway| IpVersion::of(gateway.address) == ip).collect();
        closed.extend(first_closed(bed, ports, ip, &of_version, interrupt)?);
    }
    let is_closed = |address: &IpAddr| closed.iter().any(|not| not.ip() == IpVersion::of(*address));
    if !gateways.is_empty() && bed.endpoints.iter().all(|end| end.addresses.iter().all(is_closed)) {
        return Err(BedError::NotForwarded(closed));
    }
    bed.endpoints.iter_mut().for_each(|end| end.addresses.retain(|address| !is_closed(address)));
    Ok(closed)
}

/// The first closed path, in either direction.
fn first_closed(
    bed: &Bed,
    ports: &mut [AgentLink],
    ip: IpVersion,
    gateways: &[&Gateway],
    interrupt: &AtomicBool,
) -> Result<Option<DutUnreachable>, BedError> {
    let last = bed.endpoints.len() - 1;
    for (from, to) in (0..last).flat_map(|sender| [(sender, last), (last, sender)]) {
        let end: &Endpoint = &bed.endpoints[from];
        let gateway = gateways.iter().find(|gateway| gateway.endpoint == end.name);
        let (Some(gateway), Some(address)) = (gateway, bed.endpoints[to].address(ip)) else { continue };
        let beyond = patiently(&mut ports[from], address, interrupt)?;
        if beyond != Answer::Yes {
            let at_gateway = ask(&mut ports[from], gateway.address)?;
            let ends = [end.name.clone(), bed.endpoints[to].name.clone()];
            return Ok(Some(DutUnreachable { ends, to: address, gateway: gateway.address, at_gateway, beyond }));
        }
    }
    Ok(None)
}

/// Refuses ends without a link-layer connection, between which nothing could be measured.
pub(crate) fn check_wire(bed: &Bed, ports: &mut [AgentLink], interrupt: &AtomicBool) -> Result<(), BedError> {
    let is_routed = bed.dut.as_ref().is_some_and(|dut| !dut.gateways.is_empty());
    if bed.makes_its_links() || is_routed {
        return Ok(());
    }
    let Some((receiver, senders)) = bed.endpoints.split_last() else { return Ok(()) };
    for (sender, port) in senders.iter().zip(ports) {
        let both_have = |ip: &IpVersion| sender.address(*ip).and(receiver.address(*ip)).is_some();
        let ip = [IpVersion::V4, IpVersion::V6].into_iter().find(both_have);
        if let Some(address) = ip.and_then(|ip| receiver.address(ip)) {
            find(sender, receiver, port, address, interrupt)?;
        }
    }
    Ok(())
}

/// A firewall may have dropped a missing answer.
fn find(
    from: &Endpoint,
    to: &Endpoint,
    port: &mut AgentLink,
    address: IpAddr,
    interrupt: &AtomicBool,
) -> Result<(), BedError> {
    let begun = Instant::now();
    loop {
        let (from, to) = (links::place_of(from), links::place_of(to));
        match ask(port, address)? {
            Answer::Yes | Answer::Nothing => return Ok(()),
            Answer::NoRoute => return Err(BedError::NoRoute { from, to, address }),
            Answer::NoHost if begun.elapsed() > SWITCH => return Err(BedError::NoWire { from, to, address }),
            Answer::NoHost => links::check(interrupt)?,
        }
    }
}

fn patiently(port: &mut AgentLink, address: IpAddr, interrupt: &AtomicBool) -> Result<Answer, BedError> {
    let until = Instant::now() + SETTLED;
    loop {
        let answer = ask(port, address)?;
        if answer == Answer::Yes || Instant::now() > until {
            return Ok(answer);
        }
        links::check(interrupt)?;
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn ask(port: &mut AgentLink, address: IpAddr) -> Result<Answer, BedError> {
    match port.ask(Request::Answers { address }, REQUEST)? {
        Reply::Answer(answer) => Ok(answer),
        other => Err(confused(port, &other)),
    }
}
