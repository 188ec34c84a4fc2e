use std::collections::BTreeSet;

use super::substitutes::Substitutes;

fn substitutes() -> Substitutes {
    let hosts = ["db7.example.com", "db7"].map(str::to_owned);
    Substitutes::new(&hosts, &["SN-0042".to_owned()], &BTreeSet::from(["sato".to_owned()]))
}

fn redact(text: &str) -> String {
    let mut substitutes = substitutes();
    let text = substitutes.addresses_in(text);
    substitutes.words_in(&text)
}

#[test]
fn names_are_replaced_as_whole_words_and_users_in_paths() {
    let cases = [
        ("cannot reach db7.", "cannot reach host-2."),
        ("db7.example.com and db70", "host-1 and db70"),
        ("/dev/mapper/db7-root", "/dev/mapper/host-2-root"),
        ("serial SN-0042", "serial serial-1"),
        ("verify /home/sato/sato.toml", "verify /home/user-1/user-1.toml"),
        ("DB7, Db7 and db7", "host-2, host-2 and host-2"),
        ("ssh://sato@db7?dev=eth0", "ssh://user-1@host-2?dev=eth0"),
        ("Hanako sato", "Hanako sato"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(text), expected);
    }
}

#[test]
fn addresses_are_replaced_each_by_its_own() {
    let cases = [
        (
            "52:54:00:AB:cd:01, 52:54:00:ab:cd:01, 52-54-00-ab-cd-02",
            "00:00:5e:00:53:01, 00:00:5e:00:53:01, 00-00-5e-00-53-02",
        ),
        ("enx525400abcd01 52:54:00:ab:cd:01", "enx00005e005301 00:00:5e:00:53:01"),
        ("8.8.8.8 to 10.1.2.3:5201 and 8.8.8.8/24.", "203.0.113.1 to 203.0.113.2:5201 and 203.0.113.1/24."),
        ("[2a00:1450::1]:80, fe80::5054:ff:feab:cd01%eth0", "[2001:db8::1]:80, 2001:db8::2%eth0"),
        (
            "ip=9.8.7.6::9.8.7.1:255.255.255.0 2a00::1-2a00::9",
            "ip=203.0.113.1::203.0.113.2:255.255.255.0 2001:db8::1-2001:db8::2",
        ),
        ("root=UUID=1b2c-33 6f9619ff-8b86-d011-b42d-00cf4fc964ff", "root=UUID=uuid-1 uuid-2"),
    ];
    for (text, expected) in cases {
        assert_eq!(redact(text), expected);
    }
}

#[test]
fn what_says_nothing_about_anybody_stays() {
    for text in [
        "198.18.0.1/24",
        "2001:2::2",
        "127.0.0.1",
        "::1",
        "203.0.113.9",
        "255.255.255.0",
        "0.0.0.0",
        "2026-11-21T10:15:00Z",
        "6.1.0-28-amd64",
        "tcp_rmem 4096 131072 6291456",
        "qdisc tbf 8001: overlimits +120",
        "試験環境: 模擬 (198.19.255.254)",
    ] {
        assert_eq!(redact(text), text);
    }
}
