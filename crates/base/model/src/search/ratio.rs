//! Ratios between 0 and 1, as people write them.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use crate::units::Percent;

/// A ratio, written as a share of 1 (`0.005`) or in percent (`"0.5 %"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

/// Text that is no ratio.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no ratio; write it like 0.005 or \"0.5 %\"")]
pub struct RatioError(String);

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let text = text.trim();
        let share = match text.ends_with('%') {
            true => text.parse::<Percent>().ok().map(|Percent(percent)| percent / 100.0),
            false => text.parse::<f64>().ok(),
        };
        share.filter(|share| share.is_finite()).map(Self).ok_or_else(|| RatioError(text.to_owned()))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> Deserialize<'de> for Ratio {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Written)
    }
}

impl JsonSchema for Ratio {
    fn schema_name() -> Cow<'static, str> {
        "Ratio".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

/// Reads a number or a text.
struct Written;

impl Visitor<'_> for Written {
    type Value = Ratio;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a ratio: write it like 0.005 or \"0.5 %\"")
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<Ratio, E> {
        Ok(Ratio(share))
    }

    fn visit_u64<E: de::Error>(self, share: u64) -> Result<Ratio, E> {
        Ok(Ratio(share as f64))
    }

    fn visit_i64<E: de::Error>(self, share: i64) -> Result<Ratio, E> {
        Ok(Ratio(share as f64))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Ratio, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_a_share_or_percent_and_a_finite_number() {
        let ratio = |text: &str| text.parse::<Ratio>().ok();
        assert_eq!([ratio("0.005"), ratio(" 0.5 % "), ratio("0.5%")], [Some(Ratio(0.005)); 3]);
        assert_eq!([ratio("nan"), ratio("inf"), ratio("half"), ratio("%"), ratio("")], [None; 5]);
    }
}
