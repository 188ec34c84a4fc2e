//! Settings that tuning changes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use kernel::{device, ethtool, irqbalance, machine_file};
use model::{
    change::{BannedInterrupts, DriverSetting, MachineSetting, OffloadSwitch, OwnFile, RootQdisc},
    nic::Queueing,
};

use super::{Kind, undo_in, within};
use crate::{failure::Failure, record::Namespaces};

impl Kind for DriverSetting {
    type Before = u32;

    const BEFORE: &'static str = "number";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<u32>, Failure> {
        let now = within(&self.namespace, || ethtool::driver_number(&self.interface, self.number))?;
        // A driver that has no such number says so when it is set.
        let now = now.unwrap_or(self.value.wrapping_add(1));
        Ok((now != self.value).then_some(now))
    }

    fn make(&self, _: u32) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::set_driver_number(&self.interface, self.number, self.value))?)
    }

    fn undo(&self, before: u32, recorded: &Namespaces) -> Result<bool, Failure> {
        let set = || within(&self.namespace, || ethtool::set_driver_number(&self.interface, self.number, before));
        undo_in(&self.namespace, recorded, set)
    }
}

impl Kind for OffloadSwitch {
    /// Whether it was asked for.
    type Before = bool;

    const BEFORE: &'static str = "requested";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<bool>, Failure> {
        let requested = within(&self.namespace, || ethtool::is_offload_requested(&self.interface, &self.feature))?;
        Ok((requested != self.on).then_some(requested))
    }

    fn make(&self, _: bool) -> Result<(), Failure> {
        Ok(within(&self.namespace, || ethtool::set_offload_by_name(&self.interface, &self.feature, self.on))?)
    }

    fn undo(&self, before: bool, recorded: &Namespaces) -> Result<bool, Failure> {
        let set = || within(&self.namespace, || ethtool::set_offload_by_name(&self.interface, &self.feature, before));
        undo_in(&self.namespace, recorded, set)
    }
}

impl Kind for RootQdisc {
    type Before = Queueing;

    const BEFORE: &'static str = "queueing";

    fn namespaces(&self) -> Vec<&str> {
        vec![&self.namespace]
    }

    fn read(&self) -> Result<Option<Queueing>, Failure> {
        let now = within(&self.namespace, || device::queueing(&self.interface))?;
        let is_so = now.kind == self.kind;
        if !is_so {
            let lasting = within(&self.namespace, || device::lasting_queueing(&self.interface))?;
            if !lasting.is_empty() {
                return Err(Failure::Lasting(lasting));
            }
        }
        Ok((!is_so).then_some(now))
    }

    fn make(&self, _: Queueing) -> Result<(), Failure> {
        Ok(within(&self.namespace, || device::set_root_qdisc(&self.interface, &self.kind))?)
    }

    fn undo(&self, before: Queueing, recorded: &Namespaces) -> Result<bool, Failure> {
        let set = || within(&self.namespace, || device::set_queueing(&self.interface, &before));
        undo_in(&self.namespace, recorded, set)
    }
}

impl Kind for MachineSetting {
    /// Values of the files.
    type Before = BTreeMap<String, String>;

    const BEFORE: &'static str = "files";

    fn namespaces(&self) -> Vec<&str> {
        vec![]
    }

    fn read(&self) -> Result<Option<Self::Before>, Failure> {
        let mut before = BTreeMap::new();
        for (path, wanted) in &self.files {
            let now = machine_file::read(path)?;
            if now != *wanted {
                before.insert(path.clone(), now);
            }
        }
        Ok((!before.is_empty()).then_some(before))
    }

    fn make(&self, before: Self::Before) -> Result<(), Failure> {
        let wanted = self.files.iter().filter(|(path, _)| before.contains_key(*path));
        Ok(wanted.into_iter().try_for_each(|(path, value)| machine_file::write(path, value))?)
    }

    fn undo(&self, before: Self::Before, _: &Namespaces) -> Result<bool, Failure> {
        let mut any = false;
        for (path, value) in before {
            if machine_file::read(&path).is_ok_and(|now| now == value) {
                continue;
            }
            match machine_file::write(&path, &value) {
                // A core or an interrupt that has gone took its setting along.
                Err(error) if error.says_gone() => {}
                written => {
                    written?;
                    any = true;
                }
            }
        }
        Ok(any)
    }
}

impl Kind for BannedInterrupts {
    /// Interrupts that were banned.
    type Before = BTreeSet<u32>;

    const BEFORE: &'static str = "banned";

    fn namespaces(&self) -> Vec<&str> {
        vec![]
    }

    /// Without irqbalance, nothing moves them.
    fn read(&self) -> Result<Option<Self::Before>, Failure> {
        Ok(irqbalance::banned()?.filter(|banned| !banned.is_superset(&self.interrupts)))
    }

    fn make(&self, before: Self::Before) -> Result<(), Failure> {
        Ok(irqbalance::ban(&(&before | &self.interrupts))?)
    }

    /// One that was started again since has forgotten them.
    fn undo(&self, before: Self::Before, _: &Namespaces) -> Result<bool, Failure> {
        let Some(banned) = irqbalance::banned()? else { return Ok(false) };
        let left: BTreeSet<u32> =
            banned.iter().copied().filter(|irq| before.contains(irq) || !self.interrupts.contains(irq)).collect();
        if left == banned {
            return Ok(false);
        }
        irqbalance::ban(&left)?;
        Ok(true)
    }
}

impl Kind for OwnFile {
    /// Folders of its path that were not there either, the innermost first.
    type Before = Vec<PathBuf>;

    const BEFORE: &'static str = "absent";

    const SURVIVES_REBOOT: bool = true;

    fn namespaces(&self) -> Vec<&str> {
        vec![]
    }

    fn read(&self) -> Result<Option<Self::Before>, Failure> {
        match fs::read_to_string(&self.path) {
            Ok(text) if text == self.text => Ok(None),
            Ok(_) => {
                Err(Failure::AlreadyExists { what: format!("file {}", self.path), remove: format!("rm {}", self.path) })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let folders = Path::new(&self.path).ancestors().skip(1);
                Ok(Some(folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect()))
            }
            Err(io) => Err(Failure::File { path: self.path.clone().into(), io }),
        }
    }

    fn make(&self, _: Self::Before) -> Result<(), Failure> {
        let path = Path::new(&self.path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|io| Failure::File { path: folder.to_owned(), io })?;
        }
        let new = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
        let written = new.and_then(|mut file| {
            file.write_all(self.text.as_bytes())?;
            file.sync_all()
        });
        written.map_err(|io| Failure::File { path: path.to_owned(), io })
    }

    /// A file that somebody has written since is theirs. One that a crash left half written is ours.
    fn undo(&self, folders: Self::Before, _: &Namespaces) -> Result<bool, Failure> {
        let path = Path::new(&self.path);
        let is_ours = fs::read_to_string(path).is_ok_and(|text| self.text.starts_with(&text));
        if is_ours {
            fs::remove_file(path).map_err(|io| Failure::File { path: path.to_owned(), io })?;
        }
        // One that somebody else uses by now is not empty.
        folders.iter().take_while(|folder| fs::remove_dir(folder).is_ok()).for_each(drop);
        Ok(is_ours)
    }
}
