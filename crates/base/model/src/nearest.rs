//! Names that may be meant in the place of one that there is not.

/// Less alike, and nobody would see why it is named.
const ALIKE: f64 = 0.75;

/// Names that are much like this one, in order.
pub fn alike<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| strsim::jaro_winkler(wanted, name) >= ALIKE).collect()
}

/// The one that is most like this one.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &&str| strsim::jaro_winkler(wanted, name);
    let alike = names.into_iter().filter(|name| likeness(name) >= ALIKE);
    alike.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
}

/// A question to stand behind an error; empty where none is much like this one.
pub fn did_you_mean<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wanted, names).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_alike_name_is_meant() {
        let names = ["quick", "certify", "loopback", "latency", "path"];
        assert_eq!(nearest("cerify", names), Some("certify"));
        assert_eq!(nearest("loopbck", names), Some("loopback"));
        assert_eq!([nearest("zzz", names), nearest("", names)], [None, None]);
        assert_eq!([did_you_mean("pth", names), did_you_mean("zzz", names)], ["; did you mean path?", ""]);
    }
}
