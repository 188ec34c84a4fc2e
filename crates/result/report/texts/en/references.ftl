## What others measured

limit-by-reference = { $bound } ({ $reference }, within { $within })
limit-not-comparable = within { $within } of { $reference }: not comparable, because { $why }
limit-differs = Compared with { $reference } under other conditions. { $name }: { $conditions }.

world-simulated = simulated
world-hardware = hardware
condition-unknown = not set or not known
condition-differs = { $name } here { $ours }, there { $theirs }
condition-simulated = Environment
condition-stack = Network stack
condition-payload = Payload
condition-link-rate = Link rate
condition-mode = Waiting
condition-direction = Direction
condition-streams = Number of streams
condition-duration = Duration
condition-window = Socket buffers
condition-offered = Offered load

why-better-figure = another figure of the same source fits better
why-unknown = the run does not know this figure ({ $statistic }) for all of its trials
why-statistic = the source has another statistic ({ $theirs })
why-frame-size = the run has no trial with frames of { $theirs } bytes
why-load = the run has no trial at { $theirs }
why-ping-pong = the source measured by ping-pong, the run by a schedule
why-traffic = the run has no such trial over { $theirs }
why-metric = the run measured nothing of the kind ({ $theirs })
why-tx-and-rx = the source counts each packet twice, as sent and as received
why-simulated = the run is simulated and the source measured on hardware
why-hardware = the run is on hardware and the source did not measure on a wire
why-nothing-measured = nothing was measured
why-no-reference = there is no reference of that name

published-half-rtt = RTT/2
published-goodput = goodput
published-packet-rate = packet rate
published-port-rate = rate at a port
published-offered-load = load of a generator
published-monitor = reading of a monitor
published-transfer = file transfer
published-core-use = use of a core

statistic-min = minimum
statistic-mean = mean
statistic-max = maximum
statistic-reading = single reading

metric-goodput-max = Goodput, fastest second
