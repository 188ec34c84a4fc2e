//! Parser of pktgen's files. Pure.

use model::Nanos;

/// Progress of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Frames accepted by the driver.
    pub(super) frames: u64,
    /// Frames dropped by the driver.
    pub(super) errors: u64,
    /// Time of the first frame, `CLOCK_MONOTONIC`.
    pub(super) started: Nanos,
    /// Time of the last frame, or now.
    pub(super) stopped: Nanos,
}

impl State {
    /// Reads the file of a device.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (_, current) = text.split_once("Current:")?;
        let number = |name: &str| -> Option<u64> {
            let rest = current.split_once(name)?.1.trim_start();
            rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
        };
        Some(Self {
            frames: number("pkts-sofar:")?,
            errors: number("errors:")?,
            started: Nanos(number("started:")? * 1000),
            stopped: Nanos(number("stopped:")? * 1000),
        })
    }
}

/// Devices of a thread, running and stopped, from the thread's file.
pub(super) fn devices(text: &str) -> (Vec<String>, Vec<String>) {
    let of = |name: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    (of("Running:"), of("Stopped:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in Linux 6.1.
    const DEVICE: &str = "Params: count 1000  min_pkt_size: 60  max_pkt_size: 60\n     \
         frags: 0  delay: 0  clone_skb: 0  ifname: port0@wp0\n     flows: 0 flowlen: 0\n\
         Current:\n     pkts-sofar: 998  errors: 2\n     started: 23913772us  stopped: 23929872us idle: 1us\n     \
         seq_num: 999  cur_dst_mac_offset: 0  cur_src_mac_offset: 0\n\
         Result: OK: 16101(c16101+d0) usec, 998 (60byte,0frags)\n  6210795pps 2981Mb/sec (2981181600bps) errors: 2\n";

    #[test]
    fn a_device_says_how_far_it_is() {
        let state = State::read(DEVICE).expect("it is one");
        assert_eq!((state.frames, state.errors), (998, 2));
        assert_eq!((state.started, state.stopped), (Nanos(23_913_772_000), Nanos(23_929_872_000)));
        assert_eq!(State::read("Params: count 1000"), None);
    }

    #[test]
    fn a_thread_names_its_devices() {
        let (running, stopped) = devices("Running: eth1@0 eth1@1 \nStopped: port0@wp0 \nResult: NA\n");
        assert_eq!((running, stopped), (vec!["eth1@0".to_owned(), "eth1@1".to_owned()], vec!["port0@wp0".to_owned()]));
        assert_eq!(devices("Running: \nStopped: \n"), (vec![], vec![]));
    }
}
