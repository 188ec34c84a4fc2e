# What bypass says: why something stays with the kernel
bypass-reason-tcp = it is TCP, which passes through untouched for now
bypass-reason-not-udp = it is neither UDP nor TCP
bypass-reason-not-bound = it is not bound to a port
bypass-reason-other-interface = its address is none of an interface that is bypassed
bypass-reason-other-device = it is bound to a device (SO_BINDTODEVICE) that is not the only one bypassed
bypass-reason-ip-options = its packets carry IP options or extension headers
bypass-reason-cork = it puts datagrams together from several calls (UDP_CORK)
bypass-reason-timestamping = it has packets stamped by card or kernel (SO_TIMESTAMPING)
bypass-reason-filter = it has a filter attached (SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF)
bypass-reason-zero-copy = it sends without copying (SO_ZEROCOPY)
bypass-reason-encapsulation = its packets are unpacked by the kernel (UDP_ENCAP)
bypass-reason-stdio = stdio reads or writes it (fdopen, dup, dup2)
bypass-reason-shut-down = it was shut down (shutdown)
bypass-reason-signals = signals tell of its datagrams (O_ASYNC)
bypass-reason-shared-port = it shares its port with a socket that goes through the kernel
bypass-reason-no-grant = its process was given no queues
bypass-reason-unusable = its process could not use the queues that it was given
bypass-reason-table-full = the table of flows is full
bypass-reason-interface-gone = its interface is gone, down, or has another XDP program
bypass-reason-forked = it is used by a child of the process that bypasses
bypass-reason-unreadable = the kernel did not say what it is
bypass-reason-no-memory = there was no memory for it
bypass-reason-unsupported = it uses what is not supported past the kernel
bypass-reason-timestamp = it has timestamps in the newer form (SO_TIMESTAMP_NEW, SO_TIMESTAMPNS_NEW)
bypass-reason-mark = its packets carry a mark for the kernel (SO_MARK)
bypass-reason-dont-route = it sends without routes (SO_DONTROUTE)
bypass-reason-overflow = it is told by the kernel what was dropped (SO_RXQ_OVFL)
bypass-reason-transparent = it takes addresses that are not of this machine (IP_TRANSPARENT)
bypass-reason-min-ttl = it refuses packets by their time to live (IP_MINTTL, IPV6_MINHOPCOUNT)
bypass-reason-security = it is told the security label of its peer (IP_PASSSEC)
bypass-reason-original-address = it is told where packets were for at first (IP_RECVORIGDSTADDR, IPV6_RECVORIGDSTADDR)
bypass-reason-checksum = it is told checksums, or takes what has none (IP_CHECKSUM, UDP_NO_CHECK6_RX)
bypass-reason-fragment-size = it is told the size of fragments (IP_RECVFRAGSIZE, IPV6_RECVFRAGSIZE)
bypass-reason-unicast-interface = it chooses the interface that it sends by (IP_UNICAST_IF, IPV6_UNICAST_IF)
bypass-reason-old-packet-info = it is told of packets in the older form of IPv6 (IPV6_2292PKTINFO, IPV6_2292HOPLIMIT)
bypass-reason-flow-info = it is told flow labels, or says which (IPV6_FLOWINFO, IPV6_FLOWINFO_SEND)
bypass-reason-peek-offset = it peeks from an offset on (SO_PEEK_OFF)
bypass-reason-scope = its address, or that of its peer, is link-local or multicast
bypass-reason-fault = there was a fault in the library, which was caught; please report it
bypass-reason-inherited = other processes that were forked have it too
bypass-reason-jump = a signal handler jumped (siglongjmp) out of the library while it was at work

bypass-stays-uplink = the default route or this session goes through it, and taking it may interrupt them for a moment; name it with --dev to take it
bypass-stays-no-ethernet = it is no Ethernet interface
bypass-stays-no-xdp = the driver of { $interface } has no native XDP, by which sockets go past the kernel; its ports or lower interfaces may have it
bypass-stays-other-program = { $interface } already has an XDP program, which was left as it is; see `ip link show { $interface }`, and stop what attached it or choose another interface
bypass-stays-held = queue { $queue } of interface { $interface } is held by another program (AF_XDP); it is free once that has ended, or has seen that its launcher did
bypass-stays-all-gone = each interface that was bypassed is gone, or has lost wireproof's XDP program
bypass-stays-not-ours = it is no program that this launcher started
bypass-stays-held-by = the queues are held by { $program } (pid { $pid }); one process at a time can bypass
bypass-stays-unanswered = it had no answer for { $seconds } s, as where wireproof bypass is stopped
bypass-stays-ended = it ended before it was answered
bypass-stays-unusable = it could not use the queues that it was given: { $why }
bypass-stays-error = { $why }

bypass-obstacle = { $program } { $why }; its sockets go through the kernel
bypass-obstacle-static = is linked statically, so that no library can be put under its calls
bypass-obstacle-go = is a Go program, which calls the kernel by itself and not through the C library
bypass-obstacle-set-id = takes another user's rights when it starts (set-user-ID, set-group-ID), and the loader then takes no library from outside (ld.so(8), secure-execution mode)
bypass-obstacle-other-machine = is for another kind of machine, or of 32 bits; the library is of 64
bypass-obstacle-other-libc = has another C library (musl); the library is for glibc

bypass-not-set-no-polling = this kernel has no busy polling (CONFIG_NET_RX_BUSY_POLL): packets of { $interface } come by interrupts
bypass-not-set-nothing = cards stay as they are: { $why }
bypass-not-set-setting = { $why }; it goes on without
bypass-not-set-rule = { $why }; packets of the program come by all queues of { $interface }
bypass-not-set-given-back = { $why }

# While the program runs
bypass-stays = { $interface } stays with the kernel: { $why }
bypass-nothing-left = no interface is bypassed: all goes through the kernel
bypass-nothing = no interface is up and has an address: all goes through the kernel; name one with --dev IF
bypass-refused = { $program } goes through the kernel: { $why }
bypass-waits = the program has ended; waits for { $processes } that it left behind
bypass-interface-is-well = { $interface } can be used again
bypass-interface-is-down = { $interface } is down: its sockets go through the kernel until it is up
bypass-interface-is-gone = { $interface } is gone: its sockets go through the kernel
bypass-interface-is-no-program = somebody took wireproof's XDP program away from { $interface }: its sockets go through the kernel

# The account
bypass-sockets = { $count ->
    [one] 1 socket
   *[other] { $count } sockets
}
bypass-packets = { $count ->
    [one] 1 packet
   *[other] { $count } packets
}
bypass-datagrams = { $count ->
    [one] 1 datagram
   *[other] { $count } datagrams
}
bypass-processes = { $count ->
    [one] 1 process
   *[other] { $count } processes
}
bypass-more-reasons = { $count ->
    [one] and 1 reason more, which --stats lists
   *[other] and { $count } reasons more, which --stats lists
}
bypass-refused-frames = { $count ->
    [one] 1 frame was for no socket, cut short, from an address of this machine, or had a wrong checksum
   *[other] { $count } frames were for no socket, cut short, from an address of this machine, or had a wrong checksum
}
bypass-socket = socket { $descriptor } ({ $ends })
bypass-ends = { $local } to { $peer }
bypass-not-bound = not bound
bypass-fate-past = past the kernel
bypass-fate-none-did = could go past the kernel; none of its datagrams did: they were for no bypassed interface, or the MAC address of the next hop was not known yet
bypass-fate-none-came = could go past the kernel; none of its datagrams did: they had come before its first use or before a fork or exec, by no bypassed interface, or as fragments
bypass-fate-no-datagrams = could go past the kernel; it sent and received nothing
bypass-fate-shut-down = past the kernel until it was shut down
bypass-fate-left = past the kernel at first, then through the kernel: { $why }
bypass-fate-through = through the kernel: { $why }
bypass-ways = { $received } in ({ $received_bytes } B), { $sent } out ({ $sent_bytes } B)
bypass-past = past the kernel: { $ways }, { $dropped } dropped as its queue was full, or at fork or exec
bypass-past-left = past the kernel: { $ways }, { $dropped } dropped as its queue was full or as it went back to the kernel
bypass-through = through the kernel: { $ways }
bypass-port = { $sockets } at port { $port }: { $fate }; past the kernel { $past }, { $dropped } dropped; through it { $through }
bypass-beyond = and { $sockets } more: past the kernel { $past }, { $dropped } dropped; through it { $through }
bypass-records-agree = XDP redirected { $redirected } to it; its records account for all of them
bypass-records-missing = XDP redirected { $redirected } to it; { $packets } of them are in no record: they waited when a socket or the program ended, or the records were altered
bypass-records-too-many = XDP redirected { $redirected } to it; its records list { $packets } more, so the records were altered
bypass-records-unknown = how many packets XDP redirected to it could not be read, so its records are compared with nothing
bypass-handed-back = { $line }; { $count } went back to the kernel's queue (fork, exec or stdio)
bypass-self-reported = self-reported: the lines of sockets above are the programs' own records; the counts of XDP, queues, interfaces and the kernel are not
bypass-queue-zero-copy = queue { $number } of { $interface }: zero-copy mode
bypass-queue-copy = queue { $number } of { $interface }: copy mode
bypass-queue-ring-full = { $line }, ring full { $count }
bypass-queue-no-frame = { $line }, no frame { $count }
bypass-queue-dropped = { $line }, dropped { $count }
bypass-refused-alike = { $program } and { $processes } more of it: { $fate }
bypass-of-others = { $sockets } of the others: { $fate }
bypass-more-outside = and { $sockets } more of programs that had no queues
bypass-unseen = no socket was seen by the library that goes under the program
bypass-unseen-why = no socket was seen by the library: { $why }
bypass-unseen-not-loaded = no socket was seen by the library, which was not loaded, as no interface was bypassed
bypass-taken = taken past the kernel by XDP: { $packets }
bypass-left-flow = { $line }; { $count } to the program's ports left to the kernel, for other addresses or peers
bypass-left-large = { $line }; { $count } to the program's ports left to the kernel, larger than a frame
bypass-left-queue = { $line }; { $count } to the program's ports left to the kernel, on queues without a socket
bypass-interface = interface { $interface }: { $packets } in, { $sent } out, of all programs
bypass-interface-gone = interface { $interface }: gone before the end, and its counters with it
bypass-kernel = the kernel's own UDP counters: { $datagrams } in, { $sent } out, of all programs: { $flat }
bypass-kernel-is-flat = they stayed flat
bypass-kernel-is-known = no more than what is known above
bypass-kernel-is-not = they did not stay flat
bypass-kernel-is-unknown = datagrams of sockets above that stayed with the kernel are among them
bypass-of-program = { $socket } of { $program }: { $fate }
bypass-alike-of-program = { $socket } of { $program }, and { $sockets } more: { $fate }
bypass-tcp = TCP passes through untouched for now: { $sockets }
