//! From options to the bed that they ask for, and the rights that it takes.

use anyhow::Context;
use bed::{BedError, BedRef, NicConsent, Rights, Wanted};
use kernel::{privilege, user_namespace};
use model::{Plan, Privilege};
use report::{Lang, Notice};

use super::{own_program, tell};
use crate::{
    cli::{Common, Measure, TakePorts},
    exit::{NeedsRoot, Words},
};

/// Choices of the command line alone: ports and hosts that are taken or reached, and the program that is executed. A store decides
/// none of them, because users other than root may write it.
#[derive(Debug)]
pub(super) struct Privileged {
    pub(super) bed: BedRef,
    pub(super) taking: NicConsent,
    /// The program that measuring processes are started through.
    pub(super) wrap: Vec<String>,
}

impl Privileged {
    /// Names of its options.
    pub(super) const OPTIONS: [&str; 4] = ["bed", TakePorts::IN_USE, TakePorts::UPLINK, "wrap"];

    /// Whether the bed concerns anything that it does not make itself.
    pub(super) fn has_bed(&self) -> bool {
        !matches!(self.bed.rights(), Rights::NamespaceRoot | Rights::LabRoot(_))
    }

    /// Options, as they are typed.
    pub(super) fn words(&self) -> Vec<String> {
        let bed = self.has_bed().then(|| ["--bed".to_owned(), self.bed.to_string()]);
        let flags = [(self.taking.in_use, TakePorts::IN_USE), (self.taking.uplink, TakePorts::UPLINK)];
        let flags = flags.into_iter().filter(|(given, _)| *given).map(|(_, option)| format!("--{option}"));
        let wrap = (!self.wrap.is_empty()).then(|| ["--wrap".to_owned(), self.wrap.join(" ")]);
        bed.into_iter().flatten().chain(flags).chain(wrap.into_iter().flatten()).collect()
    }
}

/// Whether some of its messages are stamped on their way.
pub(super) fn stamps(plan: &Plan) -> bool {
    plan.latency.iter().any(|item| item.stamps)
}

/// The most destination networks that a section of it goes to.
pub(super) fn networks(plan: &Plan) -> u16 {
    plan.rfc2544.iter().map(|item| item.networks).max().unwrap_or(1)
}

/// The requested bed of these options for a plan.
pub(super) fn wanted(options: &Measure, plan: &Plan, privilege: Privilege) -> anyhow::Result<Wanted> {
    let networks = networks(plan);
    if networks > 1 && options.bed.stands() {
        let why = "stays, without routes to several networks; measure with --bed lab:router or the like";
        return Err(Words(format!("--bed {}: this bed {why}", options.bed)).into());
    }
    Ok(Wanted {
        bed: options.bed.clone(),
        mtu: options.mtu,
        cpus: options.cpus.clone(),
        dut_cpus: options.dut_cpus.first().copied(),
        wrap: options.wrap.words(),
        taking: options.ports.taking(),
        stamps: stamps(plan),
        networks,
        privilege,
        program: own_program()?,
        reach: options.reach.of_bed(),
    })
}

/// Configuration of a device under test that routes; `None` if none does.
pub(super) fn dut_note(bed: &BedRef, networks: u16, lang: Lang) -> Option<String> {
    let commands = bed.commands_for_dut(networks);
    (!commands.is_empty()).then(|| [vec![Notice::ConfigureDut.text(lang)], commands].concat().join("\n  "))
}

/// A request that no bed can meet is a wrong word; every other error is the machine's.
pub(super) fn words_or_bed(error: BedError) -> anyhow::Error {
    match error {
        BedError::Mtu(_)
        | BedError::NoSuchCore { .. }
        | BedError::NoDut(_)
        | BedError::TooManyCores { .. }
        | BedError::OtherMtu { .. }
        | BedError::Nic(_) => Words(error.to_string()).into(),
        other => other.into(),
    }
}

/// Root, or root in a user namespace of our own, which is enough for a lab bed. Real interfaces are not in there: without
/// changes to them, they are measured as the calling user.
pub(super) fn obtain_privilege(bed: &BedRef, pins_kernel: bool, common: &Common) -> anyhow::Result<Privilege> {
    let privilege = privilege::current();
    if pins_kernel && privilege != Privilege::Root {
        let why = "--dut-cpus pins threads of the kernel, which needs root of the machine itself";
        return Err(NeedsRoot(why.to_owned()).into());
    }
    match bed.rights() {
        Rights::Root(why) | Rights::LabRoot(why) if privilege != Privilege::Root => {
            return Err(NeedsRoot(why.to_owned()).into());
        }
        Rights::NamespaceRoot if privilege == Privilege::User => {}
        _ => return Ok(privilege),
    }
    user_namespace::become_root().context(
        "not root, and no user namespace can be made here; run the same command with sudo, or let an administrator \
         allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, \
         kernel.apparmor_restrict_unprivileged_userns)",
    )?;
    tell(Notice::Unprivileged, common);
    Ok(Privilege::UserNamespace)
}
