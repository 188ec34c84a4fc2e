//! New interfaces, and interfaces set up.

use kernel::{device, link};
use model::change::{Bridge, LinkEnd, LinkUp, Veth};

use super::{Kind, undo_in, unless};
use crate::{failure::Failure, record::Namespaces};

impl Kind for Veth {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.a.namespace, &self.b.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        refuse_taken(&self.a)?;
        refuse_taken(&self.b)?;
        Ok(Some(()))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(link::create_veth(&self.a, &self.b, self.mtu)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        // If only one namespace no longer exists, the pair may still exist: deleting the other end removes it.
        Ok(delete(&self.a, recorded)? || delete(&self.b, recorded)?)
    }
}

impl Kind for Bridge {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        refuse_taken(&end(self))?;
        Ok(Some(()))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(link::create_bridge(&self.namespace, &self.interface, &self.ports)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        delete(&end(self), recorded)
    }
}

impl Kind for LinkUp {
    type Before = ();

    const BEFORE: &'static str = "down";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        Ok(unless((), link::is_up(&self.namespace, &self.interface)?))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(link::set_up(&self.namespace, &self.interface)?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        undo_in(&self.namespace, recorded, || device::set_down(&self.namespace, &self.interface))
    }
}

fn end(bridge: &Bridge) -> LinkEnd {
    LinkEnd { namespace: bridge.namespace.clone(), interface: bridge.interface.clone() }
}

fn refuse_taken(end: &LinkEnd) -> Result<(), Failure> {
    let LinkEnd { namespace, interface } = end;
    if link::exists(namespace, interface)? {
        let remove = format!("ip -netns {namespace} link delete {interface}");
        return Err(Failure::AlreadyExists { what: format!("interface {end}"), remove });
    }
    Ok(())
}

fn delete(end: &LinkEnd, recorded: &Namespaces) -> Result<bool, Failure> {
    undo_in(&end.namespace, recorded, || link::delete(&end.namespace, &end.interface))
}
