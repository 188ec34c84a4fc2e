//! Memory layout of the flow table: the BPF program reads it, the library writes it.
//!
//! Pure, because the build script generates the C header from it.

/// Number of ports.
pub(super) const PORTS: usize = 1 << 16;
/// Places for flows, a power of two.
pub(super) const FLOWS: usize = 4096;
/// Consecutive places at which a flow may be.
pub(super) const PROBES: usize = 8;
/// Limit of interfaces per table.
pub(super) const INTERFACES: usize = 16;

/// State of a place never used since those behind it were free: the search ends here.
pub(super) const NEVER: u32 = 0;
/// State of a place whose flow was removed: one behind it may be live.
pub(super) const GONE: u32 = 1;
/// State of a place with a flow.
pub(super) const LIVE: u32 = 2;

/// Marker in front of a packet's timestamp, with the interface's index in its lowest bits.
pub(super) const STAMP: u64 = 0x7769_7265_7072_6f66;

/// Odd constants with evenly distributed bits (from xxHash64), which spread the words of a flow.
const SPREAD: [u64; 5] =
    [0x9e37_79b1_85eb_ca87, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0x85eb_ca77_c2b2_ae63, 0x27d4_eb2f_1656_67c5];
/// Bits of the hash that are not in a place's number.
const SHIFT: u32 = 64 - FLOWS.trailing_zeros();

/// Both endpoints as in a received packet: 16-byte addresses, IPv4 mapped into IPv6, and both ports, the peer's first.
/// All in memory order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Key {
    /// Local address.
    pub(super) local: [u64; 2],
    /// Peer address; zeros match any.
    pub(super) peer: [u64; 2],
    /// Peer port (0 matches any) and local port.
    pub(super) ports: u32,
}

/// First place of a flow.
pub(super) fn place(key: &Key) -> usize {
    let words = [key.local[0], key.local[1], key.peer[0], key.peer[1], key.ports.into()];
    let mixed = words.iter().zip(SPREAD).fold(0, |sum: u64, (word, by)| sum ^ word.wrapping_mul(by));
    ((mixed ^ mixed >> 32).wrapping_mul(SPREAD[0]) >> SHIFT) as usize
}

/// The same for the BPF program: constants, structs and the hash. It only needs types such as `__u16`.
#[allow(dead_code, reason = "the build script calls it")]
pub(super) fn c_header() -> String {
    let [a, b, c, d, e] = SPREAD;
    format!(
        "\
/* The flow table. Written from src/steer/layout.rs: change it there. */
#define WP_PORTS {PORTS}
#define WP_FLOWS {FLOWS}
#define WP_PROBES {PROBES}
#define WP_INTERFACES {INTERFACES}
#define WP_NEVER {NEVER}
#define WP_GONE {GONE}
#define WP_LIVE {LIVE}

/* Addresses of 16 bytes, IPv4 mapped into IPv6; ports: the peer's first. All as they lie in packets. */
struct wp_key {{
	__u64 local[2];
	__u64 peer[2];
	__u32 ports;
}};

struct wp_flow {{
	__u64 local[2];
	__u64 peer[2];
	__u32 ports;
	__u32 state;
	__u64 users;
}};

struct wp_table {{
	__u16 ports[WP_PORTS];	/* how many flows have this local port */
	struct wp_flow flows[WP_FLOWS];
	__u32 stamps;	/* whether somebody wants to know when packets came */
}};

/* What stands before a packet then. */
struct wp_stamp {{
	__u64 mark;
	__u64 time;	/* of CLOCK_MONOTONIC, in ns */
}};
#define WP_STAMP {STAMP}ULL

static inline __attribute__((always_inline)) __u32 wp_place(const struct wp_key *key)
{{
	__u64 mixed = key->local[0] * {a}ULL ^ key->local[1] * {b}ULL ^ key->peer[0] * {c}ULL ^
		key->peer[1] * {d}ULL ^ key->ports * {e}ULL;
	return (mixed ^ mixed >> 32) * {a}ULL >> {SHIFT};
}}
"
    )
}
