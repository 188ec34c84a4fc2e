//! Faults, one at a time, in the outputs of a machine that has none.

use ::freebsd::Said;
use model::{
    Reading,
    inspection::{Check, Goal, Severity},
};

use super::{faults, findings, known, server};

/// A place of an output, and words in it that make the fault.
type Planted =
    (fn(&mut Said) -> &mut Reading<String>, &'static str, &'static str, Goal, Check, &'static str, &'static str);

const SYSCTL: fn(&mut Said) -> &mut Reading<String> = |said| &mut said.sysctl;
const IFCONFIG: fn(&mut Said) -> &mut Reading<String> = |said| &mut said.ifconfig;
const PCICONF: fn(&mut Said) -> &mut Reading<String> = |said| &mut said.pciconf;
const COUNTERS: fn(&mut Said) -> &mut Reading<String> = |said| &mut said.counters;

/// Each with the object and the command that mends it; `–` for none.
const PLANTED: &[Planted] = &[
    (IFCONFIG, "status: active", "status: no carrier", Goal::Throughput, Check::LinkDown, "mce0", "–"),
    (
        IFCONFIG,
        "full-duplex",
        "half-duplex",
        Goal::Latency,
        Check::HalfDuplex,
        "mce0",
        "ifconfig mce0 media autoselect",
    ),
    (
        IFCONFIG,
        "\tgroups: mlx",
        "\tsupported media:\n\t\tmedia 56GBase-CR4\n",
        Goal::Latency,
        Check::LinkSlow,
        "mce0",
        "ifconfig mce0 media autoselect",
    ),
    (IFCONFIG, "VLAN_HWCSUM,TSO4,", "VLAN_HWCSUM,", Goal::Throughput, Check::OffloadOff, "mce0", "ifconfig mce0 tso4"),
    (
        IFCONFIG,
        "<RXCSUM,TXCSUM,VLAN",
        "<TXCSUM,VLAN",
        Goal::Throughput,
        Check::OffloadOff,
        "mce0",
        "ifconfig mce0 rxcsum",
    ),
    (
        IFCONFIG,
        "metric 0 mtu 9000\n\tgroups: tap",
        "metric 0 mtu 1500\n\tgroups: tap",
        Goal::Throughput,
        Check::MtuMember,
        "tap0",
        "ifconfig tap0 mtu 9000",
    ),
    (
        IFCONFIG,
        "metric 0 mtu 1500\n\tgroups: vlan",
        "metric 0 mtu 9216\n\tgroups: vlan",
        Goal::Throughput,
        Check::MtuLower,
        "vlan7",
        "ifconfig mce0 mtu 9216",
    ),
    (PCICONF, "link x8(x8) speed 8.0", "link x4(x8) speed 5.0", Goal::Throughput, Check::PcieNarrow, "mce0", "–"),
    (PCICONF, "max data 256", "max data 128", Goal::Throughput, Check::PciePayload, "mce0", "–"),
    (
        PCICONF,
        "AER 1 0 fatal 0 non-fatal",
        "AER 1 0 fatal 2 non-fatal",
        Goal::Throughput,
        Check::PcieErrors,
        "mce0",
        "–",
    ),
    (
        PCICONF,
        "mlx5_core0@pci0:1:0:0",
        "none0@pci0:9:0:0:\tclass=0x020000 rev=0x00 hdr=0x00 vendor=0x8086 device=0x10fb\nmlx5_core0@pci0:1:0:0",
        Goal::Throughput,
        Check::CardRefused,
        "0000:09:00.0",
        "–",
    ),
    (
        SYSCTL,
        "nmbclusters: 1019834",
        "nmbclusters: 25600",
        Goal::Throughput,
        Check::MbufClusters,
        "kern.ipc.nmbclusters",
        "sysctl kern.ipc.nmbclusters=262144",
    ),
    (
        SYSCTL,
        "recvbuf_max: 16777216",
        "recvbuf_max: 2097152",
        Goal::Throughput,
        Check::ReceiveBuffer,
        "net.inet.tcp.recvbuf_max",
        "sysctl net.inet.tcp.recvbuf_max=6250000",
    ),
    (
        SYSCTL,
        "sendbuf_max: 16777216",
        "sendbuf_max: 262144",
        Goal::Throughput,
        Check::SendBuffer,
        "net.inet.tcp.sendbuf_max",
        "sysctl net.inet.tcp.sendbuf_max=6250000",
    ),
    (
        SYSCTL,
        "maxsockbuf: 33554432",
        "maxsockbuf: 2097152",
        Goal::Throughput,
        Check::SocketBufferLimit,
        "kern.ipc.maxsockbuf",
        "sysctl kern.ipc.maxsockbuf=7031250",
    ),
    (
        SYSCTL,
        "recvbuf_auto: 1",
        "recvbuf_auto: 0",
        Goal::Throughput,
        Check::BufferAuto,
        "net.inet.tcp.recvbuf_auto",
        "sysctl net.inet.tcp.recvbuf_auto=1",
    ),
    (
        SYSCTL,
        "rfc1323: 1",
        "rfc1323: 0",
        Goal::Latency,
        Check::WindowScaling,
        "net.inet.tcp.rfc1323",
        "sysctl net.inet.tcp.rfc1323=1",
    ),
    (
        SYSCTL,
        "rfc1323: 1",
        "rfc1323: 2",
        Goal::Throughput,
        Check::Timestamps,
        "net.inet.tcp.rfc1323",
        "sysctl net.inet.tcp.rfc1323=1",
    ),
    (
        SYSCTL,
        "sack.enable: 1",
        "sack.enable: 0",
        Goal::Latency,
        Check::SelectiveAcks,
        "net.inet.tcp.sack.enable",
        "sysctl net.inet.tcp.sack.enable=1",
    ),
    (
        SYSCTL,
        "storm_threshold: 0",
        "storm_threshold: 1000",
        Goal::Throughput,
        Check::InterruptStorm,
        "hw.intr_storm_threshold",
        "sysctl hw.intr_storm_threshold=9000",
    ),
    (
        SYSCTL,
        "hw.acpi.cpu.cx_lowest: C1",
        "hw.acpi.cpu.cx_lowest: C3",
        Goal::Latency,
        Check::IdleStates,
        "hw.acpi.cpu.cx_lowest",
        "sysctl hw.acpi.cpu.cx_lowest=C1",
    ),
    (
        SYSCTL,
        "dev.cpu.0.cx_lowest: C1",
        "dev.cpu.0.cx_lowest: Cmax",
        Goal::Latency,
        Check::IdleStates,
        "dev.cpu.0.cx_lowest",
        "sysctl dev.cpu.0.cx_lowest=C1",
    ),
    (
        SYSCTL,
        "hardware: TSC-low",
        "hardware: HPET",
        Goal::Latency,
        Check::ClockSource,
        "kern.timecounter.hardware",
        "sysctl kern.timecounter.hardware=TSC-low",
    ),
    (
        SYSCTL,
        "kern.vm_guest: none",
        "dev.hwpstate_intel.0.epp: 50",
        Goal::Latency,
        Check::Governor,
        "dev.hwpstate_intel.0.epp",
        "sysctl dev.hwpstate_intel.0.epp=0",
    ),
    (
        SYSCTL,
        "path_mtu_discovery: 1",
        "path_mtu_discovery: 0",
        Goal::Throughput,
        Check::PathMtuDiscovery,
        "net.inet.tcp.path_mtu_discovery",
        "sysctl net.inet.tcp.path_mtu_discovery=1",
    ),
    (
        SYSCTL,
        "blackhole_detection: 1",
        "blackhole_detection: 0",
        Goal::Throughput,
        Check::MtuProbing,
        "net.inet.tcp.pmtud_blackhole_detection",
        "sysctl net.inet.tcp.pmtud_blackhole_detection=1",
    ),
    (
        |said| &mut said.mbufs,
        "0/0/0 requests for mbufs denied",
        "0/77/0 requests for mbufs denied",
        Goal::Throughput,
        Check::MbufsShort,
        "clusters",
        "sysctl kern.ipc.nmbclusters=2039668",
    ),
    (
        |said| &mut said.mbufs,
        "0/508/508/54524",
        "54000/508/54508/54524",
        Goal::Latency,
        Check::MbufsShort,
        "4k jumbo clusters",
        "sysctl kern.ipc.nmbjumbop=1019832",
    ),
    (
        |said| &mut said.route,
        "9000",
        "1452",
        Goal::Throughput,
        Check::RouteMtuBelow,
        "default",
        "route change default 10.0.16.2 -mtu 9000",
    ),
    (
        COUNTERS,
        "90000000     0     0 90000000",
        "90000000 70000     0 90000000",
        Goal::Throughput,
        Check::InputErrors,
        "mce0",
        "–",
    ),
    (
        COUNTERS,
        "90000000     0     0 90000000",
        "90000000     0 70000 90000000",
        Goal::Throughput,
        Check::Drops,
        "mce0",
        "–",
    ),
    (
        |said| &mut said.protocols,
        "\t0 dropped due to full socket buffers",
        "\t9 dropped due to full socket buffers",
        Goal::Throughput,
        Check::StackDrops,
        "udp",
        "sysctl net.inet.udp.recvspace=84160",
    ),
    (
        |said| &mut said.dmesg,
        "ahciem0: Unsupported enclosure interface",
        "interrupt storm detected on \"irq264:\"; throttling interrupt source",
        Goal::Latency,
        Check::KernelComplains,
        "",
        "–",
    ),
];

#[test]
fn each_planted_fault_is_found_alone_and_has_its_command() {
    for (place, from, to, goal, check, object, mend) in PLANTED {
        let mut said = server();
        let text = place(&mut said);
        let before = text.known().expect("an output").clone();
        assert!(before.contains(from), "{check:?}: {from:?} stands in no output");
        *text = known(before.replacen(from, to, 1));
        let findings = findings(&said, *goal);
        assert_eq!(faults(&findings), [(*check, *object)], "{check:?}");
        let finding = findings.iter().find(|it| it.check == *check && it.severity < Severity::Info).expect("found");
        assert_eq!(finding.mend.as_deref().unwrap_or("–"), *mend, "{check:?}");
        assert!(!finding.wanted.is_empty() && !finding.read.place.is_empty() && !finding.sources.is_empty());
    }
}

#[test]
fn darkness_without_thresholds_is_worth_knowing() {
    let mut said = server();
    let dark = "\tlane 1: RX power: 0.00 mW (-40.00 dBm) TX bias: 6.69 mA";
    said.ifconfig = known(said.ifconfig.known().expect("an output").replacen("\tgroups: mlx", dark, 1));
    let findings = findings(&said, Goal::Latency);
    assert_eq!(faults(&findings), []);
    let light = findings.iter().find(|it| it.check == Check::NoLight).expect("found");
    assert_eq!((light.severity, light.read.value.as_str()), (Severity::Info, "0.0000 mW"));
}
