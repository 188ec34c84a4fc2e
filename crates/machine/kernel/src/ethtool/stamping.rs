//! Hardware timestamps: support and configuration (linux/net_tstamp.h).

use model::nic::{StampSetting, Stamping};

use super::{ask, if_supported, request};
use crate::error::Result;

const GET_STAMP_INFO: u32 = 0x41;
const SIOCSHWTSTAMP: u64 = 0x89b0;
const SIOCGHWTSTAMP: u64 = 0x89b1;

/// `struct ethtool_ts_info` of linux/ethtool.h.
#[repr(C)]
struct StampInfo {
    command: u32,
    so_timestamping: u32,
    clock: u32,
    /// A bit for each kind of transmit timestamps.
    departures: u32,
    reserved: [u32; 3],
    /// A bit for each filter of received packets.
    arrivals: u32,
    more_reserved: [u32; 3],
}

const _: () = assert!(size_of::<StampInfo>() == 44);

/// Whether the interface can timestamp packets in hardware in both directions.
pub fn stamps_in_hardware(interface: &str) -> Result<bool> {
    Ok(stamps_both_ways(&info(interface)?))
}

/// Timestamping support and configuration of an interface of the caller's namespace; `None` if the driver does not
/// tell.
pub fn stamping(interface: &str) -> Result<Option<Stamping>> {
    let (Some(set), Some(info)) = (if_supported(set(interface))?, if_supported(info(interface))?) else {
        return Ok(None);
    };
    let has = |bits: u32, number: u32| bits & (1 << number) != 0;
    let all = has(info.departures, StampSetting::ALL.departures) && has(info.arrivals, StampSetting::ALL.arrivals);
    Ok(Some(Stamping { can_stamp_all: stamps_both_ways(&info) && all, set }))
}

fn stamps_both_ways(info: &StampInfo) -> bool {
    const BOTH: u32 =
        libc::SOF_TIMESTAMPING_TX_HARDWARE | libc::SOF_TIMESTAMPING_RX_HARDWARE | libc::SOF_TIMESTAMPING_RAW_HARDWARE;
    info.so_timestamping & BOTH == BOTH
}

fn info(interface: &str) -> Result<StampInfo> {
    let mut info = StampInfo {
        command: GET_STAMP_INFO,
        so_timestamping: 0,
        clock: 0,
        departures: 0,
        reserved: [0; 3],
        arrivals: 0,
        more_reserved: [0; 3],
    };
    // SAFETY: the kernel writes a `struct ethtool_ts_info`, which `StampInfo` is.
    unsafe { ask(interface, "ioctl(ETHTOOL_GET_TS_INFO)", (&raw mut info).cast()) }?;
    Ok(info)
}

/// `struct hwtstamp_config`: flags, departures, arrivals.
type Config = [u32; 3];

fn set(interface: &str) -> Result<StampSetting> {
    let mut config: Config = [0; 3];
    // SAFETY: the kernel writes a `struct hwtstamp_config`, which has the size of `Config`.
    unsafe { request(interface, SIOCGHWTSTAMP, "ioctl(SIOCGHWTSTAMP)", (&raw mut config).cast()) }?;
    let [_, departures, arrivals] = config;
    Ok(StampSetting { departures, arrivals })
}

/// Configures timestamping of an interface of the caller's namespace. The card may stamp more arrivals than requested.
pub fn set_stamping(interface: &str, StampSetting { departures, arrivals }: StampSetting) -> Result<()> {
    let mut config: Config = [0, departures, arrivals];
    // SAFETY: the kernel reads and writes a `struct hwtstamp_config`, which has the size of `Config`.
    unsafe { request(interface, SIOCSHWTSTAMP, "ioctl(SIOCSHWTSTAMP)", (&raw mut config).cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_no_hardware_to_stamp_with() {
        assert!(!stamps_in_hardware("lo").expect("there is always lo"));
        assert_eq!(stamping("lo").expect("it says that it has not"), None);
        let error = stamps_in_hardware("none0").expect_err("there is none").to_string();
        assert!(error.starts_with("ioctl(ETHTOOL_GET_TS_INFO) on interface none0: No such device"), "{error}");
        let error = set_stamping("lo", StampSetting::ALL).expect_err("nothing to tell").to_string();
        assert!(error.starts_with("ioctl(SIOCSHWTSTAMP) on interface lo: "), "{error}");
    }
}
