# Live rates: watch
watch-interface = Interface
watch-link = Link
watch-received = Received
watch-sent = Sent
watch-dropped = Dropped
watch-errors = Errors
watch-now = now
watch-mean = mean
watch-peak = peak
watch-total = total
watch-line = of line
watch-packets = packets
watch-graph = last { $seconds } s, top { $rate }
watch-up = up
watch-down = down
watch-no-carrier = no carrier
watch-gone = gone
watch-own = this namespace
watch-queue = Queue
watch-xdp = XDP
watch-driver = Driver
watch-count = { $count ->
    [one] 1 interface
   *[other] { $count } interfaces
}
watch-range = { $first }–{ $last } of { $count }
watch-every = every { $interval }
watch-line-note = of line: layer 1, with FCS, preamble and gap
watch-keys = q end   ↑↓ choose   Enter details
watch-keys-short = q end
watch-small = Make the terminal larger: { $columns }×{ $rows } at least. q ends.
watch-nothing = No interface to watch.
watch-unread = { $namespace } cannot be read: { $why }
watch-watched = watched for { $time }
watch-idle = without traffic: { $names }
