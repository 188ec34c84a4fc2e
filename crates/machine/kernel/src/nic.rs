//! Link settings, permanent address and module memory of a NIC (ioctl interface of linux/ethtool.h).

use crate::{
    error::{On, Result, invalid},
    ethtool::{ask, shown},
};

const GET_PERMANENT_ADDRESS: u32 = 0x20;
const GET_MODULE_INFO: u32 = 0x42;
const GET_MODULE_MEMORY: u32 = 0x43;
const GET_LINK_SETTINGS: u32 = 0x4c;
const GET_FEC: u32 = 0x50;

/// More words of link modes than any kernel has; today's has four.
const MODE_WORDS: usize = 32;
/// More than any module has: SFF-8472 has 512 bytes, SFF-8636 640.
const MODULE_ROOM: usize = 4096;
/// `SPEED_UNKNOWN` of linux/ethtool.h.
const UNKNOWN_SPEED: u32 = u32::MAX;

/// Link settings of a NIC.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkSettings {
    /// Mbit/s; `None` without a link.
    pub speed_mbps: Option<u32>,
    /// `None` without a link.
    pub full_duplex: Option<bool>,
    /// Whether autonegotiation is on.
    pub autonegotiation: bool,
    /// `PORT_*`: 0 twisted pair, 3 fibre, 5 direct attach, 0xef none.
    pub port: u8,
    /// Supported link modes: bit numbers of `ETHTOOL_LINK_MODE_*`.
    pub supported: Vec<u32>,
    /// Link modes of the other end, by autonegotiation; empty without it.
    pub partner: Vec<u32>,
}

/// `struct ethtool_link_settings` of linux/ethtool.h, with room for its three masks.
#[repr(C)]
struct Settings {
    command: u32,
    speed: u32,
    duplex: u8,
    port: u8,
    phy_address: u8,
    autonegotiation: u8,
    mdio_and_crossing: [u8; 3],
    mode_words: i8,
    /// Transceiver, master/slave, rate matching.
    more: [u8; 4],
    reserved: [u32; 7],
    masks: [u32; 3 * MODE_WORDS],
}

/// `struct ethtool_perm_addr` with room for an address.
#[repr(C)]
struct PermanentAddress {
    command: u32,
    size: u32,
    address: [u8; 32],
}

/// `struct ethtool_modinfo`.
#[repr(C)]
struct ModuleInfo {
    command: u32,
    kind: u32,
    length: u32,
    reserved: [u32; 8],
}

/// `struct ethtool_eeprom` with room for a module's memory.
#[repr(C)]
struct ModuleMemory {
    command: u32,
    magic: u32,
    offset: u32,
    length: u32,
    memory: [u8; MODULE_ROOM],
}

const _: () = assert!(size_of::<Settings>() == 48 + 12 * MODE_WORDS && size_of::<ModuleInfo>() == 44);

/// Link settings of an interface in the caller's namespace.
pub fn link_settings(interface: &str) -> Result<LinkSettings> {
    let call = "ioctl(ETHTOOL_GLINKSETTINGS)";
    let mut settings = Settings {
        command: GET_LINK_SETTINGS,
        speed: 0,
        duplex: 0,
        port: 0,
        phy_address: 0,
        autonegotiation: 0,
        mdio_and_crossing: [0; 3],
        mode_words: 0,
        more: [0; 4],
        reserved: [0; 7],
        masks: [0; _],
    };
    // With zero mask words, the kernel returns their number as a negative one. SAFETY: the kernel writes only the fixed
    // part, as no words are requested.
    unsafe { ask(interface, call, (&raw mut settings).cast()) }?;
    let words = usize::from(settings.mode_words.unsigned_abs());
    if settings.mode_words > 0 || words > MODE_WORDS {
        return Err(invalid("the kernel has more link modes than can be believed")).on(call, shown(interface));
    }
    (settings.command, settings.mode_words) = (GET_LINK_SETTINGS, -settings.mode_words);
    // SAFETY: there is room for three masks of the requested words.
    unsafe { ask(interface, call, (&raw mut settings).cast()) }?;
    Ok(LinkSettings {
        speed_mbps: Some(settings.speed).filter(|speed| *speed != 0 && *speed != UNKNOWN_SPEED),
        full_duplex: [(0, false), (1, true)]
            .into_iter()
            .find(|(code, _)| *code == settings.duplex)
            .map(|(_, full)| full),
        autonegotiation: settings.autonegotiation == 1,
        port: settings.port,
        supported: bits(&settings.masks[..words]),
        partner: bits(&settings.masks[2 * words..3 * words]),
    })
}

/// Forward error correction in use: bits of `ETHTOOL_FEC_*`. An error if the driver does not tell.
pub fn fec(interface: &str) -> Result<u32> {
    // `struct ethtool_fecparam`: command, active, configured, reserved.
    let mut question = [GET_FEC, 0, 0, 0];
    // SAFETY: the kernel writes a `struct ethtool_fecparam`, which is four numbers.
    unsafe { ask(interface, "ioctl(ETHTOOL_GFECPARAM)", question.as_mut_ptr().cast()) }?;
    Ok(question[1])
}

/// The permanent MAC address of a card, like `02:00:00:00:00:01`; `None` if the driver does not tell.
pub fn permanent_mac(interface: &str) -> Result<Option<String>> {
    let mut answer = PermanentAddress { command: GET_PERMANENT_ADDRESS, size: 32, address: [0; 32] };
    // SAFETY: the kernel writes at most `size` bytes.
    unsafe { ask(interface, "ioctl(ETHTOOL_GPERMADDR)", (&raw mut answer).cast()) }?;
    let bytes = answer.address.get(..answer.size as usize).unwrap_or_default();
    let is_address = bytes.iter().any(|byte| *byte != 0);
    Ok(is_address.then(|| crate::link::mac(bytes)))
}

/// Memory of the module in a port, in the layout of SFF-8472 (SFP) or SFF-8636 (QSFP).
///
/// An error without a module, or if the driver cannot read it.
pub fn module_memory(interface: &str) -> Result<Vec<u8>> {
    let mut info = ModuleInfo { command: GET_MODULE_INFO, kind: 0, length: 0, reserved: [0; 8] };
    // SAFETY: the kernel writes a `struct ethtool_modinfo`, which has the size of `ModuleInfo`.
    unsafe { ask(interface, "ioctl(ETHTOOL_GMODULEINFO)", (&raw mut info).cast()) }?;
    let length = info.length.min(MODULE_ROOM as u32);
    let mut memory = ModuleMemory { command: GET_MODULE_MEMORY, magic: 0, offset: 0, length, memory: [0; MODULE_ROOM] };
    // SAFETY: the kernel writes `length` bytes, for which there is room.
    unsafe { ask(interface, "ioctl(ETHTOOL_GMODULEEEPROM)", (&raw mut memory).cast()) }?;
    Ok(memory.memory[..length as usize].to_vec())
}

/// Numbers of the bits that are set.
fn bits(words: &[u32]) -> Vec<u32> {
    let of_word = |(word, first): (&u32, u32)| {
        let word = *word;
        (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| first + bit)
    };
    words.iter().zip((0..).step_by(32)).flat_map(of_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_counted_through_all_words() {
        assert_eq!(bits(&[0b101, 1 << 31, 1]), [0, 2, 63, 64]);
    }

    #[test]
    fn loopback_has_neither_module_nor_address_of_its_own() {
        assert!(module_memory("lo").is_err());
        assert_eq!(permanent_mac("lo").expect("every interface answers"), None);
        let error = link_settings("none0").expect_err("there is none").to_string();
        assert!(error.starts_with("ioctl(ETHTOOL_GLINKSETTINGS) on interface none0: "), "{error}");
    }
}
