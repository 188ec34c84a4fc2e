//! Settings of interfaces and of the kernel.

use std::num::ParseIntError;

use kernel::{ethtool, interface as interfaces, link, napi, sysctl};
use model::{
    Mtu,
    change::{Gro, InterfaceMtu, InterfaceSetting, NapiThreads, Offload, Sysctl},
};
use serde::{Deserialize, Serialize};

use super::{Kind, undo_in, unless, within};
use crate::{failure::Failure, record::Namespaces};

impl Kind for Gro {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        Ok(unless((), within(&self.namespace, || ethtool::gro(&self.interface))?))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::set_gro(&self.interface, true))?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        let switch_off = || within(&self.namespace, || ethtool::set_gro(&self.interface, false));
        undo_in(&self.namespace, recorded, switch_off)
    }
}

impl Kind for Offload {
    type Before = ();

    const BEFORE: &'static str = "on";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        let is_on = within(&self.namespace, || ethtool::offload(&self.interface, self.offload))?;
        Ok(is_on.then_some(()))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::set_offload(&self.interface, self.offload, false))?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        let switch_on = || within(&self.namespace, || ethtool::set_offload(&self.interface, self.offload, true));
        undo_in(&self.namespace, recorded, switch_on)
    }
}

/// An MTU; a line has it as text.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct MtuBefore(Mtu);

impl Kind for InterfaceMtu {
    type Before = MtuBefore;

    const BEFORE: &'static str = "value";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<MtuBefore>, Failure> {
        let now = link::mtu(&self.namespace, &self.interface)?;
        Ok((now != self.mtu).then_some(MtuBefore(now)))
    }

    fn make(&self, _: MtuBefore) -> Result<(), Failure> {
        Ok(link::set_mtu(&self.namespace, &self.interface, self.mtu)?)
    }

    fn undo(&self, MtuBefore(mtu): MtuBefore, recorded: &Namespaces) -> Result<bool, Failure> {
        undo_in(&self.namespace, recorded, || link::set_mtu(&self.namespace, &self.interface, mtu))
    }
}

impl TryFrom<String> for MtuBefore {
    type Error = ParseIntError;

    fn try_from(text: String) -> Result<Self, ParseIntError> {
        text.parse().map(|mtu| Self(Mtu(mtu)))
    }
}

impl From<MtuBefore> for String {
    fn from(MtuBefore(Mtu(mtu)): MtuBefore) -> Self {
        mtu.to_string()
    }
}

impl Kind for Sysctl {
    type Before = String;

    const BEFORE: &'static str = "value";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<String>, Failure> {
        Ok(Some(within(&self.namespace, || sysctl::read(&self.key))?))
    }

    fn make(&self, _: String) -> Result<(), Failure> {
        Ok(within(&self.namespace, || sysctl::write(&self.key, &self.value))?)
    }

    fn undo(&self, before: String, recorded: &Namespaces) -> Result<bool, Failure> {
        // One that was refused when it was made would be refused again.
        let write = || match sysctl::read(&self.key) {
            Ok(now) if now == before => Ok(()),
            _ => sysctl::write(&self.key, &before),
        };
        undo_in(&self.namespace, recorded, || within(&self.namespace, write))
    }
}

impl Kind for InterfaceSetting {
    type Before = String;

    const BEFORE: &'static str = "value";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<String>, Failure> {
        let now = within(&self.namespace, || interfaces::read(&self.interface, &self.setting))?;
        Ok(Some(now).filter(|now| *now != self.value))
    }

    fn make(&self, _: String) -> Result<(), Failure> {
        Ok(within(&self.namespace, || interfaces::write(&self.interface, &self.setting, &self.value))?)
    }

    fn undo(&self, before: String, recorded: &Namespaces) -> Result<bool, Failure> {
        let write = || within(&self.namespace, || interfaces::write(&self.interface, &self.setting, &before));
        undo_in(&self.namespace, recorded, write)
    }
}

impl Kind for NapiThreads {
    type Before = String;

    const BEFORE: &'static str = "value";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<String>, Failure> {
        Ok(Some(within(&self.namespace, || napi::threaded(&self.interface))?))
    }

    fn make(&self, _: String) -> Result<(), Failure> {
        Ok(within(&self.namespace, || napi::receive_on(&self.interface, &self.cpus))?)
    }

    fn undo(&self, before: String, recorded: &Namespaces) -> Result<bool, Failure> {
        let set_back = || within(&self.namespace, || napi::set_back(&self.interface, &before));
        undo_in(&self.namespace, recorded, set_back)
    }
}
