//! Routes of a device under test that change during a trial (RFC 2544, section 11.3).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use model::{Bed, IpVersion, Profile, UPDATED_ROUTES, change::Route};

use crate::{
    layouts,
    topology::{dut_namespace, facing},
};

/// Whether routes can change at the device of a bed: its namespace is ours, and its routes are the kernel's.
pub fn has_route_updates(bed: &Bed) -> bool {
    bed.dut.is_some() && layouts::device(bed.layout()).has_routes
}

/// Routes that change while a probe is measured, through the far end, to addresses that no test frame has; `None` for none, and without a
/// device.
pub(crate) fn updated_routes(bed: &Bed, profile: &Profile) -> Option<Route> {
    let namespace = dut_namespace(bed).filter(|_| profile.route_updates)?;
    let far = bed.endpoints.last()?;
    let (to, prefix): (IpAddr, u8) = match profile.ip {
        IpVersion::V4 => (Ipv4Addr::new(198, 19, 0, 128).into(), 32),
        IpVersion::V6 => (Ipv6Addr::new(0x2001, 2, 0, 1, 0x8000, 0, 0, 0).into(), 128),
    };
    let via = far.address(profile.ip)?;
    Some(Route { namespace, interface: facing(&far.name), to, prefix, via, count: UPDATED_ROUTES })
}

#[cfg(test)]
mod tests {
    use model::{Dut, Plan, fixture};

    use super::*;

    #[test]
    fn routes_of_a_device_change_for_the_probe_that_asks_for_it() {
        let plan = "name = \"t\"\n[[rfc2544]]\nrate = \"1 Mpps\"\nframe_sizes = [64]\nmodifiers = [\"route-updates\"]";
        let profiles: Vec<Profile> =
            Plan::parse(plan, &[]).expect("a plan").specs().iter().map(|spec| spec.profile()).collect();
        let mut bed = fixture::lab();
        assert_eq!((updated_routes(&bed, &profiles[1]), has_route_updates(&bed)), (None, false));
        bed.layout = "lab-router".to_owned();
        bed.dut = Some(Dut { machine: "router".to_owned(), ..Dut::default() });
        assert!(has_route_updates(&bed) && updated_routes(&bed, &profiles[0]).is_none());
        let routes = updated_routes(&bed, &profiles[1]).expect("routes");
        assert_eq!((routes.interface.as_str(), routes.networks().len()), ("to-b", 64));
        assert_eq!(routes.networks().last(), Some(&("198.19.0.191".parse().expect("an address"), 32)));
        assert!(routes.namespace.ends_with("router") && Some(routes.via) == bed.endpoints[1].address(IpVersion::V4));
    }
}
