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
        let add = |network| route::add(&self.namespace, &self.interface, network, self.via);
        Ok(self.networks().into_iter().try_for_each(add)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        // A crash may have left some of them.
        let mut is_undone = false;
        for network in self.networks() {
            let remove = || route::remove(&self.namespace, &self.interface, network, self.via);
            is_undone |= undo_in(&self.namespace, recorded, remove)?;
        }
        Ok(is_undone)
    }
}
