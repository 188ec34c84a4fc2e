//! A run as workflow commands of GitHub Actions, which shows them beside the job.

use super::cases::{Cases, Ending};
use crate::material::Material;

/// An error for each criterion that failed, a notice for each that is open, and a warning for each doubt. English always.
pub fn annotations(material: &Material<'_>) -> String {
    let Cases { cases, doubts } = Cases::of(material);
    let of_case = |case: &super::cases::Case| match &case.ending {
        Ending::Passed => None,
        Ending::Failed(why) => Some(command("error", &case.name, why)),
        Ending::Skipped(why) => Some(command("notice", &case.name, why)),
    };
    let doubts = doubts.iter().map(|doubt| command("warning", "doubt", doubt));
    cases.iter().filter_map(of_case).chain(doubts).collect()
}

fn command(level: &str, title: &str, message: &str) -> String {
    let data = |words: &str| words.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title=wireproof%3A {property}::{}\n", data(message))
}
