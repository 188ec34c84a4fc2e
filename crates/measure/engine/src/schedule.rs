//! Due times of a stream's frames: an absolute schedule, independent of late frames.

use std::sync::Arc;

use model::{
    Nanos,
    stream::{DOUBLINGS, Load, Pacing},
};
use pcap::Replay;

/// Frames later than this are given up, so that a delayed sender does not flood the path afterwards.
const CATCH_UP: u64 = 10_000_000;

/// Schedule of one stream on one sending core.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    began: u64,
    gap_ns: f64,
    pacing: Pacing,
    /// Time of a ramp.
    ramp_ns: f64,
    /// Number of the next frame on this core.
    next: u64,
    /// When it is due, in ns after the beginning.
    due_ns: f64,
    /// Offset of this core among the others, for an even total rate.
    shift_ns: f64,
    given_up: u64,
    chance: SplitMix64,
    /// A capture with its own times, instead.
    captured: Option<Arc<Replay>>,
}

impl Schedule {
    /// `rate` is the stream's, in frames per second from all `cores` together; `core` is this one's number, from 0.
    pub(crate) fn new(began: Nanos, rate: f64, load: Load, core: usize, cores: usize) -> Self {
        let pacing = load.pacing;
        let began = Nanos(began.0 + load.after.unwrap_or_default().0);
        let gap_ns = 1e9 * cores as f64 / rate;
        let frames = if let Pacing::Burst(frames) = pacing { f64::from(frames.get()) } else { 1.0 };
        let shift_ns = gap_ns * frames * core as f64 / cores as f64;
        let chance = SplitMix64(began.0 ^ (core as u64) << 56);
        let mut schedule = Self {
            began: began.0,
            gap_ns,
            pacing,
            ramp_ns: load.time.unwrap_or_default().0 as f64,
            next: 0,
            due_ns: shift_ns,
            shift_ns,
            given_up: 0,
            chance,
            captured: None,
        };
        if pacing == Pacing::Poisson {
            schedule.due_ns = schedule.wait();
        }
        schedule
    }

    /// Times of a capture's frames, scaled to a mean of `rate` per second.
    pub(crate) fn captured(began: Nanos, rate: f64, replay: &Arc<Replay>) -> Self {
        Self { captured: Some(Arc::clone(replay)), ..Self::new(began, rate, Load::default(), 0, 1) }
    }

    /// A schedule without frames.
    pub(crate) fn never() -> Self {
        const FAR_AWAY: f64 = (u64::MAX / 2) as f64;
        Self { due_ns: FAR_AWAY, ..Self::new(Nanos(0), 1.0, Load::default(), 0, 1) }
    }

    /// Mean gap between frames.
    pub(crate) fn gap_ns(&self) -> f64 {
        self.gap_ns
    }

    /// Due time of the next frame.
    #[inline]
    pub(crate) fn due(&self) -> Nanos {
        Nanos(self.began + self.given_up + self.due_ns as u64)
    }

    /// Records that the next frame is sent now; returns its lateness. Frames too late are given up.
    #[inline]
    pub(crate) fn leave(&mut self, now: Nanos) -> u64 {
        let behind = now.0.saturating_sub(self.due().0);
        self.given_up += behind.saturating_sub(CATCH_UP);
        self.next += 1;
        if let Some(replay) = &self.captured {
            self.due_ns = replay.due(self.next).0 as f64;
            return behind;
        }
        // From the number rather than the previous time: rounding errors do not add up.
        match self.pacing {
            Pacing::Constant => self.due_ns = self.shift_ns + self.next as f64 * self.gap_ns,
            Pacing::Burst(frames) => {
                let frames = u64::from(frames.get());
                self.due_ns = self.shift_ns + (self.next / frames * frames) as f64 * self.gap_ns;
            }
            Pacing::Poisson => self.due_ns += self.wait(),
            Pacing::Ramp => self.due_ns += self.gap_ns * self.slowed(),
        }
        behind
    }

    /// Total time given up.
    pub(crate) fn given_up(&self) -> Nanos {
        Nanos(self.given_up)
    }

    /// Gaps between two frames of a ramp, as multiples of the last ones.
    fn slowed(&self) -> f64 {
        let doublings = (self.due_ns / self.ramp_ns * f64::from(DOUBLINGS)).clamp(0.0, f64::from(DOUBLINGS)) as u32;
        f64::from(1_u32 << (DOUBLINGS - doublings))
    }

    /// A random gap: exponential, with the mean gap.
    fn wait(&mut self) -> f64 {
        // 1 − u is above 0.
        -(1.0 - self.chance.share()).ln() * self.gap_ns
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): fast, and random enough for schedules.
#[derive(Clone, Debug)]
struct SplitMix64(u64);

impl SplitMix64 {
    /// Uniform in 0 to 1, exclusive.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;

    /// Due times of the first frames, each sent on time.
    fn dues(mut schedule: Schedule, count: usize) -> Vec<u64> {
        let due = || {
            let due = schedule.due();
            assert_eq!(schedule.leave(due), 0);
            due.0
        };
        std::iter::repeat_with(due).take(count).collect()
    }

    /// The schedule of one core.
    fn schedule(began: u64, rate: f64, pacing: Pacing) -> Schedule {
        Schedule::new(Nanos(began), rate, Load { pacing, ..Load::default() }, 0, 1)
    }

    fn burst(frames: u32) -> Pacing {
        Pacing::Burst(NonZeroU32::new(frames).expect("not 0"))
    }

    #[test]
    fn frames_are_even_and_rounding_does_not_add_up() {
        let schedule = schedule(1_000, 3e6, Pacing::Constant);
        let dues = dues(schedule, 3_000_001);
        assert_eq!(dues[..4], [1_000, 1_333, 1_666, 2_000]);
        assert_eq!(dues[3_000_000], 1_000_001_000);
    }

    #[test]
    fn cores_take_turns() {
        let core = |core| dues(Schedule::new(Nanos(0), 1e6, Load::default(), core, 4), 3);
        assert_eq!(
            (core(0), core(1), core(3)),
            (vec![0, 4000, 8000], vec![1000, 5000, 9000], vec![3000, 7000, 11_000])
        );
        let core = |core| dues(Schedule::new(Nanos(0), 1e6, Load { pacing: burst(2), ..Load::default() }, core, 2), 4);
        assert_eq!((core(0), core(1)), (vec![0, 0, 4000, 4000], vec![2000, 2000, 6000, 6000]));
    }

    #[test]
    fn a_burst_leaves_at_once_and_keeps_the_rate() {
        let dues = dues(schedule(0, 1e6, burst(3)), 7);
        assert_eq!(dues, [0, 0, 0, 3000, 3000, 3000, 6000]);
    }

    #[test]
    fn times_by_chance_have_the_mean_and_the_spread_of_a_poisson_process() {
        const COUNT: usize = 100_000;
        let dues = dues(schedule(5, 1e6, Pacing::Poisson), COUNT);
        let gaps: Vec<f64> = dues.windows(2).map(|two| (two[1] - two[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        // Standard errors: 0.3 % of the mean, and 0.5 % of the deviation, which equals the mean.
        assert!((mean - 1000.0).abs() < 15.0 && (variance.sqrt() - 1000.0).abs() < 25.0, "{mean} {}", variance.sqrt());
        let beyond = gaps.iter().filter(|gap| **gap > 2000.0).count() as f64 / gaps.len() as f64;
        assert!((beyond - (-2.0_f64).exp()).abs() < 0.006, "{beyond}");
    }

    #[test]
    fn a_ramp_doubles_ten_times_and_a_later_beginning_shifts_it() {
        let load: Load = "1 Mpps ramp for 100 ms after 1 s".parse().expect("a load");
        let count = (1e6 * 0.1 * Pacing::Ramp.mean()) as usize;
        let dues = dues(Schedule::new(Nanos(0), 1e6, load, 0, 1), count);
        assert_eq!(dues[..2], [1_000_000_000, 1_001_024_000]);
        let of_step = |step: u64| {
            let from = 1_000_000_000 + step * 10_000_000;
            dues.iter().filter(|due| (from..from + 10_000_000).contains(*due)).count()
        };
        for step in 0..10 {
            let expected = 10_000_usize >> (10 - step);
            assert!(of_step(step).abs_diff(expected) <= 2, "{step}: {} of {expected}", of_step(step));
        }
        assert!((1_099_990_000..=1_100_010_000).contains(dues.last().expect("frames")), "{:?}", dues.last());
    }

    #[test]
    fn a_late_frame_shifts_nothing_unless_it_is_too_late() {
        let mut schedule = schedule(0, 1e6, Pacing::Constant);
        assert_eq!(schedule.leave(Nanos(9_000_000)), 9_000_000);
        assert_eq!((schedule.due(), schedule.given_up()), (Nanos(1_000), Nanos(0)));
        assert_eq!(schedule.leave(Nanos(15_001_000)), 15_000_000);
        assert_eq!((schedule.due(), schedule.given_up()), (Nanos(5_002_000), Nanos(5_000_000)));
    }
}
