//! The connections second by second, as the kernel has them.

use std::net::TcpStream;

use kernel::socket::tcp_moment;
use model::{
    GoodputSpec, Total,
    trial::{TcpSeconds, TcpState},
};

use crate::{ProbeError, goodput::timeline::Passed};

/// Seconds of all connections together that are kept: more would be a longer message than an agent may send.
const MOST: u64 = 400_000;

/// State of each connection at the end of each whole second.
pub(super) struct ConnectionStates<'a> {
    streams: &'a [TcpStream],
    /// Segments that each connection had sent again when the second began.
    resent: Vec<u64>,
    /// The same when the warm-up was over.
    warmup: Vec<u64>,
    seconds: Vec<TcpSeconds>,
    is_kept: bool,
}

impl<'a> ConnectionStates<'a> {
    pub(super) fn new(streams: &'a [TcpStream], spec: &GoodputSpec) -> Self {
        let seconds = spec.duration.0 / 1_000_000_000 * streams.len() as u64;
        Self {
            streams,
            resent: vec![0; streams.len()],
            warmup: vec![0; streams.len()],
            seconds: vec![TcpSeconds::default(); streams.len()],
            is_kept: seconds <= MOST,
        }
    }

    /// Reads the connections, and tells what all of them sent again in a whole second. Not for a thread that sends.
    pub(super) fn enter(&mut self, passed: Passed) -> Result<Option<u64>, ProbeError> {
        let is_second = matches!(passed, Passed::Second(_));
        let mut together = Vec::new();
        for ((stream, resent), seconds) in self.streams.iter().zip(&mut self.resent).zip(&mut self.seconds) {
            let now = tcp_moment(stream)?;
            let before = std::mem::replace(resent, now.retransmits);
            let again = now.retransmits.saturating_sub(before);
            together.push(again);
            if is_second && self.is_kept {
                seconds.retransmits.push(again);
                seconds.rtt_us.push(now.rtt_us);
                seconds.cwnd_segments.push(now.cwnd_segments);
                seconds.pacing_bps.push(now.pacing_bps);
                seconds.delivery_bps.push(now.delivery_bps);
            }
        }
        if passed == Passed::WarmUp {
            self.warmup.clone_from(&self.resent);
        }
        Ok(is_second.then(|| together.into_iter().total()))
    }

    /// Puts the warm-up and the seconds of each connection beside its state.
    pub(super) fn beside(self, states: Vec<TcpState>) -> Vec<TcpState> {
        let states = states.into_iter().zip(self.warmup).zip(self.seconds);
        let beside = |((state, warmup), seconds)| TcpState { warmup_retransmits: Some(warmup), seconds, ..state };
        states.map(beside).collect()
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
            let mut connection_states = ConnectionStates::new(&streams, &spec);
            for (passed, told) in
                [(Passed::WarmUp, None), (Passed::Second(1e9), Some(0)), (Passed::Second(2e9), Some(0))]
            {
                assert_eq!(connection_states.enter(passed).expect("connected"), told);
            }
            connection_states.warmup = vec![3];
            let connection = connection_states.beside(vec![TcpState::default()]).remove(0);
            assert_eq!(connection.warmup_retransmits, Some(3));
            let beside = connection.seconds;
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
