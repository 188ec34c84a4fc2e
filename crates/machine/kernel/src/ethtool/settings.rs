//! What is set in a driver: offloads, and the structures of numbers that it reads and writes whole.

use std::collections::BTreeMap;

use model::nic::DriverSettings;

use super::{ask, said, set_stamping, stamping, strings};
use crate::error::{On, Result, invalid};

const GET_OFFLOADS: u32 = 0x3a;
const SET_OFFLOADS: u32 = 0x3b;
/// `ETH_SS_FEATURES`: the set of strings that name offloads.
const OFFLOAD_NAMES: u32 = 4;

/// A structure of linux/ethtool.h that is a command and numbers.
struct Numbers {
    name: &'static str,
    get: u32,
    set: u32,
    /// How many numbers follow the command.
    count: usize,
}

/// `struct ethtool_channels`, `ethtool_ringparam`, `ethtool_coalesce` and `ethtool_pauseparam`. Channels come first: rings
/// and coalescing belong to each of them.
const NUMBERS: [Numbers; 4] = [
    Numbers { name: "channels", get: 0x3c, set: 0x3d, count: 8 },
    Numbers { name: "rings", get: 0x10, set: 0x11, count: 8 },
    Numbers { name: "coalescing", get: 0x0e, set: 0x0f, count: 22 },
    Numbers { name: "pause", get: 0x12, set: 0x13, count: 3 },
];

/// Their places among them.
const CHANNELS: usize = 0;
const COALESCING: usize = 2;

/// Queues that a driver has in use, each way, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queues {
    /// For packets that come.
    pub receiving: u32,
    /// For packets that leave.
    pub sending: u32,
}

/// How many queues an interface of the caller's namespace uses; a driver that does not say has one.
pub fn queues(interface: &str) -> Queues {
    const RX: usize = 4;
    const TX: usize = 5;
    const COMBINED: usize = 7;
    let channels = get(interface, &NUMBERS[CHANNELS]).ok();
    let count = |own: usize| channels.as_ref().map_or(1, |channels| channels[own] + channels[COMBINED]).max(1);
    Queues { receiving: count(RX), sending: count(TX) }
}

/// What is set in the driver of an interface of the caller's namespace; nothing where the driver does not say.
pub fn settings(interface: &str) -> Result<DriverSettings> {
    let stamping = stamping(interface)?.map(|stamping| stamping.set);
    let mut settings = DriverSettings { offloads: blocks(interface)?, numbers: BTreeMap::new(), stamping };
    for numbers in NUMBERS {
        if let Some(values) = said(get(interface, &numbers))? {
            settings.numbers.insert(numbers.name.to_owned(), values);
        }
    }
    Ok(settings)
}

/// Sets what differs, and goes on where something cannot be set: the name of each such, with the reason.
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

/// How an interface of the caller's namespace gathers packets before it interrupts: the numbers of `struct ethtool_coalesce`; `None` where its
/// driver does not say.
pub fn coalescing(interface: &str) -> Result<Option<Vec<u32>>> {
    said(get(interface, &NUMBERS[COALESCING]))
}

/// Sets those numbers, where they differ.
pub fn set_coalescing(interface: &str, numbers: &[u32]) -> Result<()> {
    let set = |numbers: &[u32]| set_where_other(interface, &NUMBERS[COALESCING], numbers);
    // While a card adapts by itself, some drivers (ice, iavf) take no other times.
    set(&not_adaptive(numbers))?;
    set(numbers)
}

/// The same numbers for a card that interrupts at once: it does not wait for more packets, and does not adapt by itself.
pub fn prompt(numbers: &[u32]) -> Vec<u32> {
    const RX_US: usize = 0;
    const RX_FRAMES: usize = 1;
    let mut prompt = not_adaptive(numbers);
    prompt[RX_US] = 0;
    // One frame is none to wait for; drivers that do not count them have 0, and none means to wait for ever elsewhere.
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
    // SAFETY: a command and as many numbers as its structure has.
    unsafe { ask(interface, "ioctl(SIOCETHTOOL)", question.as_mut_ptr().cast()) }?;
    question.remove(0);
    Ok(question)
}

/// The offloads that are asked for.
fn blocks(interface: &str) -> Result<Vec<u32>> {
    Ok(offloads(interface)?.into_iter().map(|[_, requested, ..]| requested).collect())
}

/// `struct ethtool_get_features_block`: available, requested, active, never changed; a bit for each offload.
type Offloads = [u32; 4];

fn offloads(interface: &str) -> Result<Vec<Offloads>> {
    let blocks = strings(interface, OFFLOAD_NAMES)?.div_ceil(32);
    let mut answer = vec![0_u32; 2 + blocks as usize * 4];
    (answer[0], answer[1]) = (GET_OFFLOADS, blocks);
    // SAFETY: there is room for as many blocks as are asked for, and the kernel writes no more.
    unsafe { ask(interface, "ioctl(ETHTOOL_GFEATURES)", answer.as_mut_ptr().cast()) }?;
    Ok(answer[2..].chunks_exact(4).map(|block| [block[0], block[1], block[2], block[3]]).collect())
}

fn set_offloads(interface: &str, wanted: &[u32]) -> Result<()> {
    let present = offloads(interface)?;
    let mut question = vec![SET_OFFLOADS, wanted.len() as u32];
    // `struct ethtool_set_features_block`: which are meant, and what they shall be.
    for ([available, requested, ..], wanted) in present.iter().zip(wanted) {
        question.extend([(requested ^ wanted) & available, *wanted]);
    }
    let is_as_wanted = question[2..].iter().step_by(2).all(|meant| *meant == 0);
    if is_as_wanted {
        return Ok(());
    }
    // SAFETY: the question holds as many blocks as it says, and the kernel writes nothing.
    unsafe { ask(interface, "ioctl(ETHTOOL_SFEATURES)", question.as_mut_ptr().cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_that_interrupts_at_once_waits_neither_for_time_nor_for_packets() {
        // As ice has them: 50 µs, adaptive both ways.
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
        assert!(!settings.numbers.contains_key("rings"), "{settings:?}");
        assert!(set_settings("lo", &settings).is_empty(), "nothing differs");
    }
}
