//! Faults in the command line, reported before anything is set up.

use std::path::Path;

use agent::foresee;
use bed::{Planned, Wanted};
use kernel::{socket, sysctl};
use model::{Bed, Mtu, Plan, Privilege, probe::KERNELS_DEFAULT};

use super::wanted::words_or_bed;
use crate::{cli::Measure, exit::Words, paths};

/// Unless another is asked for.
const ETHERNET_MTU: Mtu = Mtu(1500);

/// Features that this machine lacks, whatever the bed.
pub(super) fn check_machine(plan: &Plan, options: &Measure) -> anyhow::Result<()> {
    check_wrap(&options.wrap.words())?;
    let named = plan.goodput.iter().filter_map(|item| item.congestion.as_deref());
    named.filter(|name| *name != KERNELS_DEFAULT).try_for_each(check_congestion)
}

/// The bed as it would be, if the plan can be measured on it.
pub(super) fn fitting(plan: &Plan, wanted: &Wanted) -> anyhow::Result<Planned> {
    let planned = bed::planned(wanted).map_err(words_or_bed)?;
    run::check(plan, &planned.bed).map_err(|misfit| Words(misfit.to_string()))?;
    if wanted.bed.is_made_here() && planned.bed.makes_its_links() {
        check_ends(plan, &planned.bed, wanted.privilege)?;
    }
    Ok(planned)
}

/// Whether the plan can be measured from the ends of a lab, whose properties are all known before it exists.
fn check_ends(plan: &Plan, lab: &Bed, privilege: Privilege) -> anyhow::Result<()> {
    for spec in plan.specs() {
        for end in &lab.endpoints {
            foresee(&spec, end, privilege).map_err(|error| Words(format!("{spec}: {error}")))?;
        }
    }
    Ok(())
}

/// Captures can be read and sent, and are those that the plan means.
pub(super) fn check_replays(plan: &Plan, mtu: Option<Mtu>) -> anyhow::Result<()> {
    for item in &plan.packets {
        let least = item.mtus.iter().copied().min().or(mtu).unwrap_or(ETHERNET_MTU);
        for stream in &item.stream {
            let Some(file) = &stream.replay else { continue };
            check_replay(file, stream.replay_sha256.as_deref(), least)
                .map_err(|why| Words(format!("replay of {file}: {why}")))?;
        }
    }
    Ok(())
}

/// Names captures by their whole path, since agents have a folder of their own, and by their content.
pub(super) fn bind_replays(plan: &mut Plan) -> anyhow::Result<()> {
    for stream in plan.packets.iter_mut().flat_map(|item| &mut item.stream) {
        let Some(file) = &mut stream.replay else { continue };
        let bytes = read_capture(file).map_err(|why| Words(format!("replay of {file}: {why}")))?;
        stream.replay_sha256.get_or_insert_with(|| pcap::sha256(&bytes));
        *file = std::path::absolute(&file)?.to_string_lossy().into_owned();
    }
    Ok(())
}

/// Cores that a thread may be pinned to.
pub(super) fn check_cores(cpus: &[usize]) -> anyhow::Result<()> {
    let allowed = kernel::cpu::allowed()?;
    match cpus.iter().find(|cpu| !allowed.contains(cpu)) {
        Some(cpu) => Err(Words(format!("--cpus: core {cpu} cannot be had here; there is {allowed:?}")).into()),
        None => Ok(()),
    }
}

fn read_capture(file: &str) -> Result<Vec<u8>, String> {
    paths::read(Path::new(file), "a capture", pcap::LONGEST >> 20)
}

fn check_replay(file: &str, sha256: Option<&str>, mtu: Mtu) -> Result<(), String> {
    let bytes = read_capture(file)?;
    pcap::check_sha256(&bytes, sha256)?;
    let frames = pcap::read(&bytes).map_err(|error| error.to_string())?;
    pcap::Replay::new(frames, mtu).map(drop).map_err(|error| error.to_string())
}

fn check_wrap(words: &[String]) -> anyhow::Result<()> {
    let Some(program) = words.first() else { return Ok(()) };
    let path = std::env::var_os("PATH").unwrap_or_default();
    // One with a slash is where it says, wherever the folders of the PATH are.
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).is_file());
    if is_there || (program.contains('/') && Path::new(program).is_file()) {
        return Ok(());
    }
    let why = format!("--wrap: there is no program \"{program}\" on the PATH; install it, or write its whole path");
    Err(Words(why).into())
}

fn check_congestion(name: &str) -> anyhow::Result<()> {
    if socket::has_congestion_control(name)? {
        return Ok(());
    }
    let key = "net.ipv4.tcp_available_congestion_control";
    let known = sysctl::read(key).unwrap_or_else(|error| error.to_string());
    Err(Words(format!(
        "congestion control \"{name}\": this kernel has none of that name, and found no module for it; choose one that {key} \
         has: {known}"
    ))
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_wrong_words(outcome: &anyhow::Result<()>) -> bool {
        outcome.as_ref().is_err_and(|error| error.is::<Words>())
    }

    #[test]
    fn a_wrapper_is_looked_for_where_a_shell_would() {
        let check = |words: &[&str]| check_wrap(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        for there in [&[][..], &["sh", "-c"], &["/bin/sh"]] {
            assert!(check(there).is_ok(), "{there:?}");
        }
        for absent in ["no-such-wrapper", "/bin/no-such-wrapper", "/bin"] {
            assert!(is_wrong_words(&check(&[absent])), "{absent}");
        }
    }

    #[test]
    fn a_capture_is_a_file_that_ends() {
        for endless in ["/dev/zero", "/proc/self/fd"] {
            assert!(check_replay(endless, None, ETHERNET_MTU).unwrap_err().contains("a capture is a file of at most"));
        }
    }

    #[test]
    fn a_congestion_control_that_no_kernel_has_is_wrong_words() {
        assert!(check_congestion("reno").is_ok());
        for absent in ["nosuch", "", "a-name-longer-than-any"] {
            let outcome = check_congestion(absent);
            assert!(is_wrong_words(&outcome), "{absent}");
            assert!(outcome.expect_err("wrong words").to_string().contains("reno"));
        }
    }
}
