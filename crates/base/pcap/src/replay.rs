//! Captured frames made ready to be sent again.

use model::{Mtu, Nanos, frame_size::ETHERNET_HEADER, stream::MOST_VLANS};

use crate::Frame;

/// The shortest frame, without FCS: shorter ones are padded with zeros, as a card would.
const SHORTEST: usize = 60;

/// Frames to be sent again, round after round, with the times that they had or at another rate.
///
/// They are sent as they were captured: they carry no tag, so that a receiver counts them, but not by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// When each is due within its round, and its bytes without FCS.
    frames: Vec<(Nanos, Vec<u8>)>,
    round: Nanos,
}

/// Frames that cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// None at all.
    #[error("there are no frames to send")]
    Empty,
    /// The capture kept only a part of it.
    #[error("frame {frame} was cut by the capture ({kept} of {length} bytes): capture whole frames, with tcpdump -s 0")]
    Cut {
        /// Counts from 1.
        frame: usize,
        /// Bytes that were kept.
        kept: usize,
        /// Bytes that it had.
        length: u32,
    },
    /// Too long for the path.
    #[error(
        "{count} of its frames are too long: frame {frame} has {length} bytes, and MTU {mtu} lets {most} through (without FCS); \
         --mtu gives a bed another"
    )]
    TooLong {
        /// Number of these frames.
        count: usize,
        /// The first of them; counts from 1.
        frame: usize,
        /// Bytes, without FCS.
        length: usize,
        /// The interface's MTU.
        mtu: u32,
        /// Packets to replay, without FCS.
        most: usize,
    },
    /// Less than an Ethernet header.
    #[error("frame {frame} is shorter than an Ethernet header")]
    TooShort {
        /// Counts from 1.
        frame: usize,
    },
}

impl Replay {
    /// Makes frames ready to be sent through this MTU. A time that lies before that of the frame ahead counts as the same.
    pub fn new(frames: Vec<Frame>, mtu: Mtu) -> Result<Self, ReplayError> {
        let first = frames.first().ok_or(ReplayError::Empty)?.time.0;
        fits(&frames, mtu)?;
        let mut due = 0;
        let mut ready = Vec::with_capacity(frames.len());
        for (number, frame) in frames.into_iter().enumerate() {
            check(number + 1, &frame)?;
            due = due.max(frame.time.0.saturating_sub(first));
            let mut bytes = frame.bytes;
            bytes.resize(bytes.len().max(SHORTEST), 0);
            ready.push((Nanos(due), bytes));
        }
        // The next round begins a mean gap behind the last frame, so that the rate stays.
        let gaps = ready.len().saturating_sub(1).max(1) as u64;
        Ok(Self { frames: ready, round: Nanos(due.saturating_add(due / gaps)) })
    }

    /// Frame `index` without FCS; the first one comes again after the last.
    pub fn frame(&self, index: u64) -> &[u8] {
        &self.frames[self.place(index)].1
    }

    /// When frame `index` is due, counted from the first, as it was captured.
    pub fn due(&self, index: u64) -> Nanos {
        let rounds = index / self.frames.len() as u64;
        Nanos(rounds.saturating_mul(self.round.0).saturating_add(self.frames[self.place(index)].0.0))
    }

    /// Frames, each with its bytes without FCS.
    pub fn frames(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.frames.iter().map(|(_, bytes)| bytes.as_slice())
    }

    /// Frames a second, as they were captured; `None` where all have one time.
    pub fn rate(&self) -> Option<f64> {
        (self.round.0 > 0).then(|| self.frames.len() as f64 * 1e9 / self.round.0 as f64)
    }

    /// Bytes of its longest frame, without FCS.
    pub fn longest(&self) -> usize {
        self.frames.iter().map(|(_, bytes)| bytes.len()).max().unwrap_or(0)
    }

    fn place(&self, index: u64) -> usize {
        (index % self.frames.len() as u64) as usize
    }
}

fn fits(frames: &[Frame], mtu: Mtu) -> Result<(), ReplayError> {
    let most = |frame: &Frame| (mtu.0 + ETHERNET_HEADER) as usize + 4 * vlan_tags(&frame.bytes);
    let mut too_long = (1..).zip(frames).filter(|(_, frame)| frame.bytes.len() > most(frame));
    let Some((number, first)) = too_long.next() else { return Ok(()) };
    let (length, most, count) = (first.bytes.len(), most(first), 1 + too_long.count());
    Err(ReplayError::TooLong { count, frame: number, length, mtu: mtu.0, most })
}

fn check(number: usize, frame: &Frame) -> Result<(), ReplayError> {
    let kept = frame.bytes.len();
    if kept < frame.length as usize {
        return Err(ReplayError::Cut { frame: number, kept, length: frame.length });
    }
    if kept < ETHERNET_HEADER as usize {
        return Err(ReplayError::TooShort { frame: number });
    }
    Ok(())
}

/// VLAN tags come on top of the MTU.
fn vlan_tags(frame: &[u8]) -> usize {
    let is_tag = |place: usize| matches!(frame.get(12 + 4 * place..14 + 4 * place), Some([0x81, 0] | [0x88, 0xa8]));
    (0..MOST_VLANS).take_while(|place| is_tag(*place)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(time: u64, length: usize) -> Frame {
        Frame { time: Nanos(time), bytes: vec![1; length], length: length as u32 }
    }

    #[test]
    fn frames_come_again_in_the_rhythm_they_had() {
        let replay =
            Replay::new(vec![frame(1000, 14), frame(1100, 100), frame(1090, 60), frame(1300, 60)], Mtu(1500)).unwrap();
        let due: Vec<u64> = (0..9).map(|index| replay.due(index).0).collect();
        assert_eq!(due, [0, 100, 100, 300, 400, 500, 500, 700, 800]);
        assert_eq!((replay.frame(0).len(), replay.frame(5).len(), replay.longest()), (60, 100, 100));
    }

    #[test]
    fn frames_that_cannot_be_sent_are_named() {
        let error = |frames| Replay::new(frames, Mtu(1500)).unwrap_err().to_string();
        assert!(error(vec![]).contains("no frames"));
        assert!(error(vec![Frame { length: 1000, ..frame(0, 96) }]).contains("cut by the capture (96 of 1000 bytes)"));
        assert!(
            error(vec![frame(0, 60), frame(0, 1515)])
                .contains("1 of its frames are too long: frame 2 has 1515 bytes, and MTU 1500 lets 1514 through")
        );
        assert!(error(vec![frame(0, 13)]).contains("shorter than an Ethernet header"));
        let mut tagged = frame(0, 1518);
        tagged.bytes[12..14].copy_from_slice(&[0x81, 0]);
        assert!(Replay::new(vec![tagged], Mtu(1500)).is_ok());
    }
}
