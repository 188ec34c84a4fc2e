# Path MTU, and what keeps it down. Each key is in ja/ as well.

path-of = Path MTU, { $ip }
path-vlan-note = A few bytes more than an interface’s MTU are no error: what has to drop larger packets leaves room for a VLAN tag (4 bytes).
kept-down-by = limited by { $culprit }
short-own-interface = interface { $device } ({ $host })
short-peer-interface = interface { $device } ({ $host })
short-bridge-member = bridge member { $device } ({ $host })
short-middle-hop = router { $host }
short-black-hole = something that drops large packets silently
short-icmp-filtered = a router whose ICMP is filtered
