//! The minimal loop for comparison in benchmarks: frames without numbers, dropped on arrival.

use std::os::fd::OwnedFd;

use aya::{EbpfLoader, include_bytes_aligned, maps::xdp::DevMap};

use crate::{
    Result, calls,
    load::{Loaded, failed},
    sender::cannot_run,
};

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/bare.bpf.o"));

/// The program that redirects to this interface.
fn to_port(interface: &str) -> Result<Loaded> {
    const NAME: &str = "pass_on";
    let mut loaded = Loaded::new(NAME, &mut EbpfLoader::new(), OBJECT)?;
    let mut port = DevMap::try_from(loaded.map("port")?).map_err(|error| failed(NAME, &error))?;
    port.set(0, calls::index_of(interface)?, None, 0).map_err(|error| failed(NAME, &error))?;
    Ok(loaded)
}

/// Sends one unchanged frame repeatedly.
pub struct Sender {
    loaded: Loaded,
    frame: Vec<u8>,
}

impl Sender {
    /// Loads it for an interface of the caller's namespace.
    pub fn load(interface: &str, frame: Vec<u8>) -> Result<Self> {
        Ok(Self { loaded: to_port(interface)?, frame })
    }

    /// As [`crate::Sender::run`].
    pub fn run(&self, repeat: u32, batch: u32) -> Result<bool> {
        self.loaded.with_program(|program| calls::run_live(program, &self.frame, repeat, batch))?.map_err(cannot_run)
    }
}

/// Sends all that arrives at an interface out of another one, unchanged and without looking anything up, until it is dropped.
pub struct Redirect {
    _link: OwnedFd,
    _loaded: Loaded,
}

impl Redirect {
    /// Attaches it to the driver of an interface of the caller's namespace.
    pub fn attach(from: &str, to: &str) -> Result<Self> {
        let loaded = to_port(to)?;
        let link = loaded.with_program(|program| calls::attach(program, from))??;
        Ok(Self { _link: link, _loaded: loaded })
    }
}

/// Drops all arriving frames until it is dropped.
pub struct Drop {
    _link: OwnedFd,
    _loaded: Loaded,
}

impl Drop {
    /// Attaches it to the driver of an interface of the caller's namespace.
    pub fn attach(interface: &str) -> Result<Self> {
        let loaded = Loaded::new("drop", &mut EbpfLoader::new(), OBJECT)?;
        let link = loaded.with_program(|program| calls::attach(program, interface))??;
        Ok(Self { _link: link, _loaded: loaded })
    }
}
