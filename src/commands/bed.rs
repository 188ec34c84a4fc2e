//! Beds that stay, and cleaning up after crashes.

use std::{ffi::OsString, os::unix::process::CommandExt, process};

use anyhow::{Context, bail};
use bed::{BedRef, Cleaned, NicConsent, Wanted, check_name};
use kernel::{namespace, privilege};
use model::{Bed, Mtu, Privilege};
use report::{BedsDocument, Lang, UndoneDocument};

use super::{answer, language, own_program, wanted::words_or_bed};
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
    let Cleaned { mut undone, unknown } = bed::clean(&own_program()?)?;
    undone.extend(agent::router::clean()?);
    if unknown.is_empty() {
        return tell_undone(&undone, common);
    }
    if !undone.is_empty() {
        tell_undone(&undone, common)?;
    }
    let unknown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    bail!("not everything could be undone: {}", unknown.join("; "))
}

/// `wireproof in-namespace NAMESPACE -- PROGRAM ARGS…`: becomes the program.
pub(super) fn enter(namespace: &str, program: &[OsString]) -> anyhow::Result<Exit> {
    namespace::enter(namespace)?;
    let [file, args @ ..] = program else { return Err(Words("no program is named".to_owned()).into()) };
    let error = process::Command::new(file).args(args).exec();
    Err(error).with_context(|| format!("cannot run {}", file.display()))
}

fn up(name: &str, bed: BedRef, taking: NicConsent, mtu: Option<Mtu>, common: &Common) -> anyhow::Result<Exit> {
    check_name(name).map_err(|error| Words(error.to_string()))?;
    bed.can_stay().map_err(Words)?;
    let wanted = Wanted { taking, mtu, ..Wanted::plain(bed, Privilege::Root, own_program()?) };
    let bed = bed::up(name, &wanted).map_err(words_or_bed)?;
    let lang = language(common);
    let words = || format!("{}{}\n", describe(&bed, lang), report::bed_hint(name, lang));
    answer(&BedsDocument::of(std::slice::from_ref(&bed)), words, common)?;
    Ok(Exit::Done)
}

fn list(common: &Common) -> anyhow::Result<Exit> {
    let beds = bed::list(&own_program()?)?;
    let lang = language(common);
    let words = || match beds.is_empty() {
        true => report::beds_none(lang) + "\n",
        false => beds.iter().map(|bed| describe(bed, lang)).collect(),
    };
    answer(&BedsDocument::of(&beds), words, common)?;
    Ok(Exit::Done)
}

fn exec(name: &str, endpoint: &str, program: &[OsString]) -> anyhow::Result<Exit> {
    let namespace = bed::namespace_of(name, endpoint, &own_program()?)?;
    enter(&namespace, program)
}

fn describe(bed: &Bed, lang: Lang) -> String {
    report::bed_lines(bed, bed::dut_namespace(bed).as_deref(), lang)
}

pub(super) fn tell_undone(undone: &[String], common: &Common) -> anyhow::Result<Exit> {
    answer(&UndoneDocument::of(undone), || report::undone_lines(undone, language(common)), common)?;
    Ok(Exit::Done)
}

/// The bed that a namespace belongs to: they are named `wp<bed>-<end>`.
pub(super) fn of_namespace(namespace: &str) -> Option<&str> {
    namespace.strip_prefix("wp")?.rsplit_once('-').map(|(bed, _)| bed).filter(|bed| !bed.is_empty())
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
