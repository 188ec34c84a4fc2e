//! Settings of cards.

use kernel::ethtool;
use model::{
    change::{PromptInterrupts, Stamping, Steering},
    nic::StampSetting,
};

use super::{Kind, undo_in, unless, within};
use crate::{failure::Failure, record::Namespaces};

impl Kind for Stamping {
    type Before = StampSetting;

    const BEFORE: &'static str = "stamping";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<StampSetting>, Failure> {
        let stamping = within(&self.namespace, || ethtool::stamping(&self.interface))?;
        Ok(stamping.map(|stamping| stamping.set))
    }

    fn make(&self, _: StampSetting) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::set_stamping(&self.interface, StampSetting::ALL))?)
    }

    fn undo(&self, before: StampSetting, recorded: &Namespaces) -> Result<bool, Failure> {
        let set = || within(&self.namespace, || ethtool::set_stamping(&self.interface, before));
        undo_in(&self.namespace, recorded, set)
    }
}

impl Kind for PromptInterrupts {
    /// Numbers of the driver's coalescing settings.
    type Before = Vec<u32>;

    const BEFORE: &'static str = "numbers";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<Vec<u32>>, Failure> {
        let now = within(&self.namespace, || ethtool::coalescing(&self.interface))?;
        Ok(now.filter(|now| ethtool::prompt(now) != *now))
    }

    fn make(&self, before: Vec<u32>) -> Result<(), Failure> {
        let prompt = ethtool::prompt(&before);
        Ok(within(&self.namespace, || ethtool::set_coalescing(&self.interface, &prompt))?)
    }

    fn undo(&self, before: Vec<u32>, recorded: &Namespaces) -> Result<bool, Failure> {
        let set = || within(&self.namespace, || ethtool::set_coalescing(&self.interface, &before));
        undo_in(&self.namespace, recorded, set)
    }
}

impl Kind for Steering {
    type Before = ();

    const BEFORE: &'static str = "absent";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<()>, Failure> {
        let is_there = within(&self.namespace, || ethtool::is_steered(&self.interface, self.to, self.queue))?;
        Ok(unless((), is_there))
    }

    fn make(&self, (): ()) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::steer(&self.interface, self.to, self.queue))?)
    }

    fn undo(&self, (): (), recorded: &Namespaces) -> Result<bool, Failure> {
        let unsteer = || within(&self.namespace, || ethtool::unsteer(&self.interface, self.to, self.queue));
        undo_in(&self.namespace, recorded, unsteer)
    }
}
