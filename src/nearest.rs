//! Names that may be meant in the place of one that there is not.

/// Less alike, and nobody would see why it is named.
const ALIKE: f64 = 0.75;

/// Names that are much like this one, in order.
pub(crate) fn alike<'a>(wanted: &str, names: &[&'a str]) -> Vec<&'a str> {
    names.iter().copied().filter(|name| strsim::jaro_winkler(wanted, name) >= ALIKE).collect()
}

/// The one that is most like this one.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |name: &&str| strsim::jaro_winkler(wanted, name);
    let alike = names.into_iter().filter(|name| likeness(name) >= ALIKE);
    alike.max_by(|one, other| likeness(one).total_cmp(&likeness(other)))
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
    }
}
