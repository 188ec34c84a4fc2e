use std::collections::BTreeSet;

use super::substitutes::{Known, Substitutes};

fn substitutes() -> Substitutes {
    Substitutes::new(&Known {
        hosts: ["db7.example.com", "db7", "10"].map(str::to_owned).into(),
        domains: BTreeSet::from(["corp.example".to_owned()]),
        serials: ["SN-0042", "10", "40962", "123"].map(str::to_owned).into(),
        users: BTreeSet::from(["sato".to_owned()]),
        macs: BTreeSet::from(["525400abcd01".to_owned(), "525400123456".to_owned()]),
    })
}

fn redact(text: &str) -> String {
    let mut substitutes = substitutes();
    let text = substitutes.addresses_in(text);
    substitutes.names_in(&substitutes.serials_in(&text, false))
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
        ("db7.corp.example and ntp.corp.example", "host-2.domain-1 and ntp.domain-1"),
        ("10 s, 40962 B, 123", "10 s, 40962 B, 123"),
        ("10", "host-3"),
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
        ("ifname=eth0:52:54:00:ab:cd:01 eth0", "ifname=eth0:00:00:5e:00:53:01 eth0"),
        ("BOOTIF=01-52-54-00-ab-cd-01 52:54:00:ab:cd:01", "BOOTIF=01-00-00-5e-00-53-01 00:00:5e:00:53:01"),
        ("01-52-54-00-ab-cd-01.img", "01-00-00-5e-00-53-01.img"),
        ("enx525400abcd01.100", "enx00005e005301.100"),
        ("wlx0C9d92aabb01, wwx0c9d92aabb02", "wlx00005e005301, wwx00005e005302"),
        ("ibx7cfe900300a0cd01 ib7cfe900300a0cd01.8001", "ibx000000005e005301 ib000000005e005301.8001"),
        ("x525400abcd01, veth525400ABCD01p0", "x00005e005301, veth00005e005301p0"),
        ("tap0c-9d-92-aa-bb-01 and port0c:9d:92:aa:bb:01", "tap00-00-5e-00-53-01 and port00:00:5e:00:53:01"),
        (
            "ib0 80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:a0:cd:01",
            "ib0 00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:00:5e:00:53:01",
        ),
        (
            "rd.luks.uuid=luks-6F9619FF-8b86-d011-b42d-00cf4fc964ff root=UUID=\"6f9619ff-8b86-d011-b42d-00cf4fc964ff\"",
            "rd.luks.uuid=luks-uuid-1 root=UUID=\"uuid-1\"",
        ),
        ("rd.md.uuid=3ad4:ae, /dev/disk/by-uuid/1B2C-33", "rd.md.uuid=uuid-1, /dev/disk/by-uuid/uuid-2"),
        ("machine_id=0123456789abcdef0123456789abcdef", "machine_id=uuid-1"),
        (
            "/dev/disk/by-id/ata-Disk_860_S3Z9NB0K12-part2 resume=/dev/disk/by-id/nvme-x,ro",
            "/dev/disk/by-id/disk-1-part2 resume=/dev/disk/by-id/disk-2,ro",
        ),
        ("5254.00AB.cd01 is 52:54:00:ab:cd:01", "0000.5e00.5301 is 00:00:5e:00:53:01"),
        ("525400ABCD01, 5254.00ab.cd01 and port-525400123456", "00005e005301, 0000.5e00.5301 and port-00005e005302"),
        ("6f9619ff-8b86-d011-b42d-525400abcd01", "uuid-1"),
        ("nameserver=eth0:2a00::5", "nameserver=eth0:2001:db8::1"),
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
        "driver 1.22.333.4.5",
        "firmware 2024.1010.0001.1",
        "525400abcd02 is no address that is known",
        "br-525400abcd02",
        "x2026-11-21-10-15-00",
        "0000:3b:00.0",
        "tcp_rmem 4096 131072 6291456",
        "qdisc tbf 8001: overlimits +120",
        "試験環境: 模擬 (198.19.255.254)",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn what_a_person_wrote_names_serials_that_are_mere_numbers_too() {
    assert_eq!(substitutes().serials_in("40962 and 409620, 10 m", true), "serial-3 and 409620, 10 m");
    assert_eq!(substitutes().serial("10"), "serial-2");
}

#[test]
fn a_fact_that_is_a_mac_address_is_one_however_it_is_written() {
    for written in ["52:54:00:AB:cd:01", "52-54-00-ab-cd-01", "5254.00ab.cd01", "525400abcd01"] {
        assert_eq!(super::digits_of_mac(written).as_deref(), Some("525400abcd01"), "{written}");
    }
    for other in ["00:00:00:00:00:00", "", "525400abcd0", "52:54:00", "2026-11-21"] {
        assert_eq!(super::digits_of_mac(other), None, "{other}");
    }
}

#[test]
fn a_domain_is_known_from_a_host_in_it() {
    let hosts = ["db7".to_owned()];
    let found = |text: &str| Vec::from_iter(super::domains(text, &hosts));
    assert_eq!(found("ssh://DB7.corp.example.com:22."), ["corp.example.com"]);
    assert_eq!(found("db7.local, db7.2.3, web.example.com"), [""; 0]);
}
