//! Whether a plan can be measured on a bed: said before anything is measured. Pure.

use model::{
    Bed, BitRate, Environment, IpVersion, Mtu, Plan, ProbeSpec, Profile,
    plan::{Method, Section},
    probe::Selectors,
    stream::Rate,
    units::{ETHERNET_MTUS, LEAST_IPV6_MTU},
};

use procedure::{lacks_address, needs_agent};

pub use crate::misfit::Misfit;
use crate::probes;

/// Checks each probe of the plan against the bed's addresses and MTU. Of a path with one IP version, the other is left out.
pub fn check(plan: &Plan, bed: &Bed) -> Result<(), Misfit> {
    let own = bed.endpoints.iter().map(|endpoint| endpoint.mtu).min().unwrap_or(Mtu(0));
    let specs = plan.specs();
    let has_address = |spec: &ProbeSpec| lacks_address(spec, bed).is_none();
    let is_left_out = |spec: &&ProbeSpec| probes::of(spec).may_be_left_out() && !has_address(spec);
    let is_empty = !specs.iter().any(has_address);
    let has_agent = |spec: &&ProbeSpec| needs_agent(spec, bed).is_none();
    if !specs.is_empty() && !specs.iter().any(|spec| has_agent(&spec)) {
        let machine = bed.endpoints.iter().find(|end| end.agentless).map(|end| end.machine.clone()).unwrap_or_default();
        return Err(Misfit::NeedsAgent { probe: specs[0].to_string(), machine });
    }
    let measured = specs.iter().filter(has_agent).filter(|spec| is_empty || !is_left_out(spec));
    measured.clone().try_for_each(|spec| check_spec(spec, bed, own))
}

/// Checks that tests and searches ask for no more than the links of real cards carry.
pub(crate) fn check_lines(plan: &Plan, bed: &Bed, environment: &Environment) -> Result<(), Misfit> {
    let is_search = |section: &&Section| matches!(section.method, Method::Rfc2544(_) | Method::Search(_));
    let sections = plan.sections();
    let specs = || sections.iter().filter(is_search).flat_map(|section| &section.specs);
    for (end, facts) in bed.endpoints.iter().zip(&environment.endpoints) {
        let interface = facts.interfaces.iter().find(|interface| interface.name == end.interface);
        let card = interface.filter(|interface| interface.bus.known().is_some());
        let Some(&line_mbps) = card.and_then(|card| card.speed_mbps.known()) else { continue };
        let line = Rate::L1(BitRate(u64::from(line_mbps) * 1_000_000));
        for spec in specs() {
            let Selectors { rate: Some(rate), frame_size: Some(size), .. } = spec.probe().selectors() else { continue };
            let Ok(Some(line_pps)) = line.per_second(size.0.into(), None) else { continue };
            // A rate is a whole number, and a link may be a little faster than it says.
            if rate.0 as f64 > line_pps * 1.001 {
                let (probe, interface) = (spec.to_string(), end.interface.clone());
                return Err(Misfit::AboveLine { probe, interface, line_mbps, line_pps });
            }
        }
    }
    Ok(())
}

fn check_spec(spec: &ProbeSpec, bed: &Bed, own: Mtu) -> Result<(), Misfit> {
    let Profile { ip, mtu: other, filters, route_updates, .. } = spec.profile();
    let (probe, mtu) = (spec.to_string(), other.unwrap_or(own));
    if lacks_address(spec, bed).is_some() {
        return Err(Misfit::NoAddress { probe, bed: bed.name.clone(), ip });
    }
    if other.is_some() {
        check_other_mtu(&probe, bed, mtu)?;
    }
    if filters.is_some() && !bed::has_filters(bed) {
        return Err(Misfit::NoFilters { probe, bed: bed.name.clone() });
    }
    if route_updates && !bed::has_route_updates(bed) {
        return Err(Misfit::NoRouteUpdates { probe, bed: bed.name.clone() });
    }
    probes::of(spec).fit(probe, mtu)
}

fn check_other_mtu(probe: &str, bed: &Bed, mtu: Mtu) -> Result<(), Misfit> {
    let refuse = |why: String| Err(Misfit::OtherMtu { probe: probe.to_owned(), why });
    if !ETHERNET_MTUS.contains(&mtu.0) {
        let (least, most) = (ETHERNET_MTUS.start(), ETHERNET_MTUS.end());
        return refuse(format!("no interface takes an MTU of {}; write {least} to {most}", mtu.0));
    }
    if bed.keeps_mtu() {
        let dut = bed.dut.as_ref().map_or("device", |dut| &dut.machine);
        return refuse(format!(
            "the {dut} between the ends of this bed keeps its MTU; measure once for each MTU, with --mtu in the place of mtus"
        ));
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

#[cfg(test)]
mod tests {
    use model::{
        Reading,
        environment::{EndpointFacts, InterfaceFacts},
        fixture,
    };

    use super::*;

    fn checked(latency: &str) -> Result<(), String> {
        checked_section(&format!("[[latency]]\n{latency}"))
    }

    fn checked_section(section: &str) -> Result<(), String> {
        let toml = format!("name = \"t\"\n{section}");
        check(&Plan::parse(&toml, &[]).unwrap(), &fixture::lab()).map_err(|misfit| misfit.to_string())
    }

    #[test]
    fn a_test_asks_for_no_more_than_the_link_carries() {
        let bed = fixture::lab();
        let mut environment = Environment::default();
        let card = |speed, bus| InterfaceFacts {
            name: bed.endpoints[0].interface.clone(),
            speed_mbps: Reading::Known(speed),
            bus,
            ..InterfaceFacts::default()
        };
        let mut checked = |rate: &str, speed, bus| {
            let plan = Plan::parse(&format!("name = \"t\"\n[[rfc2544]]\nrate = \"{rate}\""), &[]).unwrap();
            environment.endpoints =
                vec![EndpointFacts { interfaces: vec![card(speed, bus)], ..EndpointFacts::default() }];
            check_lines(&plan, &bed, &environment).map_err(|misfit| misfit.to_string())
        };
        let on_bus = || Reading::Known("0000:01:00.0".to_owned());
        assert_eq!(checked("10 Gbit/s L1", 10_000, on_bus()), Ok(()));
        assert_eq!(checked("10 Gbit/s L1", 1_000, Reading::Absent), Ok(()), "a veth");
        let above = checked("10 Gbit/s L1", 1_000, on_bus()).unwrap_err();
        assert!(above.contains("1488095 such frames") && above.contains("--rate \"1000 Mbit/s L1\""), "{above}");
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
    fn a_path_of_one_ip_version_is_measured_without_the_other() {
        assert_eq!(checked_section("[[path]]\nip = 4\n[[path]]\nip = 6"), Ok(()));
        let alone = checked_section("[[path]]\nip = 6").unwrap_err();
        assert!(alone.contains("path IPv6") && alone.contains("has no IPv6 address"), "{alone}");
        let figures = "[[path]]\nip = 4\n[[latency]]\nprotocol = \"udp\"\nip = 6\nframe_sizes = [128]";
        assert!(checked_section(figures).unwrap_err().starts_with("latency UDP IPv6"));
    }

    #[test]
    fn what_needs_wireproof_at_an_end_without_it_is_left_out_beside_others_and_refused_alone() {
        let mut bed = fixture::lab();
        (bed.endpoints[1].agentless, bed.endpoints[1].machine) = (true, "beastie".to_owned());
        let checked = |sections: &str| {
            let plan = Plan::parse(&format!("name = \"t\"\n{sections}"), &[]).unwrap();
            check(&plan, &bed).map_err(|misfit| misfit.to_string())
        };
        let goodput = "[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"";
        assert_eq!(checked(&format!("{goodput}\n[[path]]\nip = 4")), Ok(()));
        let alone = checked("[[path]]\nip = 4").unwrap_err();
        assert!(alone.starts_with("path IPv4: it needs wireproof at both ends, and beastie has none"), "{alone}");
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
    fn modifiers_are_had_at_the_device_of_a_lab_that_knows_them() {
        let checked = |modifier: &str, layout: &str, dut: &str| {
            let mut bed = fixture::lab();
            bed.layout = layout.to_owned();
            bed.dut = Some(model::Dut { machine: dut.to_owned(), ..model::Dut::default() });
            let plan = format!("name = \"t\"\n[[rfc2544]]\nrate = \"1 Mpps\"\nmodifiers = [\"{modifier}\"]");
            check(&Plan::parse(&plan, &[]).unwrap(), &bed).map_err(|misfit| misfit.to_string())
        };
        for (modifier, layout, dut) in [
            ("1-filter", "lab-router", "router"),
            ("1-filter", "lab-bridge", "bridge"),
            ("route-updates", "lab-router", "router"),
            ("route-updates", "lab-xdp-router", "xdp-router"),
        ] {
            assert_eq!(checked(modifier, layout, dut), Ok(()));
        }
        for layout in ["lab", "lab-xdp-router", "lab-ovs", "lab-vswitch", "lab-switch", "ports", "hosts-routed"] {
            let refused = checked("1-filter", layout, "").unwrap_err();
            assert!(refused.contains("lab:router or lab:bridge"), "{refused}");
        }
        for layout in ["lab", "lab-bridge", "lab-ovs", "lab-vswitch", "ports", "hosts-routed"] {
            let refused = checked("route-updates", layout, "").unwrap_err();
            assert!(refused.contains("lab:router or lab:xdp-router") && refused.contains("BIRD"), "{refused}");
        }
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
