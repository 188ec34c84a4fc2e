//! VLAN tags.

use std::{fmt, str::FromStr};

use super::words::{WordsError, as_words, keyed, number};

/// A VLAN tag (IEEE 802.1Q): `100`, `100 priority 3`, `100 priority 3 tpid 0x9100`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Identifier, 0 to 4094.
    pub id: u16,
    /// Priority code point, 0 to 7.
    pub priority: u8,
    /// EtherType that announces it; `None` is 0x8100, and 0x88a8 for the outer one of two (IEEE 802.1ad).
    pub tpid: Option<u16>,
}

impl FromStr for Vlan {
    type Err = WordsError;

    fn from_str(text: &str) -> Result<Self, WordsError> {
        let (rest, tpid) = keyed(text, "tpid");
        let (id, priority) = keyed(rest, "priority");
        let refused = |what: String| Err(WordsError(what));
        let id: u16 = number(id, "a VLAN", "its number, 0 to 4094, like \"100\" or \"100 priority 3\"")?;
        if id > 4094 {
            return refused(format!("there is no VLAN {id}: use 0 to 4094"));
        }
        let priority: u8 = priority.map_or(Ok(0), |text| number(text, "a priority", "0 to 7"))?;
        if priority > 7 {
            return refused(format!("there is no priority {priority}: use 0 to 7"));
        }
        let Some(text) = tpid else { return Ok(Self { id, priority, tpid: None }) };
        let digits = text.strip_prefix("0x").unwrap_or(text);
        match u16::from_str_radix(digits, 16) {
            // Below, the two bytes are a length, not a type (IEEE 802.3).
            Ok(tpid) if tpid >= 0x600 => Ok(Self { id, priority, tpid: Some(tpid) }),
            _ => refused(format!("\"{text}\" is not a TPID: use one like 0x8100, 0x88a8 or 0x9100")),
        }
    }
}

impl fmt::Display for Vlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        if self.priority > 0 || self.tpid.is_some() {
            write!(f, " priority {}", self.priority)?;
        }
        self.tpid.map_or(Ok(()), |tpid| write!(f, " tpid {tpid:#06x}"))
    }
}

as_words!(Vlan);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_read_back_as_it_is_written() {
        for text in ["0", "100", "4094 priority 7", "100 priority 0 tpid 0x9100"] {
            assert_eq!(text.parse::<Vlan>().map(|vlan| vlan.to_string()), Ok(text.to_owned()));
        }
        let error = |text: &str| text.parse::<Vlan>().unwrap_err().to_string();
        assert!(error("4095").contains("use 0 to 4094"));
        assert!(error("1 priority 8").contains("use 0 to 7"));
        assert!(error("1 tpid 0x42").contains("like 0x8100"));
        assert!(error("red").contains("\"red\" is not a VLAN"));
    }
}
