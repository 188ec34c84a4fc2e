//! The requested bed, and the interface of a layout.

use std::{fmt, path::PathBuf, sync::Arc};

use model::{Bed, Mtu, Privilege};
use protocol::Caller;

use crate::{error::BedError, machine::Machine, reference::Remote, through::Through, topology::Topology};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Which bed.
    pub bed: BedRef,
    /// MTU of both ends; 1500 where not given, or that of the standing bed.
    pub mtu: Option<Mtu>,
    /// Cores of the two ends; chosen where not given.
    pub cpus: Option<[Vec<usize>; 2]>,
    /// Program with arguments that agents at the ends are started through; empty for none.
    pub wrap: Vec<String>,
    /// Which of the machine's NICs may be taken.
    pub taking: Taking,
    /// Whether cards that can are told to stamp packets.
    pub stamps: bool,
    /// What the program may do.
    pub privilege: Privilege,
    /// The program that agents run.
    pub program: PathBuf,
    /// How another machine is reached.
    pub reach: Reach,
}

impl Wanted {
    /// This bed, with nothing asked of it.
    pub fn plain(bed: BedRef, privilege: Privilege, program: PathBuf) -> Self {
        let (cpus, wrap) = (None, Vec::new());
        let (taking, reach) = (Taking::default(), Reach::default());
        Self { bed, mtu: None, cpus, wrap, taking, stamps: false, privilege, program, reach }
    }
}

/// NICs that the user lets be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taking {
    /// Those with addresses or routes, which their users then lack for a while.
    pub in_use: bool,
    /// The machine's uplink, or the one that an ssh session came in through.
    pub uplink: bool,
}

/// How another machine is reached.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The program with its arguments: `ssh`, or what the user wants in its place.
    pub ssh: Vec<String>,
    /// Who it is called as, where we are root by sudo.
    pub caller: Option<Caller>,
    /// Whether our own program is copied there for the run.
    pub push: bool,
}

/// What is written after `--bed`: a layout, with what is asked of it.
#[derive(Clone)]
pub struct BedRef {
    text: String,
    layout: Arc<dyn Layout>,
}

/// Privileges that a bed takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Whatever the user has: what cannot be changed is measured as it is.
    Any,
    /// Root, be it of a user namespace.
    NamespaceRoot,
    /// The machine's own root, for this reason.
    Root(String),
}

/// A way to lay out a bed. `layouts` has one file each.
pub(crate) trait Layout: Send + Sync {
    /// Privileges that it takes.
    fn rights(&self) -> Rights;

    /// The bed, from what the machines have; this machine is the first of them. Changes nothing.
    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError>;

    /// How many of its ends send to the last one.
    fn senders(&self) -> usize {
        1
    }

    /// Other hosts that it is made on.
    fn hosts(&self) -> Vec<Remote> {
        Vec::new()
    }

    /// Whether it stands before the run.
    fn stands(&self) -> bool {
        false
    }

    /// Whether it can be left standing; else what to do instead, if anything.
    fn can_stay(&self) -> Result<(), String> {
        Err(String::new())
    }

    /// What stands between its ends, as far as the user says.
    fn through(&self) -> Option<&Through> {
        None
    }

    /// What to set on a device under test that runs Linux; empty where it needs nothing.
    fn commands_for_dut(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Contents of a layout.
pub(crate) enum LaidOut {
    /// A bed to be made.
    New(Topology),
    /// One that stands.
    Standing(Box<Bed>),
}

impl BedRef {
    /// A layout as it was asked for.
    pub(crate) fn new(text: impl Into<String>, layout: impl Layout + 'static) -> Self {
        Self { text: text.into(), layout: Arc::new(layout) }
    }

    pub(crate) fn layout(&self) -> &dyn Layout {
        &*self.layout
    }

    /// Privileges that it takes.
    pub fn rights(&self) -> Rights {
        self.layout.rights()
    }

    /// How many of its ends send to the last one.
    pub fn senders(&self) -> usize {
        self.layout.senders()
    }

    /// Whether other hosts have to be reached before it is known.
    pub fn has_other_hosts(&self) -> bool {
        !self.layout.hosts().is_empty()
    }

    /// Whether namespaces of this machine are made for each run.
    pub fn is_made_here(&self) -> bool {
        !self.layout.stands() && !self.has_other_hosts()
    }

    /// What to set on a device under test that runs Linux, before anything is measured; empty where it needs nothing.
    pub fn commands_for_dut(&self) -> Vec<String> {
        self.layout.commands_for_dut()
    }

    /// Whether it can be left standing; else why not, and what to do instead.
    pub fn can_stay(&self) -> Result<(), String> {
        let why = |instead: String| {
            format!("--bed {self}: a bed that stays is made of \"lab\" or of \"ports:IF1,IF2\"{instead}")
        };
        self.layout.can_stay().map_err(why)
    }
}

impl fmt::Display for BedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for BedRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BedRef({})", self.text)
    }
}

impl PartialEq for BedRef {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}
