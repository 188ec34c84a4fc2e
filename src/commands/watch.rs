//! Live rates of interfaces, in this network namespace and in others.

pub(super) mod ending;
mod link_reader;
mod show;
mod terminal;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    time::Duration,
};

use kernel::clock;
use model::Nanos;
use rates::Watch;

use self::{
    ending::{Ending, end_on_signals},
    link_reader::LinkReader,
    show::Show,
};
use super::language;
use crate::{
    cli::{Common, WatchOptions},
    exit::Exit,
};

/// `wireproof watch`
pub(super) fn watch(options: &WatchOptions, common: &Common) -> anyhow::Result<Exit> {
    let words = report::WatchWords::of(language(common));
    let mut links = LinkReader::open(options, words.clone());
    let first = links.first_reading(&options.interfaces)?;
    let began = clock::now();
    let watch = Arc::new(Mutex::new(Watch::new(options.interfaces.iter().cloned(), began, first)));
    let (ends, ending) = mpsc::channel();
    end_on_signals(ends.clone())?;
    let mut show = Show::begin(options, common, words, Arc::clone(&watch), ends)?;
    show.tell(links.notes())?;

    let pace = Pace { began, interval: options.interval, count: options.count, duration: options.duration };
    let ended = loop {
        let Some(due) = pace.after(clock::now()) else { break Ending::Asked };
        let patience = Duration::from_nanos(due.0.saturating_sub(clock::now().0));
        if let Ok(ended) = ending.recv_timeout(patience) {
            break ended;
        }
        let readings = links.read();
        lock(&watch).take(clock::now(), readings);
        let reader = show.tell(links.notes())?;
        if reader == Reader::Gone || pace.is_last(due) {
            break Ending::Asked;
        }
    };
    show.end(!common.quiet)?;
    Ok(if ended == Ending::Signal { Exit::Interrupted } else { Exit::Done })
}

/// Whether somebody still reads the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    There,
    Gone,
}

/// A panic while holding the readings leaves them valid.
fn lock(watch: &Mutex<Watch>) -> MutexGuard<'_, Watch> {
    watch.lock().unwrap_or_else(PoisonError::into_inner)
}

/// When to read.
struct Pace {
    began: Nanos,
    interval: Nanos,
    count: Option<u64>,
    duration: Option<Nanos>,
}

impl Pace {
    /// The next time after this one; those that were missed are left out. `None` after the last.
    fn after(&self, now: Nanos) -> Option<Nanos> {
        let passed = now.0.saturating_sub(self.began.0) / self.interval.0;
        let next = self.began.0.saturating_add((passed + 1).saturating_mul(self.interval.0));
        let last = self.last();
        last.is_none_or(|last| now < last).then(|| Nanos(last.map_or(next, |last| next.min(last.0))))
    }

    fn is_last(&self, due: Nanos) -> bool {
        self.last().is_some_and(|last| due >= last)
    }

    fn last(&self) -> Option<Nanos> {
        let counted = self.count.map(|count| Nanos(count.saturating_mul(self.interval.0)));
        let last = [counted, self.duration].into_iter().flatten().min()?;
        Some(Nanos(self.began.0.saturating_add(last.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_are_due_by_the_clock_and_missed_ones_are_left_out() {
        let pace = |count, duration| Pace { began: Nanos(100), interval: Nanos(10), count, duration };
        let endless = pace(None, None);
        assert_eq!(endless.after(Nanos(100)), Some(Nanos(110)));
        assert_eq!(endless.after(Nanos(111)), Some(Nanos(120)), "late by one does not make all later ones late");
        assert_eq!(endless.after(Nanos(157)), Some(Nanos(160)));
        assert!(!endless.is_last(Nanos(1 << 60)));
        let three = pace(Some(3), None);
        assert_eq!((three.after(Nanos(125)), three.after(Nanos(130))), (Some(Nanos(130)), None));
        assert!(three.is_last(Nanos(130)) && !three.is_last(Nanos(120)));
        let timed = pace(Some(9), Some(Nanos(25)));
        assert_eq!((timed.after(Nanos(121)), timed.after(Nanos(125))), (Some(Nanos(125)), None));
    }
}
