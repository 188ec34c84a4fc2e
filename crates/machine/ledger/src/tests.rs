//! Random changes to a model machine, with crashes at any moment: a cleanup restores the initial state.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use model::{
    Change,
    change::{LinkUp, Namespace, Sysctl},
};
use proptest::{collection, prelude::*};
use tempfile::TempDir;

use crate::{
    Failure, Ledger,
    kinds::Prepared,
    machine::Machine,
    record::{Before, Namespaces},
    stale::undo_stale_on,
};

/// A namespace that exists from the start.
const HOME: &str = "home";
const UP: &str = "up";

/// Settings of each namespace.
type Settings = BTreeMap<String, BTreeMap<String, String>>;

#[derive(Clone, Debug, Default)]
struct State {
    settings: Settings,
    identities: BTreeMap<String, u64>,
    last_identity: u64,
}

/// Death of the program: at which changing step, and whether that step still takes effect.
#[derive(Clone, Copy, Debug)]
struct Death {
    steps: usize,
    is_made: bool,
}

/// A program's view of the machine, which ends with the program; the machine does not.
#[derive(Clone, Debug)]
struct Fake {
    state: Arc<Mutex<State>>,
    death: Arc<Mutex<Option<Death>>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(said: &str) -> Failure {
    Failure::Program { command: String::new(), said: said.to_owned() }
}

impl Fake {
    fn program(state: &Arc<Mutex<State>>, death: Option<Death>) -> Arc<dyn Machine> {
        Arc::new(Self { state: state.clone(), death: Arc::new(Mutex::new(death)) })
    }

    /// Changes the machine, unless the program dies first.
    fn step(&self, change: impl FnOnce(&mut State)) -> Result<(), Failure> {
        let mut death = locked(&self.death);
        match death.as_mut() {
            Some(Death { steps: 0, is_made }) => {
                if std::mem::take(is_made) {
                    change(&mut locked(&self.state));
                }
                return Err(failed("killed"));
            }
            Some(Death { steps, .. }) => *steps -= 1,
            None => {}
        }
        change(&mut locked(&self.state));
        Ok(())
    }

    fn prepared<'a>(
        &self,
        (before, identity): (Before, (String, u64)),
        change: impl FnOnce(&mut State) + 'a,
    ) -> Prepared<'a> {
        let fake = self.clone();
        let make = Box::new(move || fake.step(change));
        Prepared { before, namespaces: Namespaces([identity].into()), survives_reboot: false, make }
    }
}

/// Place and value of a setting; "up" counts as one.
fn setting(change: &Change) -> Option<(&String, String, String)> {
    match change {
        Change::Sysctl(Sysctl { namespace, key, value }) => Some((namespace, key.clone(), value.clone())),
        Change::LinkUp(LinkUp { namespace, interface }) => Some((namespace, interface.clone(), UP.to_owned())),
        _ => None,
    }
}

impl Machine for Fake {
    fn prepare<'a>(&self, change: &'a Change) -> Result<Prepared<'a>, Failure> {
        let mut state = locked(&self.state);
        if let Change::Namespace(Namespace { name }) = change {
            if state.identities.contains_key(name) {
                return Err(failed("taken"));
            }
            state.last_identity += 1;
            let identity = state.last_identity;
            let record = (Before::write("absent", Some(&()))?, (name.clone(), identity));
            return Ok(self.prepared(record, move |state| {
                state.settings.insert(name.clone(), BTreeMap::new());
                state.identities.insert(name.clone(), identity);
            }));
        }
        let (namespace, key, value) = setting(change).ok_or_else(|| failed("no such kind"))?;
        let identity = *state.identities.get(namespace).ok_or_else(|| failed("no such namespace"))?;
        let now = state.settings[namespace].get(&key).cloned().unwrap_or_default();
        let before = match value.as_str() {
            UP => Before::write("down", (now != UP).then_some(&()))?,
            _ => Before::write("value", Some(&now))?,
        };
        Ok(self.prepared((before, (namespace.clone(), identity)), move |state| set(state, namespace, &key, &value)))
    }

    fn undo(&self, change: &Change, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure> {
        let is_ours = |name: &String| namespaces.identity(name) == locked(&self.state).identities.get(name).copied();
        if let Change::Namespace(Namespace { name }) = change {
            let was_there = is_ours(name);
            self.step(|state| {
                if was_there {
                    state.settings.remove(name);
                    state.identities.remove(name);
                }
            })?;
            return Ok(was_there);
        }
        let (namespace, key, value) = setting(change).ok_or_else(|| failed("no such kind"))?;
        let before = match value.as_str() {
            UP => before.read::<()>("down")?.map(|()| String::new()),
            _ => before.read::<String>("value")?,
        };
        let Some(before) = before.filter(|_| is_ours(namespace)) else { return Ok(false) };
        self.step(|state| set(state, namespace, &key, &before)).map(|()| true)
    }
}

fn set(state: &mut State, namespace: &str, key: &str, value: &str) {
    if let Some(settings) = state.settings.get_mut(namespace) {
        match value {
            "" => settings.remove(key),
            value => settings.insert(key.to_owned(), value.to_owned()),
        };
    }
}

fn change() -> impl Strategy<Value = Change> {
    let namespace = || prop::sample::select(vec![HOME, "a", "b"]).prop_map(str::to_owned);
    let interface = prop::sample::select(vec!["eth1", "eth2"]).prop_map(str::to_owned);
    let (key, value) = (prop::sample::select(vec!["x", "y"]), prop::sample::select(vec!["0", "1", "2"]));
    prop_oneof![
        namespace().prop_map(|name| Namespace { name }.into()),
        (namespace(), interface).prop_map(|(namespace, interface)| LinkUp { namespace, interface }.into()),
        (namespace(), key, value).prop_map(|(namespace, key, value)| {
            Sysctl { namespace, key: key.to_owned(), value: value.to_owned() }.into()
        }),
    ]
}

fn death() -> impl Strategy<Value = Death> {
    (0..12_usize, any::<bool>()).prop_map(|(steps, is_made)| Death { steps, is_made })
}

/// Truncates the last line like a crash during its write. The change of a complete line may have been made.
fn tear(dir: &Path, kept: usize, is_made: bool) {
    for entry in fs::read_dir(dir).expect("ours") {
        let path = entry.expect("ours").path();
        let text = fs::read_to_string(&path).expect("readable");
        let start = text.trim_end().rfind('\n').map_or(0, |end| end + 1);
        let may_be_torn = !is_made || text[start..].starts_with("{\"undone");
        if may_be_torn && start < text.len() {
            fs::write(&path, &text[..start + kept.min(text.len() - start - 1)]).expect("writable");
        }
    }
}

proptest! {
    #[test]
    fn a_crash_at_any_moment_leaves_what_leads_back_to_the_start(
        changes in collection::vec(change(), 0..12),
        first in death(),
        later in collection::vec(death(), 0..4),
        kept in 0..200_usize,
    ) {
        let dir = TempDir::new().expect("a directory");
        let mut start = State { last_identity: 1, ..State::default() };
        start.settings.insert(HOME.into(), [("x".into(), "1".into()), ("eth1".into(), UP.into())].into());
        start.identities.insert(HOME.into(), 1);
        let state = Arc::new(Mutex::new(start.clone()));

        let machine = Fake::program(&state, Some(first));
        let mut ledger = Ledger::open_on(machine, dir.path(), "owner").expect("a new ledger");
        for change in changes {
            if matches!(ledger.apply(change), Err(crate::Error::Make { .. })) {
                tear(dir.path(), kept, first.is_made);
                break;
            }
        }
        drop(ledger);
        for death in later {
            let killed = undo_stale_on(&Fake::program(&state, Some(death)), dir.path()).is_err();
            if killed {
                tear(dir.path(), kept, true);
            }
        }
        let cleaned = undo_stale_on(&Fake::program(&state, None), dir.path()).expect("nothing fails");
        prop_assert!(cleaned.unknown.is_empty());
        prop_assert_eq!(&locked(&state).settings, &start.settings);
        prop_assert_eq!(fs::read_dir(dir.path()).expect("ours").count(), 0);
    }
}
