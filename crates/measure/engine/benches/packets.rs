//! Numbered packets compared with other programs, on a veth pair between two namespaces; results go to
//! `docs/benchmarks.md`. Needs root.
//!
//! xdp-tools 1.6 is not packaged everywhere, and Debian 12's does not load on newer kernels. `WIREPROOF_PEER_XDP_TOOLS`
//! names the folder of its sources (<https://github.com/xdp-project/xdp-tools>, with submodules), in which `./configure
//! && make` was run.
#![allow(clippy::unwrap_used, reason = "a benchmark that cannot go on ends")]

#[path = "../../../../benches/bench/page.rs"]
mod page;
#[path = "../../../../benches/bench/pairs.rs"]
mod pairs;
#[path = "tools/mod.rs"]
mod tools;
#[path = "../../../machine/xdp/tests/wire/mod.rs"]
mod wire;

#[path = "packets/live.rs"]
mod live;
#[path = "packets/user_space.rs"]
mod user_space;

fn main() {
    // `cargo test --benches` and similar start a benchmark only to see that it starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let (live, mut peers) = live::measure();
    let (user_space, more) = user_space::measure();
    peers.extend(more);
    peers.sort();
    peers.dedup();
    page::write("packets", &peers, &format!("{live}\n{user_space}"));
}
