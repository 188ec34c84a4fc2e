//! Which engine fits: said before anything is sent, from what is known of interface, user, kernel and job.

use kernel::{ethtool, privilege, sysctl};
use model::{Engine, Privilege};

use crate::{EngineError, Job};

/// Frames of live frames hold so many bytes, without FCS: a page less what XDP keeps of it.
const LIVE_LONGEST: usize = 3_498 + 14;

/// Frames a second and core that every machine's AF_XDP in copy mode keeps a schedule for, each frame by itself.
const KEPT_BY_XSK: f64 = 200e3;

/// Drivers that send what XDP redirects to them (`ndo_xdp_xmit`), by which live frames leave.
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

/// Drivers whose cards read AF_XDP's frames themselves.
const ZERO_COPY: [&str; 11] =
    ["ixgbe", "i40e", "ice", "igb", "igc", "mlx5_core", "st_gmac", "nfp", "gve", "fsl_dpaa2_eth", "tsnep"];

/// What decides. Plain values: [`Facts::read`] fetches them.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Interface, for what is said.
    pub interface: String,
    /// Name of its driver; empty where it has none that says.
    pub driver: String,
    /// Queues that it sends on.
    pub queues: usize,
    /// Who we are.
    pub privilege: Privilege,
    /// The kernel's version: major and minor number.
    pub kernel: (u32, u32),
    /// Whether the kernel's own packet generator is there.
    pub pktgen: bool,
    /// Cores that are to send.
    pub cores: usize,
    /// Bytes of the longest frame, without FCS.
    pub longest: usize,
    /// Frames a second of all streams; `None` where one is flat out.
    pub rate: Option<f64>,
    /// Whether the streams are what UDP sockets can send: plain UDP, one flow, no VLAN, no addresses of their own.
    pub plain: bool,
}

/// An engine, and why it is the one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub engine: Engine,
    /// Why, in English.
    pub why: String,
}

impl Facts {
    /// Those of a job on an interface of the caller's network namespace. `plain` is for the caller to say, who knows the streams.
    pub fn read(job: &Job, plain: bool) -> Result<Self, EngineError> {
        let interface = &job.interface;
        let rates: Option<Vec<f64>> = job.rates()?.into_iter().collect();
        let driver = ethtool::driver(interface).map(|driver| driver.name).unwrap_or_default();
        Ok(Self {
            interface: interface.clone(),
            driver,
            queues: queues(interface),
            privilege: privilege::current(),
            kernel: kernel_version(&sysctl::read("kernel.osrelease")?),
            pktgen: std::path::Path::new("/proc/net/pktgen").exists(),
            cores: job.cpus.len(),
            longest: job.longest(),
            rate: rates.map(|rates| rates.iter().sum()),
            plain,
        })
    }
}

/// Queues that an interface sends on; 1 where its driver does not say.
fn queues(interface: &str) -> usize {
    const TX: usize = 5;
    const COMBINED: usize = 7;
    let channels = ethtool::settings(interface).ok().and_then(|settings| settings.numbers.get("channels").cloned());
    channels.map_or(1, |numbers| (numbers[TX] + numbers[COMBINED]) as usize).max(1)
}

/// `6.18.44-something` is 6 and 18.
fn kernel_version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

/// The engine that was asked for, if it can be had, else the one that fits best.
pub fn choose(facts: &Facts, asked: Option<Engine>) -> Result<Choice, EngineError> {
    if let Some(engine) = asked {
        return match fits(facts, engine) {
            Ok(_) => Ok(Choice { engine, why: "asked for".to_owned() }),
            Err(why) => {
                Err(EngineError::Unable { what: format!("engine {engine}"), why: format!("{why}; {}", instead(facts)) })
            }
        };
    }
    best(facts)
        .ok_or_else(|| EngineError::Unable { what: "an engine for these packets".to_owned(), why: reasons(facts) })
}

/// Whether an engine can send this job, and what speaks for it; or why not.
pub fn fits(facts: &Facts, engine: Engine) -> Result<String, String> {
    match engine {
        Engine::Live => live(facts),
        Engine::Xsk => xsk(facts),
        Engine::AfPacket => af_packet(facts),
        Engine::Udp => udp(facts),
        Engine::Pktgen => pktgen(facts),
    }
}

/// The first that fits, of those that choose by themselves: pktgen's packets carry another number than ours.
fn best(facts: &Facts) -> Option<Choice> {
    let by_worth = if prefers_xsk(facts) {
        [Engine::Xsk, Engine::Live, Engine::AfPacket, Engine::Udp]
    } else {
        [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp]
    };
    by_worth.into_iter().find_map(|engine| Some(Choice { engine, why: fits(facts, engine).ok()? }))
}

/// Where AF_XDP is at least as fast, or what is asked for is not speed.
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
    if !facts.pktgen {
        return Err("this kernel has no /proc/net/pktgen (\"modprobe pktgen\")".to_owned());
    }
    Ok("the kernel's own generator; its packets carry its own number".to_owned())
}

fn instead(facts: &Facts) -> String {
    best(facts).map_or_else(|| reasons(facts), |choice| format!("engine {} can be had", choice.engine))
}

/// Why there is none.
fn reasons(facts: &Facts) -> String {
    let reason = |engine| Some(format!("{engine}: {}", fits(facts, engine).err()?));
    let all = [Engine::Live, Engine::Xsk, Engine::AfPacket, Engine::Udp].into_iter().filter_map(reason);
    all.collect::<Vec<_>>().join("; ")
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
            pktgen: false,
            cores: 2,
            longest: 60,
            rate: None,
            plain: true,
        }
    }

    fn chosen(facts: &Facts) -> Engine {
        let choice = choose(facts, None).expect("one fits");
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
        assert_eq!(choose(&lab(), Some(Engine::AfPacket)).expect("it fits").engine, Engine::AfPacket);
        let refused = |facts: &Facts, engine| choose(facts, Some(engine)).expect_err("it does not fit").to_string();
        let error = refused(&Facts { cores: 4, ..lab() }, Engine::Xsk);
        assert!(error.contains("wp0 has 2 for 4 cores") && error.contains("engine live can be had"), "{error}");
        let error = refused(&lab(), Engine::Pktgen);
        assert!(error.starts_with("engine pktgen cannot be had: this kernel has no /proc/net/pktgen"), "{error}");
        let error = refused(&Facts { plain: false, ..lab() }, Engine::Udp);
        assert!(error.contains("plain UDP of one flow"), "{error}");
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
    fn a_kernels_version_is_read() {
        assert_eq!(kernel_version("6.18.44-fc-v669"), (6, 18));
        assert_eq!(kernel_version("5.15-rc1"), (5, 15));
        assert_eq!(kernel_version(""), (0, 0));
    }
}
