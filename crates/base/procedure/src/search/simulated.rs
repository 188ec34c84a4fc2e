//! Simulated devices: how much of a load each loses, by a seed.

/// Numbers that look random and follow from a seed (SplitMix64).
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Between 0 and 1, neither included.
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64 + f64::EPSILON / 4.0
    }

    /// Exponentially distributed, with a mean of 1.
    fn exponential(&mut self) -> f64 {
        -self.share().ln()
    }
}

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Forwards up to its capacity.
    HardLimit,
    /// Has a little less capacity in each trial.
    Noisy,
    /// Forwards nothing for a moment, now and then.
    Bursty,
    /// Buffers what is above its capacity, until the buffer is full: short trials lose less.
    Buffering,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::HardLimit, Kind::Noisy, Kind::Bursty, Kind::Buffering];

/// Loads between which devices have their capacity, and those between which they are searched.
pub(crate) const LEAST_CAPACITY: f64 = 1e5;
pub(crate) const MOST_CAPACITY: f64 = 1.2e7;
pub(crate) const MIN_LOAD: u64 = 10_000;
pub(crate) const MAX_LOAD: u64 = 14_880_952;

/// Mean share of the capacity that noise takes.
const NOISE: f64 = 0.01;
/// Moments without forwarding in a second, and how long they are.
const BURSTS: f64 = 0.02;
const BURST_S: f64 = 0.002;
/// Buffer, as the time in which the device forwards as much.
const BUFFER_S: f64 = 0.02;

/// A simulated device.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    kind: Kind,
    capacity: f64,
    random: Random,
}

impl Device {
    pub(crate) fn new(kind: Kind, seed: u64) -> Self {
        let mut random = Random(seed);
        let capacity = LEAST_CAPACITY * (MOST_CAPACITY / LEAST_CAPACITY).powf(random.share());
        Self { kind, capacity, random }
    }

    /// Share of the frames that it loses in a trial.
    pub(crate) fn loss_ratio(&mut self, load: f64, seconds: f64) -> f64 {
        let sent = (load * seconds).floor().max(1.0);
        let forwarded = match self.kind {
            Kind::HardLimit => self.capacity * seconds,
            Kind::Noisy => self.capacity * seconds * (1.0 - NOISE * self.random.exponential()),
            Kind::Bursty => self.capacity.min(load) * (seconds - BURST_S * self.bursts(seconds)),
            Kind::Buffering => self.capacity * (seconds + BUFFER_S),
        };
        (sent - forwarded).max(0.0).floor() / sent
    }

    fn bursts(&mut self, seconds: f64) -> f64 {
        let (mut bursts, mut time) = (0.0, self.random.exponential() / BURSTS);
        while time < seconds {
            bursts += 1.0;
            time += self.random.exponential() / BURSTS;
        }
        bursts
    }

    /// Loads between which trials of this duration exceed a loss ratio with a probability of a quarter to three quarters; a goal
    /// that tolerates half of its trials to do so has its result there.
    pub(crate) fn true_interval(&self, loss_ratio: f64, seconds: f64) -> [f64; 2] {
        let [worse, better] = match self.kind {
            Kind::Noisy => [0.25f64, 0.75].map(|share| 1.0 + NOISE * share.ln()),
            Kind::HardLimit | Kind::Bursty => [1.0; 2],
            Kind::Buffering => [1.0 + BUFFER_S / seconds; 2],
        };
        // A single frame more is not lost.
        let frame = 1.0 / seconds;
        [worse, better + frame / self.capacity].map(|share| self.capacity * share / (1.0 - loss_ratio))
    }
}
