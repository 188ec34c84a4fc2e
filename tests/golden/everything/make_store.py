#!/usr/bin/env python3
"""Makes a store that has runs of every probe, bed, doubt and failure: sudo tests/golden/everything/make_store.py PROGRAM runs.db

runs.db.gz was made by it once, and stays as it is: it is a store of its day, which later programs have to read. Another store is made
where something new has to be in one; its folder then stands beside this one.

The first half measures, in namespaces of its own, with the program as users call it. The second half edits what was stored: names of
this machine go, and what the machine cannot do (real cards, zero-copy, doubts that nobody can plant) is put into copies of runs.
"""

import base64
import copy
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
LAB_MTU = 9000
STANDING = "stand"


def sh(words, **more):
    done = subprocess.run(words.split() if isinstance(words, str) else words, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"{words}: {done.stdout}{done.stderr}")
    return done.stdout


def own_ground():
    """A network, mounts and IPC that nobody else sees."""
    if "GOLDEN_GROUND" not in os.environ:
        words = ["unshare", "--net", "--mount", "--ipc", "--propagation", "private", sys.executable, sys.argv[0]]
        os.execvpe(words[0], words + sys.argv[1:], os.environ | {"GOLDEN_GROUND": "1"})
    while subprocess.run(["umount", "--lazy", "/run/netns"], capture_output=True).returncode == 0:
        pass
    for folder in ["/run", "/var/lib/wireproof"]:
        os.makedirs(folder, exist_ok=True)
        sh(f"mount -t tmpfs -o mode=755 none {folder}")
    sh("ip link set lo up")
    sh("ip netns add wptest-first")
    sh("ip netns del wptest-first")


class Maker:
    def __init__(self, program, folder):
        self.folder = folder
        self.program = folder / "wireproof"
        shutil.copy(program, self.program)
        self.store = folder / "runs.db"
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "TZ": "UTC"}

    def plan(self, name, text, repeats=1):
        path = self.folder / f"{name}.toml"
        path.write_text(f'name = "{name}"\nrepeats = {repeats}\n{text}')
        return str(path)

    def words(self, *words):
        return [str(self.program), "--store", str(self.store), *words]

    def start(self, *words, inside=()):
        out = subprocess.DEVNULL
        return subprocess.Popen([*inside, *self.words(*words)], env=self.environment, stdin=out, stdout=out, stderr=subprocess.PIPE, text=True)

    def run(self, *words, inside=(), status=(0, 3, 4)):
        run = self.start(*words, inside=inside)
        said = run.communicate()[1]
        if run.returncode not in status:
            sys.exit(f"{words}: status {run.returncode}\n{said}")

    def verify(self, name, plan, *words, repeats=1, **more):
        print(name, flush=True)
        self.run("verify", self.plan(name, plan, repeats), "--quiet", "--out", str(self.folder / "out"), *words, **more)

    def trials(self):
        """Trials of the latest run."""
        if not self.store.exists():
            return 0
        listed = json.loads(sh(self.words("runs", "--json"), env=self.environment))
        return listed["runs"][0]["trials"] if listed["runs"] else 0

    def wait_for(self, trials, before=0):
        until = time.time() + 60
        while self.runs() <= before or self.trials() < trials:
            if time.time() > until:
                sys.exit("no trials come")
            time.sleep(0.05)

    def runs(self):
        return len(json.loads(sh(self.words("runs", "--json"), env=self.environment))["runs"]) if self.store.exists() else 0


# Measured.

UDP_PING = '[[latency]]\nprotocol = "udp"\nwarmup = 50\n'
TCP_PING = '[[latency]]\nprotocol = "tcp"\nwarmup = 50\n'
TCP_DATA = '[[goodput]]\nprotocol = "tcp"\nduration = "1 s"\nwarmup = "100 ms"\n'
UDP_DATA = '[[goodput]]\nprotocol = "udp"\nduration = "1 s"\nwarmup = "100 ms"\n'
EACH = (
    "[[path]]\n" + UDP_PING + "frame_sizes = [64, 1518]\ncount = 2000\n" + TCP_PING + 'mode = "block"\nframe_sizes = [128]\ncount = 500\n'
    + TCP_DATA + UDP_DATA + 'rate = "50 Mbit/s"\n[[packets]]\nframe_sizes = [64]\nrate = "10 kpps"\nduration = "500 ms"\n'
)
SOME = "[[path]]\n" + UDP_PING + "frame_sizes = [64]\ncount = 500\n" + TCP_DATA + UDP_DATA + 'rate = "50 Mbit/s"\n'


def lab(maker):
    maker.verify(
        "latency",
        UDP_PING + "frame_sizes = [64, 1518]\ncount = 3000\n" + UDP_PING + 'ip = 6\nmode = "block"\nframe_sizes = [128]\ncount = 300\n'
        + UDP_PING + 'mode = "busy-poll"\nframe_sizes = [64]\ncount = 300\n' + TCP_PING + "frame_sizes = [64, 72]\ncount = 2000\n"
        + TCP_PING + 'ip = 6\nmode = "block"\nframe_sizes = [1280]\nduration = "200 ms"\n',
        repeats=2,
    )
    maker.verify("latency-stamps", UDP_PING + "stamps = true\nframe_sizes = [64, 512]\ncount = 1000\n")
    load = 'frame_sizes = [64]\nduration = "500 ms"\n'
    maker.verify(
        "latency-load",
        UDP_PING + load + 'rate = "2 kpps"\n' + UDP_PING + load + 'rate = "10 kpps"\nmode = "block"\n' + TCP_PING + load + 'rate = "5 kpps"\n'
        + UDP_PING + load + 'rate = "400 kpps"\ntimeout = "100 ms"\n',
    )
    maker.verify(
        "goodput-tcp",
        TCP_DATA.replace("1 s", "3 s") + 'congestion = "cubic"\n' + TCP_DATA + 'streams = 4\ndirection = "both"\n' + TCP_DATA + 'direction = "reverse"\nip = 6\n'
        + TCP_DATA + 'window = "64 KiB"\nsend = "zerocopy"\n' + TCP_DATA + 'send = "sendfile"\nreceive = "truncate"\n' + TCP_DATA + 'window = "8 KiB"\n',
    )
    maker.verify(
        "goodput-udp",
        UDP_DATA + UDP_DATA + 'rate = "100 Mbit/s"\ndirection = "both"\nstreams = 2\n' + UDP_DATA + 'batch = "gso"\nrate = "500 Mbit/s"\n'
        + UDP_DATA + 'ip = 6\ndatagram = 64\nrate = "20 Mbit/s"\ndirection = "reverse"\n' + UDP_DATA + 'rate = "20 Gbit/s"\ndatagram = 64\nwindow = "4 KiB"\n',
    )
    maker.verify("goodput-mtus", TCP_DATA + "mtus = [1500, 9000]\n" + UDP_DATA + 'rate = "100 Mbit/s"\nmtus = [1500, 9000]\n')
    maker.verify("path", "[[path]]\n[[path]]\nip = 6\n[[path]]\nmtus = [1500, 4000]\n")
    maker.verify("each", EACH, "--cpus", "0,1", repeats=2)
    maker.verify("shared-core", SOME, "--cpus", "1,1")
    maker.verify("wrapped", SOME, "--wrap", "nice -n 1")
    maker.verify("stacks", UDP_PING + 'frame_sizes = [64, 1024]\ncount = 2000\nstacks = ["kernel", "bypass"]\n' + UDP_PING + 'mode = "block"\nframe_sizes = [64]\ncount = 300\nstacks = ["bypass"]\n'
        + UDP_DATA + 'stacks = ["kernel", "bypass"]\nrate = "100 Mbit/s"\n' + UDP_DATA + 'stacks = ["bypass"]\n', repeats=2)
    maker.verify("senders", SOME + '[[packets]]\nframe_sizes = [64]\nrate = "5 kpps"\nduration = "500 ms"\n', "--bed", "lab:senders=2")


def packets(maker):
    short = 'duration = "500 ms"\n'
    engines = ["live", "xsk", "af_packet", "udp"]
    maker.verify("packets", "".join(f'[[packets]]\nengine = "{it}"\nframe_sizes = [64]\nrate = "10 kpps"\n{short}' for it in engines)
        + f'[[packets]]\nframe_sizes = [64, 1518]\n{short}')
    maker.verify("packets-ladder", f'[[packets]]\nframe_sizes = [64]\nrate = "10kpps..30kpps step 10 kpps"\ndirection = "both"\n{short}'
        + f'[[packets]]\nsizes = "imix"\nrate = "20 kpps burst 32"\ndirection = "reverse"\n{short}'
        + f'[[packets]]\nip = 6\nframe_sizes = [128]\nrate = "5 kpps poisson"\nflows = 100\n{short}')
    streams = maker.folder / "streams.toml"
    streams.write_text('[[stream]]\nname = "voice"\nsizes = "64..256 step 2"\nvlans = ["100 priority 5"]\ndscp = 46\nsource_port = "1024..1123"\nload = "5 kpps poisson"\n'
        '[[stream]]\nname = "bulk"\nprotocol = "tcp"\nsizes = "imix"\nflows = 1000\npayload = "random seed 7"\nload = "20 Mbit/s L1 burst 8"\n')
    print("packets-streams", flush=True)
    maker.run("packets", "--stream-file", str(streams), "--duration", "500 ms", "--repeats", "2", "--quiet", "--out", str(maker.folder / "out"))
    capture = maker.folder / "capture.pcap"
    frames = [bytes.fromhex("020000000009020000000008") + kind + bytes([fill]) * size for kind, size, fill in [(b"\x08\x06", 46, 1), (b"\x88\xb5", 47, 2), (b"\x88\xb5", 1500, 3)]]
    capture.write_bytes(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
        + b"".join(struct.pack("<IIII", 1700000000, 5000 * place, len(it), len(it)) + it for place, it in enumerate(frames)))
    print("packets-replay", flush=True)
    for more in [[], ["--rate", "2 kpps"]]:
        maker.run("packets", "--replay", str(capture), "--duration", "500 ms", "--repeats", "1", "--quiet", "--out", str(maker.folder / "out"), *more)


class Standing:
    """A bed that stands, for faults."""

    def __init__(self, maker, *more):
        self.maker = maker
        maker.run("bed", "up", STANDING, *more)

    def at(self, end, words):
        sh(f"ip netns exec wp{STANDING}-{end} {words}")

    def fault(self, section, every):
        built = self.maker.folder / f"faults-{every}.o"
        source = HERE.parent.parent / "stories/planted/faults.bpf.c"
        sh(["clang", "-O2", "-g", "-target", "bpf", f"-DEVERY={every}", f"-I/usr/include/{os.uname().machine}-linux-gnu", "-c", str(source), "-o", str(built)])
        if section.startswith("xdp/"):
            self.at("b", f"ip link set dev lab-b xdp obj {built} sec {section}")
        else:
            self.at("a", "tc qdisc replace dev lab-a clsact")
            self.at("a", f"tc filter replace dev lab-a egress bpf da obj {built} sec {section}")

    def mended(self):
        subprocess.run(f"ip netns exec wp{STANDING}-b ip link set dev lab-b xdp off".split(), capture_output=True)
        for qdisc in ["clsact", "root"]:
            subprocess.run(f"ip netns exec wp{STANDING}-a tc qdisc del dev lab-a {qdisc}".split(), capture_output=True)

    def down(self):
        self.maker.run("bed", "down", STANDING)


def faults(maker):
    bed = Standing(maker, "--mtu", "9000")
    on = ["--bed", STANDING]
    bed.at("b", "ip link set dev lab-b mtu 1777")
    maker.verify("path-peer", "[[path]]\n[[path]]\nip = 6\n", *on)
    bed.at("b", "ip link set dev lab-b mtu 9000")
    bed.fault("tc/drop_large", 1)
    maker.verify("path-hole", "[[path]]\n" + UDP_DATA + 'rate = "50 Mbit/s"\n', *on)
    bed.mended()
    bed.down()

    bed = Standing(maker)
    bed.fault("xdp/lose", 100)
    lossy = UDP_PING + 'frame_sizes = [64]\ncount = 300\ntimeout = "5 ms"\n' + UDP_DATA + 'rate = "50 Mbit/s"\n[[packets]]\nengine = "udp"\nframe_sizes = [64]\nrate = "10 kpps"\nduration = "500 ms"\n'
    maker.verify("loss", lossy + '[[packets]]\nengine = "udp"\nframe_sizes = [64]\nrate = "10kpps..20kpps step 10 kpps"\nduration = "500 ms"\n', *on)
    bed.mended()
    bed.fault("tc/duplicate", 100)
    maker.verify("duplicates", lossy, *on)
    bed.mended()
    bed.at("a", "tc qdisc add dev lab-a root handle 1: htb default 10")
    bed.at("a", "tc class add dev lab-a parent 1: classid 1:10 htb rate 90gbit quantum 60000")
    bed.at("a", "tc class add dev lab-a parent 1: classid 1:20 htb rate 8kbit burst 20 quantum 1500")
    bed.fault("tc/reorder", 1000)
    maker.verify("reordered", lossy, *on)
    bed.mended()
    bed.at("a", "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb latency 20ms")
    maker.verify("qdisc", TCP_DATA + UDP_DATA + 'rate = "400 Mbit/s"\n', *on)
    bed.mended()
    bed.fault("xdp/lose", 1)
    maker.verify("nothing-arrives", UDP_PING + 'frame_sizes = [64]\ncount = 10\ntimeout = "2 ms"\n[[packets]]\nengine = "udp"\nframe_sizes = [64]\nrate = "10 kpps"\nduration = "500 ms"\n', *on, status=(0, 1, 3, 4))
    bed.mended()

    watched = UDP_PING + "frame_sizes = [64]\ncount = 1000\n" + TCP_DATA + "[[path]]\n" + '[[packets]]\nengine = "udp"\nframe_sizes = [64]\nrate = "10kpps..20kpps step 10 kpps"\nduration = "500 ms"\n'
    maker.verify("watched", watched, *on, repeats=4)
    maker.run("baseline", "set", "last")
    maker.run("baseline", "set", "last", "--name", "release 1")
    bed.at("a", "tc qdisc add dev lab-a root tbf rate 200mbit burst 64kb limit 1mb")
    maker.verify("watched", watched, *on, repeats=4)
    bed.mended()
    maker.verify("watched", watched, *on, "--set", "latency.count=500")

    print("link-down", flush=True)
    before = maker.runs()
    run = maker.start("verify", maker.plan("link-down", '[[packets]]\nframe_sizes = [64]\nrate = "10 kpps"\nduration = "20 s"\n'), *on, "--quiet", "--out", str(maker.folder / "out"))
    maker.wait_for(1, before)
    bed.at("a", "ip link set lab-a down")
    run.communicate()
    bed.at("a", "ip link set lab-a up")
    bed.down()


LIMITS = """
[[limits]]
metric = "rtt_p50"
at_most = "1 s"
[[limits]]
metric = "rtt_p99"
protocol = "udp"
frame_size = 64
at_most = "1 ns"
[[limits]]
metric = "rtt_mean"
reference = "rx2540-exanic-2015"
within = "20 %"
[[limits]]
metric = "goodput_mean"
at_least = "1 Mbit/s"
[[limits]]
metric = "goodput_min"
at_least = "900 Gbit/s"
[[limits]]
metric = "goodput_mean"
reference = "mine"
within = "20 %"
[[limits]]
metric = "path_mtu"
at_least = "1500"
[[limits]]
metric = "loss"
at_most = "0.001 %"
[[limits]]
metric = "forwarding_rate"
at_least = "9 kpps"
[[limits]]
metric = "goodput_mean"
streams = 7
at_least = "1 Mbit/s"
"""

SLOW = UDP_PING + 'frame_sizes = [64]\nduration = "700 ms"\n' + TCP_DATA


def limits(maker):
    shutil.copytree(HERE / "references", maker.folder / "references")
    maker.verify("limits", EACH + LIMITS, repeats=6)
    maker.verify("limits-few", EACH + LIMITS, repeats=2)


def identified(maker):
    picture = lambda red: b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in [(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress((b"\0" + bytes([red, 90, 60]) * 8) * 8)), (b"IEND", b"")]
    )
    (maker.folder / "card.png").write_bytes(picture(200))
    (maker.folder / "slot.png").write_bytes(picture(20))
    example = sh(maker.words("report", "--meta-template"), env=maker.environment)
    meta = maker.folder / "meta.toml"
    meta.write_text(example.replace("photos = []", 'photos = ["card.png", "slot.png"]') + '\n[[item]]\nwhat = "Fans"\nresult = "loud"\nverdict = "fail"\n[[item]]\nwhat = "LEDs"\nverdict = "inconclusive"\n')
    maker.verify("identified", SOME, "--meta", str(meta), "--revision", "B")


def cut_off(maker):
    out = ["--quiet", "--out", str(maker.folder / "out")]

    def begun(name, plan, trials, repeats=3):
        print(name, flush=True)
        before = maker.runs()
        run = maker.start("verify", maker.plan(name, plan, repeats), *out)
        maker.wait_for(trials, before)
        return run

    run = begun("interrupted", SLOW, 2)
    run.send_signal(signal.SIGINT)
    run.communicate()
    run = begun("killed", SLOW, 2)
    run.kill()
    run.communicate()
    run = begun("resumed", SLOW, 2)
    run.kill()
    run.communicate()
    run = maker.start("resume", *out)
    maker.wait_for(4)
    run.send_signal(signal.SIGINT)
    run.communicate()
    maker.run("resume", *out)
    for name, plan in [
        ("unfinished-goodput", TCP_DATA.replace("1 s", "60 s")),
        ("unfinished-udp", UDP_DATA.replace("1 s", "60 s") + 'rate = "50 Mbit/s"\n'),
        ("unfinished-latency", UDP_PING + 'frame_sizes = [64]\nrate = "2 kpps"\nduration = "60 s"\n'),
        ("unfinished-packets", '[[packets]]\nframe_sizes = [64]\nrate = "5 kpps"\nduration = "60 s"\n'),
    ]:
        run = begun(name, plan, 1, repeats=1)
        run.kill()
        run.communicate()
    run = begun("failed", SLOW, 1)
    agents = sorted(int(it) for it in sh(["ps", "-o", "pid=", "--ppid", str(run.pid)]).split())
    os.kill(agents[-1], signal.SIGKILL)
    run.communicate()


class Ports:
    """A network namespace that stands for a machine with two ports."""

    NAME = "wptest-machine"

    def __init__(self):
        sh(f"ip netns add {self.NAME}")
        for line in ["link add port1 type veth peer name port2", "link set port1 up", "link set port2 up", "link set lo up"]:
            sh(f"ip -n {self.NAME} {line}")

    def inside(self):
        return ["nsenter", f"--net=/run/netns/{self.NAME}"]

    def end(self):
        sh(f"ip netns del {self.NAME}")


def ports(maker):
    machine = Ports()
    maker.verify("ports", EACH, "--bed", "ports:port1,port2", inside=machine.inside())
    machine.end()


class OtherHost:
    """A second host: an ssh server with a network, files and a name of its own, as in tests/stories/other_host.rs."""

    BECOME = """set -e
    hostname "$2"
    mount -t tmpfs -o mode=755 none /run && mkdir -m 755 /run/sshd
    mkdir -p /var/lib/wireproof && mount --bind "$1/state" /var/lib/wireproof
    for file in passwd shadow; do mount --bind "$1/$file" /etc/$file; done
    exec /usr/sbin/sshd -D -e -f "$1/sshd_config" -E "$1/log"
    """
    NEAR = "wptest-near"

    def __init__(self, maker, name, suffix="", network=100, first=None):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wptest-", dir="/var/tmp"))
        self.name, self.maker, self.space = name, maker, f"wptest-{name}"
        self.address = f"198.18.{network}.2"
        if first is None:
            sh(f"ip netns add {self.NEAR}")
            sh(f"ip -n {self.NEAR} link set lo up")
        sh(f"ip netns add {self.space}")
        sh(f"ip -n {self.space} link set lo up")
        for wire in ["control", "wire"]:
            sh(f"ip link add {wire}-n{suffix} netns {self.NEAR} type veth peer name {wire}-f netns {self.space}")
            sh(f"ip -n {self.NEAR} link set {wire}-n{suffix} up")
            sh(f"ip -n {self.space} link set {wire}-f up")
        sh(f"ip -n {self.NEAR} addr add 198.18.{network}.1/24 dev control-n{suffix}")
        sh(f"ip -n {self.space} addr add {self.address}/24 dev control-f")
        self.write(first)
        words = ["ip", "netns", "exec", self.space, "unshare", "--uts", "sh", "-c", self.BECOME, "sh", str(self.folder), name]
        self.server = subprocess.Popen(words, stdin=subprocess.DEVNULL)
        until = time.time() + 20
        while subprocess.run(["ip", "netns", "exec", self.NEAR, "bash", "-c", f"exec 3<>/dev/tcp/{self.address}/22"], capture_output=True).returncode:
            if time.time() > until:
                sys.exit("the ssh server does not listen")
            time.sleep(0.05)

    def write(self, first):
        path = lambda name: self.folder / name
        os.chmod(self.folder, 0o755)
        for name in ["bin", "home", "state"]:
            path(name).mkdir()
        shutil.copy(self.maker.program, path("bin/wireproof"))
        for key in ["host_key", "key"]:
            sh(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path(key))])
        path("passwd").write_text(f"root:x:0:0::{path('home')}:/bin/bash\nsshd:x:54322:65534::{path('home')}:/bin/bash\n")
        path("shadow").write_text("root:*:19000:0:99999:7:::\nsshd:*:19000:0:99999:7:::\n")
        trusted = (first or self).folder / "key.pub"
        path("sshd_config").write_text(
            f"ListenAddress {self.address}\nHostKey {path('host_key')}\nAuthorizedKeysFile {trusted}\nStrictModes no\nUsePAM no\nPidFile none\n"
            f"PermitRootLogin yes\nMaxStartups 50\nSetEnv PATH={path('bin')}:/usr/sbin:/usr/bin:/sbin:/bin\n")
        known = (first or self).folder / "known_hosts"
        with known.open("a") as file:
            file.write(f"{self.address} {path('host_key.pub').read_text()}")
        path("ssh_config").write_text(
            f"IdentityFile {path('key')}\nIdentitiesOnly yes\nUserKnownHostsFile {known}\nGlobalKnownHostsFile /dev/null\nStrictHostKeyChecking ask\n")

    def inside(self):
        return ["nsenter", f"--net=/run/netns/{self.NEAR}"]

    def ssh(self):
        return ["--ssh", f"ssh -F {self.folder / 'ssh_config'}"]

    def set(self, words):
        sh(f"nsenter -t {self.server.pid} -m -n -u -- {words}")

    def end(self):
        self.server.terminate()
        self.server.wait()
        for space in [self.space, self.NEAR]:
            subprocess.run(["ip", "netns", "del", space], capture_output=True)
        shutil.rmtree(self.folder)


def hosts(maker):
    host = OtherHost(maker, "far-host")
    sh(f"ip -n {host.NEAR} addr add 198.18.101.1/24 dev wire-n")
    bed = f"hosts:ssh://root@{host.address}?dev=wire-f&addr=198.18.101.2/24"
    maker.verify("hosts", EACH, "--bed", bed, *host.ssh(), "--cpus", "0,1", inside=host.inside())
    second = OtherHost(maker, "third-host", "2", 102, host)
    for line in ["link add br0 type bridge", "addr del 198.18.101.1/24 dev wire-n", "link set wire-n master br0", "link set wire-n2 master br0", "addr add 198.18.101.1/24 dev br0", "link set br0 up"]:
        sh(f"ip -n {host.NEAR} {line}")
    bed += f",ssh://root@{second.address}?dev=wire-f&addr=198.18.101.3/24"
    maker.verify("hosts-senders", SOME, "--bed", bed, *host.ssh(), "--cpus", "0,1", inside=host.inside())
    second.end()
    host.end()


def device_under_test(maker):
    router = OtherHost(maker, "the-router")
    for port in ["1", "2"]:
        sh(f"ip link add port{port} netns {router.NEAR} type veth peer name router{port} netns {router.space}")
    dry = subprocess.run([*router.inside(), *maker.words("latency", "--bed", "ports:port1,port2,routed", "--dry-run", "--json")], capture_output=True, text=True, env=maker.environment)
    for line in json.loads(dry.stdout)["dut_commands"]:
        router.set(line.split("#")[0].replace("PORT", "router"))
    bed = ["--bed", f"ports:port1,port2,routed,dut=ssh://root@{router.address}", *router.ssh()]
    maker.verify("dut", SOME, *bed, inside=router.inside())
    router.set("tc qdisc add dev router2 root tbf rate 50mbit burst 100kb limit 300kb")
    maker.verify("dut-limited", TCP_DATA + UDP_DATA + 'rate = "100 Mbit/s"\n[[packets]]\nframe_sizes = [1000]\nrate = "10 kpps"\nduration = "500 ms"\n', *bed, inside=router.inside())
    router.end()


def unprivileged(maker, sections=SOME):
    os.chmod(maker.folder, 0o777)
    name = "unprivileged"
    print(name, flush=True)
    plan = maker.plan(name, sections)
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(maker.program), "--store", str(maker.folder / "guest.db"), "verify", plan, "--quiet", "--out", str(maker.folder / "guest")]
    done = subprocess.run(words, env=maker.environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    with sqlite3.connect(maker.store) as store:
        store.execute("ATTACH ? AS guest", [str(maker.folder / "guest.db")])
        for table in ["run", "trial"]:
            store.execute(f"INSERT INTO {table} SELECT * FROM guest.{table}")


PARTS = [lab, packets, faults, limits, identified, cut_off, ports, hosts, device_under_test, unprivileged]


# Edited.

BUILD = "0.1.0 0f1e2d3c4b5a6978"
HOST = {
    "bios": "Example 2.4 2026-01-15", "cpu_model": "Example CPU @ 3.00GHz", "file_system": "ext4 on /dev/sda1 (rw,relatime)",
    "hypervisor": "", "kernel": "6.12.57-amd64", "kernel_command_line": "root=/dev/sda1 ro quiet", "memory_bytes": 17179869184, "microcode": "0x2b",
    "product": "Example Systems R1", "services": ["cron", "ssh"], "wireproof": BUILD,
}


class Store:
    """Rows of a store as values."""

    def __init__(self, path):
        self.store = sqlite3.connect(path)
        self.runs = {}
        for ident, body in self.store.execute("SELECT id, body FROM run ORDER BY id"):
            trials = [json.loads(it) for (it,) in self.store.execute("SELECT body FROM trial WHERE run = ? ORDER BY number", [ident])]
            self.runs[ident] = {"body": json.loads(body), "trials": trials}

    def named(self, plan):
        return next(it for it in self.runs.values() if it["body"]["plan"]["name"] == plan)

    def copy(self, plan, name, trials=None):
        """A run like this one, by another name, of these trials of it."""
        run = copy.deepcopy(self.named(plan))
        ident = f"20261122-235959-{len(self.runs):04x}"
        run["body"]["id"], run["body"]["plan"]["name"] = ident, name
        run["body"]["command"] = [name if it == plan else it.replace(f"{plan}.toml", f"{name}.toml") for it in run["body"]["command"]]
        if trials is not None:
            run["trials"] = [it for it in run["trials"] if it["measured"]["probe"] in trials]
            for number, trial in enumerate(run["trials"]):
                trial["number"] = number + 1
        self.runs[ident] = run
        return run

    def write(self):
        baselines = list(self.store.execute("SELECT * FROM baseline"))
        for table in ["baseline", "trial", "run"]:
            self.store.execute(f"DELETE FROM {table}")
        compact = lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        for ident, run in self.runs.items():
            body = run["body"]
            row = [ident, body["started"], body["finished"], body["plan"]["name"], body["bed"]["name"], body["partial"] or body["finished"] is None, compact(body)]
            self.store.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", row)
            for trial in run["trials"]:
                self.store.execute("INSERT INTO trial VALUES (?, ?, ?)", [ident, trial["number"], compact(trial)])
        self.store.executemany("INSERT INTO baseline VALUES (?, ?, ?, ?)", baselines)
        self.store.commit()
        self.store.execute("VACUUM")
        self.store.close()


def edit(path):
    store = Store(path)
    for run in store.runs.values():
        make_anonymous(run)
    for derive in [every_doubt, failures, cards, zero_copy, engines, places, losses, environment_changed, culprits]:
        derive(store)
    store.write()


def make_anonymous(run):
    text = json.dumps(run)
    for host in run["body"]["before"]["hosts"]:
        if host["hostname"] not in ["far-host", "third-host", "the-router"]:
            text = text.replace(f'"{host["hostname"]}"', '"tester"')
    text = re.sub(r"/var/tmp/golden-\w+", "/home/user/measured", text)
    text = re.sub(r"/var/tmp/wptest-\w+", "/home/user/host", text)
    run.update(json.loads(text))
    body = run["body"]
    body["wireproof"] = BUILD
    views = [body["before"], body["after"], *(it["before"] for it in body.get("resumed", []))]
    for resumed in body.get("resumed", []):
        resumed["wireproof"] = BUILD
    for host in (host for view in views if view for host in view["hosts"]):
        host.update(HOST)


def trial(run, probe, **spec):
    """The first trial of this probe whose parameters are these."""
    fits = lambda it: it["probe"] == probe and all(it["spec"][key] == value for key, value in spec.items())
    return next(it for it in run["trials"] if fits(it["measured"]))


def doubt(kind, **parts):
    return {"kind": kind, **parts}


def every_doubt(store):
    """Each variant of `model::Doubt`, at a trial that may have it and at the run."""
    run = store.copy("each", "every-doubt")
    of_run = [
        doubt("other-load", cpu=1, percent=41.5), doubt("other-load", cpu=2, percent=12.25, machine="far-host"), doubt("few-trials", trials=2, needed=6),
        doubt("speeds-differ", near_mbps=10000, far_mbps=1000), doubt("unprivileged"), doubt("environment-changed", what="eth1 mtu: 1500 → 9000"),
        doubt("other-build", first=BUILD, then="0.2.0 8796a5b4c3d2e1f0"), doubt("interrupted"),
        doubt("failed", what="goodput TCP IPv4 1 stream: the agent at endpoint b ended unexpectedly (killed by signal 9)"),
        doubt("no-self-test", what="udp IPv4: no route to host"),
    ]
    of_each = [
        doubt("shared-core", cpu=1), doubt("not-pinned", endpoint="a"), doubt("steal", percent=7.5), doubt("frequency-changed", cpu=0, before=3000, after=1200),
        doubt("small-buffer", endpoint="b", asked=4194304, granted=212992), doubt("packets-disagree", endpoint="b", program=1000, interface=1500),
    ]
    of_probe = {
        "latency": [
            doubt("replies-missing", lost=3, late=1), doubt("replies-missing", lost=0, late=2), doubt("sender-too-slow", intended=20000.0, achieved=15000.5),
            doubt("behind-schedule", behind_ns=45000, rtt_ns=61000), doubt("messages-joined", messages=1050, segments=900), doubt("nothing-to-poll", endpoint="a"),
            doubt("through-kernel", datagrams=17, of=4000),
        ],
        "goodput": [
            doubt("counters-disagree", sent=1000000, received=1000500), doubt("stalled", seconds=2), doubt("unsteady", settled_after_s=3.5), doubt("data-ended-early"),
            doubt("path-not-proven", mtu=9000, forward=1500, reverse=None), doubt("sender-too-slow", intended=5e8, achieved=1.5e8), doubt("through-kernel", datagrams=5, of=100000),
            doubt("behind-schedule", behind_ns=45000, rtt_ns=61000),
        ],
        "packets": [
            doubt("not-numbered", stream="voice"), doubt("sender-too-slow", intended=1e7, achieved=2.5e6),
            *(doubt("nothing-arrived", **{"from": "a", "to": "b", "packets": 5000, "engine": it}) for it in ["live", "xsk", "af_packet", "udp", "pktgen"]),
        ],
        "path": [],
    }
    run["body"]["doubts"] = of_run
    for it in run["trials"]:
        it["doubts"] = of_each + of_probe[it["measured"]["probe"]]


def failures(store):
    """A run that failed before its first trial, and one with an unfinished trial of each probe."""
    nothing = store.copy("each", "nothing-measured", [])
    nothing["body"].update(partial=True, after=None, finished=None, doubts=[doubt("failed", what="cannot set up the bed: no such device")])
    cut = store.copy("each", "unfinished-each")
    cut["body"].update(partial=True, doubts=[doubt("interrupted")])
    for it in cut["trials"]:
        it["doubts"].append(doubt("unfinished", seconds=1))
        for stream in it["measured"]["result"].get("streams", []):
            stream["cut_off"] = True
        if it["measured"]["probe"] == "latency":
            it["measured"]["result"]["lost"] = None


def on_cards(run):
    """The ports of this run are those of a card."""
    link = {"width": "8", "speed": "5.0 GT/s PCIe", "most_width": "8", "most_speed": "8.0 GT/s PCIe"}
    narrow = link | {"width": "1"}
    module = {"form": "SFP", "maker": "EXAMPLE", "part": "EX-10G-SR", "serial": "E123456", "wavelength_nm": 850}
    models = [
        {"model": "Example 10G-2", "permanent_mac": "02:00:00:00:00:01", "top_speed_mbps": 10000, "connector": "fibre", "module": module,
         "hops": [{"device": "0000:01:00.0", "link": link, "ports": 2}, {"device": "0000:00:01.0", "link": narrow, "ports": 2}]},
        {"model": "8086:10fb", "permanent_mac": "", "top_speed_mbps": None, "connector": "direct-attach", "module": module | {"form": "QSFP28", "wavelength_nm": None}, "hops": []},
    ]
    lanes = [{"received_mw": 0.52, "sent_mw": 0.61, "bias_ma": 6.5}, {"received_mw": 0.00001, "sent_mw": 0.6, "bias_ma": 6.4}]
    body = run["body"]
    body["bed"]["simulated"] = False
    for number, end in enumerate(body["bed"]["endpoints"]):
        end["driver"] = "ixgbe"
        for later, view in enumerate([body["before"], body["after"]]):
            facts = next(it for it in view["endpoints"] if it["endpoint"] == end["name"])
            for interface in facts["interfaces"]:
                if interface["name"] == end["interface"]:
                    interface.update(driver="ixgbe", driver_version="6.12.57-amd64", firmware_version="0x80000123", bus=f"0000:01:00.{number}", pcie=link, card=models[number], speed_mbps=10000)
            readings = {
                "up": True, "carrier": True, "full_duplex": True, "autonegotiation": number == 0, "temperatures": [["", 41.5 + later], ["loc1", 38.0]],
                "module": {"celsius": 36.25 + later, "volts": 3.31, "lanes": lanes[: number + 1]},
                "counters": {"rx_packets": 1000 + 500000 * later, "tx_packets": 900 + 500000 * later, "rx_crc_errors": later * number * 7, "carrier_changes": 2},
            }
            facts["readings"] = {end["interface"]: readings}


def cards(store):
    on_cards(store.copy("ports", "cards"))
    down = store.copy("ports", "cards-unlike")
    on_cards(down)
    for view in [down["body"]["before"], down["body"]["after"]]:
        far = view["endpoints"][1]
        for interface in far["interfaces"]:
            interface.update(speed_mbps=1000, state="down")
        for readings in far["readings"].values():
            readings.update(carrier=False, full_duplex=False, module=None, temperatures=[])
    down["body"]["doubts"] = [doubt("speeds-differ", near_mbps=10000, far_mbps=1000)]


def zero_copy(store):
    """Past the kernel on cards that read and write the memory of packets themselves, and stamps of cards."""
    run = store.copy("stacks", "zero-copy")
    on_cards(run)
    for it in run["trials"]:
        measured = it["measured"]
        if measured["spec"]["stack"] != "bypass":
            continue
        if measured["probe"] == "latency":
            measured["result"]["zero_copy"] = True
        else:
            for flow in measured["result"]["flows"]:
                for side in ["sent", "received"]:
                    flow[side]["datagrams"].update(zero_copy=True, through_kernel=3)
    stamped = store.copy("latency-stamps", "stamps-of-cards")
    on_cards(stamped)
    for it in stamped["trials"]:
        it["measured"]["result"]["hardware_stamps"] = True


def engines(store):
    """Packets sent by pktgen, and by a card's own queue."""
    run = store.copy("packets", "engines-of-cards")
    on_cards(run)
    for number, it in enumerate(run["trials"]):
        engine = ["xsk", "pktgen"][number % 2]
        for stream in it["measured"]["result"]["streams"]:
            stream["sent"].update(engine=engine, engine_why="the fastest that the driver has")
    wider = store.copy("packets-ladder", "ladder-with-loss")
    for number, it in enumerate(wider["trials"]):
        for stream in it["measured"]["result"]["streams"]:
            stream["received"]["frames"] -= stream["received"]["frames"] * number // 20
            stream["received"].update(late=2, corrupt=1, reordered=3, duplicated=4)


def delta(source, of, name, by):
    return {"source": source, "of": of, "name": name, "delta": by}


def idle(one):
    for end in one["counters"]:
        for core in end["cpu"]:
            core.update(busy=5.0, softirq=1.0, steal=0.0)
        end["deltas"] = [it for it in end["deltas"] if it["source"] not in ["qdisc", "softnet", "netstat"]]


def places(store):
    """A transfer for each place that can limit it, by what would show it."""
    names = ["sender-cpu", "receiver-cpu", "softirq", "window", "reordering", "sent-again", "link-rate", "pcie", "sender-socket", "not-known"]
    for name in names:
        udp = name in ["sender-socket"]
        run = store.copy("goodput-udp" if udp else "goodput-tcp", f"limited-{name}", ["goodput"])
        run["trials"] = run["trials"][:1]
        run["body"]["doubts"], run["body"]["partial"] = [], False
        it = run["trials"][0]
        it["doubts"] = []
        idle(it)
        flow = it["measured"]["result"]["flows"][0]
        near, far = it["counters"]
        cores = {end["endpoint"] if "endpoint" in end else place: end["cpu"] for place, end in enumerate([near, far])}
        tcp = flow["sent"]["tcp"][0] if not udp else None
        if tcp:
            tcp.update(retransmits=0, reorderings=0, receive_window_limited_us=0, send_buffer_limited_us=0)
        if name == "sender-cpu":
            cores[0][it["cpus"][0][0]].update(busy=99.5, softirq=10.0, steal=1.5)
        if name == "receiver-cpu":
            cores[1][it["cpus"][1][0]].update(busy=98.5, softirq=20.0)
        if name == "softirq":
            cores[1][it["cpus"][1][0]].update(busy=99.0, softirq=95.0)
            received = sum(each["delta"] for each in far["deltas"] if each["source"] == "link" and each["name"] == "rx_packets")
            far["deltas"] += [delta("softnet", f"cpu {it['cpus'][1][0]}", "processed", received), delta("softnet", f"cpu {it['cpus'][1][0]}", "time_squeeze", 40)]
        if name == "window":
            tcp.update(receive_window_limited_us=int(tcp["busy_us"] * 0.8), rtt_us=900)
        if name == "reordering":
            tcp.update(reorderings=50, retransmits=200)
        if name == "sent-again":
            tcp.update(retransmits=200)
            far["deltas"].append(delta("netstat", "TcpExt", "TCPBacklogDrop", 150))
        if name in ["link-rate", "pcie"]:
            on_cards(run)
            bps = flow["received"]["counted_bytes"] * 8 / flow["received"]["counted_s"]
            for end in run["body"]["before"]["endpoints"]:
                for interface in end["interfaces"]:
                    interface["speed_mbps"] = int(bps * 1.02 / 1e6) if name == "link-rate" else None
                    if name == "pcie":
                        interface["pcie"] = interface["pcie"] | {"width": "1", "speed": "2.5 GT/s PCIe"}
        if name == "sender-socket":
            flow["sent"]["buffer_full"] = 12345


def losses(store):
    """Datagrams and packets that each counter shows, one more in each trial."""
    shown = [
        [delta("ethtool", "eth1", "rx_no_dma_resources", 30)], [delta("link", "eth1", "rx_missed_errors", 30)], [delta("softnet", "cpu 1", "dropped", 30)],
        [delta("snmp", "Udp", "RcvbufErrors", 30), delta("snmp", "Udp", "InErrors", 30)], [delta("snmp", "Udp", "InCsumErrors", 30), delta("snmp", "Udp", "InErrors", 30)],
        [delta("snmp", "Ip", "InDiscards", 30), delta("netstat", "TcpExt", "IPReversePathFilter", 5)],
        [delta("qdisc", "ingress ffff:", "drops", 30)],
    ]
    for probe, plan in [("goodput", "goodput-udp"), ("packets", "packets")]:
        run = store.copy(plan, f"lost-by-{probe}", [probe])
        for place, it in enumerate(run["trials"] * 2):
            idle(it)
            it["counters"][1]["deltas"] += shown[place % len(shown)]
            if probe == "goodput":
                flow = it["measured"]["result"]["flows"][0]
                flow["received"]["datagrams"]["received"] -= 40
            else:
                it["measured"]["result"]["streams"][0]["received"]["frames"] -= 40


def environment_changed(store):
    """Machines that changed while they were measured, and a run that another build went on with."""
    run = store.copy("resumed", "changed")
    body = run["body"]
    host = body["after"]["hosts"][0]
    host.update(governor="performance", sysctls=host["sysctls"] | {"net.core.rmem_max": "16777216"}, mitigations={}, cpus=1)
    body["after"]["endpoints"][0]["interfaces"][0].update(mtu=9000, state="down", addresses=[])
    body["resumed"][-1]["wireproof"] = "0.2.0 8796a5b4c3d2e1f0"
    body["doubts"] = [doubt("other-build", first=BUILD, then="0.2.0 8796a5b4c3d2e1f0"), doubt("environment-changed", what="hosts 1 governor: → performance")]
    body["bed"]["privilege"] = "user"


def culprits(store):
    """What can keep a path down."""
    run = store.copy("path", "culprits", ["path"])
    by = "198.18.0.1"
    refusals = [
        {"why": "too-big", "by": by, "mtu": 1400}, {"why": "silent", "last_router": by, "routers_answer": True},
        {"why": "silent", "last_router": None, "routers_answer": False}, {"why": "silent", "last_router": None, "routers_answer": None},
        {"why": "largest"}, {"why": "interface"},
    ]
    run["trials"] = [copy.deepcopy(run["trials"][0]) for _ in refusals]
    for number, (it, refusal) in enumerate(zip(run["trials"], refusals)):
        it.update(number=number + 1, repeat=number + 1)
        it["measured"]["result"]["forward"].update(mtu=None if number == 3 else 1400, refusal=refusal, routers=number or None)
    bridged = run["trials"][-1]["measured"]["result"]
    bridged["forward"].update(mtu=9000, refusal={"why": "interface"})
    bridged["reverse"].update(mtu=1400, refusal={"why": "interface"})
    device = lambda host, name, mtu, kind="", master=None: {"host": host, "name": name, "kind": kind, "mtu": mtu, "master": master, "on_path": name != "tap0"}
    bridged["devices"] = [
        device("a", "eth0", 9000), device("b", "br0", 1400, "bridge"), device("b", "eth1", 9000, "", "br0"), device("b", "tap0", 1400, "tun", "br0"),
    ]


def main(parts, edit):
    if sys.argv[1] == "--edit":
        sys.exit(edit(sys.argv[2]))
    own_ground()
    program, store, *named = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="golden-", dir="/var/tmp") as folder:
        maker = Maker(program, pathlib.Path(folder))
        for part in parts:
            if not named or part.__name__ in named:
                part(maker)
        edit(maker.store)
        shutil.copy(maker.store, store)


if __name__ == "__main__":
    main(PARTS, edit)
