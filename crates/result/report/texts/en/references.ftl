## What others measured

limit-by-reference = { $bound } (at most { $within } worse than { $reference })
limit-not-comparable = at most { $within } worse than { $reference }: not comparable, because { $why }
limit-differs = Compared with { $reference } under other conditions. { $name }: { $conditions }.
issue-differs = { $reference } was measured under other conditions: { $conditions }.
verdict-differs = Limits from { $reference } were judged under other conditions than those of its figures: { $conditions }.

world-simulated = simulated
world-hardware = hardware
stack-kernel = kernel
stack-bypass = bypass
condition-unknown = not set or not known
condition-differs = { $name } here { $ours }, there { $theirs }
condition-simulated = Environment
condition-stack = Network stack
condition-payload = Payload
condition-link-rate = Link rate
condition-mode = Wait mode
condition-direction = Direction
condition-streams = Number of streams
condition-duration = Duration
condition-window = Socket buffers
condition-offered = Offered load
condition-flat-out = flat out
condition-one-way = one way

why-better-figure = another figure of the same source matches better
why-unknown = this figure ({ $statistic }) is not known for every trial of the run
why-statistic = the source has another statistic ({ $theirs })
why-frame-size = the run has no trial with frames of { $theirs } bytes
why-payload-size = the run has no trial with messages of { $theirs } bytes
why-size-not-stated = the source states no frame or message size
why-load = the run has no trial at { $theirs }
why-ping-pong = the source measured by ping-pong, the run by a schedule
why-traffic = the run has no such trial over { $theirs }
why-metric = the run measured nothing of the kind ({ $theirs })
why-tx-and-rx = the source counts each packet twice, as sent and as received
why-inside-host = the source's packets never left its host, so the figure says nothing of a network
why-simulated = the run is simulated and the source was measured on hardware
why-hardware = the run is on hardware and the source was not measured on a wire
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

references-heading = Comparison with references
references-simulated = This run is simulated, so hardware figures of others cannot be compared with it. "--references all" shows them side by side all the same.
references-none = No reference has a figure that this run can be compared with. "--references all" says why for each.
references-title = { $title } ({ $reference })
references-measured = Measured by: { $who } ({ $kind }), { $date }.
references-on = On: { $what }.
references-source = Source: { $source }.
references-unnamed = not named
references-undated = date not known
references-caption = Ours: median over the trials with its uncertainty (95 % interval), or from the lowest to the highest trial where these are too few. Deviation: ours above theirs, in percent of theirs.
references-not-compared = Not comparable:
references-reason = { $count } of its figures, because { $why }.
references-notes = Notes on the source:
references-line = Beside { $reference }: { $count } compared, deviation { $low } to { $high }, { $differing } under other conditions
references-line-none = Beside { $reference }: no figure is comparable
col-ours = This run
col-ours-range = Uncertainty or spread
col-theirs = Reference
col-deviation = Deviation
col-conditions = Conditions
conditions-alike = alike, as far as stated
curve = { $reference }: { $protocol } { $statistic }
curve-other-conditions = { $reference }: { $protocol } { $statistic } (other conditions)
measurer-maker = maker's figure
measurer-tester = tester's measurement
measurer-somebody = third-party measurement
measurer-tool = run of another tool
