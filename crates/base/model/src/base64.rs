//! Bytes as Base64 where they are written as text: `#[serde(with = "base64")]`.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    BASE64_STANDARD.decode(String::deserialize(deserializer)?).map_err(D::Error::custom)
}
