//! Addresses of Ethernet.

use std::{fmt, str::FromStr};

use super::words::as_words;

/// A MAC address, written like `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

/// Text that is no MAC address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not a MAC address; write it like 02:00:00:00:00:01")]
pub struct MacError(String);

impl Mac {
    /// To all stations.
    pub const BROADCAST: Self = Self([0xff; 6]);

    /// Whether it names a group of stations, as broadcast does: no frame comes from such an address.
    pub fn is_group(self) -> bool {
        self.0[0] & 1 == 1
    }
}

impl FromStr for Mac {
    type Err = MacError;

    fn from_str(text: &str) -> Result<Self, MacError> {
        let two_digits = |part: &str| {
            (part.len() == 2 && !part.starts_with('+')).then(|| u8::from_str_radix(part, 16).ok()).flatten()
        };
        let bytes: Option<Vec<u8>> = text.split(':').map(two_digits).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(Self).ok_or_else(|| MacError(text.to_owned()))
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

as_words!(Mac);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_written() {
        assert_eq!("02:00:5E:00:00:ff".parse::<Mac>().map(|mac| mac.to_string()), Ok("02:00:5e:00:00:ff".to_owned()));
        for wrong in
            ["", "02:00:00:00:00", "02:00:00:00:00:01:02", "2:0:0:0:0:1", "+2:00:00:00:00:01", "02-00-00-00-00-01"]
        {
            assert!(wrong.parse::<Mac>().is_err(), "{wrong}");
        }
        assert!(Mac::BROADCAST.is_group() && !Mac([2, 0, 0, 0, 0, 1]).is_group());
    }
}
