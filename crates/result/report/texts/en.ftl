# Words of the report, of progress and of advice. Each key is in ja.ftl as well.

## Progress and notices of the program

progress-preparing = Preparing the test bed
progress-measuring = Measuring { $what } ({ $step } of { $steps })
progress-undoing = Undoing what was set up
progress-report-written = Report written to { $path }
progress-interrupted = Interrupted: storing and reporting what was measured so far
time-left = about { $time } left
throughput-alias-note = “Throughput” is RFC 1242's highest rate without loss. This command measures goodput: the payload that arrives, as iperf3 shows it.
unprivileged-note = Running without root, in a user namespace of its own. With root (sudo), beds can stay (bed up) and other programs can be run in them.

## Doubts: what each means and what to do

doubt-shared-core = Both ends ran on core { $cpu } and took turns, so the figures contain waiting for each other. Use a machine with two cores or more, or give each end its own with --cpus CLIENT,SERVER.
doubt-not-pinned = Endpoint { $endpoint } could not be pinned to its core, so the scheduler may have moved it while it measured. Check that the core is online and allowed to this user (taskset -p, cgroup cpuset), then repeat.
doubt-steal = The hypervisor took up to { $percent } % of a core's time, so slow round trips and slow seconds may come from other guests. Repeat while the host is quiet, or on bare metal.
doubt-replies-missing = Replies are missing: { $lost } lost, { $late } later than the timeout. They count as over the timeout, so mean and maximum are unknown. Look for drops at the receive buffer (nstat -az UdpRcvbufErrors) and at the interface (ip -s link), then repeat.
doubt-counters-disagree = The sender counted { $sent } bytes and the receiver { $received }: more than buffers explain. The receiver's count is the figure; check both hosts for interface drops and other traffic, then repeat.
doubt-few-trials = { $trials } trials are too few to state an uncertainty, which takes { $needed }. Repeat with --set repeats={ $needed }.
doubt-unprivileged = The run had no root and lived in a user namespace of its own. The sockets and the kernel are the same; root would add beds that stay, in which other tools can be run for comparison. Repeat with sudo for figures to hold against those.
doubt-environment-changed = The machine changed during the run ({ $what }), so the figures may mix two states. Find what changed it, stop that, and repeat.
doubt-interrupted = The run was interrupted before all trials were done; some configurations have fewer trials or none. Repeat with the command under “Method”.
doubt-data-ended-early = The data ended before the counted time was over, so its end was counted as silence and the goodput is too low. The machine was too busy to keep both ends in step; repeat while it is quiet.
doubt-other-load = Core { $cpu } was { $percent } % busy with something else while nothing was measured, so the figures contain waiting for it. See what runs there (top, then 1), end it or choose other cores with --cpus CLIENT,SERVER, and repeat.
doubt-failed = The run could not go on: { $what }. Some configurations have fewer trials or none. Mend that, then repeat with the command under “Method”.

## Head of the report

title = Network verification report
label-run = Run
label-started = Started
label-finished = Finished
label-plan = Plan
label-bed = Test bed
label-program = Program
not-finished = did not finish
bed-lab = lab: two network namespaces of one machine, joined by a veth pair
simulated = Simulated environment
simulated-meaning = Every figure comes from a virtual link inside one machine. It shows what this machine's kernel can do; no network card, cable or switch took part.

verdict-heading = Verdict
verdict-pass = PASS
verdict-fail = FAIL
verdict-inconclusive = INCONCLUSIVE
verdict-not-run = NOT RUN
verdict-none = No verdict
verdict-line = Verdict: { $word }. { $meaning }
verdict-pass-meaning = Every limit of the plan is met, with the whole uncertainty interval on the right side.
verdict-fail-meaning = At least one limit of the plan is not met.
verdict-inconclusive-meaning = No limit is missed, but at least one cannot be decided: its uncertainty interval straddles the limit, or there are too few trials for an interval.
verdict-not-run-meaning = No limit is missed, but at least one has no trial to judge.
verdict-none-meaning = The plan sets no limits, so there is nothing to pass or fail.
partial = Partial
partial-meaning = { $done } of { $planned } planned trials were measured.

## Summary

summary-heading = Summary
headline-latency = { $traffic }, { $frame } B frames: median round trip { $p50 } ({ $spread }).
headline-latency-tail = { $traffic }, { $frame } B frames: median round trip { $p50 } ({ $spread }), 99th percentile { $p99 }.
headline-goodput = { $traffic }: goodput { $median } ({ $spread }).
headline-spread = trials from { $low } to { $high }
headline-one-trial = one trial
headline-none = Nothing was measured.

doubts-heading = Doubts about these figures
doubts-none = None was found.
doubts-trials = Trials: { $trials }
doubts-run = Whole run

limits-heading = Limits
limits-caption = Each limit of the plan, judged by the uncertainty interval of the median over the trials.
limit-at-most = at most { $value }
limit-at-least = at least { $value }
metric-rtt-min = RTT minimum
metric-rtt-mean = RTT mean
metric-rtt-p50 = RTT p50
metric-rtt-p90 = RTT p90
metric-rtt-p99 = RTT p99
metric-rtt-p999 = RTT p99.9
metric-rtt-max = RTT maximum
metric-goodput-mean = Goodput mean
metric-goodput-min = Goodput, slowest second

## Topology and method

topology-heading = Topology
topology-caption = The test bed: two endpoints and the link between them.
endpoint = Endpoint { $name }
endpoint-namespace = Namespace
endpoint-interface = Interface
endpoint-driver = Driver
endpoint-addresses = Addresses
endpoint-cpu = Pinned to core
not-pinned = not pinned
link-veth = veth pair
link-veth-meaning = A virtual cable between the two endpoints

method-heading = Method
method-repeats =
    { $count ->
        [one] The plan goes through the measurements below once, one trial of each.
       *[other] The plan goes through the measurements below { $count } times, one trial of each per round, so that a drift of the machine's speed meets all of them alike.
    }
method-latency-heading = Round-trip time
method-latency = One endpoint sends a message, the other sends the same back at once, and only then the next one leaves (ping-pong). Each round trip is timed on one clock at the sender. Every counted round trip is in the sample; lost and late replies count as over the timeout. The first round trips of each trial are warm-up and left out.
method-latency-item = { $traffic }: { $count } round trips counted for each of the frame sizes { $frames } B, after { $warmup } of warm-up; timeout { $timeout }.
method-goodput-heading = Goodput
method-goodput = One endpoint sends as fast as it can; the payload is counted where it arrives, second by second. The sender's own count stands beside it. The warm-up is sent first and left out.
method-goodput-item = { $traffic }: { $duration } counted, after { $warmup } of warm-up.
method-clock = Reading the clock cost { $cost } ns (median over the trials); two readings are inside each round trip.
method-command = This command repeats the run:

## Results

traffic = { $protocol } { $ip }, { $how }
configuration = { $traffic }, { $frame } B

results-heading = Results
latency-heading = Round-trip time (RTT)
latency-caption = RTT in µs. Each figure is the median over the trials, except min and max, which are over all trials. A dash stands where the sample does not support the figure.
col-traffic = Traffic
col-frame = Frame size (B)
col-payload = Payload (B)
col-trials = Trials
col-min = Min
col-max = Max
col-spread = p50, range
col-interval-p50 = Uncertainty of p50 (95 % interval)
col-lost = Lost / late / reordered
col-half = RTT/2 of p50, as sockperf shows it
mode-spin = spin
mode-block = block
streams =
    { $count ->
        [one] 1 stream
       *[other] { $count } streams
    }

figure-sizes = RTT by frame size
figure-sizes-note = Solid: p50, with a bar from the lowest to the highest trial. Dashed, hollow: p99.
figure-distribution = Distribution of RTT
figure-distribution-note = All trials of a configuration together, at its smallest frame size, as far as the sample supports it. Each step to the right is ten times rarer.
figure-goodput = Goodput over time
figure-goodput-note = A line for each trial; a colour and marker for each number of streams.
figure-range = { $name }: { $low } to { $high }
axis-rtt = RTT (µs)
axis-frame = Frame size (B)
axis-percentile = Percentile of round trips
axis-goodput = Goodput ({ $unit })
axis-seconds = Time (s)

goodput-heading = Goodput
goodput-caption = Goodput in { $unit } (decimal): payload counted at the receiver. Mean, sent and retransmits are medians over the trials; fastest and slowest second are over all trials.
goodput-lab-note = On a veth pair the kernel hands over segments of up to 64 KiB in one piece (segmentation offload), whatever the MTU, so these rates are not rates of wire-sized frames. Retransmits without loss come from both cores sending on one connection: segments overtake each other, and TCP takes that for loss.
col-streams = Streams
col-mean = Mean
col-mean-spread = Mean, range
col-range = Range
col-interval-mean = Uncertainty of the mean (95 % interval)
col-fastest = Fastest second
col-slowest = Slowest second
col-sent = Sent (sender's count)
col-retransmits = Retransmits
col-busiest = Busiest core
busiest-core = core { $cpu }: { $busy } %

cpu-heading = Processor use
cpu-caption = Use of each core while goodput was counted, in % of its time, median over the trials. Cores below 1 % are left out.
col-core = Core
col-role = Role
col-busy = Busy
col-softirq = of which soft interrupts
col-steal = of which taken by the hypervisor
role-sender = sender
role-receiver = receiver
role-both = sender and receiver

limited-heading = What limited the figures
limited-caption = The place that set each figure, where counters show it. Where they do not, nothing is guessed.
col-configuration = Configuration
col-limited = Limited by
col-trial-numbers = Trial numbers
col-evidence = Evidence
not-known = not known
col-figure = Figure
col-limit = Limit
col-median = Median
col-interval = Uncertainty (interval)
col-verdict = Verdict

## Environment

environment-heading = Environment
environment-caption = Machine { $host }, read before the first trial.
environment-same = Read again after the last trial: no difference.
environment-unread = It was not read again after the last trial, because the run did not finish.
environment-changed = Differences after the last trial:
fact-os = Operating system
fact-kernel = Kernel
fact-command-line = Kernel command line
fact-architecture = Architecture
fact-product = Product
fact-hypervisor = Hypervisor
fact-cpu = Processor
fact-microcode = Microcode
fact-cpus = Cores online
fact-isolated = Isolated cores
fact-numa = NUMA nodes
fact-memory = Memory
fact-clock = Clock source
fact-governor = Frequency governor
none = none
endpoint-facts-caption = Interfaces, seen from inside each endpoint's namespace.
col-endpoint = Endpoint
col-state = State
col-speed = Speed
settings-caption = Kernel settings of the machine
settings-endpoint-caption = Kernel settings of endpoint { $name }
mitigations-caption = Processor vulnerabilities and mitigations

## How to read this

glossary-heading = How to read this report
term-rtt = RTT (round-trip time)
term-rtt-meaning = From handing a message to the sending socket until the reply is in hand. It contains both programs, both kernels and the link, twice.
term-percentile = p50, p99, p99.9
term-percentile-meaning = Half of the round trips took no longer than p50 (the median), 99 % no longer than p99. A percentile is shown only when at least ten round trips lie beyond it.
term-half = RTT/2
term-half-meaning = Half of the RTT, for comparing with tools that print it. It is not a measured one-way delay.
term-goodput = Goodput
term-goodput-meaning = Payload that arrived, per second, without headers. 1 Gbit/s is 1,000,000,000 bit/s.
term-frame = Frame size
term-frame-meaning = The whole Ethernet frame with its check sequence (FCS), as in RFC 2544; preamble and gap are not counted.
term-mode = spin, block
term-mode-meaning = How both programs wait for a message: asking the socket without pause, or sleeping in the kernel until it wakes them.
term-interval = Uncertainty
term-interval-meaning = Where the true median lies with at least 95 % confidence, from the order of the trials. It takes six trials or more.
statement = The results relate only to the items tested, as they stood during this run. wireproof is not a calibrated instrument.

# What a machine or user may lack
lack-costs = costs
lack-remedy = do
lack-store-costs = nothing can be measured, because no trial could be kept
lack-store-remedy = name another place with --store PATH
lack-root-costs = beds that stay (bed up) need root; measuring on the lab bed works
lack-root-remedy = use sudo for the rest
lack-namespaces-costs = no bed can be made
lack-namespaces-remedy = use sudo, or let an administrator allow user namespaces
lack-cores-costs = both ends share a core and take turns, so latencies are those of the scheduler
lack-cores-remedy = give the machine, or this process (taskset), two cores or more
lack-ipv6-costs = plans with ip = 6 cannot be measured
lack-ipv6-remedy = start a kernel that has IPv6, without ipv6.disable=1 on its command line
lack-clock-costs = each round-trip time holds two readings of the clock
lack-clock-remedy = use the tsc clock source, where the processor's is steady
lack-metal-costs = the host takes cores away at times, so single round trips may last milliseconds
lack-metal-remedy = read medians, and compare only runs of the same machine
lack-lab-costs = nothing can be measured without real cards
lack-lab-remedy = the kernel needs network namespaces and veth (CONFIG_NET_NS, CONFIG_VETH)
