#!/usr/bin/env python3
"""Makes a store with runs of transactions: sudo tests/golden/transactions/make_store.py PROGRAM runs.db

As ../everything/make_store.py, whose beds it takes, and under the same rule: runs.db.gz stays as it is.
"""

import copy
import pathlib
import signal
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "everything"))
import make_store as everything  # noqa: E402
from make_store import OtherHost, Ports, STANDING, Standing, Store, doubt, idle, main, make_anonymous, sh  # noqa: E402

SHORT = 'duration = "1 s"\nwarmup = "100 ms"\n'


def section(kind, *lines):
    return f'[[transactions]]\nkind = "{kind}"\n{SHORT}' + "".join(f"{line}\n" for line in lines)


RR = section("rr", "connections = [1, 16]")
SERVED = (
    RR + section("rr", 'protocol = "udp"', "ip = 6", 'mode = "spin"', "connections = [4]", "request = 64", "response = 512")
    + section("crr", "request = 1", "response = 2000", "connections = [8]")
    + section("http", 'paths = ["/index.html 0 B", "/a/b.bin 100 KiB"]', "connections = [16]")
    + section("http", 'server = "nginx"', "connections = [16]")
    + section("http", 'server = "nginx"', "new_connections = true", 'rate = "500 tps"', "connections = [16]")
)
LIMITS = """
[[limits]]
metric = "transaction_rate"
at_least = "1 tps"
[[limits]]
metric = "connection_rate"
at_least = "90 Mtps"
[[limits]]
metric = "response_p99"
at_most = "1 ns"
[[limits]]
metric = "failed"
at_most = "0 %"
"""
FEW = RR + section("http", "connections = [16]")


def served(maker):
    for _ in range(2):
        maker.verify("served", SERVED, repeats=2)
    maker.verify("judged", SERVED + LIMITS, repeats=6)


def short(maker):
    """What runs out of ports, out of room in the queue, and out of time."""
    bed = Standing(maker)
    on = ["--bed", STANDING]
    setting = lambda end, value: sh(["ip", "netns", "exec", f"wp{STANDING}-{end}", "sysctl", "-qw", value])
    setting("a", "net.ipv4.ip_local_port_range=40000 40019")
    maker.verify("short", section("crr", "connections = [64]"), *on)
    setting("a", "net.ipv4.ip_local_port_range=32768 60999")
    setting("b", "net.core.somaxconn=1")
    maker.verify("queue", section("crr", "connections = [256]"), *on)
    setting("b", "net.core.somaxconn=4096")
    bed.fault("xdp/lose", 50)
    maker.verify("late", section("rr", 'protocol = "udp"', "connections = [8]", 'timeout = "5 ms"'), *on)
    bed.mended()
    maker.verify("too-fast", section("rr", 'rate = "2 Mtps"', "connections = [16]"), *on)
    bed.down()


def cut_off(maker):
    for name, kill in [("interrupted", signal.SIGINT), ("killed", signal.SIGKILL)]:
        print(name, flush=True)
        before = maker.runs()
        plan = maker.plan(name, section("http", 'server = "nginx"', "connections = [4]").replace("1 s", "3 s"), 3)
        run = maker.start("verify", plan, "--quiet", "--out", str(maker.folder / "out"))
        maker.wait_for(2, before)
        run.send_signal(kill)
        run.communicate()


def ports(maker):
    machine = Ports()
    maker.verify("ports", SERVED, "--bed", "ports:port1,port2", inside=machine.inside())
    machine.end()


def hosts(maker):
    host = OtherHost(maker, "far-host")
    sh(f"ip -n {host.NEAR} addr add 198.18.101.1/24 dev wire-n")
    bed = f"hosts:ssh://root@{host.address}?dev=wire-f&addr=198.18.101.2/24"
    maker.verify("hosts", SERVED.replace("ip = 6", "ip = 4"), "--bed", bed, *host.ssh(), "--cpus", "0,1", inside=host.inside())
    host.end()


def unprivileged(maker):
    everything.unprivileged(maker, FEW)


PARTS = [served, short, cut_off, ports, hosts, unprivileged]

# Edited.


def every_failure(store):
    """Each kind of failure, and each doubt of these trials."""
    run = store.copy("served", "every-failure")
    kinds = ["refused", "no-port", "no-descriptor", "reset", "closed", "timeout", "wrong", "other"]
    run["trials"] = [copy.deepcopy(run["trials"][0]) for _ in [*kinds, "all"]]
    for number, it in enumerate(run["trials"]):
        it.update(number=number + 1, repeat=number + 1)
        chosen = kinds[number:number + 1] or kinds
        it["measured"]["result"]["failed"] = [{"kind": kind, "count": 7 + 100 * place} for place, kind in enumerate(chosen)]
        it["doubts"] = []
    run["trials"][-1]["doubts"] = [
        doubt("shared-core", cpu=1), doubt("not-pinned", endpoint="a"), doubt("steal", percent=7.5), doubt("unfinished", seconds=1),
        doubt("sender-too-slow", intended=20000.0, achieved=15000.5), doubt("behind-schedule", behind_ns=45000, rtt_ns=61000),
    ]


def places(store):
    """A trial for each place that can limit it, by what would show it."""
    for name in ["sender-cpu", "receiver-cpu", "softirq", "connections", "not-known"]:
        run = store.copy("served", f"limited-{name}")
        run["trials"] = run["trials"][:1]
        it = run["trials"][0]
        it["doubts"] = []
        idle(it)
        near, far = it["counters"]
        if name == "sender-cpu":
            near["cpu"][it["cpus"][0][0]].update(busy=99.5, softirq=10.0, steal=1.5)
        if name == "receiver-cpu":
            far["cpu"][it["cpus"][1][0]].update(busy=98.5, softirq=20.0)
        if name == "softirq":
            far["cpu"][it["cpus"][1][0]].update(busy=99.0, softirq=95.0)
        if name == "not-known":
            it["measured"]["result"]["response_ns"]["mean"] *= 3


def edit(path):
    store = Store(path)
    for run in store.runs.values():
        make_anonymous(run)
    for derive in [every_failure, places]:
        derive(store)
    store.write()


if __name__ == "__main__":
    main(PARTS, edit)
