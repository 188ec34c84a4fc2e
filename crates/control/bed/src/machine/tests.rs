use model::change::{LinkUp, MovedNic};

use super::{
    fake::{Fake, died, failed},
    *,
};

fn up(interface: &str) -> Change {
    LinkUp { namespace: String::new(), interface: interface.to_owned() }.into()
}

fn moved(nic: &str) -> Change {
    MovedNic { interface: nic.to_owned(), namespace: "wp1-a".to_owned() }.into()
}

/// An agent that cannot set eth2 up.
fn without_eth2() -> Fake {
    let is_eth2 = |change: &Change| *change == up("eth2");
    Fake::new(move |request| match request {
        Request::Apply { changes } if changes.iter().any(is_eth2) => Some(Err(failed())),
        _ => None,
    })
}

/// An agent that dies while undoing; another one undoes so many changes.
fn dies(alone: bool, undone: usize) -> Fake {
    Fake::new(move |request| match request {
        Request::UndoAll => Some(Err(died(alone))),
        Request::Clean => {
            Some(Ok(Reply::Cleaned(Cleaned { undone: vec![String::new(); undone], unknown: Vec::new() })))
        }
        _ => None,
    })
}

fn given_back(agent: &Fake) -> Result<(), BedError> {
    let mut machine = agent.machine("far");
    machine.set_up("bed", vec![up("eth1")])?;
    machine.give_back()
}

#[test]
fn changes_are_made_in_order_and_nics_are_moved_together() {
    let agent = Fake::new(|_| None);
    let mut machine = agent.machine("");
    machine.set_up("bed", vec![moved("eth1"), moved("eth2"), up("eth1")]).expect("all is made");
    let moves = "apply port eth1 moved into wp1-a + port eth2 moved into wp1-a";
    assert_eq!(agent.asked(), ["open", moves, "apply eth1 up"]);
    machine.give_back().expect("all is undone");
    assert_eq!(agent.asked()[3..], ["undo all"]);
}

#[test]
fn a_failure_half_way_undoes_what_was_made_and_makes_no_more() {
    let agent = without_eth2();
    let mut machine = agent.machine("");
    let error = machine.set_up("bed", vec![up("eth1"), up("eth2"), up("eth3")]).expect_err("eth2 is not there");
    assert!(matches!(error, BedError::SetUp(_)), "{error}");
    let asked = ["open", "apply eth1 up", "apply eth2 up", "undo all"];
    assert_eq!(agent.asked(), asked);
    drop(machine);
    assert_eq!(agent.asked(), asked, "there is nothing more to undo");
}

#[test]
fn what_is_neither_kept_nor_given_back_is_undone() {
    let agent = Fake::new(|_| None);
    let mut machine = agent.machine("");
    machine.set_up("bed", vec![up("eth1")]).expect("made");
    drop(machine);
    assert_eq!(agent.asked()[2..], ["undo all"]);
    let unused = Fake::new(|_| None);
    unused.machine("").give_back().expect("nothing was made");
    assert_eq!(unused.asked(), [""; 0]);
}

#[test]
fn changes_for_a_while_are_undone_by_themselves() {
    let agent = Fake::new(|_| None);
    let mut machine = agent.machine("");
    assert!(!machine.undo_passing().expect("nothing to undo"));
    for interface in ["eth1", "eth2"] {
        machine.change_for_now(interface, up(interface)).expect("made");
    }
    assert!(machine.undo_passing().expect("undone") && !machine.undo_passing().expect("nothing is left"));
    assert_eq!(agent.asked(), ["open", "apply eth1 up", "apply eth2 up", "undo last 2"]);
}

#[test]
fn what_must_not_be_changed_is_not() {
    let agent = Fake::new(|_| None);
    let mut machine = agent.machine("far");
    machine.allowed.protected = vec!["eth0".to_owned()];
    let uplink = machine.change_for_now("eth0", up("eth0")).expect_err("we come in there").to_string();
    assert!(uplink.contains("eth0 of far carries the default route") && uplink.contains("eth0 up"), "{uplink}");
    machine.allowed.root = false;
    let user = machine.change_for_now("eth1", up("eth1")).expect_err("no root").to_string();
    assert!(user.contains("without root on far"), "{user}");
    assert_eq!(agent.asked(), [""; 0]);
}

#[test]
fn another_agent_undoes_for_one_that_was_lost() {
    assert!(matches!(given_back(&dies(true, 1)), Err(BedError::Orphaned(_))));
    assert!(matches!(given_back(&dies(false, 0)), Err(BedError::Orphaned(_))), "this machine is there");
    let far = dies(true, 1).elsewhere();
    assert!(matches!(given_back(&far), Err(BedError::Orphaned(_))));
    assert_eq!(far.asked()[2..], ["undo all", "clean"]);
    // Its machine is out of reach, and undoes by itself.
    let far = dies(false, 1).elsewhere();
    assert!(matches!(given_back(&far), Err(BedError::Lost { .. })));
    assert_eq!(far.asked()[2..], ["undo all"]);
    assert!(
        matches!(given_back(&dies(true, 0).elsewhere()), Err(BedError::Lost { .. })),
        "an agent is left that undoes"
    );
}

#[test]
fn all_machines_are_given_back_the_last_one_first() {
    let [here, far] = [dies(true, 1), Fake::new(|_| None).elsewhere()];
    let mut machines = vec![here.machine("here"), far.machine("far")];
    for machine in &mut machines {
        machine.set_up("bed", vec![up("eth1")]).expect("made");
    }
    assert!(matches!(give_all_back(machines), Err(BedError::Orphaned(_))));
    assert_eq!((far.asked()[2].as_str(), here.asked()[2].as_str()), ("undo all", "undo all"));
}
