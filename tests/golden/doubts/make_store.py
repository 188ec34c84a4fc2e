#!/usr/bin/env python3
"""Makes a store with what came after ../everything: tests/golden/doubts/make_store.py runs.db

Newer doubts, places and events of a trial, and facts that could not be read, in copies of runs of ../everything: nothing is measured.
The rule is the same: runs.db.gz stays as it is.
"""

import gzip
import pathlib
import sys

sys.dont_write_bytecode = True
EVERYTHING = pathlib.Path(__file__).resolve().parent.parent / "everything"
sys.path.insert(0, str(EVERYTHING))
from make_store import Store, delta, doubt, idle  # noqa: E402


def event(at_s, kind, what, before, after):
    return {"at_s": at_s, "kind": kind, "what": what, "before": before, "after": after}


def unreadable(path):
    return {"unreadable": path, "why": "Permission denied (os error 13)"}


def doubts(store):
    """Each newer variant of `model::Doubt`, twice where the report shows the worse of two."""
    run = store.copy("dut", "newer-doubts")
    run["body"]["doubts"] = [
        doubt("mtu-disproved", mtu=9000, ip=4, forward=1500, reverse=None), doubt("mtu-disproved", mtu=4000, ip=6, forward=None, reverse=1500),
        doubt("no-address", ip=6), doubt("dut-shares-core", cpu=1),
    ]
    for number, it in enumerate(run["trials"]):
        it["doubts"] = [
            doubt("link-lost", endpoint="b", times=1 + number), doubt("settings-changed", endpoint="a", what="offload tx-tcp-segmentation: on → off", at_s=1.25),
            doubt("clock-set", endpoint="b", by_s=-0.75 * (1 + number)), doubt("ttl-kept", **{"from": "a", "to": "b"}),
            doubt("sender-paused", intended=1000.0, achieved=960.0 - number),
            doubt("outage", **{"from": "a", "to": "b"}, seconds=0.3125 * (1 + number)),
        ]
        near, far = it["counters"]
        near["events"] = [
            event(1.25, "offload", "tx-tcp-segmentation", "on", "off"), event(-0.1, "route", "198.18.1.0/24", "none", "via 198.18.0.254"),
            event(0.3, "address", "198.18.0.9/24", "none", "there"), event(0.4, "link", "eth1 mtu", "1500", "1400"),
        ]
        far["events"] = [event(0.5, "carrier", "eth1", "1", str(2 + number)), event(0.75, "clock", "time of day", "0", "-0.75")]
        far["events"] += [
            event(0.8, "neighbour", "198.18.0.1", "02:00:00:00:00:01", "02:00:00:00:00:09"), event(0.9, "qdisc", "root", "fq_codel", "tbf"),
            event(0.95, "driver", "channels combined", "4", "2"),
        ]
        near["unread"] = [{"source": "ethtool", "path": "ethtool -S eth1", "why": "Operation not permitted (os error 1)"}]


def facts(store):
    """Machines that keep back what they know, in each kind of fact."""
    run = store.copy("cards", "unreadable-facts", ["path"])
    body = run["body"]
    body["doubts"], body["partial"] = [], True
    for view in [body["before"], body["after"]]:
        host = view["hosts"][0]
        for fact in ["os", "kernel", "kernel_command_line", "cpus", "numa_nodes", "memory_bytes", "governor", "product"]:
            host[fact] = unreadable(f"/x/{fact}")
        host["sysctls"]["net.core.rmem_max"] = unreadable("/proc/sys/net/core/rmem_max")
        host["mitigations"]["meltdown"] = unreadable("/sys/devices/system/cpu/vulnerabilities/meltdown")
        for interface in view["endpoints"][0]["interfaces"]:
            for fact in ["driver", "driver_version", "firmware_version", "bus"]:
                interface[fact] = unreadable(f"ethtool -i {interface['name']}")
            interface.update(mtu=unreadable("ip link"), mac=unreadable("ip link"), speed_mbps=unreadable("/x/speed"))
            if interface["card"]:
                interface["card"].update(permanent_mac=unreadable("ethtool -P"), top_speed_mbps=unreadable("ethtool"), connector=unreadable("ethtool"))
                for hop in interface["card"]["hops"]:
                    hop["link"].update(speed=unreadable("/x/current_link_speed"), most_width=unreadable("/x/max_link_width"), most_speed="")
    # A value that could be read only once is no change.
    body["after"]["hosts"][0].update(kernel="6.12.57-amd64", governor="performance")


def places(store):
    """A transfer for each place that no run of ../everything is limited by."""
    for name in ["congestion-control", "interruption", "reordering", "mac-address", "ip-address"]:
        udp = name in ["mac-address", "ip-address"]
        run = store.copy("goodput-mtus" if udp else "goodput-tcp", f"limited-{name}", ["goodput"])
        fits = lambda it: it["measured"]["spec"]["protocol"] == ("udp" if udp else "tcp")
        run["trials"] = [it for it in run["trials"] if fits(it)][:1]
        it = run["trials"][0]
        it.update(number=1, doubts=[])
        run["body"]["doubts"], run["body"]["partial"] = [], False
        idle(it)
        flow = it["measured"]["result"]["flows"][0]
        received = flow["received"]
        near, far = it["counters"]
        if udp:
            lost = received["datagrams"]["received"] // 10
            received["datagrams"]["received"] -= lost
            received["counted_bytes"] = received["counted_bytes"] * 9 // 10
            received["intervals_bps"] = [bps * 0.9 for bps in received["intervals_bps"]]
            counter = ["link", "eth1", "rx_otherhost_dropped"] if name == "mac-address" else ["snmp", "Ip", "InAddrErrors"]
            far["deltas"].append(delta(*counter, lost))
            continue
        tcp = flow["sent"]["tcp"][0]
        tcp.update(retransmits=0, reorderings=0, receive_window_limited_us=0, send_buffer_limited_us=0)
        tcp["seconds"]["retransmits"] = [0 for _ in received["intervals_bps"]]
        if name == "reordering":
            again = flow["sent"]["total_bytes"] // tcp["mss"] // 5
            tcp.update(retransmits=again, reorderings=again // 10)
            near["deltas"].append(delta("netstat", "TcpExt", "TCPDSACKRecvSegs", again))
            far["deltas"].append(delta("netstat", "TcpExt", "TCPOFOQueue", again))
        elif name == "congestion-control":
            tcp["seconds"]["pacing_bps"] = [int(bps) for bps in received["intervals_bps"]]
            tcp["seconds"]["delivery_bps"] = [int(bps) for bps in received["intervals_bps"]]
        else:
            received["intervals_bps"][1] = 0.0
            received["counted_bytes"] = received["counted_bytes"] * 2 // 3
            far["deltas"].append(delta("link", "eth1", "carrier_down_count", 1))
            far["events"] = [event(1.0, "carrier", "eth1", "1", "2")]
            it["doubts"] = [doubt("link-lost", endpoint="b", times=1), doubt("stalled", seconds=1)]


def lost_between(store):
    """Datagrams that left the sender and never came to the receiver's interface, with a device between."""
    run = store.copy("dut", "limited-device-under-test", ["goodput"])
    run["trials"] = [it for it in run["trials"] if it["measured"]["spec"]["protocol"] == "udp"]
    run["body"]["doubts"], run["body"]["partial"] = [], False
    it = run["trials"][0]
    it.update(number=1, doubts=[])
    idle(it)
    received = it["measured"]["result"]["flows"][0]["received"]
    lost = received["datagrams"]["received"] // 10
    received["datagrams"]["received"] -= lost
    received["counted_bytes"] = received["counted_bytes"] * 9 // 10
    received["intervals_bps"] = [bps * 0.9 for bps in received["intervals_bps"]]
    for counter in it["counters"][1]["deltas"]:
        if counter["name"] in ["rx_packets", "InReceives", "InDelivers", "InDatagrams"] and counter["delta"] > lost:
            counter["delta"] -= lost


def main(path):
    path.write_bytes(gzip.decompress((EVERYTHING / "runs.db.gz").read_bytes()))
    store = Store(path)
    store.store.execute("DELETE FROM baseline")
    before = set(store.runs)
    for derive in [doubts, facts, places, lost_between]:
        derive(store)
    store.runs = {ident: run for ident, run in store.runs.items() if ident not in before}
    store.write()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
