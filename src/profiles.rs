//! Profiles of tuning: those that come with the program, the user's own, and those of tuned.

use std::path::{Path, PathBuf};

use kernel::file::read_as_sudo_user;
use model::{
    inspection::Goal,
    tuning::{LONGEST_PROFILE, Profile, from_tuned},
};

use crate::exit::Words;

/// Folders of tuned's profiles, those of the administrator first.
const TUNED: [&str; 4] = ["/etc/tuned/profiles", "/etc/tuned", "/usr/lib/tuned/profiles", "/usr/lib/tuned"];

/// A profile with its name, and lines of another program's that have no meaning here.
pub(crate) struct Chosen {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) not_understood: Vec<String>,
}

/// The profile of a goal.
pub(crate) fn of_goal(goal: Goal) -> Chosen {
    Chosen { name: goal.to_string(), profile: checks::profile(goal).clone(), not_understood: vec![] }
}

/// A profile of the user's own.
pub(crate) fn of_file(path: &Path) -> anyhow::Result<Chosen> {
    let shown = path.display();
    let bytes =
        read_as_sudo_user(path, LONGEST_PROFILE).map_err(|error| Words(format!("cannot read {shown}: {error}")))?;
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let text = text.ok_or_else(|| {
        Words(format!("{shown} is no profile: it has to be a text file of at most {} KiB", LONGEST_PROFILE >> 10))
    })?;
    let profile = Profile::parse(&text).map_err(|error| Words(format!("{shown}: {error}")))?;
    Ok(Chosen { name: shown.to_string(), profile, not_understood: vec![] })
}

/// A profile of another program, as `tuned:NAME`.
pub(crate) fn of_other(from: &str) -> anyhow::Result<Chosen> {
    let name = from.strip_prefix("tuned:").filter(|name| is_name(name));
    let name = name.ok_or_else(|| Words(format!("--from {from}: use tuned:NAME, like tuned:network-latency")))?;
    let mut read = |name: &str| {
        let paths = TUNED.map(|folder| PathBuf::from(folder).join(name).join("tuned.conf"));
        let texts = paths
            .iter()
            .filter(|_| is_name(name))
            .filter_map(|path| String::from_utf8(read_as_sudo_user(path, LONGEST_PROFILE).ok()??).ok());
        texts.into_iter().next()
    };
    let (profile, not_understood) = from_tuned(name, &mut read).map_err(|error| Words(error.to_string()))?;
    Ok(Chosen { name: from.to_owned(), profile, not_understood })
}

/// Whether it names a folder and leads out of none.
fn is_name(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    !name.is_empty() && !name.starts_with('.') && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_goal_has_a_profile() {
        for word in Goal::WORDS {
            assert!(of_goal(word.parse().unwrap()).profile.values.len() > 5, "{word}");
        }
    }

    #[test]
    fn names_of_other_profiles_lead_nowhere_else() {
        for from in ["tuned:", "tuned:../x", "tuned:a/b", "tuned:.x", "other:x", "x"] {
            assert!(of_other(from).is_err(), "{from}");
        }
    }
}
