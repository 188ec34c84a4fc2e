//! Time zone in which people read times. Documents for programs have UTC.

use std::{env, ffi::OsString};

use jiff::{
    Timestamp, Zoned,
    tz::{self, TimeZone},
};
use kernel::privilege;
use model::{Identity, nearest::nearest};

use crate::exit::Words;

/// The time zone of a document: the one that it names, or that of the calling user.
pub(crate) fn of(identity: Option<&Identity>) -> Result<TimeZone, Words> {
    identity.and_then(|identity| identity.timezone.as_deref()).map_or_else(|| Ok(of_caller()), named)
}

/// A time zone by its name, like Asia/Tokyo.
pub(crate) fn named(name: &str) -> Result<TimeZone, Words> {
    TimeZone::get(name).map_err(|_| {
        let known: Vec<String> = tz::db().available().map(|name| name.to_string()).collect();
        let meant = nearest(name, known.iter().map(String::as_str));
        let hint = match meant {
            Some(meant) => format!("did you mean {meant}?"),
            None if known.len() <= 1 => "this machine has no time zones; install tzdata, or say UTC".to_owned(),
            None => "name one like Asia/Tokyo or UTC".to_owned(),
        };
        Words(format!("timezone: there is no time zone \"{name}\" here; {hint}"))
    })
}

/// The time zone of the calling user, also through sudo: as TZ says, else that of the machine. UTC where neither can be read.
pub(crate) fn of_caller() -> TimeZone {
    read().1.unwrap_or(TimeZone::UTC)
}

/// The value of TZ where there is no such time zone here, so that times are in UTC.
pub(crate) fn unknown() -> Option<String> {
    let (value, zone) = read();
    let value = value.filter(|value| zone.is_none() && !value.is_empty())?;
    Some(value.to_string_lossy().into_owned())
}

/// The value of TZ, and the time zone by it, or that of the machine.
fn read() -> (Option<OsString>, Option<TimeZone>) {
    let own = env::var_os("TZ");
    // sudo may be told to pass on nothing.
    let through_sudo = || privilege::sudo_user().ok().flatten().and_then(|_| privilege::callers_variable("TZ"));
    match through_sudo().filter(|_| own.is_none()) {
        Some(value) => {
            let zone = value.to_str().and_then(from_variable);
            (Some(value), zone)
        }
        None => (own, TimeZone::try_system().ok()),
    }
}

/// An RFC 3339 time to the minute, with its zone; as it is if it is none.
pub(crate) fn minute(rfc3339: &str, zone: &TimeZone) -> String {
    let time = rfc3339.parse::<Timestamp>().map(|time| time.to_zoned(zone.clone()));
    time.map_or_else(|_| rfc3339.to_owned(), |time| written(&time, "%Y-%m-%d %H:%M"))
}

/// A time in this format, with its zone in short: Z, an abbreviation, or an offset.
pub(crate) fn written(time: &Zoned, format: &str) -> String {
    let zone = time.strftime("%Z").to_string();
    let zone = if zone == "UTC" { "Z".to_owned() } else { format!(" {zone}") };
    format!("{}{zone}", time.strftime(format))
}

/// A value of TZ: a name, perhaps behind a colon, or a rule (POSIX.1-2024, 8.3).
fn from_variable(value: &str) -> Option<TimeZone> {
    let name = value.strip_prefix(':').unwrap_or(value);
    TimeZone::get(name).or_else(|_| TimeZone::posix(name)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_of_tz_is_a_name_or_a_rule() {
        let name = |value| from_variable(value).and_then(|zone| zone.iana_name().map(str::to_owned));
        assert_eq!([name("Asia/Tokyo"), name(":Asia/Tokyo")], [(); 2].map(|()| Some("Asia/Tokyo".to_owned())));
        assert!(from_variable("JST-9").is_some() && from_variable("no zone").is_none());
    }

    #[test]
    fn short_times_carry_their_zone() {
        let shown = |zone: &str| minute("2026-11-21T15:15:30Z", &from_variable(zone).unwrap());
        assert_eq!(shown("UTC"), "2026-11-21 15:15Z");
        assert_eq!(shown("JST-9"), "2026-11-22 00:15 JST");
        assert_eq!(shown("<+0545>-5:45"), "2026-11-21 21:00 +0545");
        assert_eq!(minute("soon", &TimeZone::UTC), "soon");
    }

    #[test]
    fn a_document_names_its_zone() {
        let identity = Identity { timezone: Some("Asia/Tokyo".into()), ..Identity::default() };
        assert_eq!(of(Some(&identity)).unwrap().iana_name(), Some("Asia/Tokyo"));
        let error = named("Asia/Tokio").unwrap_err().to_string();
        assert!(error.contains("did you mean Asia/Tokyo?"), "{error}");
    }
}
