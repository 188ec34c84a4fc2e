//! Profiles that stories of a tuning share.

use std::fs;

use crate::program::{Desk, text};

/// The reason of each value.
pub(crate) const WHY: &str = "words of my own";

/// Values of a profile.
pub(crate) fn values(all: &[(&str, &str)]) -> String {
    let one = |(setting, value): &(&str, &str)| {
        format!("[[value]]\nwhy = \"{WHY}\"\nsource = \"somebody\"\nsetting = \"{setting}\"\nvalue = \"{value}\"\n")
    };
    all.iter().map(one).collect()
}

/// A profile in a file of the desk.
pub(crate) fn profile(desk: &Desk, values: &str) -> String {
    let path = desk.path("profile.toml");
    fs::write(&path, values).unwrap();
    text(&path).to_owned()
}
