//! Routing: packets go from port to port as the kernel's routes and neighbours say, all else goes to the kernel.
//!
//! The program asks the kernel's routes for each packet (`bpf_fib_lookup`), and so follows a change at once.

mod layout;

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::Path,
};

use aya::{
    EbpfLoader, Pod, include_bytes_aligned,
    maps::{HashMap, Map, MapData, PerCpuArray, xdp::DevMap},
};
use model::{
    router::{Dropped, Mode, Passed, PortCounters},
    stream::Mac,
};

use crate::{
    Error, Result, calls,
    load::{Loaded, failed},
    steer::in_memory,
};
use layout::{DROPPED, GENERIC, PASSED, PLACES, PROBES, SENDS, VLANS};

const OBJECT: &[u8] = include_bytes_aligned!(concat!(env!("OUT_DIR"), "/router.bpf.o"));
const NAME: &str = "route";
const COUNTED: &str = "counted";

/// `struct place` of router.bpf.c.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Place {
    interface: u32,
    flags: u32,
    mac: u64,
}

/// `struct tagged` of router.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Tagged {
    interface: u32,
    tag: u32,
}

/// `struct vlan` of router.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Vlan {
    interface: u32,
    unused: u32,
    mac: u64,
}

/// `struct counters` of router.bpf.c.
#[repr(C)]
#[derive(Clone, Copy)]
struct Counted {
    forwarded: u64,
    bytes: u64,
    passed: [u64; PASSED.len()],
    dropped: [u64; DROPPED.len()],
}

// SAFETY: plain integers without padding.
unsafe impl Pod for Place {}
// SAFETY: as above.
unsafe impl Pod for Tagged {}
// SAFETY: as above.
unsafe impl Pod for Vlan {}
// SAFETY: as above.
unsafe impl Pod for Counted {}

/// A VLAN interface on a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanInterface {
    /// Its index.
    pub index: u32,
    /// Its MAC address.
    pub mac: Mac,
    /// Index of the port.
    pub port: u32,
    /// Ethernet type of the tag.
    pub tpid: u16,
    /// Number of the VLAN.
    pub id: u16,
}

impl VlanInterface {
    fn tagged(&self) -> Tagged {
        Tagged { interface: self.port, tag: u32::from(self.tpid) << 16 | u32::from(self.id) }
    }
}

/// The routing program on some interfaces, until it is dropped, the process ends, or its pins are removed.
pub struct Router {
    // Declared before the program: it is detached first.
    ports: Vec<Port>,
    loaded: Loaded,
    places: Box<[Place; PLACES]>,
    vlans: Vec<VlanInterface>,
}

/// An interface with the program.
struct Port {
    interface: String,
    index: u32,
    place: u32,
    link: OwnedFd,
}

impl Router {
    /// Loads the program.
    pub fn load() -> Result<Self> {
        let loaded = Loaded::new(NAME, &mut EbpfLoader::new(), OBJECT)?;
        Ok(Self { ports: Vec::new(), loaded, places: Box::new([Place::default(); PLACES]), vlans: Vec::new() })
    }

    /// Attaches it to an interface of the caller's namespace. Packets for another MAC address stay with the kernel, and so does
    /// everything before [`Self::start`].
    pub fn attach(&mut self, interface: &str, mac: Mac, mode: Mode) -> Result<()> {
        let index = calls::index_of(interface)?;
        let place = self.free_place(index)?;
        let attach = match mode {
            Mode::Native => calls::attach,
            Mode::Generic => calls::attach_generic,
        };
        let link = self.loaded.with_program(|program| attach(program, interface))??;
        let flags = match mode {
            Mode::Native => SENDS,
            Mode::Generic => GENERIC,
        };
        self.places[place as usize] = Place { interface: index, flags, mac: in_memory(mac) };
        self.ports.push(Port { interface: interface.to_owned(), index, place, link });
        Ok(())
    }

    /// Begins to forward between the attached interfaces.
    pub fn start(&mut self) -> Result<()> {
        let mut ports = DevMap::try_from(self.loaded.map("ports")?).map_err(|error| failed(NAME, &error))?;
        for port in &self.ports {
            ports.set(port.place, port.index, None, 0).map_err(|error| failed(NAME, &error))?;
        }
        self.loaded.set_values(".bss.places", &*self.places)
    }

    /// Updates the MAC address of an interface.
    pub fn follow(&mut self, index: u32, mac: Mac) -> Result<()> {
        let mac = in_memory(mac);
        let changed = self.places.iter_mut().find(|place| place.interface == index && place.mac != mac);
        let Some(place) = changed else { return Ok(()) };
        place.mac = mac;
        self.loaded.set_values(".bss.places", &*self.places)
    }

    /// Updates the VLAN interfaces of its ports. Tagged frames without one stay with the kernel, as do those beyond the room for VLANs.
    pub fn follow_vlans(&mut self, mut vlans: Vec<VlanInterface>) -> Result<()> {
        vlans.truncate(VLANS);
        // Frames of a VLAN that has gone or changed go to the kernel first.
        let gone: Vec<_> = self.vlans.iter().filter(|old| !vlans.contains(old)).copied().collect();
        for old in gone {
            self.by_tag()?.remove(&old.tagged()).map_err(|error| failed(NAME, &error))?;
            self.by_vlan()?.remove(&old.index).map_err(|error| failed(NAME, &error))?;
            self.vlans.retain(|known| *known != old);
        }
        for new in vlans {
            if self.vlans.contains(&new) {
                continue;
            }
            let vlan = Vlan { interface: new.index, unused: 0, mac: in_memory(new.mac) };
            self.by_vlan()?.insert(new.index, new.tagged(), 0).map_err(|error| failed(NAME, &error))?;
            self.by_tag()?.insert(new.tagged(), vlan, 0).map_err(|error| failed(NAME, &error))?;
            self.vlans.push(new);
        }
        Ok(())
    }

    fn by_tag(&mut self) -> Result<HashMap<&mut MapData, Tagged, Vlan>> {
        HashMap::try_from(self.loaded.map("vlans")?).map_err(|error| failed(NAME, &error))
    }

    fn by_vlan(&mut self) -> Result<HashMap<&mut MapData, u32, Tagged>> {
        HashMap::try_from(self.loaded.map("tags")?).map_err(|error| failed(NAME, &error))
    }

    /// The place of each interface, for [`pinned_counters`].
    pub fn places(&self) -> impl Iterator<Item = (&str, u32)> {
        self.ports.iter().map(|port| (port.interface.as_str(), port.place))
    }

    /// Counters of the packets that an interface of this place received.
    pub fn counters(&self, place: u32) -> Result<PortCounters> {
        Ok(sum(&self.loaded.of_cpus::<Counted>(COUNTED, place)?))
    }

    /// Keeps it by files in an empty folder of a BPF file system, after the process has ended, until they are removed.
    pub fn pin(&self, folder: &Path) -> Result<()> {
        let counted = self.loaded.descriptor(COUNTED)?;
        pin(counted, &folder.join(COUNTED))?;
        self.ports.iter().try_for_each(|port| pin(port.link.as_fd(), &folder.join(format!("port-{}", port.index))))
    }

    fn free_place(&self, index: u32) -> Result<u32> {
        let candidates = (0..PROBES as u32).map(|probe| index.wrapping_add(probe) % PLACES as u32);
        let mut free = candidates.filter(|place| self.places[*place as usize].interface == 0);
        let asked = self.ports.len() + 1;
        free.next().ok_or(Error::TooMany { what: "interfaces", asked, most: self.ports.len() })
    }
}

/// Counters of a router that was pinned in this folder, by the place of the port.
pub fn pinned_counters(folder: &Path, places: &[u32]) -> Result<Vec<PortCounters>> {
    let map = MapData::from_pin(folder.join(COUNTED)).and_then(Map::from_map_data);
    let map = map.map_err(|error| failed(NAME, &error))?;
    let counted = PerCpuArray::<_, Counted>::try_from(map).map_err(|error| failed(NAME, &error))?;
    let read = |place: &u32| {
        let cpus = counted.get(place, 0).map_err(|error| failed(NAME, &error))?;
        Ok(sum(&cpus))
    };
    places.iter().map(read).collect()
}

fn pin(object: impl AsFd, path: &Path) -> Result<()> {
    let call = |io: io::Error| Error::Call { call: "bpf(BPF_OBJ_PIN)", what: path.display().to_string(), io };
    calls::pin(object.as_fd(), path).map_err(call)
}

/// Counters of all CPUs.
fn sum(cpus: &[Counted]) -> PortCounters {
    let total = |of: &dyn Fn(&Counted) -> u64| cpus.iter().map(of).sum::<u64>();
    let passed = Passed::ALL.iter().enumerate().map(|(at, why)| (*why, total(&|cpu| cpu.passed[at])));
    let dropped = Dropped::ALL.iter().enumerate().map(|(at, why)| (*why, total(&|cpu| cpu.dropped[at])));
    PortCounters {
        forwarded: total(&|cpu| cpu.forwarded),
        bytes: total(&|cpu| cpu.bytes),
        passed: passed.filter(|(_, packets)| *packets > 0).collect(),
        dropped: dropped.filter(|(_, packets)| *packets > 0).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_in_the_order_of_their_names() {
        let passed: Vec<String> = Passed::ALL.iter().map(ToString::to_string).collect();
        let dropped: Vec<String> = Dropped::ALL.iter().map(ToString::to_string).collect();
        assert_eq!((passed, dropped), (PASSED.map(str::to_owned).to_vec(), DROPPED.map(str::to_owned).to_vec()));
    }

    #[test]
    fn counters_of_all_cores_are_added() {
        let mut cpu = Counted { forwarded: 2, bytes: 120, passed: [0; _], dropped: [0; _] };
        cpu.passed[1] = 3;
        let sum = sum(&[cpu, cpu]);
        assert_eq!((sum.forwarded, sum.bytes), (4, 240));
        assert_eq!((sum.passed, sum.dropped), ([(Passed::Vlan, 6)].into(), [].into()));
    }
}
