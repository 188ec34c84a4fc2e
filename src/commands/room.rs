//! Room on the disks for what a run will write, asked for before anything is measured.

use std::path::{Path, PathBuf};

use kernel::file::{self, Room};
use model::Plan;

use crate::exit::NoRoom;

/// Bytes that a run and its report need at the most, as far as runs of every kind so far go: the rest, and those of each trial.
const STORE: [u64; 2] = [1 << 20, 32 << 10];
const REPORT: [u64; 2] = [4 << 20, 64 << 10];

/// Bytes that will be written to one place.
struct Share {
    what: &'static str,
    path: PathBuf,
    needed: u64,
}

/// A disk without the room that is needed, before it is an error of the program.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "nothing was measured: the disk of {path} is full or nearly so: {free} KiB are free, and {what} may need {needed} KiB; make room \
     there, or name {option}"
)]
struct Lack {
    what: String,
    path: String,
    free: u64,
    needed: u64,
    option: &'static str,
}

/// Refuses runs of a plan whose store or reports have no room.
pub(super) fn check(plan: &Plan, senders: usize, runs: usize, store: &Path, report: &Path) -> anyhow::Result<()> {
    let (trials, runs) = (procedure::planned(plan, senders) as u64, runs as u64);
    let share = |what, path: &Path, [rest, each]: [u64; 2]| {
        let needed = (rest + each * trials).saturating_mul(runs);
        Share { what, path: path.to_owned(), needed }
    };
    let shares = [share("the store", store, STORE), share("the report", report, REPORT)];
    // A place that cannot be asked is no reason not to measure: writing there says what is wrong.
    let rooms = shares.each_ref().map(|share| file::room(&share.path).ok());
    fits(&shares, &rooms).map_err(|lack| NoRoom(lack.to_string()).into())
}

fn fits([store, report]: &[Share; 2], rooms: &[Option<Room>; 2]) -> Result<(), Lack> {
    let share = |room: &Option<Room>, share: &Share, option| {
        lacks(room, share.needed, &share.path, share.what.to_owned(), option).map_or(Ok(()), Err)
    };
    match rooms {
        [Some(one), Some(other)] if one.disk == other.disk => {
            let (needed, what) = (store.needed + report.needed, format!("{} and {}", store.what, report.what));
            let option = "other places with --store PATH and --out DIR";
            lacks(&rooms[0], needed, &store.path, what, option).map_or(Ok(()), Err)
        }
        [of_store, of_report] => share(of_store, store, "another place with --store PATH")
            .and_then(|()| share(of_report, report, "another place with --out DIR")),
    }
}

fn lacks(room: &Option<Room>, needed: u64, path: &Path, what: String, option: &'static str) -> Option<Lack> {
    let free = room.and_then(|room| room.free).filter(|free| *free < needed)?;
    Some(Lack { what, path: path.display().to_string(), free: free >> 10, needed: needed >> 10, option })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits_on(disks: [u64; 2], free: [Option<u64>; 2]) -> Result<(), String> {
        let share = |what, path: &str, needed| Share { what, path: path.into(), needed };
        let shares = [share("the store", "/data/runs.db", 2 << 20), share("the report", "/out", 5 << 20)];
        let rooms = [0, 1].map(|at| Some(Room { disk: disks[at], free: free[at] }));
        fits(&shares, &rooms).map_err(|error| error.to_string())
    }

    #[test]
    fn store_and_report_need_room_where_each_is() {
        let mib = |free: u64| Some(free << 20);
        assert_eq!(fits_on([1, 2], [mib(2), mib(5)]), Ok(()));
        assert_eq!(fits_on([1, 2], [None, None]), Ok(()), "unknown");
        let store = fits_on([1, 2], [mib(1), mib(5)]).unwrap_err();
        assert!(store.contains("/data/runs.db") && store.contains("1024 KiB are free"), "{store}");
        assert!(store.contains("the store may need 2048 KiB") && store.contains("--store PATH"), "{store}");
        assert!(fits_on([1, 2], [mib(2), mib(4)]).unwrap_err().contains("--out DIR"));
        assert_eq!(fits_on([1, 1], [mib(7), mib(7)]), Ok(()));
        assert!(fits_on([1, 1], [mib(6), mib(6)]).unwrap_err().contains("the store and the report may need 7168 KiB"));
    }
}
