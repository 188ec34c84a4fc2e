//! What runs on the machine beside the measurement: names only.

use std::{collections::BTreeSet, fs, path::PathBuf};

use crate::{facts::read, parse};

/// Services of systemd that have a process; where there is none, the programs that run, kernel threads left out.
pub(crate) fn services() -> Vec<String> {
    let processes = processes();
    let file = |process: &PathBuf, name: &str| read(&process.join(name).to_string_lossy());
    let services: BTreeSet<String> = processes.iter().filter_map(|it| parse::service(&file(it, "cgroup"))).collect();
    if !services.is_empty() {
        return services.into_iter().collect();
    }
    // Kernel threads have no command line. Our own processes come and go with the measurement.
    let programs = processes.iter().filter(|it| !file(it, "cmdline").is_empty()).map(|it| file(it, "comm"));
    let programs: BTreeSet<String> = programs.filter(|name| !name.is_empty() && name != "wireproof").collect();
    programs.into_iter().collect()
}

fn processes() -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    entries.filter(|entry| is_process(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}
