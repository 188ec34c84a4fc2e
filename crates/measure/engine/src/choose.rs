//! Selects an engine before anything is sent, from facts about interface, user, kernel and job. Pure.

use model::{Engine, Privilege};

use crate::{EngineError, Facts};

/// Longest live frame without FCS: a page less the kernel's share.
const LIVE_LONGEST: usize = xdp::sender::LARGEST_FRAME;

/// Frames per second and core for which AF_XDP in copy mode keeps a schedule frame by frame, on every machine.
const KEPT_BY_XSK: f64 = 200e3;

/// Drivers that send redirected XDP frames (`ndo_xdp_xmit`), as live frames are.
const REDIRECTS: [&str; 22] = [
    "veth",
    "ixgbe",
    "i40e",
    "ice",
    "igb",
    "igc",
    "mlx5_core",
    "virtio_net",
    "tun",
    "ena",
    "bnxt_en",
    "sfc",
    "st_gmac",
    "mvneta",
    "mvpp2",
    "fsl_enetc",
    "fsl_dpaa2_eth",
    "atlantic",
    "qede",
    "thunder-nic",
    "ixgbevf",
    "mana",
];

/// Drivers with zero-copy AF_XDP.
const ZERO_COPY: [&str; 11] =
    ["ixgbe", "i40e", "ice", "igb", "igc", "mlx5_core", "st_gmac", "nfp", "gve", "fsl_dpaa2_eth", "tsnep"];

/// A selected engine and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The engine.
    pub engine: Engine,
    /// The reason, in English.
    pub why: String,
}

/// The requested engine if possible, otherwise all that fit, the best first. Never empty.
pub fn choose(facts: &Facts, asked: Option<Engine>) -> Result<Vec<Choice>, EngineError> {
    let Some(engine) = asked else {
        let all = fitting(facts);
        return match all.is_empty() {
            true => Err(unable("an engine for these packets", reasons(facts))),
            false => Ok(all),
        };
    };
    match fits(facts, engine) {
        Ok(_) => Ok(vec![Choice { engine, why: "asked for".to_owned() }]),
        Err(why) => {
            // With UDP requested, a socket receives for that reason only: another engine would have another receiver.
            let heard_by_socket = facts.heard_by_socket && engine != Engine::Udp;
            let others = Facts { heard_by_socket, ..facts.clone() };
            Err(unable(&format!("engine {engine}"), format!("{why}; {}", instead(&others))))
        }
    }
}

fn unable(what: &str, why: String) -> EngineError {
    EngineError::Unable { what: what.to_owned(), why }
}

/// Whether an engine can send this job: its advantage, or the obstacle.
pub fn fits(facts: &Facts, engine: Engine) -> Result<String, String> {
    if facts.heard_by_socket && engine != Engine::Udp {
        return Err("the other end counts by a UDP socket, since it has no root or no native XDP".to_owned());
    }
    if facts.replay && [Engine::Live, Engine::Pktgen].contains(&engine) {
        return Err("it makes all frames itself, and a capture is sent as it is".to_owned());
    }
    match engine {
        Engine::Live => live(facts),
        Engine::Xsk => xsk(facts),
        Engine::AfPacket => af_packet(facts),
        Engine::Udp => udp(facts),
        Engine::Pktgen => pktgen(facts),
    }
}

/// Engines that fit, among those chosen automatically: pktgen's packets carry a number of their own.
///
/// Each names the better engines and their obstacles.
fn fitting(facts: &Facts) -> Vec<Choice> {
    let by_worth = by_worth(facts);
    let refused = |place: usize| -> String {
        let better = by_worth[..place].iter().filter_map(|engine| Some((engine, fits(facts, *engine).err()?)));
        better.map(|(engine, why)| format!("; not {engine}: {why}")).next().unwrap_or_default()
    };
    let choice = |(place, engine): (usize, &Engine)| {
        Some(Choice { engine: *engine, why: fits(facts, *engine).ok()? + &refused(place) })
    };
    by_worth.iter().enumerate().filter_map(choice).collect()
}

fn by_worth(facts: &Facts) -> [Engine; 4] {
    if prefers_xsk(facts) {
        [Engine::Xsk, Engine::Live, Engine::AfPacket, Engine::Udp]
    } else {
        [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp]
    }
}

/// Whether AF_XDP is at least as fast, or speed is not requested.
fn prefers_xsk(facts: &Facts) -> bool {
    let modest = facts.rate.is_some_and(|rate| rate <= KEPT_BY_XSK * facts.cores as f64);
    modest || ZERO_COPY.contains(&facts.driver.as_str())
}

fn live(facts: &Facts) -> Result<String, String> {
    let Facts { interface, driver, longest, .. } = facts;
    if facts.privilege != Privilege::Root {
        return Err("BPF programs need root, also without a user namespace".to_owned());
    }
    if facts.kernel < (5, 18) {
        return Err("live frames need Linux 5.18".to_owned());
    }
    if !REDIRECTS.contains(&driver.as_str()) {
        let driver = if driver.is_empty() { "its driver".to_owned() } else { format!("driver {driver}") };
        return Err(format!("{driver} of {interface} is not known to send what XDP redirects to it"));
    }
    if *longest > LIVE_LONGEST {
        return Err(format!("live frames hold {LIVE_LONGEST} bytes, and the longest frame has {longest} without FCS"));
    }
    Ok(format!("BPF programs write the frames, and driver {driver} sends what XDP redirects to it"))
}

fn xsk(facts: &Facts) -> Result<String, String> {
    let Facts { interface, driver, queues, cores, longest, .. } = facts;
    if facts.privilege == Privilege::User {
        return Err("AF_XDP sockets need root".to_owned());
    }
    if cores > queues {
        return Err(format!(
            "each core needs a queue of its own, and {interface} has {queues} for {cores} cores (\"ethtool -L {interface}\")"
        ));
    }
    if *longest > 4096 && facts.kernel < (6, 6) {
        return Err(format!(
            "frames of more than 4,096 bytes need Linux 6.6, and the longest has {longest} without FCS"
        ));
    }
    Ok(if ZERO_COPY.contains(&driver.as_str()) {
        format!("driver {driver} reads AF_XDP's frames without copying them")
    } else if prefers_xsk(facts) {
        "at this rate AF_XDP sends each frame by itself when it is due".to_owned()
    } else {
        "AF_XDP is the fastest that is left here; the kernel copies each frame".to_owned()
    })
}

fn af_packet(facts: &Facts) -> Result<String, String> {
    if facts.privilege == Privilege::User {
        return Err("AF_PACKET sockets need root".to_owned());
    }
    Ok("AF_PACKET works on every interface".to_owned())
}

fn udp(facts: &Facts) -> Result<String, String> {
    if !facts.plain {
        return Err("UDP sockets send plain UDP of one flow, without VLANs and without headers of their own".to_owned());
    }
    Ok("UDP sockets need no privilege".to_owned())
}

fn pktgen(facts: &Facts) -> Result<String, String> {
    if facts.privilege != Privilege::Root {
        return Err("pktgen needs root".to_owned());
    }
    match &facts.no_pktgen {
        Some(why) => Err(why.clone()),
        None => Ok("the kernel's own generator; its packets carry its own number".to_owned()),
    }
}

fn instead(facts: &Facts) -> String {
    let best = fitting(facts).into_iter().next();
    best.map_or_else(|| reasons(facts), |choice| format!("engine {} can be had", choice.engine))
}

/// Obstacles of all engines.
fn reasons(facts: &Facts) -> String {
    let reason = |engine| Some(format!("{engine}: {}", fits(facts, engine).err()?));
    by_worth(facts).into_iter().filter_map(reason).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lab() -> Facts {
        Facts {
            interface: "wp0".to_owned(),
            driver: "veth".to_owned(),
            queues: 2,
            privilege: Privilege::Root,
            kernel: (6, 18),
            no_pktgen: Some("this kernel has no pktgen".to_owned()),
            cores: 2,
            longest: 60,
            rate: None,
            plain: true,
            replay: false,
            heard_by_socket: false,
        }
    }

    fn chosen(facts: &Facts) -> Engine {
        let choice = choose(facts, None).expect("one fits").remove(0);
        assert!(choice.why.len() > 10, "{choice:?}");
        choice.engine
    }

    #[test]
    fn the_fastest_that_fits_is_chosen() {
        assert_eq!(chosen(&lab()), Engine::Live);
        assert_eq!(chosen(&Facts { driver: "i40e".to_owned(), ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { driver: "i40e".to_owned(), queues: 1, ..lab() }), Engine::Live);
        assert_eq!(chosen(&Facts { driver: "e1000e".to_owned(), queues: 1, ..lab() }), Engine::AfPacket);
        assert_eq!(chosen(&Facts { driver: "e1000e".to_owned(), queues: 1, cores: 1, ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { longest: 9014, ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { longest: 9014, kernel: (6, 1), ..lab() }), Engine::AfPacket);
        assert_eq!(chosen(&Facts { kernel: (5, 15), ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { privilege: Privilege::UserNamespace, ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { privilege: Privilege::User, ..lab() }), Engine::Udp);
    }

    #[test]
    fn a_modest_rate_is_sent_frame_by_frame() {
        assert_eq!(chosen(&Facts { rate: Some(400e3), ..lab() }), Engine::Xsk);
        assert_eq!(chosen(&Facts { rate: Some(401e3), ..lab() }), Engine::Live);
    }

    #[test]
    fn what_is_asked_for_is_had_or_told_why_not() {
        assert_eq!(choose(&lab(), Some(Engine::AfPacket)).expect("it fits")[0].engine, Engine::AfPacket);
        let refused = |facts: &Facts, engine| choose(facts, Some(engine)).expect_err("it does not fit").to_string();
        let error = refused(&Facts { cores: 4, ..lab() }, Engine::Xsk);
        assert!(error.contains("wp0 has 2 for 4 cores") && error.contains("engine live can be had"), "{error}");
        let error = refused(&lab(), Engine::Pktgen);
        assert!(error.starts_with("engine pktgen cannot be had: this kernel has no pktgen"), "{error}");
        let error = refused(&Facts { plain: false, ..lab() }, Engine::Udp);
        assert!(error.contains("plain UDP of one flow"), "{error}");
        let error = refused(&Facts { plain: false, heard_by_socket: true, ..lab() }, Engine::Udp);
        assert!(error.ends_with("; engine live can be had"), "{error}");
    }

    #[test]
    fn where_nothing_fits_each_reason_is_told() {
        let error = choose(&Facts { privilege: Privilege::User, plain: false, ..lab() }, None).expect_err("none fits");
        let error = error.to_string();
        for engine in ["live: ", "xsk: ", "af_packet: ", "udp: "] {
            assert!(error.contains(engine), "{error}");
        }
    }

    #[test]
    fn the_next_best_follow_and_what_spoke_against_the_best_is_told() {
        let engines: Vec<Engine> =
            choose(&lab(), None).expect("one fits").into_iter().map(|choice| choice.engine).collect();
        assert_eq!(engines, [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp]);
        let modest = Facts { rate: Some(20e3), queues: 1, ..lab() };
        let choice = choose(&modest, None).expect("one fits").remove(0);
        assert_eq!(choice.engine, Engine::Live);
        assert!(
            choice.why.contains("; not xsk: each core needs a queue of its own, and wp0 has 1 for 2"),
            "{choice:?}"
        );
    }

    #[test]
    fn a_capture_is_sent_by_those_that_take_whole_frames() {
        let replay = Facts { replay: true, plain: false, ..lab() };
        assert_eq!(chosen(&replay), Engine::Xsk);
        let error = choose(&replay, Some(Engine::Live)).expect_err("it makes its own").to_string();
        assert!(error.contains("makes all frames itself") && error.contains("engine xsk can be had"), "{error}");
    }

    #[test]
    fn a_socket_at_the_other_end_hears_udp_alone() {
        let heard = Facts { heard_by_socket: true, ..lab() };
        assert_eq!(chosen(&heard), Engine::Udp);
        assert!(choose(&Facts { plain: false, ..heard }, None).is_err());
    }
}
