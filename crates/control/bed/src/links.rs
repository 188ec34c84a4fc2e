//! Checks that the links of a bed come up and stay up: failing autonegotiation brings a link up for a moment,
//! repeatedly.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use model::{Bed, Endpoint};
use protocol::{AgentLink, LinkReading, Reply, Request};

use crate::{
    error::BedError,
    machine::{REQUEST, confused},
};

/// Interval of link checks. The kernel counts changes between two of them.
const LOOK: Duration = Duration::from_millis(20);

/// A link that was lost once has to stay this long: repeated autonegotiation has it for a second or two.
const STEADY_AGAIN: Duration = Duration::from_secs(3);

/// A driver may reset its card once after it came up; a link that is lost this often is unstable.
const TOO_OFTEN: u32 = 4;

/// Time to wait for a link, and time for which it has to stay up.
#[derive(Clone, Copy)]
struct Patience {
    longest: Duration,
    steady: Duration,
}

/// Virtual links, which come up a moment after both ends.
const OF_A_LAB: Patience = Patience { longest: Duration::from_secs(5), steady: Duration::ZERO };

/// Links of cards, after autonegotiation.
const OF_CARDS: Patience = Patience { longest: Duration::from_secs(15), steady: Duration::from_secs(1) };

/// State of a link under observation. Pure: the time is passed in.
struct Watched {
    patience: Patience,
    /// The kernel's count at the first check.
    losses_before: Option<u32>,
    /// Losses since then.
    losses: u32,
    up_since: Option<Duration>,
}

/// Result of the observation so far.
#[derive(Debug, PartialEq, Eq)]
enum LinkState {
    /// Undecided.
    Undecided,
    /// It is up and stays up.
    Steady,
    /// It does not come up.
    Down,
    /// It flaps, with this number of losses.
    Flapping(u32),
}

impl Watched {
    fn new(patience: Patience) -> Self {
        Self { patience, losses_before: None, losses: 0, up_since: None }
    }

    /// Records a reading at this time since the first one.
    fn observe(&mut self, at: Duration, link: LinkReading) -> LinkState {
        let losses = link.losses.wrapping_sub(*self.losses_before.get_or_insert(link.losses));
        if losses != self.losses || !link.up {
            self.up_since = None;
        }
        self.losses = losses;
        if link.up {
            self.up_since.get_or_insert(at);
        }
        let steady = if losses == 0 { self.patience.steady } else { STEADY_AGAIN };
        match self.up_since {
            Some(since) if at - since >= steady => LinkState::Steady,
            _ if losses >= TOO_OFTEN => LinkState::Flapping(losses),
            // A link that is up at the end of the time is watched until it has stayed or gone.
            None if at >= self.patience.longest && losses > 0 => LinkState::Flapping(losses),
            None if at >= self.patience.longest => LinkState::Down,
            _ => LinkState::Undecided,
        }
    }
}

/// Waits until all links of a bed are up and stable; returns the last reading of each.
pub(crate) fn wait(agents: &mut [AgentLink], bed: &Bed, interrupt: &AtomicBool) -> Result<Vec<LinkReading>, BedError> {
    let patience = if bed.makes_its_links() { OF_A_LAB } else { OF_CARDS };
    let mut watched: Vec<_> = bed.endpoints.iter().map(|_| Watched::new(patience)).collect();
    let begun = Instant::now();
    loop {
        let mut steady = Vec::new();
        for ((agent, end), watched) in agents.iter_mut().zip(&bed.endpoints).zip(&mut watched) {
            let link = read(agent, end)?.ok_or_else(|| port_gone(end))?;
            let (at, interface) = (begun.elapsed(), place_of(end));
            match watched.observe(at, link) {
                LinkState::Steady => steady.push(link),
                LinkState::Undecided => {}
                LinkState::Down => return Err(BedError::NoLink { interface, waited: patience.longest }),
                LinkState::Flapping(times) => {
                    return Err(BedError::Flapping { interface, times, within_s: at.as_secs() });
                }
            }
        }
        if steady.len() == bed.endpoints.len() {
            return Ok(steady);
        }
        check(interrupt)?;
        thread::sleep(LOOK);
    }
}

/// The missing port, or those without a link; `None` if all are well, or nothing can be determined.
pub(crate) fn lost(agents: &mut [AgentLink], ends: &[Endpoint]) -> Option<BedError> {
    let mut down = Vec::new();
    for (agent, end) in agents.iter_mut().zip(ends) {
        match read(agent, end) {
            Ok(None) => return Some(port_gone(end)),
            Ok(Some(link)) if !link.up => down.push((link.set_up, place_of(end))),
            Ok(Some(_)) | Err(_) => {}
        }
    }
    blamed(down).map(|ports| BedError::LinkLost { ports })
}

/// The places of interfaces that lost their link by themselves, from those without one, each with whether it is set up.
/// An interface that was set down takes the link from the other end.
fn blamed(down: Vec<(bool, String)>) -> Option<Vec<String>> {
    let some_are_set_down = down.iter().any(|(set_up, _)| !set_up);
    let to_blame = down.into_iter().filter(|(set_up, _)| !(some_are_set_down && *set_up));
    Some(to_blame.map(|(_, place)| place).collect()).filter(|places: &Vec<_>| !places.is_empty())
}

/// An error after an interrupt.
pub(crate) fn check(interrupt: &AtomicBool) -> Result<(), BedError> {
    if interrupt.load(Relaxed) { Err(BedError::Interrupted) } else { Ok(()) }
}

fn read(agent: &mut AgentLink, end: &Endpoint) -> Result<Option<LinkReading>, BedError> {
    match agent.ask(Request::Link { interface: end.interface.clone() }, REQUEST)? {
        Reply::Link(link) => Ok(link),
        other => Err(confused(agent, &other)),
    }
}

fn port_gone(end: &Endpoint) -> BedError {
    BedError::PortGone { interface: end.interface.clone(), endpoint: end.name.clone() }
}

/// An interface and its end, in words.
pub(crate) fn place_of(end: &Endpoint) -> String {
    let at = if end.machine.is_empty() { String::new() } else { format!(" on {}", end.machine) };
    format!("{} at endpoint {}{at}", end.interface, end.name)
}

#[cfg(test)]
mod tests {
    use model::Mtu;

    use super::*;

    /// Observation of a card's link every 100 ms, with its state and losses at each moment in ms.
    fn decided(link: impl Fn(u64) -> (bool, u32)) -> (u64, LinkState) {
        let mut watched = Watched::new(OF_CARDS);
        let states = (0..).step_by(100).map(|ms| {
            let (up, losses) = link(ms);
            let reading = LinkReading { set_up: true, up, losses: losses.wrapping_add(u32::MAX), mtu: Mtu(1500) };
            (ms, watched.observe(Duration::from_millis(ms), reading))
        });
        states.into_iter().find(|(_, state)| *state != LinkState::Undecided).expect("it comes to an end")
    }

    #[test]
    fn a_link_that_comes_and_stays_is_taken_after_a_second() {
        assert_eq!(decided(|_| (true, 0)), (1000, LinkState::Steady));
        assert_eq!(decided(|ms| (ms >= 2500, 0)), (3500, LinkState::Steady));
        assert_eq!(decided(|ms| (ms >= 14_900, 0)), (15_900, LinkState::Steady), "it came in time");
        assert_eq!(decided(|_| (false, 0)), (15_000, LinkState::Down));
    }

    #[test]
    fn a_link_that_went_once_has_to_stay_for_longer() {
        // The driver reset its card once.
        assert_eq!(decided(|ms| (!(500..1500).contains(&ms), u32::from(ms >= 500))), (4500, LinkState::Steady));
    }

    #[test]
    fn a_link_that_comes_and_goes_is_flapping() {
        // Up for 600 ms, away for 1400 ms: repeated autonegotiation.
        let slow = |ms: u64| (ms % 2000 < 600, ((ms + 1400) / 2000) as u32);
        assert_eq!(decided(slow), (6600, LinkState::Flapping(4)));
        // So fast that it is up at each check.
        assert_eq!(decided(|ms| (true, (ms / 100) as u32)), (400, LinkState::Flapping(4)));
        // So slow that the time is over first.
        assert_eq!(decided(|ms| (ms < 500, u32::from(ms >= 500))), (15_000, LinkState::Flapping(1)));
    }

    #[test]
    fn of_two_ports_without_a_link_the_one_that_was_set_down_is_to_blame() {
        let port = |set_up, place: &str| (set_up, place.to_owned());
        assert_eq!(blamed(vec![port(true, "a"), port(false, "b")]), Some(vec!["b".to_owned()]));
        let cable = blamed(vec![port(true, "a"), port(true, "b")]);
        assert_eq!(cable, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(blamed(vec![]), None);
    }
}
