//! Whether a plan can be measured on a bed: said before anything is measured. Pure.

use model::{
    Bed, IpVersion, Mtu, Plan, ProbeSpec,
    frame_size::{FrameSizeError, Headers},
    probe::LATENCY_LEAST_PAYLOAD,
};

/// Headers of 40 bytes, and the least segment that Linux sends.
const LEAST_TCP_MTU: u32 = 88;

/// A probe that this bed cannot have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misfit {
    /// The bed has no address of this IP version.
    #[error(
        "{probe}: bed \"{bed}\" has no {ip} address (has the kernel no IPv6, or is the MTU under 1280?); \
         take the probe out of the plan, or choose ip = 4"
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
}

/// Checks each probe of the plan against the bed's addresses and MTU.
pub fn check(plan: &Plan, bed: &Bed) -> Result<(), Misfit> {
    let mtu = bed.endpoints.iter().map(|endpoint| endpoint.mtu).min().unwrap_or(Mtu(0));
    plan.specs().iter().try_for_each(|spec| check_spec(spec, bed, mtu))
}

fn check_spec(spec: &ProbeSpec, bed: &Bed, mtu: Mtu) -> Result<(), Misfit> {
    let ip = match spec {
        ProbeSpec::Latency(spec) => spec.ip,
        ProbeSpec::Goodput(spec) => spec.ip,
    };
    if bed.endpoints.iter().any(|endpoint| endpoint.address(ip).is_none()) {
        return Err(Misfit::NoAddress { probe: spec.to_string(), bed: bed.name.clone(), ip });
    }
    if matches!(spec, ProbeSpec::Goodput(_)) && mtu.0 < LEAST_TCP_MTU {
        return Err(Misfit::SmallMtu { probe: spec.to_string(), mtu });
    }
    if let ProbeSpec::Latency(latency) = spec {
        // Timestamps are off in the lab; where they are on, the probe finds out when it is connected.
        let headers = Headers { ip, protocol: latency.protocol, tcp_timestamps: false };
        headers
            .payload_of(latency.frame_size, LATENCY_LEAST_PAYLOAD, mtu)
            .map_err(|error| Misfit::FrameSize { probe: spec.to_string(), error })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use model::{BedKind, Endpoint, Privilege};

    use super::*;

    fn bed() -> Bed {
        let endpoint = |host| Endpoint {
            name: "a".into(),
            namespace: "n".into(),
            interface: "i".into(),
            driver: "veth".into(),
            mtu: Mtu(1500),
            addresses: vec![IpAddr::from(Ipv4Addr::new(198, 18, 0, host))],
            cpu: None,
        };
        Bed {
            kind: BedKind::Lab,
            name: "lab".into(),
            simulated: true,
            privilege: Privilege::Root,
            endpoints: vec![endpoint(1), endpoint(2)],
        }
    }

    fn checked(latency: &str) -> Result<(), String> {
        let toml = format!("name = \"t\"\n[[latency]]\n{latency}");
        check(&Plan::parse(&toml, &[]).unwrap(), &bed()).map_err(|misfit| misfit.to_string())
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
}
