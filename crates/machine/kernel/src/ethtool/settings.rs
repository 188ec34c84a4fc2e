//! Driver settings: offloads, and structures of numbers that are read and written as a whole.

use std::collections::BTreeMap;

use model::{change::DriverNumber, nic::DriverSettings, settings::Offload};

use super::{ask, if_supported, names, set_stamping, stamping, strings};
use crate::error::{On, Result, invalid};

const GET_OFFLOADS: u32 = 0x3a;
const SET_OFFLOADS: u32 = 0x3b;
/// `ETH_SS_FEATURES`: the set of the names of offloads.
const OFFLOAD_NAMES: u32 = 4;

/// A structure of linux/ethtool.h with a command and numbers.
struct Numbers {
    name: &'static str,
    get: u32,
    set: u32,
    /// Number of values after the command.
    count: usize,
}

/// `struct ethtool_channels`, `ethtool_ringparam`, `ethtool_coalesce` and `ethtool_pauseparam`. Channels come first:
/// rings and coalescing apply to each of them.
const NUMBERS: [Numbers; 4] = [
    Numbers { name: "channels", get: 0x3c, set: 0x3d, count: 8 },
    Numbers { name: "rings", get: 0x10, set: 0x11, count: 8 },
    Numbers { name: "coalescing", get: 0x0e, set: 0x0f, count: 22 },
    Numbers { name: "pause", get: 0x12, set: 0x13, count: 3 },
];

/// Their indices in it.
const CHANNELS: usize = 0;
const COALESCING: usize = 2;

/// Queues in use for each direction, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// Receive queues.
    pub receiving: u32,
    /// Transmit queues.
    pub sending: u32,
}

/// Queues of an interface of the caller's namespace; one if the driver does not tell.
pub fn queues(interface: &str) -> Queues {
    const RX: usize = 4;
    const TX: usize = 5;
    const COMBINED: usize = 7;
    let channels = get(interface, &NUMBERS[CHANNELS]).ok();
    let count = |own: usize| channels.as_ref().map_or(1, |channels| channels[own] + channels[COMBINED]).max(1);
    Queues { receiving: count(RX), sending: count(TX) }
}

/// Driver settings of an interface of the caller's namespace; empty if the driver does not tell.
pub fn settings(interface: &str) -> Result<DriverSettings> {
    let stamping = stamping(interface)?.map(|stamping| stamping.set);
    let mut settings = DriverSettings { offloads: blocks(interface)?, numbers: BTreeMap::new(), stamping };
    for numbers in NUMBERS {
        if let Some(values) = if_supported(get(interface, &numbers))? {
            settings.numbers.insert(numbers.name.to_owned(), values);
        }
    }
    Ok(settings)
}

/// The structure of a number, the index of the value, and the index of its maximum.
fn place(number: DriverNumber) -> Result<(&'static Numbers, usize, Option<usize>)> {
    let (name, value, most) = number.place();
    let structure = NUMBERS.iter().find(|numbers| numbers.name == name);
    let structure = structure.ok_or_else(|| invalid("the kernel has no such structure")).on("check", name)?;
    Ok((structure, value, most))
}

/// A number of an interface's driver; `None` if it has no such number.
pub fn driver_number(interface: &str, number: DriverNumber) -> Result<Option<u32>> {
    let (structure, value, most) = place(number)?;
    let values = if_supported(get(interface, structure))?;
    Ok(values.filter(|values| most.is_none_or(|most| values[most] != 0)).map(|values| values[value]))
}

/// Sets a number and leaves those beside it.
pub fn set_driver_number(interface: &str, number: DriverNumber, value: u32) -> Result<()> {
    let (structure, at, _) = place(number)?;
    let mut values = get(interface, structure)?;
    values[at] = value;
    set_where_other(interface, structure, &values)
}

/// Whether an offload is asked for; it may wait for another one.
pub fn is_offload_requested(interface: &str, name: &str) -> Result<bool> {
    let number = offload_number(interface, name)?;
    Ok(blocks(interface)?.get(number / 32).is_some_and(|block| block & bit(number) != 0))
}

/// Asks for an offload, or asks no more.
pub fn set_offload_by_name(interface: &str, name: &str, on: bool) -> Result<()> {
    let number = offload_number(interface, name)?;
    let mut wanted = blocks(interface)?;
    if let Some(block) = wanted.get_mut(number / 32) {
        *block = if on { *block | bit(number) } else { *block & !bit(number) };
    }
    set_offloads(interface, &wanted)
}

fn offload_number(interface: &str, name: &str) -> Result<usize> {
    let names = names(interface, OFFLOAD_NAMES, strings(interface, OFFLOAD_NAMES)?)?;
    let found = names.iter().position(|known| known == name);
    found.ok_or_else(|| invalid("the kernel knows no offload of this name")).on("check", name)
}

/// The bit of an offload in its block.
fn bit(number: usize) -> u32 {
    1 << (number % 32)
}

/// Offloads of an interface of the caller's namespace, as `ethtool -k` names them, and whether they are on.
pub fn offloads_by_name(interface: &str) -> Result<BTreeMap<String, bool>> {
    Ok(offload_states(interface)?.into_iter().map(|(name, offload)| (name, offload.on)).collect())
}

/// The same with whether the driver can switch them.
pub fn offload_states(interface: &str) -> Result<BTreeMap<String, Offload>> {
    let blocks = offloads(interface)?;
    let names = names(interface, OFFLOAD_NAMES, strings(interface, OFFLOAD_NAMES)?)?;
    let state = |number: usize| {
        let bit = 1 << (number % 32);
        let [available, _, active, _] = blocks.get(number / 32).copied().unwrap_or_default();
        Offload { on: active & bit != 0, changeable: available & bit != 0 }
    };
    Ok(names.into_iter().enumerate().map(|(number, name)| (name, state(number))).collect())
}

/// Sets different values, and goes on after a failure; returns the names of failed settings, with errors.
pub fn set_settings(interface: &str, wanted: &DriverSettings) -> Vec<(&'static str, crate::Error)> {
    let numbers = NUMBERS.iter().filter_map(|numbers| {
        let values = wanted.numbers.get(numbers.name)?;
        Some((numbers.name, set_where_other(interface, numbers, values)))
    });
    // Last: some depend on rings and channels.
    let offloads = ("offloads", set_offloads(interface, &wanted.offloads));
    let all = numbers.chain([offloads, ("stamping", restore_stamping(interface, wanted))]);
    all.filter_map(|(name, result)| result.err().map(|error| (name, error))).collect()
}

/// Interrupt coalescing of an interface of the caller's namespace: the numbers of `struct ethtool_coalesce`; `None` if
/// unknown.
pub fn coalescing(interface: &str) -> Result<Option<Vec<u32>>> {
    if_supported(get(interface, &NUMBERS[COALESCING]))
}

/// Sets these numbers if they differ.
pub fn set_coalescing(interface: &str, numbers: &[u32]) -> Result<()> {
    let set = |numbers: &[u32]| set_where_other(interface, &NUMBERS[COALESCING], numbers);
    // With adaptive coalescing, some drivers (ice, iavf) accept no other times.
    set(&not_adaptive(numbers))?;
    set(numbers)
}

/// The same numbers for immediate interrupts, without adaptation.
pub fn prompt(numbers: &[u32]) -> Vec<u32> {
    const RX_US: usize = 0;
    const RX_FRAMES: usize = 1;
    let mut prompt = not_adaptive(numbers);
    prompt[RX_US] = 0;
    // One frame means no delay; drivers that do not count frames have 0, which elsewhere means no limit.
    prompt[RX_FRAMES] = prompt[RX_FRAMES].min(1);
    prompt
}

fn not_adaptive(numbers: &[u32]) -> Vec<u32> {
    const ADAPTIVE_RX: usize = 9;
    let mut fixed = numbers.to_vec();
    fixed[ADAPTIVE_RX] = 0;
    fixed
}

fn set_where_other(interface: &str, numbers: &Numbers, values: &[u32]) -> Result<()> {
    if get(interface, numbers)? == values {
        Ok(())
    } else {
        exchange(interface, numbers, numbers.set, values).map(drop)
    }
}

fn restore_stamping(interface: &str, wanted: &DriverSettings) -> Result<()> {
    let now = stamping(interface)?.map(|stamping| stamping.set);
    wanted.stamping.filter(|_| wanted.stamping != now).map_or(Ok(()), |wanted| set_stamping(interface, wanted))
}

fn get(interface: &str, numbers: &Numbers) -> Result<Vec<u32>> {
    exchange(interface, numbers, numbers.get, &vec![0; numbers.count])
}

fn exchange(interface: &str, numbers: &Numbers, command: u32, values: &[u32]) -> Result<Vec<u32>> {
    if values.len() != numbers.count {
        return Err(invalid("not as many numbers as the kernel has")).on(numbers.name, interface);
    }
    let mut question = [&[command], values].concat();
    // SAFETY: a command and all numbers of its structure.
    unsafe { ask(interface, "ioctl(SIOCETHTOOL)", question.as_mut_ptr().cast()) }?;
    question.remove(0);
    Ok(question)
}

/// The requested offloads.
fn blocks(interface: &str) -> Result<Vec<u32>> {
    Ok(offloads(interface)?.into_iter().map(|[_, requested, ..]| requested).collect())
}

/// `struct ethtool_get_features_block`: available, requested, active, never changed; a bit per offload.
type Offloads = [u32; 4];

fn offloads(interface: &str) -> Result<Vec<Offloads>> {
    let blocks = strings(interface, OFFLOAD_NAMES)?.div_ceil(32);
    let mut answer = vec![0_u32; 2 + blocks as usize * 4];
    (answer[0], answer[1]) = (GET_OFFLOADS, blocks);
    // SAFETY: there is room for the requested number of blocks, and the kernel writes no more.
    unsafe { ask(interface, "ioctl(ETHTOOL_GFEATURES)", answer.as_mut_ptr().cast()) }?;
    Ok(answer[2..].chunks_exact(4).map(|block| [block[0], block[1], block[2], block[3]]).collect())
}

fn set_offloads(interface: &str, wanted: &[u32]) -> Result<()> {
    let present = offloads(interface)?;
    let mut question = vec![SET_OFFLOADS, wanted.len() as u32];
    // `struct ethtool_set_features_block`: mask and values.
    for ([available, requested, ..], wanted) in present.iter().zip(wanted) {
        question.extend([(requested ^ wanted) & available, *wanted]);
    }
    let is_as_wanted = question[2..].iter().step_by(2).all(|meant| *meant == 0);
    if is_as_wanted {
        return Ok(());
    }
    // SAFETY: the request holds the given number of blocks, and the kernel writes nothing.
    unsafe { ask(interface, "ioctl(ETHTOOL_SFEATURES)", question.as_mut_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_interrupts_at_once_waits_neither_for_time_nor_for_packets() {
        // As in ice: 50 µs, adaptive in both directions.
        let mut adaptive = vec![0; NUMBERS[COALESCING].count];
        (adaptive[0], adaptive[1], adaptive[4], adaptive[9], adaptive[10]) = (50, 32, 50, 1, 1);
        let prompt = prompt(&adaptive);
        assert_eq!((prompt[0], prompt[1], prompt[4], prompt[9], prompt[10]), (0, 1, 50, 0, 1));
        assert_eq!(not_adaptive(&adaptive)[..2], [50, 32]);
        assert_eq!(super::prompt(&prompt), prompt);
    }

    #[test]
    fn loopback_has_offloads_and_no_rings() {
        let settings = settings("lo").expect("there is always lo");
        assert!(settings.offloads.iter().any(|block| *block != 0), "{settings:?}");
        assert_eq!(offloads_by_name("lo").expect("there is always lo").get("tx-tcp-segmentation"), Some(&true));
        assert!(!settings.numbers.contains_key("rings"), "{settings:?}");
        assert!(set_settings("lo", &settings).is_empty(), "nothing differs");
    }
}
