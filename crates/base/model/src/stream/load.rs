//! Rate of a stream.

use std::{fmt, num::NonZeroU32, str::FromStr};

use derive_more::Display;

use super::words::{WordsError, as_words, keyed, number};
use crate::{
    frame_size::AROUND_FRAME,
    units::{BitRate, Nanos, PacketRate, Percent},
};

/// The load of a stream: `flat out`, `1 Mpps`, `1 Gbit/s L1`, `1 Gbit/s L2`, `10 %` (of the line), each also with `poisson`,
/// `burst 32` or `ramp` behind it, with `for 5 s` for a stream that ends before the others, and with `after 1 s` for one that begins
/// later.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Amount.
    pub rate: Rate,
    /// At which moments.
    pub pacing: Pacing,
    /// Duration; `None` is until the end of the trial.
    pub time: Option<Nanos>,
    /// Time from the beginning of the trial to its own; `None` is with it.
    pub after: Option<Nanos>,
}

/// Load that a stream offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Display)]
pub enum Rate {
    /// Highest rate that the sender reaches.
    #[default]
    #[display("flat out")]
    FlatOut,
    /// Frames a second.
    Packets(PacketRate),
    /// Bits a second on the wire, with preamble and gap: what fills a link.
    #[display("{_0} L1")]
    L1(BitRate),
    /// Bits a second of frames with FCS.
    #[display("{_0} L2")]
    L2(BitRate),
    /// A share of the line's rate.
    Line(Percent),
    /// With the times between them that the frames of a capture had.
    #[display("as captured")]
    Captured,
}

/// At which moments a stream's frames leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display)]
pub enum Pacing {
    /// One after the other, each as long after the one before.
    #[default]
    #[display("constant")]
    Constant,
    /// So many back to back, then a pause, so that the rate is met over all.
    #[display("burst {_0}")]
    Burst(NonZeroU32),
    /// Times between them by chance (exponential), with the rate as mean.
    #[display("poisson")]
    Poisson,
    /// From almost none to the rate, which is reached at the end of the time: it doubles [`DOUBLINGS`] times.
    #[display("ramp")]
    Ramp,
}

/// Name of the stream that rises to the load before the others begin. No figure counts its frames.
pub const RAMP: &str = "ramp";

/// Name of the broadcast frames beside a stream, before that of the stream. No figure counts them.
pub const BROADCASTS: &str = "broadcasts beside ";

/// Whether figures count the frames of the stream of this name.
pub fn is_counted(stream: &str) -> bool {
    stream != RAMP && !stream.starts_with(BROADCASTS)
}

/// Times that the rate of a ramp doubles, each after as long, the last time at its end.
pub const DOUBLINGS: u32 = 10;

impl Pacing {
    /// Mean rate over the time, as a share of the rate.
    pub fn mean(self) -> f64 {
        match self {
            Self::Ramp => (1.0 - 0.5_f64.powi(DOUBLINGS as i32)) / f64::from(DOUBLINGS),
            Self::Constant | Self::Burst(_) | Self::Poisson => 1.0,
        }
    }
}

/// A share of a line whose rate nobody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a share of the line takes a line with a rate, and this interface has none: write pps or bit/s instead")]
pub struct NoLineRate;

/// Units of a share of the line that a search counts in, in a percent.
const PER_PERCENT: f64 = 10_000.0;

impl Rate {
    /// Whole units of its kind: packets or bits a second, or millionths of the line; `None` for a rate that names no amount.
    pub fn amount(self) -> Option<u64> {
        match self {
            Self::FlatOut | Self::Captured => None,
            Self::Packets(rate) => Some(rate.0),
            Self::L1(rate) | Self::L2(rate) => Some(rate.0),
            Self::Line(share) => Some((share.0 * PER_PERCENT).round() as u64),
        }
    }

    /// So many units of the same kind; packets a second where it names no amount.
    pub fn with_amount(self, amount: u64) -> Self {
        match self {
            Self::FlatOut | Self::Captured | Self::Packets(_) => Self::Packets(PacketRate(amount)),
            Self::L1(_) => Self::L1(BitRate(amount)),
            Self::L2(_) => Self::L2(BitRate(amount)),
            Self::Line(_) => Self::Line(Percent(amount as f64 / PER_PERCENT)),
        }
    }

    /// Frames a second for frames of this mean size (bytes, with FCS); `None` is flat out, or what the capture says. The line's rate is needed for a share
    /// of it.
    pub fn per_second(self, mean_size: f64, line: Option<BitRate>) -> Result<Option<f64>, NoLineRate> {
        let on_wire = (mean_size + f64::from(AROUND_FRAME)) * 8.0;
        Ok(match self {
            Self::FlatOut | Self::Captured => None,
            Self::Packets(rate) => Some(rate.0 as f64),
            Self::L1(rate) => Some(rate.0 as f64 / on_wire),
            Self::L2(rate) => Some(rate.0 as f64 / (mean_size * 8.0)),
            Self::Line(share) => Some(line.ok_or(NoLineRate)?.0 as f64 * share.0 / 100.0 / on_wire),
        })
    }
}

impl FromStr for Load {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        let (load, after) = text.rsplit_once(" after ").map_or((text, None), |(load, after)| (load, Some(after)));
        let (load, time) = load.rsplit_once(" for ").map_or((load, None), |(load, time)| (load, Some(time)));
        let load = Self {
            time: time.map(|text| while_sent(text, "for")).transpose()?,
            after: after.map(|text| while_sent(text, "after")).transpose()?,
            ..load.parse::<Steady>()?.0
        };
        load.check()
    }
}

/// A load without times.
struct Steady(Load);

impl FromStr for Steady {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        if let Some(rate) = text.strip_suffix(" poisson") {
            return paced(rate, Pacing::Poisson).map(Self);
        }
        if let Some(rate) = text.strip_suffix(" ramp") {
            return paced(rate, Pacing::Ramp).map(Self);
        }
        match keyed(text, "burst") {
            (rate, Some(frames)) => {
                let frames = number(frames, "a burst", "how many frames leave back to back, 1 or more")?;
                paced(rate, Pacing::Burst(frames)).map(Self)
            }
            (rate, None) => Ok(Self(Load { rate: rate.parse()?, ..Load::default() })),
        }
    }
}

fn paced(rate: &str, pacing: Pacing) -> Result<Load, WordsError> {
    let rate = rate.parse()?;
    if rate == Rate::FlatOut {
        return Err(WordsError(format!("flat out leaves no time between frames: write a rate before \"{pacing}\"")));
    }
    if rate == Rate::Captured {
        return Err(WordsError(format!("the capture says when frames leave: write a rate before \"{pacing}\"")));
    }
    Ok(Load { rate, pacing, ..Load::default() })
}

/// A time behind this word.
fn while_sent(text: &str, word: &str) -> Result<Nanos, WordsError> {
    let time: Nanos = text.parse().map_err(|error: crate::units::UnitError| WordsError(error.to_string()))?;
    if time == Nanos(0) {
        return Err(WordsError(format!("\"{word} {text}\" names no time: write one, like \"{word} 5 s\"")));
    }
    Ok(time)
}

impl Load {
    /// Times count as frames, so that a load with one needs a rate; a ramp needs its time.
    fn check(self) -> Result<Self, WordsError> {
        if self.pacing == Pacing::Ramp && self.time.is_none() {
            return Err(WordsError(format!("\"{self}\" does not say how long it rises: write \"for 1 s\" behind it")));
        }
        if (self.time.is_some() || self.after.is_some()) && self.rate.amount().is_none() {
            return Err(WordsError(format!(
                "\"{self}\" has no rate to begin or end by: write one before the times, like \"1 Mpps\""
            )));
        }
        Ok(self)
    }
}

const POSSIBLE: &str = "\"flat out\", \"1 Mpps\", \"1 Gbit/s L1\" (with preamble and gap), \"1 Gbit/s L2\" (frames with FCS), \"10 %\" (of the line) or \"as captured\" (of a replay)";

impl FromStr for Rate {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let text = text.trim();
        let refused = |why: String| WordsError(format!("{why}; a load is {POSSIBLE}"));
        let bits = |rate: &str| rate.parse::<BitRate>().map_err(|error| refused(error.to_string()));
        let rate = if text == "flat out" {
            Self::FlatOut
        } else if text == "as captured" {
            Self::Captured
        } else if let Some(rate) = text.strip_suffix(" L1") {
            Self::L1(bits(rate)?)
        } else if let Some(rate) = text.strip_suffix(" L2") {
            Self::L2(bits(rate)?)
        } else if text.ends_with("bit/s") {
            return Err(refused(format!("\"{text}\" may be meant with preamble and gap or without")));
        } else if text.ends_with('%') {
            Self::Line(text.parse().map_err(|error: crate::units::UnitError| refused(error.to_string()))?)
        } else {
            Self::Packets(text.parse().map_err(|error: crate::units::UnitError| refused(error.to_string()))?)
        };
        possible(rate).map_err(refused)
    }
}

fn possible(rate: Rate) -> Result<Rate, String> {
    match rate {
        Rate::Packets(PacketRate(0)) | Rate::L1(BitRate(0)) | Rate::L2(BitRate(0)) => {
            Err("a rate of 0 sends nothing".to_owned())
        }
        Rate::Line(Percent(share)) if !(share > 0.0 && share <= 100.0) => {
            Err(format!("{share} % is not a share of the line: use more than 0 and 100 at the most"))
        }
        rate => Ok(rate),
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pacing {
            Pacing::Constant => write!(f, "{}", self.rate)?,
            pacing => write!(f, "{} {pacing}", self.rate)?,
        }
        self.time.map_or(Ok(()), |time| write!(f, " for {time}"))?;
        self.after.map_or(Ok(()), |after| write!(f, " after {after}"))
    }
}

as_words!(Load);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_read_back_as_it_is_written() {
        for text in [
            "flat out",
            "1 Mpps",
            "1.5 Gbit/s L1",
            "1 Gbit/s L2",
            "10 %",
            "99.5 % poisson",
            "1 kpps burst 32",
            "as captured",
            "1 Mpps for 60 s",
            "10 % burst 4 for 1.5 s",
            "1 Mpps ramp for 1 s",
            "1 Mpps after 1 s",
            "1 Mpps poisson for 2 s after 500 ms",
        ] {
            assert_eq!(text.parse::<Load>().map(|load| load.to_string()), Ok(text.to_owned()));
        }
        let error = |text: &str| text.parse::<Load>().unwrap_err().to_string();
        assert!(error("1 Gbit/s").contains("with preamble and gap or without; a load is"), "{}", error("1 Gbit/s"));
        assert!(error("0 pps").contains("sends nothing"));
        assert!(error("101 %").contains("100 at the most"));
        assert!(error("flat out poisson").contains("no time between frames"));
        assert!(error("1 Mpps burst 0").contains("1 or more"));
        assert!(error("flat out for 5 s").contains("no rate to begin or end by"));
        assert!(error("flat out after 5 s").contains("no rate to begin or end by"));
        assert!(error("1 Mpps for 0 s").contains("names no time"));
        assert!(error("1 Mpps ramp").contains("how long it rises"));
        assert!(error("1 Mpps for ever").contains("ever"), "{}", error("1 Mpps for ever"));
        assert!(error("fast").contains("\"flat out\", \"1 Mpps\""));
    }

    #[test]
    fn an_amount_is_in_whole_units_of_the_kind() {
        for (text, amount) in
            [("1 kpps", 1000), ("2 Gbit/s L1", 2_000_000_000), ("3 kbit/s L2", 3000), ("12.5 %", 125_000)]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!((rate.amount(), rate.with_amount(amount)), (Some(amount), rate), "{text}");
        }
        assert_eq!((Rate::FlatOut.amount(), Rate::FlatOut.with_amount(7)), (None, Rate::Packets(PacketRate(7))));
    }

    #[test]
    fn a_line_carries_as_many_frames_as_ethernet_lets_through() {
        let ten = Some(BitRate(10_000_000_000));
        let rate = |text: &str| text.parse::<Rate>().unwrap().per_second(64.0, ten).unwrap().unwrap().floor();
        assert_eq!(rate("100 %"), 14_880_952.0);
        assert_eq!(rate("10 Gbit/s L1"), 14_880_952.0);
        assert_eq!(rate("512 kbit/s L2"), 1000.0);
        assert_eq!(Rate::FlatOut.per_second(64.0, None), Ok(None));
        assert_eq!("1 %".parse::<Rate>().unwrap().per_second(64.0, None), Err(NoLineRate));
    }
}
