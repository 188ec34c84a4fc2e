//! No form of a redacted report says whose machines these are.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod fixture;

use model::{
    Card, Date, Device, Doubt, Identity, Issuer, Reference, Run,
    card::{Connector, Module},
};
use proptest::prelude::*;
use wireproof_report::{self as report, Document, Lang, Material, redacted};

/// Words that tell whose machines these are.
#[derive(Clone, Debug)]
struct Words {
    host: String,
    user: String,
    mac: String,
    serial: String,
    v4: String,
    v6: String,
}

fn words() -> impl Strategy<Value = Words> {
    let names = ("zq[a-z0-9]{3,8}(-[a-z0-9]{1,4})?", "zu[a-z]{3,8}", "ZX[0-9A-Z]{6}", "[0-9a-f]{10}");
    (names, 1_u8..=9, 0_u16..=0xffff).prop_map(|((host, user, serial, digits), octet, group)| Words {
        host,
        user,
        serial,
        mac: format!(
            "9e:{}",
            digits
                .as_bytes()
                .chunks(2)
                .map(|pair| String::from_utf8_lossy(pair).into_owned())
                .collect::<Vec<_>>()
                .join(":")
        ),
        v4: format!("85.{octet}.117.83"),
        v6: format!("2a00:77{octet}::{group:x}"),
    })
}

/// A run that says these words wherever a run may.
fn speaking(words: &Words) -> Run {
    let Words { host, user, mac, serial, v4, v6 } = words;
    let mut run = fixture::wide_run();
    run.command.extend([format!("/home/{user}/plan.toml"), format!("ssh://{user}@{host}"), format!("--at={v4}:80")]);
    run.doubts.push(Doubt::Failed { what: format!("{host}: connection to [{v6}]:22 refused, see /home/{user}/log") });
    for environment in [Some(&mut run.before), run.after.as_mut()].into_iter().flatten() {
        environment.hosts[0].hostname = host.clone();
        environment.hosts[0].kernel_command_line =
            format!("root=/dev/mapper/{host}--vg-root ip={v4}::eth0 {mac}").into();
        let interface = &mut environment.endpoints[0].interfaces[0];
        interface.mac = mac.to_uppercase().into();
        interface.addresses.extend([format!("{v4}/24"), format!("{v6}/64")]);
        interface.name = format!("enx{}", mac.replace(':', ""));
    }
    run.bed.endpoints[0].addresses = vec![v4.parse().unwrap(), v6.parse().unwrap()];
    let device =
        Device { what: "card".into(), model: None, serial: Some(serial.clone()), note: Some(format!("in {host}")) };
    let deviations = vec![format!("{serial} was moved from {host} to {v6}")];
    run.identity = Some(Identity {
        title: Some(format!("Test of {host}")),
        devices: vec![device],
        deviations,
        issuer: Some(Issuer { name: None, address: None, logo: Some(format!("{host}.svg")) }),
        ..Identity::default()
    });
    run
}

fn forms(run: &Run) -> Vec<String> {
    let assessment = fixture::assessed(run, &[]);
    let material = Material::of(run, &assessment);
    let html = [Lang::En, Lang::Ja].map(|lang| report::html(&material, lang));
    let json = serde_json::to_string(&Document::of(&material)).unwrap();
    html.into_iter()
        .chain([json, serde_json::to_string(run).unwrap(), report::summary(&material, Lang::En, None)])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn no_word_of_the_machines_is_left_in_any_form(words in words()) {
        let run = redacted(&speaking(&words), &mut []).unwrap();
        let plain_mac = words.mac.replace(':', "");
        for form in forms(&run) {
            let form = form.to_lowercase();
            for word in [&words.host, &words.user, &words.mac, &plain_mac, &words.serial, &words.v4, &words.v6] {
                prop_assert!(!form.contains(&word.to_lowercase()), "{word} is left");
            }
        }
    }
}

#[test]
fn the_same_word_becomes_the_same_everywhere() {
    let mut run = fixture::run();
    run.doubts.push(Doubt::Failed { what: "bench1 is gone".into() });
    run.identity = Some(Identity { date: "2026-11-21".parse::<Date>().ok(), ..Identity::default() });
    let redacted = redacted(&run, &mut []).unwrap();
    assert_eq!(redacted.before.hosts[0].hostname, "host-1");
    assert!(redacted.doubts.contains(&Doubt::Failed { what: "host-1 is gone".into() }));
    assert_eq!(redacted.before.endpoints[1].interfaces[0].mac, "00:00:5e:00:53:02".into());
    assert_eq!(redacted.before.differences(redacted.after.as_ref().unwrap()), Vec::<String>::new());
}

#[test]
fn figures_laboratory_addresses_and_what_the_document_says_of_people_stay() {
    let mut run = fixture::wide_run();
    run.identity = Some(Identity { customer: Some("Example Ltd.".into()), ..Identity::default() });
    let redacted = redacted(&run, &mut []).unwrap();
    assert_eq!((&redacted.trials, &redacted.plan, &redacted.bed), (&run.trials, &run.plan, &run.bed));
    assert_eq!(redacted.identity, run.identity);
}

#[test]
fn the_serial_number_of_a_module_in_a_port_is_replaced() {
    let mut run = fixture::wide_run();
    let module = Module { serial: "123456".into(), part: "SFP-10GSR".into(), ..Module::default() };
    let card = Card { module: module.into(), connector: Connector::Fibre.into(), ..Card::default() };
    run.before.endpoints[0].interfaces[0].card = Some(card);
    run.before.hosts[0].hostname = "fibre".into();
    let redacted = redacted(&run, &mut []).unwrap();
    let card = redacted.before.endpoints[0].interfaces[0].card.clone().unwrap();
    assert_eq!(card.connector, Connector::Fibre.into());
    assert_eq!(
        card.module.into_known().map(|module| (module.serial, module.part)),
        Some(("serial-1".into(), "SFP-10GSR".into()))
    );
}

#[test]
fn a_host_may_be_named_like_a_word_of_the_program() {
    for name in
        ["lab", "a", "udp", "latency", "root", "spin", "eth0", "veth", "same", "quick", "PASS", "interrupted", "link"]
    {
        let mut run = fixture::wide_run();
        run.before.hosts[0].hostname = name.into();
        let redacted = redacted(&run, &mut []).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(redacted.trials, run.trials, "{name}");
        assert_eq!(redacted.bed.endpoints, run.bed.endpoints, "{name}");
        assert_eq!(redacted.before.hosts[0].hostname, "host-1");
    }
}

fn with_serials(serials: &[&str]) -> Run {
    let device = |serial: &&str| Device {
        what: "card".into(),
        model: None,
        serial: Some((*serial).into()),
        note: Some(format!("label {serial}")),
    };
    let mut run = fixture::wide_run();
    run.identity = Some(Identity {
        date: "2026-11-21".parse::<Date>().ok(),
        devices: serials.iter().map(device).collect(),
        ..Identity::default()
    });
    run
}

#[test]
fn a_serial_number_like_any_word_breaks_no_figure_and_no_date() {
    for serial in ["", " ", "1", "10", "64", "1000", "2026", "2026-11-21", "lab", "udp", "10 s", "latency", "PASS"] {
        let run = with_serials(&[serial]);
        let redacted = redacted(&run, &mut []).unwrap_or_else(|error| panic!("{serial}: {error}"));
        assert_eq!((&redacted.trials, &redacted.plan, &redacted.bed), (&run.trials, &run.plan, &run.bed), "{serial}");
        assert_eq!(redacted.before.hosts[0].cpus, run.before.hosts[0].cpus, "{serial}");
        let identity = redacted.identity.unwrap();
        let expected = if serial.trim().is_empty() { serial } else { "serial-1" };
        assert_eq!(
            (identity.date, identity.devices[0].serial.as_deref()),
            (run.identity.unwrap().date, Some(expected))
        );
    }
}

#[test]
fn what_a_person_says_of_a_serial_number_is_replaced() {
    let redacted = redacted(&with_serials(&["04711"]), &mut []).unwrap();
    assert_eq!(redacted.identity.unwrap().devices[0].note.as_deref(), Some("label serial-1"));
}

#[test]
fn a_users_own_reference_says_nothing_of_the_machines_either() {
    let mut run = fixture::run();
    run.before.hosts[0].hostname = "zq7".into();
    let toml = "id = \"mine\"\ntitle = { en = \"zq7 before\" }\nsource = { en = \"https://zq7.corp.example/52:54:00:ab:cd:01\" }\n\
                kind = \"somebody\"\ndate = \"2015-07-31\"\n[[figures]]\nmetric = \"goodput\"\nstatistic = \"mean\"\nvalue = \"9 Gbit/s\"\n";
    let mut references = [Reference::parse(toml).unwrap()];
    let figures = references[0].figures.clone();
    redacted(&run, &mut references).unwrap();
    let [reference] = references;
    assert_eq!(reference.title.en, "host-1 before");
    let source = reference.source.unwrap().en;
    assert!(source.starts_with("https://host-1.domain-1/00:00:5e:00:53:"), "{source}");
    assert_eq!((reference.id.as_str(), reference.figures), ("mine", figures));
}

#[test]
fn the_other_host_of_a_bed_and_its_user_are_replaced() {
    let mut run = fixture::run();
    run.bed.name = "hosts:ssh://sato@rack7.corp.example:22?dev=eth1".into();
    run.bed.endpoints[1].machine = "zq7".into();
    run.command = ["wireproof", "verify", "--bed", &run.bed.name].map(str::to_owned).to_vec();
    let redacted = redacted(&run, &mut []).unwrap();
    let words = serde_json::to_string(&redacted).unwrap();
    for word in ["sato", "rack7", "corp.example", "zq7"] {
        assert!(!words.contains(word), "{word}: {} {}", redacted.bed.name, redacted.bed.endpoints[1].machine);
    }
    assert!(redacted.bed.name.contains("?dev=eth1"), "{}", redacted.bed.name);
}
