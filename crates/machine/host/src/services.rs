//! Programs that run on the machine beside the measurement: names only.

use std::collections::BTreeSet;

use crate::{parse, source::Source};

/// systemd services with a process; without systemd, running programs except kernel threads.
pub(crate) fn services(source: &dyn Source) -> Vec<String> {
    let processes = processes(source);
    let file = |process: &String, name: &str| source.read(&format!("{process}/{name}")).or_default();
    let services: BTreeSet<String> = processes.iter().filter_map(|it| parse::service(&file(it, "cgroup"))).collect();
    if !services.is_empty() {
        return services.into_iter().collect();
    }
    // Kernel threads have no command line. Our own processes come and go with the measurement.
    let programs = processes.iter().filter(|it| !file(it, "cmdline").is_empty()).map(|it| file(it, "comm"));
    let programs: BTreeSet<String> = programs.filter(|name| !name.is_empty() && name != "wireproof").collect();
    programs.into_iter().collect()
}

fn processes(source: &dyn Source) -> Vec<String> {
    let mut processes = source.list("/proc").or_default();
    processes.retain(|process| process.trim_start_matches("/proc/").bytes().all(|byte| byte.is_ascii_digit()));
    processes
}
