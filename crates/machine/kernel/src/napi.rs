//! Receive work of an interface in kernel threads, which can be pinned (`Documentation/networking/napi.rst`).

use std::{fs, io};

use crate::{
    cpu,
    error::{On, Result, invalid},
    interface, namespace,
};

/// The setting of an interface.
const THREADED: &str = "threaded";

/// Field of proc_pid_stat(5) behind the name in parentheses, from 0: the flags; and the flag of kernel threads (`PF_KTHREAD`).
const FLAGS: usize = 6;
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Whether receive work of an interface of the calling thread's namespace is done by threads, as the kernel writes it.
pub fn threaded(interface: &str) -> Result<String> {
    interface::read(interface, THREADED)
}

/// Has receive work done by threads or not, as the kernel wrote it before. An interface that does not poll any more has no threads.
pub fn set_back(interface: &str, threaded: &str) -> Result<()> {
    match interface::write(interface, THREADED, threaded) {
        Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => Ok(()),
        written => written,
    }
}

/// Has receive work of an interface of the calling thread's namespace done by threads on these cores. The interface is up, and its driver
/// polls.
pub fn receive_on(interface: &str, cpus: &[usize]) -> Result<()> {
    // The name of a thread does not tell the namespace of its interface: one process at a time makes new ones.
    let _turn = namespace::lock_directory()?;
    let before = threads_of(interface)?;
    interface::write(interface, THREADED, "1")?;
    let made: Vec<u32> = threads_of(interface)?.into_iter().filter(|thread| !before.contains(thread)).collect();
    if made.is_empty() {
        let idle = invalid("the kernel made no thread; the interface has its threads already");
        return Err(idle).on("write", format_args!("{THREADED} of interface {interface}"));
    }
    made.into_iter().try_for_each(|thread| cpu::pin(thread, cpus))
}

/// Threads that receive for interfaces of this name, in all namespaces.
fn threads_of(interface: &str) -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").on("read", "/proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    Ok(pids.filter(|pid| is_thread_of(*pid, interface).unwrap_or_default()).collect())
}

/// Whether a process is such a thread: those are named `napi/INTERFACE-ID`.
fn is_thread_of(pid: u32, interface: &str) -> io::Result<bool> {
    let name = fs::read_to_string(format!("/proc/{pid}/comm"))?;
    let id = name.trim_end().strip_prefix("napi/").and_then(|rest| rest.strip_prefix(interface)?.strip_prefix('-'));
    let is_named = id.is_some_and(|id| id.chars().all(|digit| digit.is_ascii_digit()));
    Ok(is_named && is_of_kernel(&fs::read_to_string(format!("/proc/{pid}/stat"))?))
}

/// Whether a line of proc_pid_stat(5) is a kernel thread's. An empty command line tells less: processes that have ended have none either, and
/// any process can give its own away.
fn is_of_kernel(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let flags = fields.split_whitespace().nth(FLAGS).and_then(|flags| flags.parse::<u64>().ok());
    flags.is_some_and(|flags| flags & KERNEL_THREAD != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use model::{LinkEnd, Mtu};

    use super::*;
    use crate::{ethtool, link};

    #[test]
    fn threads_of_an_interface_run_on_the_cores_they_are_given() {
        let place = format!("wptest{}napi", std::process::id());
        namespace::create(&place).expect("this test needs root");
        let end = |interface: &str| LinkEnd { namespace: place.clone(), interface: interface.into() };
        link::create_veth(&end("wpnapi0"), &end("wpnapi1"), Mtu(1500)).expect("new names");
        let core = *cpu::allowed().expect("readable").last().expect("at least one");
        let seen = namespace::within(&place, || {
            let idle = receive_on("wpnapi0", &[core]).expect_err("it does not poll").to_string();
            set_back("wpnapi0", "0")?;
            ethtool::set_gro("wpnapi0", true)?;
            link::set_up("", "wpnapi0")?;
            receive_on("wpnapi0", &[core])?;
            let threads = threads_of("wpnapi0")?;
            let status = fs::read_to_string(format!("/proc/{}/status", threads[0])).expect("it is there");
            Ok::<_, crate::Error>((idle, threads.len(), status, threaded("wpnapi0")?))
        });
        namespace::delete(&place).expect("it is ours");
        let (idle, threads, status, threaded) = seen.expect("it is there").expect("a veth polls with GRO");
        assert!(idle.starts_with("write on threaded of interface wpnapi0: "), "{idle}");
        assert_eq!((threads, threaded.as_str()), (1, "1"));
        assert!(status.lines().any(|line| line == format!("Cpus_allowed_list:\t{core}")), "{status}");
        assert_eq!(threads_of("wpnapi").expect("readable"), [0; 0]);
    }

    #[test]
    fn a_process_with_the_name_of_a_thread_and_no_command_line_is_none() {
        let mut named = Command::new("sh");
        named.args(["-c", "printf napi/wpended-1 >/proc/$$/comm"]).stdout(Stdio::piped());
        let mut child = named.spawn().expect("a shell");
        // Its memory, and with it the command line, is gone before its output is closed.
        io::read_to_string(child.stdout.take().expect("piped")).expect("readable");
        let of = |file: &str| fs::read_to_string(format!("/proc/{}/{file}", child.id())).expect("not waited for yet");
        assert_eq!((of("comm").as_str(), of("cmdline").as_str()), ("napi/wpended-1\n", ""));
        assert_eq!(threads_of("wpended").expect("readable"), [0; 0]);
        child.wait().expect("ours");
    }

    #[test]
    fn kernel_threads_are_known_by_their_flag_whatever_their_name_is() {
        assert!(is_of_kernel("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0\n"));
        assert!(is_of_kernel("70 (napi/a) b-3) S 2 0 0 0 -1 69238848 0 0\n"));
        assert!(!is_of_kernel("71 (a) S 2 2129984) Z 1 71 71 0 -1 4227084 0 0\n"));
        assert!(!is_of_kernel(&fs::read_to_string("/proc/self/stat").expect("readable")));
        assert!(!is_of_kernel("") && !is_of_kernel("7 (sh) S 1"));
    }
}
