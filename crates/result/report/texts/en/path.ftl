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
hops-caption = Hops from the near to the far end
hop-col-number = Hop
hop-col-address = Address
hop-col-sent = Packets sent
hop-col-unanswered = Not answered
hop-col-shortest = Shortest RTT
hop-col-median = Median RTT
hop-col-longest = Longest RTT
hop-silent = no answer
hop-line = hop { $number } { $address }: { $unanswered } of { $sent } not answered, RTT { $median }
hop-line-silent = hop { $number } { $address } ({ $sent } packets)
hops-note = Routers limit how often they answer packets that expire, and answer them later than they forward others. Packets are lost at a hop only where the hops behind it, up to the far end, miss as many answers; the same goes for round-trip times.
