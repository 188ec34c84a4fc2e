//! Other processes.

use std::{
    ffi::CString,
    fs, io,
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::Path,
    process::Command,
    time::Duration,
};

use model::Nanos;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
    io::Errno,
    mount::{MountPropagationFlags, mount_bind, mount_change},
    param::clock_ticks_per_second,
    process::{
        Pid, PidfdFlags, Signal, getpid, getppid, pidfd_open, pidfd_send_signal, set_parent_process_death_signal,
    },
    thread::{CpuSet, UnshareFlags, sched_setaffinity, unshare_unsafe},
};

use crate::{
    clock,
    error::{On, Result, invalid},
};

/// Time for a process to end after SIGTERM, and again after SIGKILL.
const GRACE: Duration = Duration::from_secs(2);

/// Fields of proc_pid_stat(5) behind the name in parentheses, from 0: user time, and that of children. System time follows
/// each.
const UTIME: usize = 11;
const CUTIME: usize = 13;

/// CPU time of this process's children on all cores: of those alive, and of those waited for.
///
/// To the clock tick of proc_pid_stat(5). A child that is not waited for yet may be missing.
pub fn cpu_time_of_children() -> Nanos {
    let alive: u64 = children_of("self").iter().map(|pid| ticks(&pid.to_string(), UTIME)).sum();
    Nanos((alive + ticks("self", CUTIME)) * (1_000_000_000 / clock_ticks_per_second().max(1)))
}

/// User and system time of a process from this field on, in clock ticks; 0 if it has gone.
fn ticks(pid: &str, field: usize) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(field).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// Ends processes: SIGTERM for all, then SIGKILL for the rest, and waits for their end. Processes already gone are no
/// error.
///
/// A number may have been reused: `is_meant` checks each process once a descriptor holds it.
pub fn end(pids: &[u32], is_meant: impl Fn(u32) -> bool) -> Result<()> {
    let mut left = Vec::new();
    for pid in pids {
        let process = open(*pid).on("pidfd_open", format_args!("process {pid}"))?;
        left.extend(process.filter(|_| is_meant(*pid)).map(|process| (*pid, process)));
    }
    for signal in [Signal::TERM, Signal::KILL] {
        left = signal_and_wait(left, signal)?;
    }
    match left.first() {
        None => Ok(()),
        Some((pid, _)) => {
            let stubborn = io::Error::new(io::ErrorKind::TimedOut, "it did not end, not even by SIGKILL");
            Err(stubborn).on("kill", format_args!("process {pid}"))
        }
    }
}

/// Lets a child run on this core, if any is named, and die with the thread that starts it (`PR_SET_PDEATHSIG`).
pub fn tie(command: &mut Command, core: Option<usize>) -> &mut Command {
    let (parent, mut cores) = (getpid(), CpuSet::new());
    core.filter(|core| *core < CpuSet::MAX_CPU).into_iter().for_each(|core| cores.set(core));
    let tie = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if getppid() != Some(parent) {
            return Err(Errno::SRCH.into());
        }
        if core.is_some() {
            sched_setaffinity(None, &cores)?;
        }
        Ok(())
    };
    // SAFETY: the closure makes three system calls, and takes no memory and no lock.
    unsafe { command.pre_exec(tie) }
}

/// Lets a child, and its children, find this folder at `/run` instead of the sockets of the machine's services, and leave their own there.
/// It takes root's rights.
pub fn give_own_run(command: &mut Command, folder: &Path) -> io::Result<()> {
    let folder = CString::new(folder.as_os_str().as_bytes())?;
    let bind = move || {
        // SAFETY: the child has one thread, and shares no mounts with others that depend on them.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS) }?;
        mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        Ok(mount_bind(&*folder, c"/run")?)
    };
    // SAFETY: the closure makes three system calls, and takes no memory and no lock.
    unsafe { command.pre_exec(bind) };
    Ok(())
}

/// Parent of a process; `None` if it is gone, or has no parent in this PID namespace.
pub fn parent(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
    (parent > 0).then_some(parent)
}

/// Children of this process.
pub fn children() -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| parent(*pid) == Some(std::process::id())).collect()
}

/// Descendants of this process that have not ended.
pub fn descendants() -> Vec<u32> {
    let (mut found, mut next) = (vec![std::process::id()], 0);
    while let Some(pid) = found.get(next) {
        let born = children_of(&pid.to_string());
        // A process that changes its parent meanwhile may come twice.
        found.extend(born.into_iter().filter(|pid| !found.contains(pid)).collect::<Vec<_>>());
        next += 1;
    }
    found.split_off(1).into_iter().filter(|pid| !has_ended(*pid)).collect()
}

/// Processes of one of these programs that were started with this text in an argument.
pub fn of_programs(programs: &[&str], text: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| is_of_programs(*pid, programs, text)).collect()
}

fn is_of_programs(pid: u32, programs: &[&str], text: &str) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line);
    let mut words = line.split('\0');
    let program = words.next().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    programs.contains(&program) && words.any(|word| word.contains(text))
}

/// Whether a process has ended, although its parent may not have asked for its status yet.
fn has_ended(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.lines().any(|line| line.starts_with("State:") && !line.contains('Z'))
}

/// Children of a process that its parent has not asked about.
fn children_of(pid: &str) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    children.flat_map(|pids| pids.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()).collect()
}

/// `None` if the process no longer exists.
fn open(pid: u32) -> io::Result<Option<OwnedFd>> {
    let number = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(|| invalid("not a process id"))?;
    match pidfd_open(number, PidfdFlags::empty()) {
        Err(Errno::SRCH) => Ok(None),
        opened => Ok(Some(opened?)),
    }
}

/// Signals all, waits for [`GRACE`] in total, and returns the remaining ones.
fn signal_and_wait(processes: Vec<(u32, OwnedFd)>, signal: Signal) -> Result<Vec<(u32, OwnedFd)>> {
    for (pid, process) in &processes {
        match pidfd_send_signal(process, signal) {
            Ok(()) | Err(Errno::SRCH) => {}
            Err(error) => return Err(error).on("kill", format_args!("process {pid}")),
        }
    }
    let deadline = clock::now().0 + GRACE.as_nanos() as u64;
    let mut left = Vec::new();
    for (pid, process) in processes {
        if !is_gone_by(&process, deadline).on("poll", format_args!("process {pid}"))? {
            left.push((pid, process));
        }
    }
    Ok(left)
}

fn is_gone_by(process: &OwnedFd, deadline: u64) -> io::Result<bool> {
    loop {
        let left = Duration::from_nanos(deadline.saturating_sub(clock::now().0));
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&timeout)) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(ready) => return Ok(ready > 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        process::{Command, Stdio},
    };

    use super::*;

    #[test]
    fn a_process_that_has_the_number_of_another_is_left_alone() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("a program");
        end(&[child.id()], |_| false).expect("nothing to end");
        assert!(child.try_wait().expect("ours").is_none());
        end(&[child.id()], |pid| pid == child.id()).expect("it ends");
        assert!(child.try_wait().expect("ours").is_some());
    }

    #[test]
    fn a_process_is_found_by_its_program_and_an_argument() {
        let mut child = Command::new("sleep").args(["60", "0.0625"]).spawn().expect("a program");
        let found = |program, text| of_programs(&["nothing", program], text).contains(&child.id());
        // `spawn` returns at exec, a moment before the kernel has set the arguments that /proc shows.
        let until = clock::now().0 + 60_000_000_000;
        while !found("sleep", "0.062") && clock::now().0 < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(found("sleep", "0.062") && !found("sleep", "none of these") && !found("leep", "0.0625"));
        child.kill().and_then(|()| child.wait()).expect("ours");
    }

    #[test]
    fn a_child_with_a_run_of_its_own_leaves_the_machines_alone() {
        let folder = std::env::temp_dir().join(format!("wireproof-run-{}", std::process::id()));
        fs::create_dir(&folder).expect("room for it");
        let mut command = Command::new("touch");
        give_own_run(&mut command, &folder).expect("a path");
        let status = command.arg("/run/wireproof-of-a-child").status();
        let (is_there, is_here) =
            (folder.join("wireproof-of-a-child").exists(), Path::new("/run/wireproof-of-a-child").exists());
        fs::remove_dir_all(&folder).expect("ours");
        assert!(status.expect("a program").success() && is_there && !is_here);
    }

    #[test]
    fn a_child_that_is_tied_dies_with_its_thread() {
        let core = crate::cpu::allowed().expect("readable")[0];
        let start = move || tie(Command::new("sleep").arg("60"), Some(core)).spawn();
        let mut child = std::thread::spawn(start).join().expect("no panic").expect("a program");
        assert_eq!(child.wait().expect("ours").code(), None, "a signal ended it");
        let mut child = start().expect("a program");
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).expect("it runs");
        assert!(status.lines().any(|line| line == format!("Cpus_allowed_list:\t{core}")), "{status}");
        child.kill().and_then(|()| child.wait()).expect("ours");
    }

    #[test]
    fn time_of_children_counts_while_they_live_and_once_they_are_waited_for() {
        let before = cpu_time_of_children();
        let counted = || cpu_time_of_children().0 - before.0;
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let until = clock::now().0 + 60_000_000_000;
        while counted() < 50_000_000 && clock::now().0 < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let alive = counted();
        child.kill().and_then(|()| child.wait()).expect("ours");
        assert!(alive >= 50_000_000 && counted() >= alive, "{alive} ns, then {}", counted());
    }

    #[test]
    fn a_willing_and_a_stubborn_process_both_end() {
        for script in ["echo ready; read x", "trap '' TERM; echo ready; read x; read x"] {
            let mut child = Command::new("sh")
                .args(["-c", script])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("a shell");
            let mut ready = [0; 6];
            child.stdout.as_mut().expect("piped").read_exact(&mut ready).expect("it says so");
            end(&[child.id()], |_| true).expect("it ends");
            assert!(child.try_wait().expect("ours").is_some(), "{script}");
            end(&[child.id()], |_| true).expect("gone already");
        }
    }
}
