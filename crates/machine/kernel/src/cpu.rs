//! Usable cores, and pinning to one.

use rustix::{
    process::Pid,
    thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity},
};

use crate::error::{On, Result, invalid};

/// Cores this thread may run on, ascending.
pub fn allowed() -> Result<Vec<usize>> {
    let set = sched_getaffinity(None).on("sched_getaffinity", "this thread")?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Pins the calling thread to a core.
pub fn pin_current_thread(cpu: usize) -> Result<()> {
    let what = format_args!("core {cpu}");
    if cpu >= CpuSet::MAX_CPU {
        return Err(invalid("there is no such core")).on("sched_setaffinity", what);
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).on("sched_setaffinity", what)
}

/// Lets the calling thread, and programs that it starts, run on these cores alone.
pub fn pin_current_thread_to(cpus: &[usize]) -> Result<()> {
    pin(gettid().as_raw_nonzero().get().cast_unsigned(), cpus)
}

/// Lets a thread of the machine, or the main thread of a process, run on these cores alone.
pub fn pin(thread: u32, cpus: &[usize]) -> Result<()> {
    let what = format_args!("thread {thread}, cores {cpus:?}");
    let number = i32::try_from(thread).ok().and_then(Pid::from_raw);
    let known = number.filter(|_| cpus.iter().all(|cpu| *cpu < CpuSet::MAX_CPU));
    let number = known.ok_or_else(|| invalid("there is no such thread or core")).on("sched_setaffinity", what)?;
    let mut set = CpuSet::new();
    cpus.iter().for_each(|cpu| set.set(*cpu));
    sched_setaffinity(Some(number), &set).on("sched_setaffinity", what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_runs_on_its_core_only() {
        let last = *allowed().expect("readable").last().expect("at least one");
        std::thread::spawn(move || {
            pin_current_thread(last).expect("an allowed core");
            assert_eq!(allowed().expect("readable"), [last]);
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn a_core_that_is_not_there_is_named() {
        for cpu in [1023, 100_000] {
            let error = pin_current_thread(cpu).expect_err("no such core").to_string();
            assert!(error.starts_with(&format!("sched_setaffinity on core {cpu}: ")), "{error}");
        }
    }
}
