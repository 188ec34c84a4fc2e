//! Filters of a device under test (RFC 2544, section 11.4).

use model::{Bed, Profile, change::Filters};

use crate::{layouts, topology::dut_namespace};

/// Whether filters can be set at the device of a bed: its namespace is ours, and what it forwards passes them.
pub fn has_filters(bed: &Bed) -> bool {
    bed.dut.is_some() && layouts::device(bed.layout()).has_filters
}

/// Filters that a probe needs at the device; `None` for none, and without a device.
pub(crate) fn filters(bed: &Bed, profile: &Profile) -> Option<Filters> {
    Some(Filters { namespace: dut_namespace(bed)?, ..trial_filters(bed, profile)? })
}

/// The same filters, in the namespace of the first end where there is no device.
pub(crate) fn trial_filters(bed: &Bed, profile: &Profile) -> Option<Filters> {
    let namespace = dut_namespace(bed).or_else(|| Some(bed.endpoints.first()?.namespace.clone()))?;
    let bridge = bed.dut.as_ref().is_some_and(|device| device.gateways.is_empty());
    Some(Filters { namespace, bridge, ip: profile.ip, count: profile.filters? })
}

#[cfg(test)]
mod tests {
    use model::{Dut, IpVersion, Plan, fixture};

    use super::*;

    #[test]
    fn a_device_gets_the_filters_of_its_probe_and_the_tester_alone_none() {
        let plan = "name = \"t\"\n[[rfc2544]]\nrate = \"1 Mpps\"\nframe_sizes = [64]\nmodifiers = [\"25-filters\"]";
        let profiles: Vec<Profile> =
            Plan::parse(plan, &[]).expect("a plan").specs().iter().map(|spec| spec.profile()).collect();
        let mut bed = fixture::lab();
        assert_eq!((filters(&bed, &profiles[1]), has_filters(&bed)), (None, false));
        let proven = trial_filters(&bed, &profiles[1]).expect("in the namespace of an end");
        assert_eq!(proven.namespace, bed.endpoints[0].namespace);
        bed.layout = "lab-bridge".to_owned();
        bed.dut = Some(Dut { machine: "bridge".to_owned(), ..Dut::default() });
        assert!(has_filters(&bed) && filters(&bed, &profiles[0]).is_none());
        let set = filters(&bed, &profiles[1]).expect("filters");
        assert_eq!((set.bridge, set.ip, set.count), (true, IpVersion::V4, 25));
        assert!(set.namespace.ends_with("bridge"), "{set}");
    }
}
