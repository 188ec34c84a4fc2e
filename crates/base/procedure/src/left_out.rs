//! Trials that could bring nothing, and are left out. Pure.

use model::{
    Bed, Direction, Doubt, ProbeSpec, Trial,
    frame_size::{ETHERNET_HEADER, FCS},
};

/// Why a probe is left out on this bed after these trials; `None` where it is to be measured.
pub fn left_out(spec: &ProbeSpec, bed: &Bed, before: &[Trial]) -> Option<Doubt> {
    needs_agent(spec, bed).or_else(|| lacks_address(spec, bed)).or_else(|| disproved(spec, before))
}

/// Whether an end without wireproof would have to have it.
pub fn needs_agent(spec: &ProbeSpec, bed: &Bed) -> Option<Doubt> {
    let end = bed.endpoints.iter().find(|end| end.agentless).filter(|_| spec.profile().agentless.is_none())?;
    Some(Doubt::NeedsAgent { endpoint: end.name.clone(), probe: spec.probe().name().to_owned() })
}

/// Whether an end has no address of its IP version.
pub fn lacks_address(spec: &ProbeSpec, bed: &Bed) -> Option<Doubt> {
    let ip = spec.profile().ip;
    bed.endpoints.iter().any(|end| end.address(ip).is_none()).then_some(Doubt::NoAddress { ip })
}

/// Largest packet that passed forward and in reverse, by the latest trial that was to prove the MTU of this probe.
pub fn proof(spec: &ProbeSpec, before: &[Trial]) -> Option<[Option<u32>; 2]> {
    let profile = spec.profile();
    let is_proof = |trial: &&Trial| {
        let proof = trial.measured.probe().profile();
        proof.mtu.is_some() && (proof.mtu, proof.ip) == (profile.mtu, profile.ip)
    };
    let passed = before.iter().rev().filter(is_proof).find_map(|trial| trial.measured.passed())?;
    Some(passed.map(|mtu| mtu.map(|mtu| mtu.0)))
}

/// Its packets would not pass: it is stuck until its time limit, or loses all of them.
fn disproved(spec: &ProbeSpec, before: &[Trial]) -> Option<Doubt> {
    let (profile, selectors) = (spec.profile(), spec.probe().selectors());
    let mtu = profile.mtu.filter(|_| !profile.measures_mtu)?;
    let [forward, reverse] = proof(spec, before)?;
    // Where all frames have one size, that has to pass; anything else fills the MTU.
    let packet = selectors.frame_size.map_or(mtu.0, |size| size.0.saturating_sub(ETHERNET_HEADER + FCS));
    let passes = |leg: Option<u32>| leg.is_some_and(|leg| leg >= packet);
    let all_pass = match selectors.direction {
        Some(Direction::Forward) => passes(forward),
        Some(Direction::Reverse) => passes(reverse),
        Some(Direction::Both) | None => passes(forward) && passes(reverse),
    };
    (!all_pass).then_some(Doubt::MtuDisproved { mtu: mtu.0, ip: profile.ip, forward, reverse })
}

#[cfg(test)]
mod tests {
    use model::{
        IpVersion, Measured, Mtu, Nanos, PathResult, PathSpec, Plan, fixture,
        trial::{Leg, Refusal},
    };

    use super::*;

    /// A proof of this MTU over IPv4, of which so much passed each way.
    fn proved(mtu: u32, forward: Option<u32>, reverse: Option<u32>) -> Trial {
        let leg = |mtu: Option<u32>| Leg { mtu: mtu.map(Mtu), refusal: Refusal::Largest, routers: None };
        let result =
            PathResult { forward: leg(forward), reverse: leg(reverse), devices: vec![], packets: 9, hops: vec![] };
        let spec = PathSpec { ip: IpVersion::V4, mtu: Some(Mtu(mtu)), timeout: Nanos::from_millis(200), hops: 0 };
        fixture::trial(Measured::Path { spec, result })
    }

    /// The last probe of a section.
    fn spec(section: &str) -> ProbeSpec {
        let plan = Plan::parse(&format!("name = \"t\"\n{section}"), &[]).unwrap();
        plan.specs().pop().unwrap()
    }

    fn goodput(more: &str) -> ProbeSpec {
        spec(&format!("[[goodput]]\nprotocol = \"tcp\"\nduration = \"1 s\"\n{more}"))
    }

    #[test]
    fn an_mtu_that_does_not_pass_is_not_measured() {
        let left = |spec: &ProbeSpec, before: &[Trial]| left_out(spec, &fixture::lab(), before);
        let (large, own) = (goodput("mtus = [9000]"), goodput(""));
        assert_eq!([left(&large, &[]), left(&own, &[proved(9000, None, None)])], [None, None], "nothing is disproved");
        let short = proved(9000, Some(1500), None);
        let doubt = Doubt::MtuDisproved { mtu: 9000, ip: IpVersion::V4, forward: Some(1500), reverse: None };
        assert_eq!(left(&large, std::slice::from_ref(&short)), Some(doubt));
        assert_eq!(
            left(&goodput("mtus = [9000]\nip = 6"), std::slice::from_ref(&short)),
            Some(Doubt::NoAddress { ip: IpVersion::V6 })
        );
        assert_eq!(
            left(&large, &[short.clone(), proved(9000, Some(9000), Some(9000))]),
            None,
            "the latest proof counts"
        );
        assert_eq!(left(&goodput("mtus = [4000]"), &[short]), None, "of another MTU");
    }

    #[test]
    fn a_far_end_without_wireproof_takes_part_where_its_programs_can() {
        let mut bed = fixture::lab();
        let left = |spec: &ProbeSpec, bed: &Bed| left_out(spec, bed, &[]);
        let all = ["", "direction = \"reverse\"", "direction = \"both\"", "mtus = [9000]"].map(goodput);
        assert_eq!(all.each_ref().map(|spec| left(spec, &bed)), [const { None }; 4]);
        bed.endpoints[1].agentless = true;
        let needs = |probe: &str| Some(Doubt::NeedsAgent { endpoint: "b".to_owned(), probe: probe.to_owned() });
        assert_eq!(
            all.each_ref().map(|spec| left(spec, &bed)),
            [None, None, needs("goodput"), needs("goodput")],
            "a program serves one way, and sets no MTU"
        );
        assert_eq!(left(&spec("[[path]]"), &bed), needs("path"));
        let latency = |more: &str| spec(&format!("[[latency]]\nprotocol = \"udp\"\nframe_sizes = [64]\n{more}"));
        assert_eq!(left(&latency(""), &bed), None);
        assert_eq!(left(&latency("rate = \"1 kpps\""), &bed), needs("latency"));
    }

    #[test]
    fn only_the_way_of_the_data_and_its_own_packets_have_to_pass() {
        let left =
            |spec: &ProbeSpec| left_out(spec, &fixture::lab(), &[proved(9000, Some(9000), Some(1500))]).is_some();
        assert!(!left(&goodput("mtus = [9000]")));
        assert!(
            left(&goodput("mtus = [9000]\ndirection = \"reverse\""))
                && left(&goodput("mtus = [9000]\ndirection = \"both\""))
        );
        let packets = |size: u32| {
            spec(&format!(
                "[[packets]]\nduration = \"1 s\"\ndirection = \"both\"\nmtus = [9000]\nframe_sizes = [{size}]"
            ))
        };
        assert!(!left(&packets(1518)) && left(&packets(1519)));
    }
}
