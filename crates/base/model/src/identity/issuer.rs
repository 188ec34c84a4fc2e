//! Issuer of a document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{IdentityError, meaning, one_line, prose};

/// The organisation that issues the document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Issuer {
    /// Name.
    pub name: Option<String>,
    /// Address, one line or several.
    pub address: Option<String>,
    /// Logo: name of an SVG or PNG file, relative to the file that names it.
    pub logo: Option<String>,
}

impl Issuer {
    pub(super) fn or(self, older: Self) -> Self {
        Self { name: self.name.or(older.name), address: self.address.or(older.address), logo: self.logo.or(older.logo) }
    }

    pub(super) fn check(&self) -> Result<(), IdentityError> {
        self.name.as_deref().map_or(Ok(()), one_line).map_err(|why| meaning("issuer.name", why))?;
        self.address.as_deref().map_or(Ok(()), prose).map_err(|why| meaning("issuer.address", why))
    }
}
