//! File descriptors that a side needs.

use rustix::process::{Resource, getrlimit, setrlimit};

/// Descriptors beside those of connections and of the files sent on them.
const OTHERS: u64 = 200;

/// Raises the limit of open files so that each connection has a descriptor, or as far as this process may. Connections
/// without one fail, and are counted.
pub(super) fn allow(connections: u16) {
    let needed = 2 * u64::from(connections) + OTHERS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return;
    }
    let mut raised = limit;
    raised.current = Some(needed);
    raised.maximum = limit.maximum.map(|most| most.max(needed));
    if setrlimit(Resource::Nofile, raised).is_err() {
        let within = limit.maximum.map_or(needed, |most| most.min(needed));
        let _ = setrlimit(Resource::Nofile, rustix::process::Rlimit { current: Some(within), ..limit });
    }
}
