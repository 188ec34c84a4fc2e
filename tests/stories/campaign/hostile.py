# A hostile program on the bed, in the network namespace of end "a". To all that end "b" listens on, it sends random datagrams, changed copies
# of messages of earlier trials, connections with random greetings, frames without sense, and floods. With "forge" it also hears the
# trial itself, and sends as if from the client's own address and port. With "tokens" it sends numbered packets by all tokens in turn. It stops
# by itself after so many seconds.
#
# Arguments: SEED SECONDS NETNS-OF-B KEPT [forge] [tokens]. KEPT is a file of the messages that were heard.
import json, os, random, select, signal, socket, struct, sys, time

seed, seconds, other, kept = int(sys.argv[1]), float(sys.argv[2]), os.stat(sys.argv[3]).st_ino, sys.argv[4]
forge, walks = "forge" in sys.argv[5:], "tokens" in sys.argv[5:]
rnd = random.Random(seed)
VICTIM, DEVICE = "198.18.0.2", "lab-a"
counts = {}

heard = [bytes.fromhex(text) for text in json.load(open(kept))] if os.path.exists(kept) else []
flows = []  # header fields of the newest frames to the victim: Ethernet, protocol, source port, destination port
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
wire.bind((DEVICE, 0))
wire.setblocking(False)

def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF

def listening():
    """Ports of the other end, from the table of a process that is there."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{pid}/ns/net").st_ino != other:
                continue
            found = {}
            for kind, state in ("udp", "07"), ("tcp", "0A"):
                lines = open(f"/proc/{pid}/net/{kind}").read().splitlines()[1:]
                found[kind] = [int(line.split()[1].split(":")[1], 16) for line in lines if line.split()[3] == state]
            return found
        except OSError:
            pass
    return {"udp": [], "tcp": []}

def listen():
    """Keeps payloads and flows of frames to the victim."""
    for _ in range(50):
        try:
            frame, where = wire.recvfrom(4096)
        except OSError:
            return
        if len(frame) < 34 or frame[12:14] != b"\x08\0" or frame[30:34] != socket.inet_aton(VICTIM) or frame[23] not in (6, 17):
            continue
        at = 14 + 4 * (frame[14] & 15)
        if len(frame) < at + 20:
            continue
        source, destination = struct.unpack("!HH", frame[at:at + 4])
        payload = frame[at + 8:] if frame[23] == 17 else frame[at + 4 * (frame[at + 12] >> 4):]
        flows.append((frame[:12], frame[23], frame[26:30], source, destination))
        del flows[:-64]
        if payload and source not in mine:
            if len(heard) < 256:
                heard.append(payload)
            else:
                heard[rnd.randrange(256)] = payload

def junk():
    if heard and rnd.random() < 0.7:
        payload = bytearray(rnd.choice(heard))
        for _ in range(rnd.choice((0, 1, 1, 2, 8))):
            payload[rnd.randrange(len(payload))] = rnd.randrange(256)
        if rnd.random() < 0.2:
            payload = payload[:rnd.randrange(len(payload) + 1)]
        return bytes(payload[:1472])
    return rnd.randbytes(rnd.choice((0, 1, 8, 16, 17, 24, 64, 200, 1472)))

def ip(addresses, protocol, rest):
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(rest), rnd.randrange(65536), 0, 64, protocol, 0) + addresses
    return header[:10] + struct.pack("!H", checksum(header)) + header[12:] + rest

def forged():
    """A datagram or segment of the client's own flow."""
    ethernet, protocol, source, ours, theirs = rnd.choice(flows)
    addresses, payload = source + socket.inet_aton(VICTIM), junk()
    if protocol == 17:
        rest = struct.pack("!HHHH", ours, theirs, 8 + len(payload), 0) + payload
    else:
        flags = rnd.choice((2, 4, 16, 17, 20, 24))
        rest = struct.pack("!HHIIBBHHH", ours, theirs, rnd.randrange(2 ** 32), rnd.randrange(2 ** 32), 0x50, flags, 500, 0, 0) + payload
        pseudo = addresses + struct.pack("!BBH", 0, 6, len(rest))
        rest = rest[:16] + struct.pack("!H", checksum(pseudo + rest)) + rest[18:]
    send(ethernet + b"\x08\0" + ip(addresses, protocol, rest))

def send(frame):
    try:
        wire.send(frame[:1514])
    except OSError:
        pass

def nonsense():
    ethernet = rnd.choice(flows)[0] if flows else b"\xff" * 6 + b"\2" * 6
    rest = rnd.choice((rnd.randbytes(rnd.randrange(1, 200)), ip(rnd.randbytes(8), rnd.randrange(256), rnd.randbytes(40))[:rnd.randrange(1, 60)]))
    send(ethernet + rnd.choice((b"\x08\0", b"\x86\xdd", b"\x88\xb5", b"\x81\0")) + rest)

walked = 0

def tokens():
    """The next 256 tokens, each in a frame to no port in particular, and in a datagram to one that is listened on."""
    global walked
    ethernet = (flows[-1][0] if flows else b"\xff" * 6 + b"\2" * 6) + b"\x08\0"
    addresses = socket.inet_aton("198.18.0.1") + socket.inet_aton(VICTIM)
    port = rnd.choice(ports["udp"] or [49185])
    for token in range(walked, walked + 256):
        # Magic, number of the sequence masked by the upper half, number 0 of it, lower half, no time.
        tag = struct.pack("!HH6xH6x", 0x5750, token >> 16 & 0xFFFF, token & 0xFFFF)
        udp = struct.pack("!HHHH", 49184, 49185, 26, 0) + tag
        udp = udp[:6] + struct.pack("!H", checksum(addresses + struct.pack("!BBH", 0, 17, 26) + udp)) + udp[8:]
        send(ethernet + ip(addresses, 17, udp))
        try:
            outside.sendto(tag, (VICTIM, port))
        except OSError:
            pass
    walked += 256

held, mine = [], set()

def connect(port):
    end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    end.setblocking(False)
    try:
        end.connect((VICTIM, port))
    except OSError:
        pass
    mine.add(end.getsockname()[1])
    held.append((end, time.monotonic() + rnd.random()))

def tend():
    """Speaks on connections, and closes those that are due."""
    _, ready, _ = select.select([], [end for end, _ in held], [], 0)
    for end in ready:
        if rnd.random() < 0.3:
            try:
                end.send(junk() * rnd.choice((1, 1, 1, 40)))
            except OSError:
                pass
    while held and (len(held) > 60 or held[0][1] < time.monotonic()):
        end, _ = held.pop(0)
        if rnd.random() < 0.5:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        mine.discard(end.getsockname()[1] if end.fileno() >= 0 else 0)
        end.close()

outside = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
outside.bind(("", 0))
outside.setblocking(False)
mine.add(outside.getsockname()[1])
ports, looked = {"udp": [], "tcp": []}, 0.0
begun, ended, spent = time.monotonic(), False, time.process_time()

def end(*_):
    global ended
    ended = True

signal.signal(signal.SIGTERM, end)
while time.monotonic() < begun + seconds and not ended:
    if time.monotonic() > looked + 0.2:
        ports, looked = listening(), time.monotonic()
    if forge:
        listen()
    tend()
    acts = [nonsense] + [forged] * (2 * bool(forge and flows)) + [tokens] * (3 * walks)
    act = rnd.choice(acts + ["udp"] * (3 * bool(ports["udp"])) + ["tcp"] * (2 * bool(ports["tcp"])))
    times = 300 if rnd.random() < 0.002 and act is not tokens else 1
    name = act if isinstance(act, str) else act.__name__
    counts[name] = counts.get(name, 0) + times
    for _ in range(times):
        if act == "udp":
            try:
                outside.sendto(junk(), (VICTIM, rnd.choice(ports["udp"])))
            except OSError:
                pass
        elif act == "tcp":
            connect(rnd.choice(ports["tcp"]))
            tend()
        else:
            act()
    # A small part of the core: a trial beside a program that uses more of it has a doubt for that alone.
    used = time.process_time() - spent
    time.sleep(max(0.001, 24 * used))
    spent = time.process_time()
if forge:
    json.dump([payload.hex() for payload in heard], open(kept, "w"))
print(json.dumps(counts))
