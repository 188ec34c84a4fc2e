//! Addresses and routes.

use kernel::{link, route};
use model::change::{Address, Route};

use super::{Kind, undo_in, unless};
use crate::{failure::Failure, record::Namespaces};

impl Kind for Address {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        Ok(unless((), link::has_address(&self.namespace, &self.interface, self.address)?))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(link::add_address(&self.namespace, &self.interface, self.address, self.prefix)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        let remove = || link::remove_address(&self.namespace, &self.interface, self.address, self.prefix);
        undo_in(&self.namespace, recorded, remove)
    }
}

impl Kind for Route {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        let exists = route::exists(&self.namespace, &self.interface, (self.to, self.prefix), self.via)?;
        Ok(unless((), exists))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(route::add(&self.namespace, &self.interface, (self.to, self.prefix), self.via)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        let remove = || route::remove(&self.namespace, &self.interface, (self.to, self.prefix), self.via);
        undo_in(&self.namespace, recorded, remove)
    }
}
