use super::*;
use crate::{FrameSize, Metric, Mtu};

const TOML: &str = r#"
id = "mine"
title = { en = "My card" }
kind = "somebody"
[conditions]
mtu = 1500
[[figures]]
metric = "half_rtt"
statistic = "mean"
value = "1.174333 us"
conditions = { frame_size = 64 }
"#;

fn error(toml: &str) -> String {
    Reference::parse(toml).unwrap_err().to_string()
}

#[test]
fn figures_take_the_conditions_of_their_source() {
    let reference = Reference::parse(TOML).unwrap();
    let figure = &reference.figures[0];
    let conditions = reference.conditions_of(figure);
    assert_eq!((conditions.mtu, conditions.frame_size), (Some(Mtu(1500)), Some(FrameSize(64))));
    assert_eq!((figure.ours(), figure.per_ours(), figure.value.amount()), (Some(Metric::RttMean), 2.0, 1174.333));
    let own = TOML.replace("frame_size = 64", "mtu = 9000");
    let reference = Reference::parse(&own).unwrap();
    assert_eq!(reference.conditions_of(&reference.figures[0]).mtu, Some(Mtu(9000)));
}

#[test]
fn words_are_one_text_or_one_of_each_language() {
    let words = |link: &str| {
        let reference = Reference::parse(&TOML.replace("mtu = 1500", &format!("link = {link}")))?;
        Ok::<_, ReferenceError>(reference.conditions.link.map(|it| (it.en, it.ja)))
    };
    assert_eq!(words(r#""fibre""#), Ok(Some(("fibre".to_owned(), None))));
    let both = Some(("fibre".to_owned(), Some("光ファイバー".to_owned())));
    assert_eq!(words(r#"{ en = "fibre", ja = "光ファイバー" }"#), Ok(both));
    let wrong = words(r#"{ en = "fibre", fr = "fibre" }"#).unwrap_err().to_string();
    assert!(wrong.contains("line 6") && wrong.contains(r#"expected a text, or { en = "...", ja = "..." }"#), "{wrong}");
}

#[test]
fn errors_name_the_line_and_what_to_write() {
    let key = error(&TOML.replace("statistic", "statistics"));
    assert!(key.contains("line 9, column 1") && key.contains("expected one of"), "{key}");
    let unit = error(&TOML.replace("1.174333 us", "1.17 sec"));
    assert!(unit.contains("line 10") && unit.contains("unknown unit \"sec\""), "{unit}");
    let other = error(&TOML.replace("1.174333 us", "7 Gbit/s"));
    assert!(other.contains("line 7, [[figures]] number 1") && other.contains("like \"10 s\""), "{other}");
    let id = error(&TOML.replace("mine", "My card"));
    assert!(id.starts_with("id: \"My card\" is no name"), "{id}");
    assert!(error("id = \"x\"\ntitle = { en = \"t\" }\nkind = \"tool\"\nfigures = []").contains("1 to 10000"));
}

#[test]
fn what_is_written_is_read_back_as_the_same() {
    let reference = Reference::parse(TOML).unwrap();
    assert_eq!(Reference::parse(&toml::to_string(&reference).unwrap()), Ok(reference));
}
