//! Captures that are sent again: read at both ends, and known by their bytes where they arrive.
//!
//! Frames of a capture carry no number. The receiver counts those that are the same as one of the capture's, byte for byte; which of them
//! are copies, and whether their order is right, it does not know.

use std::{
    collections::HashSet,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
};

use kernel::packet::Capture;
use model::{Mtu, PacketsReceived, SideSetup, Stream, frame_size::FCS};
use pcap::Replay;

use crate::{ProbeError, socket::STOP_CHECK};

/// Reads a capture of this end's machine, as far as the user who called may.
pub(super) fn read(stream: &Stream, file: &str, mtu: Mtu) -> Result<Replay, ProbeError> {
    let unable = |why: String| ProbeError::Unable { what: format!("the replay of {file}"), why };
    let bytes = kernel::file::read_as_sudo_user(Path::new(file), pcap::LONGEST)
        .map_err(|error| unable(format!("{error}; both ends read the capture: the same file has to be at each")))?
        .ok_or_else(|| unable(format!("a capture is a file of at most {} MiB", pcap::LONGEST >> 20)))?;
    pcap::check_sha256(&bytes, stream.replay_sha256.as_deref()).map_err(unable)?;
    let frames = pcap::read(&bytes).map_err(|error| unable(error.to_string()))?;
    Replay::new(frames, mtu).map_err(|error| unable(error.to_string()))
}

/// Counts the frames of captures at an interface.
pub(super) struct Recognised {
    stop: Arc<AtomicBool>,
    arrivals: Arc<Mutex<Vec<Arrivals>>>,
    failure: Arc<Mutex<Option<ProbeError>>>,
    thread: Option<JoinHandle<()>>,
}

/// Results of one capture.
#[derive(Clone, Default)]
struct Arrivals {
    frames: u64,
    bytes: u64,
    first: u64,
    last: u64,
}

impl Recognised {
    /// From now on counts the frames of these captures, each by itself.
    pub(super) fn attach(captures: &[Replay], setup: &SideSetup) -> Result<Self, ProbeError> {
        let mut capture = Capture::open(&setup.interface, false)?;
        let known: Vec<HashSet<Vec<u8>>> =
            captures.iter().map(|capture| capture.frames().map(<[u8]>::to_vec).collect()).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let arrivals = Arc::new(Mutex::new(vec![Arrivals::default(); captures.len()]));
        let failure = Arc::new(Mutex::new(None));
        let (stopped, counts, failed) = (Arc::clone(&stop), Arc::clone(&arrivals), Arc::clone(&failure));
        let interface = setup.interface.clone();
        let thread = thread::spawn(move || {
            while !stopped.load(Relaxed) {
                if let Err(error) = count(&mut capture, &known, &counts, &interface) {
                    *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    return;
                }
            }
        });
        Ok(Self { stop, arrivals, failure, thread: Some(thread) })
    }
}

/// Counts the next packet.
fn count(
    capture: &mut Capture,
    known: &[HashSet<Vec<u8>>],
    counts: &Mutex<Vec<Arrivals>>,
    interface: &str,
) -> Result<(), ProbeError> {
    capture.take(STOP_CHECK, |frame| {
        if let Some(place) = known.iter().position(|frames| frames.contains(frame.bytes)) {
            let arrivals = &mut counts.lock().unwrap_or_else(PoisonError::into_inner)[place];
            arrivals.frames += 1;
            arrivals.bytes += u64::from(frame.length + FCS);
            arrivals.first = if arrivals.frames == 1 { frame.time.0 } else { arrivals.first };
            arrivals.last = frame.time.0;
        }
    })?;
    match capture.dropped()? {
        0 => Ok(()),
        dropped => Err(ProbeError::Unable {
            what: format!("the count of a replay at {interface}"),
            why: format!(
                "{dropped} frames came faster than they were compared with the capture, so that it is not known which are lost; send \
                 slower"
            ),
        }),
    }
}

impl Recognised {
    /// Results of each capture so far.
    pub(super) fn read(&self) -> Result<Vec<PacketsReceived>, ProbeError> {
        if let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let received = |arrivals: &Arrivals| PacketsReceived {
            frames: arrivals.frames,
            bytes: arrivals.bytes,
            seconds: (arrivals.frames > 0).then(|| arrivals.last.saturating_sub(arrivals.first) as f64 / 1e9),
            ..PacketsReceived::default()
        };
        Ok(self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).iter().map(received).collect())
    }
}

impl Drop for Recognised {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // It ends within the time that it waits for frames.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_that_ends_is_no_capture() {
        for endless in ["/dev/null", "/dev/zero", "/proc/self/fd"] {
            let error = read(&Stream::default(), endless, Mtu(1500)).map(drop).expect_err("refused").to_string();
            assert!(error.contains("a file of at most 1024 MiB"), "{endless}: {error}");
        }
    }
}
