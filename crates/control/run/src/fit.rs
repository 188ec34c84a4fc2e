//! Whether a plan can be measured on a bed: said before anything is measured. Pure.

use model::{
    Bed, BedKind, GoodputSpec, IpVersion, LatencySpec, Mtu, PacketsSpec, PayloadSize, Plan, ProbeSpec, Protocol,
    frame_size::{ETHERNET_HEADER, FCS, FrameSize, FrameSizeError, Headers},
    probe::{FASTEST, LATENCY_LEAST_PAYLOAD},
    stream::Stream,
    units::{ETHERNET_MTUS, LEAST_IPV6_MTU},
};

/// Headers of 40 bytes, and the least segment that Linux sends.
const LEAST_TCP_MTU: u32 = 88;

/// A probe that this bed cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// The bed has no address of this IP version.
    #[error(
        "{probe}: bed \"{bed}\" has no {ip} address at both ends (was none given, has the kernel no IPv6, or is the MTU under \
         1280?); take the probe out of the plan, or choose another ip (--ip 4)"
    )]
    NoAddress {
        /// The probe.
        probe: String,
        /// The bed.
        bed: String,
        /// The IP version it lacks.
        ip: IpVersion,
    },
    /// TCP does not work there.
    #[error(
        "{probe}: TCP over IPv4 needs an MTU of {LEAST_TCP_MTU} or more, this bed has {}; Linux sends no segments smaller \
         than its sysctl net.ipv4.tcp_min_snd_mss, 48 bytes", .mtu.0
    )]
    SmallMtu {
        /// The probe.
        probe: String,
        /// MTU of the bed.
        mtu: Mtu,
    },
    /// The frame size cannot be had.
    #[error("{probe}: {error}")]
    FrameSize {
        /// The probe.
        probe: String,
        /// Why not.
        error: FrameSizeError,
    },
    /// The bed cannot be set to this MTU.
    #[error("{probe}: {why}")]
    OtherMtu {
        /// The probe.
        probe: String,
        /// Why not, and what to write.
        why: String,
    },
    /// Datagrams that would be cut up on the way.
    #[error(
        "{probe}: datagrams of {datagram} bytes do not fit MTU {mtu}, IP would cut them into fragments; {largest} bytes fit"
    )]
    Datagram {
        /// The probe.
        probe: String,
        /// Payload asked for.
        datagram: u32,
        /// The MTU.
        mtu: u32,
        /// The largest payload that fits.
        largest: u32,
    },
    /// No schedule has this rate.
    #[error("{probe}: {why}")]
    Rate {
        /// The probe.
        probe: String,
        /// Why not, and what to write.
        why: String,
    },
}

/// Checks each probe of the plan against the bed's addresses and MTU.
pub fn check(plan: &Plan, bed: &Bed) -> Result<(), Misfit> {
    let own = bed.endpoints.iter().map(|endpoint| endpoint.mtu).min().unwrap_or(Mtu(0));
    plan.specs().iter().try_for_each(|spec| check_spec(spec, bed, spec.mtu().unwrap_or(own)))
}

fn check_spec(spec: &ProbeSpec, bed: &Bed, mtu: Mtu) -> Result<(), Misfit> {
    let (probe, ip) = (spec.to_string(), spec.ip());
    if bed.endpoints.iter().any(|endpoint| endpoint.address(ip).is_none()) {
        return Err(Misfit::NoAddress { probe, bed: bed.name.clone(), ip });
    }
    if spec.mtu().is_some() {
        check_other_mtu(&probe, bed, mtu)?;
    }
    match spec {
        ProbeSpec::Latency(spec) => check_frame(probe, spec, mtu),
        ProbeSpec::Goodput(spec) if spec.protocol == Protocol::Udp => check_datagram(probe, spec, mtu),
        ProbeSpec::Goodput(_) if mtu.0 < LEAST_TCP_MTU => Err(Misfit::SmallMtu { probe, mtu }),
        ProbeSpec::Goodput(_) | ProbeSpec::Path(_) => Ok(()),
        ProbeSpec::Packets(spec) => check_packets(probe, spec, mtu),
    }
}

fn check_other_mtu(probe: &str, bed: &Bed, mtu: Mtu) -> Result<(), Misfit> {
    let refuse = |why: String| Err(Misfit::OtherMtu { probe: probe.to_owned(), why });
    if !ETHERNET_MTUS.contains(&mtu.0) {
        let (least, most) = (ETHERNET_MTUS.start(), ETHERNET_MTUS.end());
        return refuse(format!("no interface takes an MTU of {}; write {least} to {most}", mtu.0));
    }
    if bed.kind == BedKind::Lab && bed.senders().len() > 1 {
        return refuse("the bridge that joins the senders of this bed keeps its MTU; measure once for each MTU, with --mtu in the place of mtus".to_owned());
    }
    if mtu < LEAST_IPV6_MTU && bed.endpoints.iter().any(|endpoint| endpoint.address(IpVersion::V6).is_some()) {
        return refuse(format!(
            "the kernel takes IPv6 addresses away under an MTU of {}, and would not give them back; make a bed of MTU {} \
             with --mtu",
            LEAST_IPV6_MTU.0, mtu.0
        ));
    }
    Ok(())
}

fn check_frame(probe: String, spec: &LatencySpec, mtu: Mtu) -> Result<(), Misfit> {
    // Timestamps are off in the lab; where they are on, the probe finds out when it is connected.
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps: false };
    let frame = headers.frame_of(spec.frame_size, LATENCY_LEAST_PAYLOAD, mtu);
    frame.map(drop).map_err(|error| Misfit::FrameSize { probe, error })
}

fn check_packets(probe: String, spec: &PacketsSpec, mtu: Mtu) -> Result<(), Misfit> {
    let largest = FrameSize(mtu.0 + ETHERNET_HEADER + FCS);
    let too_large = |stream: &Stream| {
        // A VLAN tag is beside what the MTU counts.
        let tags = 4 * stream.vlans.len() as u32;
        stream.sizes.cycle(largest).into_iter().find(|size| size.0 > largest.0 + tags)
    };
    match spec.streams.iter().find_map(too_large) {
        Some(size) => {
            let error = FrameSizeError::TooLarge { frame: size.0, mtu: mtu.0, largest: largest.0 };
            Err(Misfit::FrameSize { probe, error })
        }
        None => Ok(()),
    }
}

fn check_datagram(probe: String, spec: &GoodputSpec, mtu: Mtu) -> Result<(), Misfit> {
    let headers = Headers { ip: spec.ip, protocol: spec.protocol, tcp_timestamps: false };
    let largest = mtu.0.saturating_sub(headers.bytes());
    match spec.datagram {
        Some(PayloadSize(datagram)) if datagram > largest => {
            Err(Misfit::Datagram { probe, datagram, mtu: mtu.0, largest })
        }
        datagram => check_rate(probe, spec, datagram.unwrap_or(PayloadSize(largest))),
    }
}

fn check_rate(probe: String, spec: &GoodputSpec, datagram: PayloadSize) -> Result<(), Misfit> {
    let Some(rate) = spec.rate else { return Ok(()) };
    let a_second = rate.0 as f64 / (f64::from(datagram.0) * 8.0);
    let refuse = |why: String| Err(Misfit::Rate { probe, why });
    if a_second > FASTEST.0 as f64 {
        return refuse(format!(
            "{rate} is more than {FASTEST} of {} bytes, which no clock could pace; ask for less, or leave the rate out to send \
             flat out",
            datagram.0
        ));
    }
    if a_second * spec.duration.as_secs_f64() < f64::from(spec.streams) {
        return refuse(format!(
            "at {rate} not every stream would send a datagram of {} bytes within {}; ask for more, or for a longer duration",
            datagram.0, spec.duration
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::fixture;

    use super::*;

    fn checked(latency: &str) -> Result<(), String> {
        checked_section(&format!("[[latency]]\n{latency}"))
    }

    fn checked_section(section: &str) -> Result<(), String> {
        let toml = format!("name = \"t\"\n{section}");
        check(&Plan::parse(&toml, &[]).unwrap(), &fixture::lab()).map_err(|misfit| misfit.to_string())
    }

    #[test]
    fn misfits_say_which_probe_and_what_would_fit() {
        assert_eq!(checked("protocol = \"udp\"\nframe_sizes = [64, 1518]"), Ok(()));
        let small = checked("protocol = \"udp\"\nframe_sizes = [60]").unwrap_err();
        assert!(small.starts_with("latency UDP IPv4 spin 60 B: frame size 60 is too small"), "{small}");
        let large = checked("protocol = \"tcp\"\nframe_sizes = [9018]").unwrap_err();
        assert!(large.contains("does not fit MTU 1500"), "{large}");
        let v6 = checked("protocol = \"udp\"\nip = 6\nframe_sizes = [128]").unwrap_err();
        assert!(v6.contains("has no IPv6 address"), "{v6}");
    }

    #[test]
    fn an_mtu_or_a_datagram_that_cannot_be_had_is_refused_before_anything_is_set_up() {
        let goodput = |more: &str| checked_section(&format!("[[goodput]]\nduration = \"1 s\"\n{more}"));
        assert_eq!(goodput("protocol = \"tcp\"\nmtus = [1500, 9000]"), Ok(()));
        let mtu = goodput("protocol = \"tcp\"\nmtus = [70000]").unwrap_err();
        assert!(mtu.contains("no interface takes an MTU of 70000; write 68 to 65535"), "{mtu}");
        assert_eq!(goodput("protocol = \"udp\"\ndatagram = 1472"), Ok(()));
        assert_eq!(goodput("protocol = \"udp\"\ndatagram = 8972\nmtus = [9000]"), Ok(()));
        let datagram = goodput("protocol = \"udp\"\ndatagram = 1473").unwrap_err();
        assert!(datagram.contains("fragments; 1472 bytes fit"), "{datagram}");
    }

    #[test]
    fn a_rate_that_no_schedule_has_is_refused_before_anything_is_set_up() {
        let udp = |more: &str| checked_section(&format!("[[goodput]]\nprotocol = \"udp\"\nduration = \"1 s\"\n{more}"));
        assert_eq!(udp("rate = \"1 Gbit/s\""), Ok(()));
        assert_eq!(udp("rate = \"1 Tbit/s\""), Ok(()));
        let fast = udp("rate = \"1 Tbit/s\"\ndatagram = 100").unwrap_err();
        assert!(fast.contains("1 Tbit/s is more than 100 Mpps of 100 bytes"), "{fast}");
        assert_eq!(udp("rate = \"11776 bit/s\""), Ok(()));
        let slow = udp("rate = \"11775 bit/s\"").unwrap_err();
        assert!(slow.contains("not every stream would send a datagram of 1472 bytes within 1 s"), "{slow}");
        assert!(udp("rate = \"11776 bit/s\"\nstreams = 2").is_err());
    }
}
