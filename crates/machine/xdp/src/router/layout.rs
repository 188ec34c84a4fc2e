//! Layout of the router's data: the BPF program counts, the loader reads.
//!
//! Pure, because the build script generates the C header from it.

/// Places for ports, a power of two: a port is at its interface's index, or shortly behind.
pub(super) const PLACES: usize = 256;
/// Consecutive places at which a port may be.
pub(super) const PROBES: usize = 8;
/// VLAN interfaces of all ports together.
pub(super) const VLANS: usize = 4096;

/// Flag of a port whose driver sends what XDP redirects to it.
pub(super) const SENDS: u32 = 1;
/// Flag of a port whose program runs on the kernel's packets (generic mode): these can be sent by any port.
pub(super) const GENERIC: u32 = 2;

/// Reasons for which a packet goes to the kernel, in the order of their counters and of `model::router::Passed`.
pub(super) const PASSED: [&str; 15] = [
    "not-ip",
    "vlan",
    "link-address",
    "malformed",
    "options",
    "scope",
    "hop-limit",
    "in-parts",
    "no-route",
    "refused",
    "forwarding-off",
    "encapsulated",
    "no-neighbour",
    "too-big",
    "other-port",
];

/// Reasons for which a packet is dropped, in the order of their counters and of `model::router::Dropped`.
pub(super) const DROPPED: [&str; 2] = ["blackhole", "port-gone"];

/// The same for the BPF program. It only needs types such as `__u64`.
#[allow(dead_code, reason = "the build script calls it")]
pub(super) fn c_header() -> String {
    let reasons = |kind: &str, all: &[&str]| {
        let named =
            |(at, name): (usize, &&str)| format!("#define WP_{kind}_{} {at}\n", name.replace('-', "_").to_uppercase());
        all.iter().enumerate().map(named).collect::<String>() + &format!("#define WP_{kind} {}\n", all.len())
    };
    format!(
        "\
/* The router's data. Written from src/router/layout.rs: change it there. */
#define WP_PLACES {PLACES}
#define WP_PLACE_PROBES {PROBES}
#define WP_VLANS {VLANS}
#define WP_SENDS {SENDS}
#define WP_GENERIC {GENERIC}
{}{}",
        reasons("PASSED", &PASSED),
        reasons("DROPPED", &DROPPED)
    )
}
