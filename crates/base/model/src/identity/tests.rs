use super::*;

const IDENTITY: &str = r#"
title = "Acceptance test of link 7"
document_number = "NW-2026-017"
date = 2026-11-21
made_by = { name = "Hanako Sato", date = "2026-11-21" }
deviations = ["The card sat in slot 3, not in slot 1."]
[[device]]
what = "card"
serial = "A12345"
[[item]]
what = "Card seated, latch closed"
criterion = "latch flush"
verdict = "pass"
by = "Hanako Sato"
date = 2026-11-21
photos = ["card.jpg"]
[[item]]
what = "Cable labelled"
[[standard]]
name = "RFC 2544"
deviations = ["Three repeats in place of twenty."]
[[change]]
revision = "A"
date = 2026-11-21
change = "First issue"
[[price]]
of = "X540-T2"
amount = 61800
currency = "JPY"
"#;

fn error(toml: &str) -> String {
    Identity::parse(toml).unwrap_err().to_string()
}

#[test]
fn an_identity_is_read_and_written_back() {
    let identity = Identity::parse(IDENTITY).unwrap();
    assert_eq!(identity.made_by.as_ref().map(ToString::to_string).as_deref(), Some("Hanako Sato, 2026-11-21"));
    assert_eq!(identity.date.map(|date| date.to_string()).as_deref(), Some("2026-11-21"));
    let verdicts: Vec<_> = identity.items.iter().map(|item| item.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::NotRun], "an item that nobody ticked was not run");
    assert_eq!(Identity::parse(&identity.to_toml()), Ok(identity.clone()));
    assert_eq!(Identity::parse(&Identity::default().to_toml()), Ok(Identity::default()));
    let value = toml::Value::try_from(&identity).unwrap();
    assert_eq!(value["item"][0]["verdict"].as_str(), Some("PASS"), "as every other verdict in the store");
}

#[test]
fn errors_name_the_line_and_what_is_allowed() {
    let key = error(&IDENTITY.replace("title", "titel"));
    assert!(key.contains("line 2, column 1") && key.contains("expected one of `title`"), "{key}");
    let verdict = error(&IDENTITY.replace("\"pass\"", "\"ok\""));
    assert!(verdict.contains("line 13") && verdict.contains("use pass, fail, inconclusive or not-run"), "{verdict}");
    for day in ["\"21.11.2026\"", "2026-11-21T10:00:00Z", "20261121", "\"2026-02-30\""] {
        let day_error = error(&IDENTITY.replacen("2026-11-21", day, 1));
        assert!(day_error.contains("line 4") && day_error.contains("2026-11-21"), "{day}: {day_error}");
    }
    let item = error("[[item]]\ncriterion = \"x\"");
    assert!(item.contains("line 1") && item.contains("missing field `what`"), "{item}");
}

#[test]
fn what_cannot_be_meant_is_refused_with_its_place() {
    let price = error(&IDENTITY.replace("61800", "-1"));
    assert_eq!(price, "[[price]] number 1: amount = -1 is no price; write a number that is not below 0");
    let serial = error(&IDENTITY.replace("A12345", ""));
    assert_eq!(serial, "[[device]] number 1: serial: write one line of 1 to 200 characters, or leave it out");
    let device = error(&IDENTITY.replace("\"card\"", "\" \""));
    assert!(device.starts_with("[[device]] number 1: what: write one line"), "{device}");
    let what = error(&IDENTITY.replace("Cable labelled", "two\\nlines"));
    assert!(what.starts_with("[[item]] number 2: write one line"), "{what}");
    assert!(error(&IDENTITY.replace("NW-2026-017", " ")).starts_with("document_number: write one line"));
    for (from, to, place) in [
        ("name = \"Hanako Sato\"", "name = \"\"", "made_by: write one line"),
        ("latch flush", "two\\nlines", "[[item]] number 1: criterion: write one line"),
        ("by = \"Hanako Sato\"\ndate", "by = \" \"\ndate", "[[item]] number 1: by: write one line"),
        ("The card sat in slot 3, not in slot 1.", " ", "deviations, number 1: write words"),
        ("NW-2026-017", "\\u202Egnp", "document_number: write one line"),
        ("JPY", "", "[[price]] number 1: currency: write one line"),
        ("RFC 2544", "", "[[standard]] number 1: name: write one line"),
        ("Three repeats in place of twenty.", "", "[[standard]] number 1: deviations: write words"),
        ("\"A\"", "\"\"", "[[change]] number 1: revision: write one line"),
        ("First issue", "", "[[change]] number 1: change: write words"),
        ("deviations = [\"The", "distribution = [\"\"]\ndeviations = [\"The", "distribution, number 1: write one line"),
        ("deviations = [\"The", "issuer.name = \"\"\ndeviations = [\"The", "issuer.name: write one line"),
        ("deviations = [\"The", "conditions.room = \"\"\ndeviations = [\"The", "conditions.room: write one line"),
        ("title = \"Acceptance", "scope = \"\\u0007\"\ntitle = \"Acceptance", "scope: write words"),
    ] {
        let said = error(&IDENTITY.replace(from, to));
        assert!(said.starts_with(place), "{to}: {said}");
    }
}

#[test]
fn what_is_newly_said_wins_over_the_older() {
    let older = Identity::parse(IDENTITY).unwrap();
    let newer = Identity { title: Some("Revised".into()), revision: Some("B".into()), ..Identity::default() };
    let both = newer.or(older.clone());
    assert_eq!((both.title.as_deref(), both.revision.as_deref()), (Some("Revised"), Some("B")));
    assert_eq!((both.items, both.document_number), (older.items, older.document_number));
}

#[test]
fn a_value_of_another_kind_is_named_in_plain_words() {
    let error = error("distribution = \"x\"");
    assert!(error.contains("expected a list: write it like [\"x\"]") && !error.contains("sequence"), "{error}");
}

#[test]
fn a_signatory_may_come_with_a_day() {
    let read = |text: &str| text.parse::<Signatory>();
    assert_eq!(read("佐藤 花子, 2026-11-21").unwrap().to_string(), "佐藤 花子, 2026-11-21");
    assert_eq!(read("Sato, Hanako").unwrap(), Signatory { name: "Sato, Hanako".into(), date: None });
    assert!(read("Sato, 2026-13-01").unwrap_err().to_string().contains("write it like 2026-11-21"));
}

#[test]
fn a_photo_is_known_by_its_content_and_travels_as_text() {
    assert_eq!(PhotoKind::of(b"\x89PNG\r\n\x1a\n...."), Some(PhotoKind::Png));
    assert_eq!(PhotoKind::of(b"\xff\xd8\xff\xe0"), Some(PhotoKind::Jpeg));
    assert_eq!(PhotoKind::of(b"GIF89a"), None);
    let content = vec![0, 159, 255];
    let photo = Photo { name: "photo-1.png".into(), kind: PhotoKind::Png, sha256: String::new(), content };
    let identity = Identity { photos: vec![photo], ..Identity::default() };
    let value = toml::Value::try_from(&identity).unwrap();
    assert_eq!(value["photo"][0]["content"].as_str(), Some("AJ//"));
    assert_eq!(value.try_into(), Ok(identity.clone()));
    let error = Identity::parse(&identity.to_toml()).unwrap_err().to_string();
    assert!(error.starts_with("[[photo]]: photos are files; name them in their [[item]]"), "{error}");
    assert_eq!(identity.without_photos(), Identity::default());
}

#[test]
fn a_photo_is_called_as_photos_are() {
    let named = |name: &str| Photo { name: name.into(), kind: PhotoKind::Png, sha256: String::new(), content: vec![] };
    assert!(named(&Photo::name_of(12, PhotoKind::Png)).has_own_name() && named("logo.png").has_own_name());
    for name in [
        "../photo-1.png",
        "photo-1.png/../../x",
        "photo-1.jpg",
        "photo-+1.png",
        "photo-1.png.png",
        "../logo.png",
        "logo.jpg",
        "x",
        "",
    ] {
        assert!(!named(name).has_own_name(), "{name}");
    }
}

#[test]
fn each_entry_that_has_a_text_for_a_value_can_be_set() {
    for key in Identity::KEYS {
        let mut identity = Identity::default();
        let value = if key == "paper" { "letter" } else { "2026-11-21" };
        identity.set(key, value).unwrap_or_else(|error| panic!("{key}: {error}"));
        assert_ne!(identity, Identity::default(), "{key}");
        let in_file = identity.to_toml();
        let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
        assert!(in_file.contains(&format!("{name} = ")) || in_file.contains(&format!("[{name}]")), "{key}: {in_file}");
        assert!(in_file.contains(table), "{key}: {in_file}");
    }
    let mut identity = Identity::default();
    identity.set("made_by", "佐藤 花子, 2026-11-21").unwrap();
    identity.set("deviations", "one").unwrap();
    identity.set("deviations", "two").unwrap();
    assert_eq!(identity.made_by.as_ref().map(ToString::to_string).as_deref(), Some("佐藤 花子, 2026-11-21"));
    assert_eq!(identity.deviations, ["one", "two"]);
    let error = |key: &str, value: &str| Identity::default().set(key, value).unwrap_err().to_string();
    assert_eq!(error("date", "soon"), "date: \"soon\" is no day; write it like 2026-11-21");
    assert_eq!(error("paper", "b5"), "paper: \"b5\" is not a size of paper: use a4 or letter");
    assert!(error("item", "x").starts_with("item: there is no such entry"));
}

#[test]
fn keys_cover_all_that_has_a_text_for_a_value() {
    let schema = schemars::schema_for!(Identity);
    let of_text = |properties: &str, table: &str| {
        let keys = schema
            .pointer(properties)
            .unwrap()
            .as_object()
            .unwrap()
            .iter()
            .filter(|(_, about)| !about.to_string().contains("$ref"));
        keys.map(|(key, _)| format!("{table}{key}")).collect::<Vec<_>>()
    };
    let mut all = of_text("/properties", "");
    all.extend(["date", "made_by", "checked_by", "approved_by", "paper"].map(str::to_owned));
    all.extend(of_text("/$defs/Issuer/properties", "issuer."));
    all.extend(of_text("/$defs/TestConditions/properties", "conditions."));
    all.sort();
    let mut keys = Identity::KEYS;
    keys.sort_unstable();
    assert_eq!(all, keys);
}

#[test]
fn an_issuer_is_completed_and_its_logo_is_the_one_that_is_named() {
    let logo = |kind| Photo { name: Photo::name_of_logo(kind), kind, sha256: String::new(), content: vec![] };
    let photo = Photo { name: "photo-1.png".into(), kind: PhotoKind::Png, sha256: String::new(), content: vec![] };
    let issued = |name: Option<&str>, kind: PhotoKind| Identity {
        issuer: Some(Issuer { name: name.map(str::to_owned), address: None, logo: Some(Photo::name_of_logo(kind)) }),
        photos: vec![logo(kind)],
        ..Identity::default()
    };
    let older = Identity { photos: vec![photo.clone(), logo(PhotoKind::Png)], ..issued(Some("A"), PhotoKind::Png) };
    let newer = issued(None, PhotoKind::Svg).or(older.clone());
    assert_eq!(newer.issuer.unwrap().name.as_deref(), Some("A"));
    assert_eq!(newer.photos, [logo(PhotoKind::Svg), photo]);
    let mut only_name = Identity::default();
    only_name.set("issuer.name", "B").unwrap();
    assert_eq!(only_name.or(older.clone()).photos, older.photos);
}
