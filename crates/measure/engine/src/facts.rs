//! What decides which engine fits.

use kernel::{ethtool, privilege, sysctl};
use model::Privilege;

use crate::{EngineError, Job, pktgen};

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
    /// Why the kernel's own packet generator cannot send these streams; `None` where it can.
    pub no_pktgen: Option<String>,
    /// Cores that are to send.
    pub cores: usize,
    /// Bytes of the longest frame, without FCS.
    pub longest: usize,
    /// Frames a second of all streams; `None` where one is flat out.
    pub rate: Option<f64>,
    /// Whether the streams are what UDP sockets can send: plain UDP, one flow, no VLAN, no addresses of their own.
    pub plain: bool,
    /// Whether one of the streams is a capture, whose frames only engines send that are handed whole frames.
    pub replay: bool,
    /// Whether the other end counts by a UDP socket, which hears only what is sent to its port.
    pub heard_by_socket: bool,
}

impl Facts {
    /// Those of a job on an interface of the caller's network namespace. `plain` and `heard_by_socket` are for the caller to say, who
    /// knows the streams and the other end.
    pub fn read(job: &Job, plain: bool, heard_by_socket: bool) -> Result<Self, EngineError> {
        let driver = ethtool::driver(&job.interface).map(|driver| driver.name).unwrap_or_default();
        let foreseen = Self::foreseen(job, &driver, privilege::current(), plain)?;
        Ok(Self { queues: ethtool::queues(&job.interface).sending as usize, heard_by_socket, ..foreseen })
    }

    /// Those of a job on an interface that will be there, of this driver and with a queue for each core, heard as this privilege allows.
    pub fn foreseen(job: &Job, driver: &str, privilege: Privilege, plain: bool) -> Result<Self, EngineError> {
        let rates: Option<Vec<f64>> = job.rates()?.into_iter().collect();
        Ok(Self {
            interface: job.interface.clone(),
            driver: driver.to_owned(),
            queues: job.cpus.len(),
            privilege,
            kernel: kernel_version(&sysctl::read("kernel.osrelease")?),
            no_pktgen: pktgen::cannot_send(job),
            cores: job.cpus.len(),
            longest: job.longest(),
            rate: rates.map(|rates| rates.iter().sum()),
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
