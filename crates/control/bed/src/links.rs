//! Links of a bed: waited for before anything is measured, and looked at once something went wrong.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use model::{BedKind, Endpoint, Mtu, environment::InterfaceFacts};
use protocol::AgentLink;

use crate::{BedError, machine::endpoint_facts};

/// A link comes up in this time.
const LINK: Duration = Duration::from_secs(5);

/// Two cards that were just set up have agreed on a speed in this time.
const NEGOTIATION: Duration = Duration::from_secs(15);

/// A link that stays up for so long is not about to go again.
const STEADY: Duration = Duration::from_millis(300);

/// The kernel declares a link up a moment after it was set up; between cards it may come and go before it stays. Gives the
/// link's MTU.
pub(crate) fn wait_for(
    port: &mut AgentLink,
    endpoint: &Endpoint,
    kind: BedKind,
    interrupt: &AtomicBool,
) -> Result<Mtu, BedError> {
    let (patience, steady) = if kind == BedKind::Lab { (LINK, Duration::ZERO) } else { (NEGOTIATION, STEADY) };
    let until = Instant::now() + patience;
    let mut watch = Watch::default();
    loop {
        let facts = endpoint_facts(port, &endpoint.name)?;
        let link = facts.interfaces.iter().find(|link| link.name == endpoint.interface && is_up(link));
        match (watch.up_for(link.is_some(), Instant::now()), link) {
            (Some(up_for), Some(link)) if up_for >= steady => return Ok(Mtu(link.mtu)),
            _ => {}
        }
        check(interrupt)?;
        if Instant::now() > until {
            return Err(watch.given_up(place_of(endpoint), patience));
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// A link that is looked at again and again.
#[derive(Default)]
struct Watch {
    up_since: Option<Instant>,
    /// How often it was up and went.
    lost: u32,
}

impl Watch {
    /// For how long it has been up, by what is seen now.
    fn up_for(&mut self, is_up: bool, now: Instant) -> Option<Duration> {
        if is_up {
            return Some(now.duration_since(*self.up_since.get_or_insert(now)));
        }
        self.lost += u32::from(self.up_since.take().is_some());
        None
    }

    /// Why it was not waited for any longer.
    fn given_up(&self, interface: String, waited: Duration) -> BedError {
        match self.lost {
            0 => BedError::NoLink { interface, waited },
            times => BedError::Flapping { interface, times, waited },
        }
    }
}

/// The error that says which port is not there any more, or has no link; `None` where all are well, or nobody can tell.
pub(crate) fn lost(ports: &mut [AgentLink], ends: &[Endpoint]) -> Option<BedError> {
    let mut down = Vec::new();
    for (port, end) in ports.iter_mut().zip(ends) {
        let Ok(facts) = endpoint_facts(port, &end.name) else { continue };
        match facts.interfaces.iter().find(|link| link.name == end.interface) {
            None => {
                let (interface, endpoint) = (end.interface.clone(), end.name.clone());
                return Some(BedError::PortGone { interface, endpoint });
            }
            Some(link) if !is_up(link) => down.push((link.state.clone(), place_of(end))),
            Some(_) => {}
        }
    }
    blamed(down).map(|ports| BedError::LinkLost { ports })
}

/// Of interfaces without a link, each with its state and its place, those that lost it by themselves: one that was set down takes it
/// from the other end.
fn blamed(down: Vec<(String, String)>) -> Option<Vec<String>> {
    let is_set_down = |(state, _): &(String, String)| state == "down";
    let some_are = down.iter().any(is_set_down);
    let to_blame = down.into_iter().filter(|port| !some_are || is_set_down(port));
    Some(to_blame.map(|(_, place)| place).collect()).filter(|places: &Vec<_>| !places.is_empty())
}

/// Whoever waits gives up on an interrupt.
pub(crate) fn check(interrupt: &AtomicBool) -> Result<(), BedError> {
    if interrupt.load(Relaxed) { Err(BedError::Interrupted) } else { Ok(()) }
}

/// An interface with the end that it is at, in words.
pub(crate) fn place_of(end: &Endpoint) -> String {
    let at = if end.machine.is_empty() { String::new() } else { format!(" on {}", end.machine) };
    format!("{} at endpoint {}{at}", end.interface, end.name)
}

/// Drivers that do not watch their carrier never say more than "unknown".
fn is_up(link: &InterfaceFacts) -> bool {
    matches!(link.state.as_str(), "up" | "unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_comes_and_goes_is_told_from_one_that_never_comes() {
        let (start, mut watch) = (Instant::now(), Watch::default());
        let mut sees = |is_up, at: u64| watch.up_for(is_up, start + Duration::from_millis(at)).map(|up| up.as_millis());
        assert_eq!([sees(false, 0), sees(true, 10), sees(true, 200)], [None, Some(0), Some(190)]);
        assert_eq!(
            [sees(false, 210), sees(false, 220), sees(true, 300), sees(true, 600)],
            [None, None, Some(0), Some(300)]
        );
        let said = watch.given_up("eth1 at endpoint a".into(), NEGOTIATION).to_string();
        assert!(said.contains("went down again (1× within 15s)") && said.contains("autonegotiation"), "{said}");
        let never = Watch::default().given_up("eth1 at endpoint a".into(), NEGOTIATION).to_string();
        assert!(never.starts_with("eth1 at endpoint a has no link after 15s"), "{never}");
    }

    #[test]
    fn of_two_ports_without_a_link_the_one_that_was_set_down_is_to_blame() {
        let port = |state: &str, place: &str| (state.to_owned(), place.to_owned());
        assert_eq!(blamed(vec![port("lowerlayerdown", "a"), port("down", "b")]), Some(vec!["b".to_owned()]));
        let cable = blamed(vec![port("lowerlayerdown", "a"), port("lowerlayerdown", "b")]);
        assert_eq!(cable, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(blamed(vec![]), None);
    }
}
