//! Facts for the selection of an engine.

use kernel::{ethtool, privilege, sysctl};
use model::Privilege;

use crate::{EngineError, Job, pktgen};

/// Facts for the selection. Plain values: [`Facts::read`] reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// Interface, for messages.
    pub interface: String,
    /// Name of its driver; empty if unknown.
    pub driver: String,
    /// Transmit queues.
    pub queues: usize,
    /// Privilege of this process.
    pub privilege: Privilege,
    /// The kernel's version: major and minor number.
    pub kernel: (u32, u32),
    /// The reason why pktgen cannot send these streams; `None` if it can.
    pub no_pktgen: Option<String>,
    /// Sending cores.
    pub cores: usize,
    /// Bytes of the longest frame, without FCS.
    pub longest: usize,
    /// Frames per second of all streams; `None` if one is flat out.
    pub rate: Option<f64>,
    /// Whether UDP sockets can send the streams: plain UDP, one flow, no VLAN, no addresses of their own.
    pub plain: bool,
    /// Whether a stream is a capture, which needs an engine that takes whole frames.
    pub replay: bool,
    /// Whether the other end counts by a UDP socket, which receives only datagrams to its port.
    pub heard_by_socket: bool,
}

impl Facts {
    /// Facts about a job on an interface of the caller's network namespace.
    ///
    /// The caller provides `plain` and `heard_by_socket`, as it knows the streams and the other end.
    pub fn read(job: &Job, plain: bool, heard_by_socket: bool) -> Result<Self, EngineError> {
        let driver = ethtool::driver(&job.interface).map(|driver| driver.name).unwrap_or_default();
        let foreseen = Self::foreseen(job, &driver, privilege::current(), plain)?;
        Ok(Self { queues: ethtool::queues(&job.interface).sending as usize, heard_by_socket, ..foreseen })
    }

    /// Facts about a job on a future interface with this driver and a queue for each core, received as this privilege
    /// allows.
    pub fn foreseen(job: &Job, driver: &str, privilege: Privilege, plain: bool) -> Result<Self, EngineError> {
        Ok(Self {
            interface: job.interface.clone(),
            driver: driver.to_owned(),
            queues: job.cpus.len(),
            privilege,
            kernel: kernel_version(&sysctl::read("kernel.osrelease")?),
            no_pktgen: pktgen::cannot_send(job),
            cores: job.cpus.len(),
            longest: job.longest(),
            rate: job.rate()?,
            plain,
            replay: job.streams.iter().any(|stream| stream.replay.is_some()),
            heard_by_socket: privilege != Privilege::Root,
        })
    }
}

/// `6.18.44-something` is 6 and 18.
fn kernel_version(release: &str) -> (u32, u32) {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_version_is_read() {
        assert_eq!(kernel_version("6.18.44-fc-v669"), (6, 18));
        assert_eq!(kernel_version("5.15-rc1"), (5, 15));
        assert_eq!(kernel_version(""), (0, 0));
    }
}
