//! The requested bed, and the interface of a layout.

use std::{fmt, path::PathBuf, sync::Arc};

use model::{Bed, Mtu, Privilege};
use protocol::Caller;

use crate::{error::BedError, machine::Machine, reference::Remote, through::DutRequest, topology::Topology};

/// The user's request.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The bed.
    pub bed: BedRef,
    /// MTU of both ends; default: 1500, or the kept bed's.
    pub mtu: Option<Mtu>,
    /// Cores of the two ends; selected by default.
    pub cpus: Option<[Vec<usize>; 2]>,
    /// Number of cores of its own that a lab's device under test works on.
    pub dut_cpus: Option<usize>,
    /// Program with arguments that starts the agents at the ends; empty for none.
    pub wrap: Vec<String>,
    /// NICs of the machine that may be taken.
    pub taking: NicConsent,
    /// Whether to enable hardware timestamps if supported.
    pub stamps: bool,
    /// Destination networks behind each end that the device under test has to have routes to.
    pub networks: u16,
    /// Privileges of the program.
    pub privilege: Privilege,
    /// The agents' program.
    pub program: PathBuf,
    /// Way to other machines.
    pub reach: Reach,
}

impl Wanted {
    /// This bed with default options.
    pub fn plain(bed: BedRef, privilege: Privilege, program: PathBuf) -> Self {
        let (cpus, dut_cpus, wrap) = (None, None, Vec::new());
        let (taking, reach) = (NicConsent::default(), Reach::default());
        Self { bed, mtu: None, cpus, dut_cpus, wrap, taking, stamps: false, networks: 1, privilege, program, reach }
    }
}

/// The user's consent to taking NICs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NicConsent {
    /// NICs with addresses or routes, which are unavailable meanwhile.
    pub in_use: bool,
    /// The uplink, or the interface of an ssh session.
    pub uplink: bool,
}

/// Way to another machine.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// The ssh program with its arguments: `ssh`, or the user's replacement.
    pub ssh: Vec<String>,
    /// The user to run it as, if we are root by sudo.
    pub caller: Option<Caller>,
    /// Whether to copy our own program there for the run.
    pub push: bool,
}

/// The argument of `--bed`: a layout with its options.
#[derive(Clone)]
pub struct BedRef {
    text: String,
    layout: Arc<dyn Layout>,
}

/// Privileges that a bed requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rights {
    /// None: without the permission to change it, the path is measured as it is.
    Any,
    /// Root, possibly of a user namespace.
    NamespaceRoot,
    /// Root of the machine for a bed that is made of nothing that exists, with the reason.
    LabRoot(String),
    /// Root of the machine, with the reason.
    Root(String),
}

/// Another host as the user asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedHost {
    pub(crate) remote: Remote,
    /// Whether its own programs shall take part even where an agent could.
    pub(crate) agentless: bool,
    /// First port that its programs listen at.
    pub(crate) port: u16,
}

/// A layout. `layouts` has one file each.
pub(crate) trait Layout: Send + Sync {
    /// Privileges that it requires.
    fn rights(&self) -> Rights;

    /// The bed for these machines, this one first. Changes nothing.
    fn lay_out(&self, id: &str, wanted: &Wanted, machines: &mut [Machine]) -> Result<LaidOut, BedError>;

    /// Number of its ends that send to the last one.
    fn senders(&self) -> usize {
        1
    }

    /// Other hosts that it is made on.
    fn hosts(&self) -> Vec<AskedHost> {
        Vec::new()
    }

    /// Whether it exists before the run.
    fn stands(&self) -> bool {
        false
    }

    /// Whether it can be kept; otherwise the advice, if any.
    fn can_stay(&self) -> Result<(), String> {
        Err(String::new())
    }

    /// The device between its ends, as far as the user describes it.
    fn through(&self) -> Option<&DutRequest> {
        None
    }

    /// Commands for a Linux device under test with so many networks behind each end; empty if it needs none.
    fn commands_for_dut(&self, _networks: u16) -> Vec<String> {
        Vec::new()
    }

    /// The same ends without the device between them, where such a bed can be made.
    fn without_device(&self) -> Option<BedRef> {
        None
    }
}

/// Contents of a layout.
pub(crate) enum LaidOut {
    /// A bed to be made.
    New(Topology),
    /// A kept one.
    Standing(Box<Bed>),
}

impl BedRef {
    /// A layout as requested.
    pub(crate) fn new(text: impl Into<String>, layout: impl Layout + 'static) -> Self {
        Self { text: text.into(), layout: Arc::new(layout) }
    }

    pub(crate) fn layout(&self) -> &dyn Layout {
        &*self.layout
    }

    /// Privileges that it requires.
    pub fn rights(&self) -> Rights {
        self.layout.rights()
    }

    /// Number of its ends that send to the last one.
    pub fn senders(&self) -> usize {
        self.layout.senders()
    }

    /// Whether it exists before the run.
    pub fn stands(&self) -> bool {
        self.layout.stands()
    }

    /// Whether other hosts have to be reached to determine it.
    pub fn has_other_hosts(&self) -> bool {
        !self.layout.hosts().is_empty()
    }

    /// Whether namespaces of this machine are made for each run.
    pub fn is_made_here(&self) -> bool {
        !self.layout.stands() && !self.has_other_hosts()
    }

    /// Commands for a Linux device under test, to be run before a measurement; empty if it needs none.
    pub fn commands_for_dut(&self, networks: u16) -> Vec<String> {
        self.layout.commands_for_dut(networks)
    }

    /// The same ends without the device between them, where such a bed can be made.
    pub fn without_device(&self) -> Option<Self> {
        self.layout.without_device()
    }

    /// Whether it can be kept; otherwise the reason and the advice.
    pub fn can_stay(&self) -> Result<(), String> {
        let why = |instead: String| {
            format!(
                "--bed {self}: a bed that stays is made of \"lab\", \"lab:bridge\", \"lab:router\", \"lab:vswitch\" or \
                 \"ports:IF1,IF2\"{instead}"
            )
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
