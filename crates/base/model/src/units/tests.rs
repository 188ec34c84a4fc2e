use super::*;

#[test]
fn times_and_rates_are_read_with_their_unit() {
    assert_eq!("10 s".parse(), Ok(Nanos::from_secs(10)));
    assert_eq!("1.5ms".parse(), Ok(Nanos(1_500_000)));
    assert_eq!("2 min".parse(), Ok(Nanos::from_secs(120)));
    assert_eq!(Nanos(0).to_string(), "0 s");
    assert_eq!("9.4 Gbit/s".parse(), Ok(BitRate(9_400_000_000)));
}

#[test]
fn a_missing_or_wrong_unit_says_what_to_write() {
    let error = "10".parse::<Nanos>().unwrap_err().to_string();
    assert_eq!(error, "\"10\" has no unit; use one of ns, us, ms, s, min, h, for example \"10 s\"");
    assert_eq!(("0".parse(), "0".parse()), (Ok(Bytes(0)), Ok(Nanos(0))), "nothing is the same in each");
    assert!("0".parse::<Printed>().is_err(), "of which kind is it?");
    let error = "10 GB/s".parse::<BitRate>().unwrap_err().to_string();
    assert!(error.contains("the unknown unit \"GB/s\""), "{error}");
    assert!("fast".parse::<Nanos>().unwrap_err().to_string().contains("does not start with a number"));
    assert!("99999999999999 h".parse::<Nanos>().unwrap_err().to_string().contains("too large"));
}

#[test]
fn what_is_shown_is_read_back_as_the_same() {
    for nanos in [0, 1, 999, 1_500, 2_000_000, 1_000_000_000, 90_000_000_000, 3_600_000_000_000] {
        assert_eq!(Nanos(nanos).to_string().parse(), Ok(Nanos(nanos)));
    }
    for rate in [0, 1, 999, 9_400_000_000] {
        assert_eq!(BitRate(rate).to_string().parse(), Ok(BitRate(rate)));
        assert_eq!(PacketRate(rate).to_string().parse(), Ok(PacketRate(rate)));
        assert_eq!(Bytes(rate).to_string().parse(), Ok(Bytes(rate)));
    }
}

#[test]
fn a_range_has_both_ends_or_the_highest_alone() {
    for (text, lowest) in [("1 Gbit/s", None), ("10 Mbit/s..1 Gbit/s", Some(BitRate(10_000_000)))] {
        let range: BitRateRange = text.parse().unwrap();
        assert_eq!((range.lowest, range.highest, range.to_string().as_str()), (lowest, BitRate(1_000_000_000), text));
    }
    assert_eq!("100 tps..1.5 ktps".parse::<TransactionRateRange>().map(|it| it.highest), Ok(TransactionRate(1500)));
    let error = "10..1 Gbit/s".parse::<BitRateRange>().unwrap_err().to_string();
    assert!(error.starts_with("\"10\" has no unit"), "{error}");
}

#[test]
fn printed_values_keep_their_digits_and_know_their_kind() {
    let read = |text: &str| text.parse::<Printed>().unwrap();
    assert_eq!((read("1.174333 us").amount(), read("1.174333 us").dimension()), (1174.333, Dimension::Time));
    assert_eq!(read("1163 MiB/s").amount(), 1163.0 * 1_048_576.0);
    assert_eq!((read("7.30 Gbit/s").to_string().as_str(), read("14.88 Mpps").amount()), ("7.30 Gbit/s", 14.88e6));
    let error = "7 GB/s".parse::<Printed>().unwrap_err().to_string();
    assert!(error.contains("the unknown unit \"GB/s\"; use one of"), "{error}");
    assert_eq!("20 %".parse(), Ok(Percent(20.0)));
    for text in ["20", "20 per cent"] {
        let error = text.parse::<Percent>().unwrap_err().to_string();
        assert!(error.ends_with("; write it like \"20 %\""), "{error}");
    }
}
