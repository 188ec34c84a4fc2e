//! Beds that stay, and cleaning up after crashes.

use std::{ffi::OsString, os::unix::process::CommandExt, process};

use anyhow::Context;
use bed::{BedRef, Taking, Wanted, check_name};
use kernel::{namespace, privilege};
use model::{Bed, Mtu, Privilege};
use report::{BedsDocument, UndoneDocument};

use super::{answer, own_program, wanted::words_or_bed};
use crate::{
    cli::{BedAction, Common},
    exit::{Exit, NeedsRoot, Words},
};

/// `wireproof bed …`
pub(super) fn act(action: BedAction, common: &Common) -> anyhow::Result<Exit> {
    need_root("beds that stay belong to root")?;
    match action {
        BedAction::Up { name, bed, ports, mtu } => up(&name, bed, ports.taking(), mtu, common),
        BedAction::Down { name } => tell_undone(&bed::down(&name, &own_program()?)?, common),
        BedAction::List => list(common),
        BedAction::Exec { name, endpoint, program } => exec(&name, &endpoint, &program),
    }
}

/// `wireproof clean`
pub(super) fn clean(common: &Common) -> anyhow::Result<Exit> {
    need_root("what a crash leaves behind belongs to root")?;
    let mut undone = bed::clean(&own_program()?)?;
    undone.extend(agent::router::clean()?);
    tell_undone(&undone, common)
}

/// `wireproof in-namespace NAMESPACE -- PROGRAM ARGS…`: becomes the program.
pub(super) fn enter(namespace: &str, program: &[OsString]) -> anyhow::Result<Exit> {
    namespace::enter(namespace)?;
    let [file, args @ ..] = program else { return Err(Words("no program is named".to_owned()).into()) };
    let error = process::Command::new(file).args(args).exec();
    Err(error).with_context(|| format!("cannot run {}", file.display()))
}

fn up(name: &str, bed: BedRef, taking: Taking, mtu: Option<Mtu>, common: &Common) -> anyhow::Result<Exit> {
    check_name(name).map_err(|error| Words(error.to_string()))?;
    bed.can_stay().map_err(Words)?;
    let wanted = Wanted { taking, mtu, ..Wanted::plain(bed, Privilege::Root, own_program()?) };
    let bed = bed::up(name, &wanted).map_err(words_or_bed)?;
    let hint = format!("Use it with --bed {name}; take it down with \"wireproof bed down {name}\".\n");
    answer(&BedsDocument::of(std::slice::from_ref(&bed)), || describe(&bed) + &hint, common)?;
    Ok(Exit::Done)
}

fn list(common: &Common) -> anyhow::Result<Exit> {
    let beds = bed::list(&own_program()?)?;
    answer(&BedsDocument::of(&beds), || lines(beds.iter().map(describe), "No bed stands.\n"), common)?;
    Ok(Exit::Done)
}

fn exec(name: &str, endpoint: &str, program: &[OsString]) -> anyhow::Result<Exit> {
    let namespace = bed::namespace_of(name, endpoint, &own_program()?)?;
    enter(&namespace, program)
}

fn describe(bed: &Bed) -> String {
    let ends = bed.endpoints.iter().map(|end| {
        let addresses: Vec<String> = end.addresses.iter().map(ToString::to_string).collect();
        format!(
            "  {}: namespace {}, {} MTU {}, {}\n",
            end.name,
            end.namespace,
            end.interface,
            end.mtu.0,
            addresses.join(", ")
        )
    });
    let device = bed.dut.iter().zip(bed::dut_namespace(bed));
    let device = device.map(|(device, namespace)| format!("  {}: namespace {namespace}\n", device.machine));
    let simulated = if bed.simulated { "simulated: " } else { "" };
    let what = match (bed.makes_its_links(), &bed.dut) {
        (true, None) => "two namespaces, one veth pair",
        (true, Some(_)) => "two namespaces, and a third one between them",
        (false, _) => "two ports of this machine, each in a namespace of its own",
    };
    format!("{} ({simulated}{what})\n", bed.name) + &ends.chain(device).collect::<String>()
}

pub(super) fn tell_undone(undone: &[String], common: &Common) -> anyhow::Result<Exit> {
    let said = undone.iter().map(|change| format!("undone: {change}\n"));
    answer(&UndoneDocument::of(undone), || lines(said, "Nothing to undo.\n"), common)?;
    Ok(Exit::Done)
}

/// The bed that a namespace belongs to: they are named `wp<bed>-<end>`.
pub(super) fn of_namespace(namespace: &str) -> Option<&str> {
    namespace.strip_prefix("wp")?.rsplit_once('-').map(|(bed, _)| bed).filter(|bed| !bed.is_empty())
}

/// All of them, or a sentence if there are none.
fn lines(said: impl Iterator<Item = String>, none: &str) -> String {
    let said: String = said.collect();
    if said.is_empty() { none.to_owned() } else { said }
}

fn need_root(why: &str) -> anyhow::Result<()> {
    match privilege::current() {
        Privilege::Root => Ok(()),
        _ => Err(NeedsRoot(why.to_owned()).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::of_namespace as bed;

    #[test]
    fn a_namespace_names_its_bed() {
        assert_eq!(
            (bed("wpdemo-a"), bed("wp1f-b"), bed("wptwo-words-b")),
            (Some("demo"), Some("1f"), Some("two-words"))
        );
        assert_eq!((bed("mine"), bed("wp"), bed("wp-a"), bed("wpa")), (None, None, None, None));
    }
}
