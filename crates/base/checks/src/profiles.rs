//! Profiles that come with the program: the one source of the values that an inspection and a tuning want.

use std::sync::LazyLock;

use model::{
    inspection::Goal,
    tuning::{Profile, ProfileError},
};

type Parsed = LazyLock<Result<Profile, ProfileError>>;

static LATENCY: Parsed = LazyLock::new(|| Profile::parse(include_str!("../../../../profiles/latency.toml")));
static THROUGHPUT: Parsed = LazyLock::new(|| Profile::parse(include_str!("../../../../profiles/throughput.toml")));
static ROUTER: Parsed = LazyLock::new(|| Profile::parse(include_str!("../../../../profiles/router.toml")));
static BYPASS: Parsed = LazyLock::new(|| Profile::parse(include_str!("../../../../profiles/bypass.toml")));

/// The profile of a goal.
///
/// # Panics
/// The program was built with a file that is no profile; a test reads all of them.
pub fn profile(goal: Goal) -> &'static Profile {
    let parsed = match goal {
        Goal::Latency => &LATENCY,
        Goal::Throughput => &THROUGHPUT,
        Goal::Router => &ROUTER,
        Goal::Bypass => &BYPASS,
    };
    match &**parsed {
        Ok(profile) => profile,
        Err(error) => panic!("profile {goal}: {error}"),
    }
}
