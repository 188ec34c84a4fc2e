//! Kinds of change: how the previous state is read, how a change is made, and how it is undone.

mod addresses;
mod card_settings;
mod commands;
mod filters;
mod interface_settings;
mod links;
mod namespace;
mod open_vswitch;
mod programs;
mod taken_nics;
mod tuned;
mod unmanaged_nic;

use kernel::namespace as namespaces;
use model::Change;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    failure::Failure,
    record::{Before, Namespaces},
};

/// One kind of change.
pub(crate) trait Kind {
    /// The previous state, as far as needed for undoing.
    type Before: Serialize + DeserializeOwned;

    /// Name of that state in a line of a ledger.
    const BEFORE: &'static str;

    /// Whether its effect survives a reboot. Otherwise, records of an earlier boot are ignored.
    const SURVIVES_REBOOT: bool = false;

    /// Namespaces that it is made in.
    fn namespaces(&self) -> Vec<&str>;

    /// Reads the previous state. `None` if it is already as requested; an error if the object is not ours.
    fn read(&self) -> Result<Option<Self::Before>, Failure>;

    /// Identities of its namespaces.
    fn identities(&self, _before: Option<&Self::Before>) -> kernel::Result<Namespaces> {
        let mut identities = Namespaces::default();
        for name in self.namespaces() {
            identities.0.extend(namespaces::identity(name)?.map(|identity| (name.to_owned(), identity)));
        }
        Ok(identities)
    }

    /// Makes it.
    fn make(&self, before: Self::Before) -> Result<(), Failure>;

    /// Undoes it; returns whether there was anything to undo. Objects already gone stay gone.
    fn undo(&self, before: Self::Before, namespaces: &Namespaces) -> Result<bool, Failure>;
}

/// A kind of change, independent of the type of its previous state.
pub(crate) trait AnyKind {
    /// Reads the data to record before the change is made.
    fn prepare(&self) -> Result<Prepared<'_>, Failure>;

    /// Checks a recorded previous state.
    fn check(&self, before: &Before) -> serde_json::Result<()>;

    /// Undoes the change; returns whether there was anything to undo.
    fn undo(&self, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure>;
}

/// A change that can be made once this is recorded.
pub(crate) struct Prepared<'a> {
    pub(crate) before: Before,
    pub(crate) namespaces: Namespaces,
    pub(crate) survives_reboot: bool,
    pub(crate) make: Box<dyn FnOnce() -> Result<(), Failure> + 'a>,
}

/// The kind of a change. Each is registered here and in [`model::change`].
pub(crate) fn kind(change: &Change) -> &dyn AnyKind {
    match change {
        Change::Namespace(change) => change,
        Change::Veth(change) => change,
        Change::Bridge(change) => change,
        Change::OpenVswitch(change) => change,
        Change::Gro(change) => change,
        Change::Offload(change) => change,
        Change::Address(change) => change,
        Change::Route(change) => change,
        Change::LinkUp(change) => change,
        Change::Mtu(change) => change,
        Change::Sysctl(change) => change,
        Change::Stamping(change) => change,
        Change::InterfaceSetting(change) => change,
        Change::NapiThreads(change) => change,
        Change::PromptInterrupts(change) => change,
        Change::Steering(change) => change,
        Change::Filters(change) => change,
        Change::PinnedPrograms(change) => change,
        Change::Nic(change) => change,
        Change::UnmanagedNic(change) => change,
        Change::DriverSetting(change) => change,
        Change::OffloadSwitch(change) => change,
        Change::RootQdisc(change) => change,
        Change::MachineSetting(change) => change,
        Change::BannedInterrupts(change) => change,
        Change::OwnFile(change) => change,
    }
}

impl<K: Kind> AnyKind for K {
    fn prepare(&self) -> Result<Prepared<'_>, Failure> {
        let before = self.read()?;
        Ok(Prepared {
            namespaces: self.identities(before.as_ref())?,
            before: Before::write(K::BEFORE, before.as_ref())?,
            survives_reboot: K::SURVIVES_REBOOT,
            make: Box::new(move || before.map_or(Ok(()), |before| self.make(before))),
        })
    }

    fn check(&self, before: &Before) -> serde_json::Result<()> {
        before.read::<K::Before>(K::BEFORE).map(drop)
    }

    fn undo(&self, before: &Before, namespaces: &Namespaces) -> Result<bool, Failure> {
        before.read(K::BEFORE)?.map_or(Ok(false), |before| Kind::undo(self, before, namespaces))
    }
}

/// Runs `f` in a namespace.
fn within<T: Send>(namespace: &str, f: impl FnOnce() -> kernel::Result<T> + Send) -> kernel::Result<T> {
    namespaces::within(namespace, f)?
}

/// Undoes a change in a namespace, if it is still the same one. If the object no longer exists, there is nothing to do.
fn undo_in(namespace: &str, recorded: &Namespaces, undo: impl FnOnce() -> kernel::Result<()>) -> Result<bool, Failure> {
    let undo_if_ours = || match namespaces::identity(namespace)? {
        Some(identity) if recorded.identity(namespace) == Some(identity) => undo().map(|()| true),
        _ => Ok(false),
    };
    match undo_if_ours() {
        Err(error) if error.says_gone() => Ok(false),
        result => Ok(result?),
    }
}

/// The previous state of a new object: absent. `None` if it already exists.
fn unless<T>(state: T, is_there: bool) -> Option<T> {
    (!is_there).then_some(state)
}
