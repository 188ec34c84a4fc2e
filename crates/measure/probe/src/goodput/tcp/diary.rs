//! The connections second by second, as the kernel has them.

use std::net::TcpStream;

use kernel::socket::tcp_moment;
use model::{
    GoodputSpec,
    trial::{TcpSeconds, TcpState},
};

use crate::{ProbeError, goodput::timeline::Passed};

/// Seconds of all connections together that are kept: more would be a longer message than an agent may send.
const MOST: u64 = 400_000;

/// State of each connection at the end of each whole second.
pub(super) struct Diary<'a> {
    streams: &'a [TcpStream],
    /// Segments that each connection had sent again when the second began.
    resent: Vec<u64>,
    seconds: Vec<TcpSeconds>,
    is_kept: bool,
}

impl<'a> Diary<'a> {
    pub(super) fn new(streams: &'a [TcpStream], spec: &GoodputSpec) -> Self {
        let seconds = spec.duration.0 / 1_000_000_000 * streams.len() as u64;
        Self {
            streams,
            resent: vec![0; streams.len()],
            seconds: vec![TcpSeconds::default(); streams.len()],
            is_kept: seconds <= MOST,
        }
    }

    /// Reads the connections. Not for a thread that sends.
    pub(super) fn enter(&mut self, passed: Passed) -> Result<(), ProbeError> {
        if !self.is_kept {
            return Ok(());
        }
        for ((stream, resent), seconds) in self.streams.iter().zip(&mut self.resent).zip(&mut self.seconds) {
            let now = tcp_moment(stream)?;
            let before = std::mem::replace(resent, now.retransmits);
            if let Passed::Second(_) = passed {
                seconds.retransmits.push(now.retransmits.saturating_sub(before));
                seconds.rtt_us.push(now.rtt_us);
                seconds.cwnd_segments.push(now.cwnd_segments);
                seconds.pacing_bps.push(now.pacing_bps);
                seconds.delivery_bps.push(now.delivery_bps);
            }
        }
        Ok(())
    }

    /// Puts the seconds of each connection beside its state.
    pub(super) fn beside(self, states: Vec<TcpState>) -> Vec<TcpState> {
        states.into_iter().zip(self.seconds).map(|(state, seconds)| TcpState { seconds, ..state }).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use model::{Nanos, Protocol, fixture};

    use super::*;

    #[test]
    fn each_second_has_an_entry_and_a_week_of_many_has_none() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let streams = [TcpStream::connect(listener.local_addr().expect("bound")).expect("loopback")];
        for (seconds, entries) in [(3600, 2), (MOST + 1, 0)] {
            let spec = GoodputSpec { duration: Nanos::from_secs(seconds), ..fixture::goodput(Protocol::Tcp) };
            let mut diary = Diary::new(&streams, &spec);
            for passed in [Passed::WarmUp, Passed::Second(1e9), Passed::Second(2e9)] {
                diary.enter(passed).expect("connected");
            }
            let beside = diary.beside(vec![TcpState::default()]).remove(0).seconds;
            let lengths = [
                beside.retransmits.len(),
                beside.cwnd_segments.len(),
                beside.rtt_us.len(),
                beside.pacing_bps.len(),
                beside.delivery_bps.len(),
            ];
            assert_eq!(lengths, [entries; 5]);
            assert!(beside.retransmits.iter().all(|resent| *resent == 0));
        }
    }
}
