use std::{
    fs, process,
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use kernel::{interface, link};
use model::bypass::Reason;
use tempfile::TempDir;

use super::*;

/// A namespace whose loopback interface stands for a card, and a folder for ledgers.
struct Bench {
    namespace: String,
    directory: TempDir,
    tell: Sender<Event>,
    told: Receiver<Event>,
}

impl Bench {
    fn new(test: &str) -> Self {
        let namespace = format!("wptest{}{test}", process::id());
        namespace::create(&namespace).expect("this test needs root");
        let (tell, told) = channel();
        Self { namespace, directory: TempDir::new().expect("a folder"), tell, told }
    }

    fn prepare(&self, queues: u32, wait: Wait, owner: &str) -> Cards {
        let card = Card { interface: "lo".to_owned(), index: 1, queues, takes_rules: true };
        let (directory, tell) = (self.directory.path(), self.tell.clone());
        let cards = within(&self.namespace, || Cards::of(vec![card], wait, directory, owner, tell));
        assert_eq!(self.said(), [""; 0]);
        cards
    }

    fn said(&self) -> Vec<String> {
        let not_set = |event| if let Event::NotSet(what) = event { what.to_string() } else { panic!("{event:?}") };
        self.told.try_iter().map(not_set).collect()
    }

    fn settings(&self) -> [String; 2] {
        within(&self.namespace, || DEFERRED.map(|(setting, _)| interface::read("lo", setting).expect("readable")))
    }

    /// Waits until no process holds a ledger: a process that another test is starting does for a moment.
    fn wait_until_stale(&self) {
        let begun = Instant::now();
        while ledger::stale(self.directory.path()).expect("readable").is_empty()
            && begun.elapsed() < Duration::from_secs(2)
        {
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn ledgers(&self) -> usize {
        fs::read_dir(self.directory.path()).expect("ours").count()
    }
}

fn within<T: Send>(namespace: &str, f: impl FnOnce() -> T + Send) -> T {
    namespace::within(namespace, f).expect("it is there")
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = namespace::delete(&self.namespace);
    }
}

#[test]
fn interrupts_wait_for_who_spins_and_are_as_before_afterwards_also_after_a_kill() {
    let bench = Bench::new("cards");
    let before = bench.settings();
    let killed = bench.prepare(1, Wait::Spin, "first");
    assert_eq!(bench.settings(), DEFERRED.map(|(_, value)| value));
    drop(killed);
    bench.wait_until_stale();
    assert_eq!((bench.settings(), bench.ledgers()), (DEFERRED.map(|(_, value)| value.to_owned()), 1));
    // The next launcher finds changed settings, not the original ones.
    let mut next = bench.prepare(1, Wait::Spin, "second");
    assert_eq!(bench.settings(), DEFERRED.map(|(_, value)| value));
    next.give_back();
    assert_eq!((bench.settings(), bench.ledgers()), (before.clone(), 0));
    for (queues, wait) in [(1, Wait::Auto), (1, Wait::Sleep), (8, Wait::Auto)] {
        let mut cards = bench.prepare(queues, wait, "third");
        assert_eq!(bench.settings(), before);
        cards.give_back();
    }
    assert_eq!(bench.ledgers(), 0);
    assert_eq!(bench.said(), [""; 0]);
}

#[test]
fn a_card_that_takes_no_rules_is_asked_once() {
    let bench = Bench::new("rules");
    let mut cards = bench.prepare(4, Wait::Spin, "rules");
    let control = Control::new().expect("memory");
    socket(&control, "127.0.0.1:7", Ok(()));
    let mut steer = || {
        within(&bench.namespace, || {
            link::set_up("", "lo").expect("it is there");
            cards.steer(&control)
        })
    };
    steer();
    let [why] = &bench.said()[..] else { panic!("it says why") };
    assert!(why.contains("lo that takes UDP for 127.0.0.1:7 to queue 3") && why.contains("not supported"), "{why}");
    steer();
    assert_eq!(bench.said(), [""; 0]);
    // Settings for all programs stay when one program has ended.
    cards.forget();
    assert_eq!(bench.settings(), DEFERRED.map(|(_, value)| value));
    cards.give_back();
    assert_eq!(bench.said(), [""; 0]);
}

#[test]
fn a_flow_is_an_address_of_the_card_that_a_live_socket_hears() {
    let control = Control::new().expect("memory");
    let closed = Record { closed: true, ..socket(&control, "198.18.0.1:9", Ok(())) };
    let sockets = [
        socket(&control, "0.0.0.0:7", Ok(())),
        socket(&control, "198.18.0.1:7", Ok(())),
        socket(&control, "[::ffff:198.18.0.1]:8", Ok(())),
        socket(&control, "[::]:53", Ok(())),
        socket(&control, "198.18.1.1:9", Ok(())),
        socket(&control, "198.18.0.1:9", Err(Reason::Cork)),
        closed,
    ];
    let mut links = link::list().expect("readable");
    let addresses = ["198.18.0.1", "2001:2::1"].map(|address| (address.parse().expect("an address"), 24));
    let link = Link { addresses: addresses.to_vec(), ..links.remove(0) };
    let wanted = ["198.18.0.1:7", "198.18.0.1:8", "198.18.0.1:53", "[2001:2::1]:53"];
    assert_eq!(flows(&sockets, &link), wanted.map(|flow| flow.parse().expect("an address")));
}

fn socket(control: &Control, local: &str, fate: Result<(), Reason>) -> Record {
    let id = control.add(3, 0);
    let slot = control.slot(id);
    slot.set_ends(Some(local.parse().expect("an address")), None);
    slot.set_fate(fate);
    control.record(id)
}
