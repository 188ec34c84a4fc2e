//! Confines the process once it has read its document: memory, threads and open descriptors are left to it.

use std::{collections::BTreeMap, env};

use seccompiler::{BpfProgram, Error, SeccompAction, SeccompFilter, TargetArch};

/// All other calls fail with EPERM. Names are those of libc, so that each is right on its architecture.
const ALLOWED: &[i64] = &[
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    // Memory.
    libc::SYS_brk,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    // Threads.
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_futex,
    libc::SYS_membarrier,
    libc::SYS_rseq,
    libc::SYS_set_robust_list,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_prctl,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    // Faults and the end.
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_restart_syscall,
    libc::SYS_tgkill,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// Takes all other system calls from this thread and those that it starts: no file is opened, no connection made, no program
/// started, whatever the document makes of its reader.
///
/// # Errors
///
/// The kernel has no seccomp.
pub fn confine() -> Result<(), Error> {
    let rules = ALLOWED.iter().map(|call| (*call, vec![])).collect::<BTreeMap<_, _>>();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let architecture = TargetArch::try_from(env::consts::ARCH).map_err(Error::Backend)?;
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture).map_err(Error::Backend)?;
    let program = BpfProgram::try_from(filter).map_err(Error::Backend)?;
    seccompiler::apply_filter(&program)
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::ErrorKind::PermissionDenied,
        net::{TcpListener, UdpSocket},
        process::Command,
        thread,
    };

    use super::*;

    #[test]
    fn a_confined_thread_has_its_memory_and_no_more() {
        let confined = || {
            confine().expect("the kernel has seccomp");
            let refused = [
                File::open("/dev/null").err(),
                TcpListener::bind("127.0.0.1:0").err(),
                UdpSocket::bind("127.0.0.1:0").err(),
                Command::new("true").spawn().err(),
            ];
            assert!(refused.iter().flatten().filter(|error| error.kind() == PermissionDenied).count() == refused.len());
            // Memory and threads it has.
            thread::spawn(|| vec![1u8; 64 << 20].iter().map(|byte| usize::from(*byte)).sum::<usize>()).join()
        };
        assert_eq!(thread::spawn(confined).join().expect("no panic").expect("no panic"), 64 << 20);
    }
}
