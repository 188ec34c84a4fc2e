//! Frames of an interface, written to a file for other programs.

use std::{
    fs::File,
    io::{self, BufWriter},
    path::Path,
    sync::mpsc::{self, Receiver},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use kernel::packet::{Capture, Captured};
use pcap::Writer;
use report::{CaptureDocument, CaptureSchemaName, Notice};

use super::{language, print_json, tell, watch::ending};
use crate::{
    cli::{CaptureOptions, Common},
    exit::{Exit, Words},
    output::say,
};

/// Interval of checks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);

/// Hears the interface, those frames too that are for others.
fn opened(interface: &str) -> anyhow::Result<Capture> {
    Capture::open(interface, true).map_err(|error| match error.io_kind() {
        io::ErrorKind::PermissionDenied => anyhow::Error::new(error).context("frames of an interface take root (sudo)"),
        _ if error.says_gone() => anyhow!("{interface}: there is no such interface (\"ip link\" lists them)"),
        _ => error.into(),
    })
}

/// `wireproof packets capture`
pub(super) fn capture(options: &CaptureOptions, common: &Common) -> anyhow::Result<Exit> {
    let mut frames = opened(&options.interface)?;
    let writer = Writer::new(BufWriter::new(create(&options.file)?), &[&options.interface]);
    let mut record = Record { writer: writer.with_context(|| full(&options.file))?, options, written: 0, seen: 0 };
    let (ends, ended) = mpsc::channel();
    ending::end_on_signals(ends)?;
    let file = options.file.display().to_string();
    tell(Notice::Capturing { interface: &options.interface, file: &file }, common);
    record.take_all(&mut frames, &ended).with_context(|| full(&options.file))?;
    let (written, seen, dropped) = (record.written, record.seen, frames.dropped()?);
    record.writer.finish().with_context(|| full(&options.file))?;
    if common.json {
        let (schema, interface) = (CaptureSchemaName::V1, options.interface.clone());
        print_json(&CaptureDocument { schema, interface, file, frames: written, seen, dropped })?;
    } else {
        say(&Notice::Captured { frames: written, seen, dropped }.text(language(common)));
    }
    Ok(Exit::Done)
}

/// A file that nobody has.
fn create(file: &Path) -> anyhow::Result<File> {
    File::create_new(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Words(format!("{} is there already; name another file, or remove it", file.display())).into()
        }
        _ => anyhow::Error::new(error).context(format!("cannot write {}", file.display())),
    })
}

fn full(file: &Path) -> String {
    format!("{} holds what was captured until then", file.display())
}

struct Record<'a> {
    writer: Writer<BufWriter<File>>,
    options: &'a CaptureOptions,
    written: u64,
    seen: u64,
}

impl Record<'_> {
    /// Until there are enough frames, the time is over, or somebody ends it.
    fn take_all(&mut self, frames: &mut Capture, ended: &Receiver<ending::Ending>) -> anyhow::Result<()> {
        let (began, time) = (Instant::now(), self.options.time);
        let left = || time.map_or(LOOK, |time| Duration::from(time).saturating_sub(began.elapsed()));
        let most = self.options.count.unwrap_or(u64::MAX);
        let mut patience = left();
        while self.written < most && !patience.is_zero() && ended.try_recv().is_err() {
            let mut outcome = Ok(());
            frames.take(patience.min(LOOK), |frame| {
                if outcome.is_ok() {
                    outcome = self.take(frame);
                }
            })?;
            outcome?;
            patience = left();
        }
        Ok(())
    }

    fn take(&mut self, frame: Captured<'_>) -> io::Result<()> {
        self.seen += 1;
        let is_enough = self.options.count.is_some_and(|count| self.written >= count);
        let is_chosen = self.options.filter.as_ref().is_none_or(|filter| filter.chooses(frame.bytes));
        if is_enough || !is_chosen {
            return Ok(());
        }
        self.writer.frame(0, frame.time, frame.bytes, frame.length)?;
        self.written += 1;
        Ok(())
    }
}
