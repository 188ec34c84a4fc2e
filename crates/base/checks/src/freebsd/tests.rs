//! Faults planted in recorded outputs: each is found, and a machine as it was recorded has none.

use ::freebsd::{Readings, Said};
use model::{
    Reading,
    inspection::{Check, Conditions, Finding, Goal, Severity},
};

use super::freebsd;

mod planted;

macro_rules! recorded {
    ($file:literal) => {
        include_str!(concat!("../../../freebsd/recorded/", $file, ".txt"))
    };
}

/// Values that the recorded outputs lack, as FreeBSD 14 has them by itself.
const DEFAULTS: &str = "kern.vm_guest: none\nkern.timecounter.choice: i8254(0) HPET(950) ACPI-fast(900) TSC-low(1000) dummy(-1000000)\n\
    kern.timecounter.hardware: TSC-low\nkern.ipc.maxsockbuf: 2097152\nkern.ipc.nmbclusters: 1019834\nkern.ipc.nmbjumbop: 509916\n\
    kern.ipc.nmbjumbo9: 453259\nnet.inet.ip.forwarding: 0\nnet.inet.udp.recvspace: 42080\nnet.inet6.ip6.forwarding: 0\n\
    hw.intr_storm_threshold: 0\nhw.acpi.cpu.cx_lowest: C1\ndev.cpu.0.cx_lowest: C1\n";

fn known(text: impl Into<String>) -> Reading<String> {
    Reading::Known(text.into())
}

/// A machine with a port of 1 Gbit/s, of recorded outputs as they are.
fn office() -> Said {
    Said {
        uname: known(recorded!("uname-12")),
        sysctl: known([recorded!("sysctl-14"), recorded!("sysctl-tcp-15"), DEFAULTS].concat()),
        ifconfig: known(recorded!("ifconfig-bge-10")),
        pciconf: known(recorded!("pciconf-bge-12")),
        devices: Reading::Absent,
        counters: known(recorded!("netstat-id-12")),
        protocols: known(recorded!("netstat-s-13")),
        mbufs: known(recorded!("netstat-m-13")),
        route: Reading::Absent,
        interrupts: known(recorded!("vmstat-10")),
        dmesg: known(recorded!("dmesg-15")),
        modules: known(recorded!("kldstat-13")),
    }
}

/// A machine with a port of 50 Gbit/s, tuned for throughput, with a bridge, an aggregated link and a VLAN.
fn server() -> Said {
    let more = "bridge0: flags=8843<UP> metric 0 mtu 9000\n\tmember: tap0 flags=143<LEARNING>\n\tgroups: bridge\n\
        tap0: flags=8943<UP> metric 0 mtu 9000\n\tgroups: tap\nvlan7: flags=8843<UP> metric 0 mtu 1500\n\tgroups: vlan\n\
        \tvlan: 7 vlanproto: 802.1q vlanpcp: 0 parent interface: mce0\n";
    let capabilities = "\tcapabilities=7eed07bb<RXCSUM,TXCSUM,TSO4,TSO6,LRO>\n\tgroups: mlx\n\tether";
    let ifconfig = recorded!("ifconfig-mce-14").replacen("\tether", capabilities, 1) + more;
    let sysctl = [recorded!("sysctl-14"), recorded!("sysctl-tcp-15"), DEFAULTS].concat();
    let tuned = [
        ("recvbuf_max: 2097152", "recvbuf_max: 16777216"),
        ("sendbuf_max: 2097152", "sendbuf_max: 16777216"),
        ("maxsockbuf: 2097152", "maxsockbuf: 33554432"),
        ("hostcache.expire: 3600", "hostcache.expire: 1"),
        ("pmtud_blackhole_detection: 0", "pmtud_blackhole_detection: 1"),
        ("forwarding: 0", "forwarding: 1"),
    ];
    let counters = "Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll  Drop\n\
        mce0   9000 <Link#1>      b8:ce:f6:57:d4:a4 90000000     0     0 90000000     0     0     0\n";
    let route = recorded!("route-13").replace("10.6.6.6", "default").replace("tun0", "mce0").replace("1452", "9000");
    Said {
        sysctl: known(tuned.iter().fold(sysctl, |sysctl, (from, to)| sysctl.replace(from, to))),
        ifconfig: known(ifconfig),
        pciconf: known(recorded!("pciconf-mce-13")),
        counters: known(counters),
        route: known(route),
        interrupts: known("interrupt total rate\nirq264: mce0:rxq0 1 1\nirq265: mce0:rxq1 1 1\n"),
        ..office()
    }
}

fn findings(said: &Said, goal: Goal) -> Vec<Finding> {
    freebsd(&Readings::of(said), &Conditions { goal, ..Conditions::default() })
}

/// Checks and objects of the findings that are worse than worth knowing.
fn faults(findings: &[Finding]) -> Vec<(Check, &str)> {
    let bad = findings.iter().filter(|finding| finding.severity < Severity::Info);
    bad.map(|finding| (finding.check, finding.object.as_str())).collect()
}

fn of(findings: &[Finding], check: Check) -> &Finding {
    findings.iter().find(|finding| finding.check == check).unwrap_or_else(|| panic!("{check:?}: {findings:#?}"))
}

#[test]
fn nothing_is_found_on_a_machine_as_it_was_recorded() {
    for goal in [Goal::Throughput, Goal::Latency, Goal::Bypass] {
        assert_eq!(faults(&findings(&office(), goal)), [], "{goal:?}");
    }
    assert_eq!(faults(&findings(&server(), Goal::Throughput)), []);
    let routed = server();
    let of_router = findings(&routed, Goal::Router);
    assert_eq!(faults(&of_router), [(Check::LroForwarding, "mce0")], "LRO is on by itself");
    assert_eq!(of(&of_router, Check::LroForwarding).mend.as_deref(), Some("ifconfig mce0 -lro"));
}

#[test]
fn a_router_forwards_and_has_queues_for_its_cores() {
    let mut said = server();
    let text = said.sysctl.known().expect("an output").replace("forwarding: 1", "forwarding: 0");
    said.sysctl = known(text.replace("hw.ncpu: 2", "hw.ncpu: 16\ndev.mce.0.iflib.rxq0.cpu: 0"));
    let findings = findings(&said, Goal::Router);
    assert_eq!(of(&findings, Check::Forwarding).severity, Severity::Warn);
    let queues = of(&findings, Check::Channels);
    assert_eq!((queues.read.value.as_str(), queues.severity), ("2", Severity::Warn));
    let mend = "echo 'dev.mce.0.iflib.override_nrxqs=\"8\"' >> /boot/loader.conf";
    assert_eq!(queues.mend.as_deref(), Some(mend));
}

#[test]
fn commands_that_failed_make_their_checks_unknown_and_no_value_is_made_up() {
    let failed = |command: &str| Reading::Unreadable { path: command.into(), why: format!("sh: {command}: not found") };
    let said = Said {
        sysctl: failed("sysctl"),
        ifconfig: failed("ifconfig"),
        pciconf: Reading::Unreadable {
            path: "pciconf -lvbc".into(),
            why: "pciconf: /dev/pci: Permission denied".into(),
        },
        mbufs: failed("netstat"),
        counters: failed("netstat"),
        protocols: failed("netstat"),
        dmesg: failed("dmesg"),
        route: failed("route"),
        interrupts: failed("vmstat"),
        modules: failed("kldstat"),
        ..server()
    };
    let conditions = Conditions { speed_bps: Some(10e9), ..Conditions::default() };
    let findings = freebsd(&Readings::of(&said), &conditions);
    assert!(findings.iter().all(|finding| finding.severity == Severity::Unknown), "{findings:#?}");
    let checks = [
        Check::LinkDown,
        Check::PcieNarrow,
        Check::OffloadOff,
        Check::MbufClusters,
        Check::MbufsShort,
        Check::InterruptStorm,
        Check::ReceiveBuffer,
        Check::SocketBufferLimit,
        Check::CongestionControl,
        Check::PathMtuDiscovery,
        Check::MtuMember,
        Check::Drops,
        Check::StackDrops,
        Check::KernelComplains,
    ];
    for check in checks {
        assert!(of(&findings, check).read.value.contains(if check == Check::PcieNarrow {
            "denied"
        } else {
            "not found"
        }));
    }
    assert!(of(&findings, Check::PcieNarrow).values.contains_key("root"));
    // Half an output of sysctl lacks names that each release has.
    let half = Said { sysctl: known("hw.ncpu: 2\n"), ..server() };
    let findings = freebsd(&Readings::of(&half), &Conditions::default());
    assert_eq!(of(&findings, Check::MbufClusters).severity, Severity::Unknown);
}

#[test]
fn an_ordinary_user_sees_cards_by_name() {
    let denied = Reading::Unreadable { path: "pciconf -lvbc".into(), why: "/dev/pci: Permission denied".into() };
    let names: String = recorded!("pciconf-mce-13").lines().take(3).map(|line| format!("{line}\n")).collect();
    let said = Said { pciconf: denied, devices: known(names), ..server() };
    let readings = Readings::of(&said);
    assert_eq!(readings.cards.ports.len(), 1);
    let findings = freebsd(&readings, &Conditions::default());
    assert_eq!(of(&findings, Check::PcieNarrow).severity, Severity::Unknown);
    assert!(
        faults(&findings).iter().all(|(check, _)| check.group() == model::inspection::Group::Pcie),
        "{findings:#?}"
    );
}

#[test]
fn the_distance_decides_about_buffers_and_the_congestion_control() {
    let mut said = office();
    said.sysctl = known(said.sysctl.known().expect("an output").replace("algorithm: cubic", "algorithm: newreno"));
    let readings = Readings::of(&said);
    let far = Conditions { rtt_s: Some(0.05), ..Conditions::default() };
    let near = freebsd(&readings, &Conditions::default());
    assert_eq!(of(&near, Check::CongestionControl).severity, Severity::Info);
    let far = freebsd(&readings, &far);
    let control = of(&far, Check::CongestionControl);
    assert_eq!(control.mend.as_deref(), Some("kldload -n cc_cubic; sysctl net.inet.tcp.cc.algorithm=cubic"));
    assert_eq!(control.severity, Severity::Warn);
    assert_eq!(of(&far, Check::ReceiveBuffer).wanted, ">= 6250000");
}

#[test]
fn one_interface_is_judged_with_those_on_its_path() {
    let mut said = server();
    let text = said.ifconfig.known().expect("an output");
    said.ifconfig =
        known(text.replace("mtu 9000\n\tgroups: tap", "mtu 1500\n\tgroups: tap").replace("active", "no carrier"));
    let of_dev = |name: &str| {
        let conditions = Conditions { interface: Some(name.into()), ..Conditions::default() };
        let findings = freebsd(&Readings::of(&said), &conditions);
        faults(&findings).into_iter().map(|(check, object)| (check, object.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(of_dev("bridge0"), [(Check::MtuMember, "tap0".to_owned())]);
    assert_eq!(of_dev("vlan7"), [(Check::LinkDown, "mce0".to_owned())]);
}
