# Words of the report. Each key is in ja/ as well.

## Head of the report

title = Network verification report
label-run = Run
label-started = Started
label-finished = Finished
label-plan = Plan
label-bed = Test bed
label-program = Program
not-finished = did not finish
simulated = Simulated environment
simulated-meaning = Every figure comes from a virtual link inside one machine. It shows what this machine's kernel can do; no network card, cable or switch took part.

verdict-heading = Verdict
verdict-pass = PASS
verdict-fail = FAIL
verdict-inconclusive = INCONCLUSIVE
verdict-not-comparable = NOT COMPARABLE
verdict-not-run = NOT RUN
verdict-none = Not judged (the plan sets no limits)
verdict-line = Verdict: { $word }. { $meaning }
outcomes-alike = { $word }: { $count } limits, { $metric }, { $limit }
verdict-pass-meaning = Every criterion is met; those of measured figures with the whole uncertainty interval on the right side.
verdict-fail-meaning = { $count } of { $all } criteria are not met.
verdict-open-meaning = No criterion is missed.
verdict-none-meaning = There is nothing to pass or fail: the figures stand as they were measured.
partial = Partial
partial-meaning = { $done } of { $planned } planned trials were measured.

## Summary

summary-heading = Summary
headline-latency = { $traffic }, { $frame } B frames: median round trip { $p50 } ({ $spread }).
headline-latency-tail = { $traffic }, { $frame } B frames: median round trip { $p50 } ({ $spread }), 99th percentile { $p99 }.
headline-goodput = { $traffic }: goodput { $median } ({ $spread }).
headline-goodput-loss = { $traffic }: goodput { $median } ({ $spread }), { $loss } of the datagrams lost.
headline-stacks-latency = { $traffic }: the median round trip past the kernel is { $ratio } × the kernel’s.
headline-stacks-goodput = { $traffic }: goodput past the kernel is { $ratio } × the kernel’s.
headline-path = { $name }: { $forward } pass forward, { $reverse } back.
headline-spread = trials from { $low } to { $high }
headline-one-trial = one trial
headline-none = Nothing was measured.

doubts-heading = Doubts about these figures
doubts-none = None was found.
doubts-trials = Trials: { $trials } ({ $count } of { $of })
doubts-all-trials = All trials
doubts-run-and-trials = Whole run; trials: { $trials } ({ $count } of { $of })
doubts-run = Whole run

limit-at-most = at most { $value }
limit-at-least = at least { $value }
selects-load = under load
selects-ping-pong = ping-pong
metric-rtt-min = RTT minimum
metric-rtt-mean = RTT mean
metric-rtt-p50 = RTT p50
metric-rtt-p90 = RTT p90
metric-rtt-p99 = RTT p99
metric-rtt-p999 = RTT p99.9
metric-rtt-max = RTT maximum
metric-loaded-rtt = RTT p50 under TCP load
metric-goodput-mean = Goodput mean
metric-goodput-min = Goodput, slowest second
metric-path-mtu = Path MTU
metric-loss = Loss
metric-transaction-rate = Transactions
metric-connection-rate = Connections
metric-response-p50 = Response time p50
metric-response-p90 = Response time p90
metric-response-p99 = Response time p99
metric-response-p999 = Response time p99.9
metric-response-max = Response time maximum
metric-failed = Failed transactions

## Topology and method

topology-heading = Topology
topology-caption = The test bed: its endpoints and what joins them.
endpoint = Endpoint { $name }
endpoint-machine = Machine
endpoint-namespace = Namespace
endpoint-interface = Interface
endpoint-driver = Driver
endpoint-addresses = Addresses
endpoint-cpu = Pinned to cores
endpoint-cpu-why = Endpoint { $name } is pinned to cores { $cpus }. Why:
cores-asked = as asked for
cores-threads = one of two threads of the only core there is
cores-only = the only core there is, for both ends
cores-plain = cores
cores-isolated = isolated cores
cores-tickless = tickless cores
cores-of-node = { $cores } of NUMA node { $node }
cores-interrupted = { $cores }, interrupted by the card
cores-apart = { $cores }, the first apart from the card’s interrupts
cores-shared = { $cores }, shared by { $senders } senders
endpoint-device = Device { $name }
not-pinned = not pinned
link-hosts = network
link-hosts-meaning = Whatever joins the two machines: cables, switches, routers
link-lab = veth pair
link-lab-meaning = A virtual cable between the two endpoints
link-ports = port to port
link-ports-meaning = Each endpoint is a port of this machine. What one sends leaves the port and reaches the other from outside; what lies between them (a cable, a switch, a device under test) is not visible from here
link-lab-switch = veth pair
link-lab-switch-meaning = A Linux bridge joins all endpoints, each by a virtual cable of its own
link-lab-bridge = veth pair
link-lab-bridge-meaning = Virtual cables between each endpoint and the device under test, a Linux bridge
link-lab-router = veth pair
link-lab-router-meaning = Virtual cables between each endpoint and the device under test, a Linux kernel that routes
link-lab-xdp-router = veth pair
link-lab-xdp-router-meaning = Virtual cables between each endpoint and the device under test, a Linux kernel with wireproof's XDP router
link-hosts-several = network
link-hosts-several-meaning = Whatever joins the machines: cables, switches, routers
joint-lab = Linux bridge
joint-hosts = Network
joint-ports = Network

method-heading = Method
method-repeats =
    { $count ->
        [one] The plan goes through the measurements below once, one trial of each.
       *[other] The plan goes through the measurements below { $count } times, one trial of each per round, so that a drift of the machine's speed meets all of them alike.
    }
method-latency-heading = Round-trip time
method-latency = One endpoint sends a message, the other sends the same back at once, and only then the next one leaves (ping-pong, a closed loop). It says how fast the path answers when nothing else is on it, and nothing about latency under load.
method-load = Under load, messages leave by an absolute schedule, whatever the replies do (open loop). Each round trip counts from the time at which the schedule meant the message to leave, so a sender that falls behind does not hide the wait (no coordinated omission). The rates asked for and achieved are both shown, and how well the schedule was kept is measured.
method-latency-sample = Each round trip is timed on one clock at the sender. Every counted round trip is in the sample; lost and late replies count as over the timeout. The first round trips of each trial are warm-up and left out.
method-busy-poll = Busy polling lets the kernel poll the card’s receive queue inside the system call (SO_BUSY_POLL). Where the driver has no such queue, it sleeps like blocking, and the trial says so.
method-bypass = Bypass means that datagrams pass the kernel by: a steering program in the driver (XDP) hands those of the measuring sockets to AF_XDP sockets in the program’s own memory, and what is sent leaves from there. All else stays with the kernel. How many datagrams went through it after all is in the JSON document (through_kernel).
method-zero-copy = Zero-copy: the card reads and writes the packets in the program’s own memory, and its queues are polled by the program.
method-copy = Copy mode: the driver does no zero-copy AF_XDP, so the kernel copies each packet between the driver’s memory and the program’s.
method-one-way = One-way delay is the difference of two stamps, one taken by the sending program and one by the receiving program. It is given only where one clock made both. IPDV is the size of the difference between the delays of two packets sent one after the other (RFC 5481).
method-stages = Stages split each round trip by the kernel’s stamps (SO_TIMESTAMPING): when the frame was handed to the driver, and when the reply was in the kernel. Stamping costs a microsecond or two, so these round trips are longer than those without.
method-latency-item = { $traffic }: { $amount } for each frame size ({ $frames } B), after { $warmup } round trips of warm-up; timeout { $timeout }.
amount-count = { $count } round trips counted
amount-duration = { $duration } counted
method-goodput-heading = Goodput
method-goodput = One endpoint sends as fast as it can, or at the rate asked for; the payload is counted where it arrives, second by second. The sender’s own count is shown as well. The warm-up is sent first and left out. With data both ways at once, each direction is counted by itself.
method-udp = Each datagram carries its number, so that the receiver tells lost, duplicated and reordered ones apart over the whole transfer. What the sender did not manage to send is never counted as loss. Counters of both ends say where datagrams were lost: socket, core, ring, queueing discipline, or nowhere that either end sees.
method-gso = With GSO many datagrams go through the kernel as one large one, split at the card and joined again after it (UDP_SEGMENT, UDP_GRO). A packet rate reached this way is not that of single packets through the kernel.
method-zerocopy = Zero-copy send is a choice of the plan (MSG_ZEROCOPY): the card reads the program’s memory where path and card can. How many sends the kernel copied after all is shown.
method-sendfile = Sending with sendfile is a choice of the plan: the data goes out of the page cache, without passing through the program.
method-truncate = Discarding at the receiver is a choice of the plan (MSG_TRUNC): the kernel throws the data away and only says how much it was. An ordinary program would have to copy it.
method-goodput-item = { $traffic }: { $duration } counted, after { $warmup } of warm-up.
method-path = Packets that may not be fragmented are sent and acknowledged by the far end, each way by itself, until the largest that passes is known to the byte. A packet that is not acknowledged is sent again before it counts as not passing. What a router says of its MTU is only believed when packets above it really do not pass.
method-path-item = { $path }: { $timeout } to wait for each acknowledgement.
method-ends-heading = The two ends
clocks-same = Both ends are on one machine and read one clock.
clocks-estimated = The ends have two clocks, compared by messages to within { $error } µs. That is good enough for starting together, not for one-way delays.
method-wrap = Both ends were started through this program (--wrap), so its cost is part of every figure:
method-clock = Reading the clock cost { $cost } ns (median over the trials); two readings are inside each round trip.
method-command-heading = Repeating the run
method-command = This command repeats the run:
method-command-plan = Save the plan below as { $file } first. It contains every change that options made to it.
method-command-captures = Beside it the plan needs these captures: { $names }.
method-plan = Plan “{ $plan }” ({ $file })

## Results

list-comma = {", "}
joined = { $a }, { $b }
at-rate = at { $rate }
stamped = stamped
congestion-default = default congestion control
send-zerocopy = zerocopy
send-sendfile = sendfile
receive-truncate = truncate
datagrams-of = { $size } B datagrams
window-of = window { $size }
direction-forward = forward
direction-reverse = reverse
direction-both = both ways
batch-mmsg = one by one (mmsg)
batch-gso = by GSO
stage-near-send = Send (program to driver)
stage-wire-and-far = Wire and far end
stage-near-receive = Receive (kernel to program)

results-heading = Results
latency-heading = Round-trip time (RTT)
latency-caption = RTT in µs; under load from the intended send time. Each figure is the median over the trials, except min and max, which are over all trials. A dash stands where the sample does not support the figure. An arrow in the frame size: asked for → sent, because the headers do not fit into the smaller one.
stacks-heading = Past the kernel and through it
stacks-latency-caption = Medians of p50 in µs by each network stack, and how many times the kernel’s the bypass’s is (below 1: the bypass is quicker): each trial against the kernel’s of the same round, median and range.
stacks-goodput-caption = Median goodput by each network stack, and how many times the kernel’s the bypass’s is (above 1: the bypass carries more): each trial against the kernel’s of the same round, median and range.
col-stack-kernel = Kernel
col-stack-bypass = Bypass
col-stacks-ratio = Bypass / kernel
col-stacks-range = Range
col-traffic = Traffic
col-frame = Frame size (B)
col-payload = Payload (B)
col-trials = Trials
col-min = Min
col-max = Max
col-spread = p50, range
range-is-interval = { $range } = 95 % interval
col-interval-p50 = Uncertainty of p50 (95 % interval)
col-lost = Lost / late / reordered / duplicated
col-half = RTT/2 of p50, as sockperf shows it
polled = Queues that busy polling polled (NAPI ID): { $queues }.
polled-none = Busy polling found no queue to poll here.
overflowed = { $name }: this side’s full socket buffer dropped { $count } replies, warm-up included.
frames-heading = From payload to wire
stages-heading = Stages of the round trip
variation-heading = Delay variation
ways-heading = One-way delay and delay variation
schedule-heading = How the load kept to its schedule
schedule-caption = Asked for and measured, times in µs, medians over the trials. Inter-departure time is the time between two sends; behind schedule is how much later than planned a send was made. Inter-arrival time is the time between two frames at the receiver, where it takes that.
col-asked = Load asked for
col-achieved = Load achieved
col-gap-asked = Inter-departure time asked for
col-gap-p50 = Inter-departure time, p50
col-gap-p99 = Inter-departure time, p99
col-behind-p50 = Behind schedule, p50
col-behind-p99 = Behind schedule, p99
col-arrived-p50 = Inter-arrival time, p50
col-arrived-p99 = Inter-arrival time, p99
ways-caption = p50 / p99 in µs, medians over the trials; IPDV is the packet delay variation. One-way delay is given where one clock stamped both ends and the stamps fit into the payload.
variation-caption = Packet delay variation (IPDV): p50 / p99 in µs, medians over the trials.
col-one-way = One-way delay { $way }
col-variation-rtt = IPDV of the RTT
col-variation = IPDV { $way }
stages-caption = p50 / p99 of each stage in µs, by the kernel’s stamps, medians over the trials. Percentiles of stages do not add up to that of the whole.
col-stamped-by = Stamped by
stamped-by-kernel = kernel
stamped-by-card = card
frames-caption = In bytes; sizes of payloads, frames and on the wire in the same order. On the wire each frame also takes { $extra } for preamble, start delimiter and gap.
col-headers = Headers
col-ethernet = Ethernet (B)
col-ip = IP (B)
col-transport = UDP or TCP (B)
col-frame-sum = Frame (B)
col-wire = On the wire (B)
with-timestamps = with timestamps
mode-spin = spin
mode-block = block
mode-busy-poll = busy-poll
connections =
    { $count ->
        [one] 1 connection
       *[other] { $count } connections
    }
streams =
    { $count ->
        [one] 1 stream
       *[other] { $count } streams
    }

figure-sizes = RTT by frame size
figure-sizes-note = Traffic of several sizes. Solid: p50, with a bar from the lowest to the highest trial. Dashed, hollow: p99.
figure-sizes-note-theirs = Dotted, with crosses: what others measured, in the statistic that the legend names. A mean of theirs is not a p50 of ours.
figure-distribution = Distribution of RTT
figure-distribution-note = All trials of a configuration together, at its smallest frame size, as far as the sample supports it. Each step to the right is ten times rarer.
figure-goodput = Goodput over time
figure-goodput-events = Vertical bars: something changed at an end then, as the doubts say.
figure-goodput-note = Seconds of each trial, drawn at their end: a line for each trial, a colour and marker for each configuration and direction. Dashed across: the mean of whole trials (median over trials). Dotted, with one or two of them: the fastest and the slowest second.
figure-range = { $name }: { $low } to { $high }
axis-rtt = RTT (µs)
axis-frame = Frame size (B)
axis-percentile = Percentile of round trips
axis-goodput = Goodput ({ $unit })
axis-seconds = Time (s)

goodput-heading = Goodput
goodput-caption = Goodput in { $unit } (decimal): payload counted at the receiver. Mean, sent and retransmits are medians over the trials; fastest and slowest second are over all trials.
goodput-lab-note = On a veth pair the kernel hands over segments of up to 64 KiB in one piece (segmentation offload), whatever the MTU, so these rates are not rates of wire-sized frames. Retransmits without loss come from both cores sending on one connection: segments overtake each other, and TCP takes that for loss.
goodput-warmup-retransmits = Retransmits are those of the counted time. TCP sent segments again during the warm-up too: { $count } in the transfer with the most.
col-mean = Mean
col-mean-spread = Mean, range
col-range = Range
col-interval-mean = Uncertainty of the mean (95 % interval)
col-fastest = Fastest second
col-slowest = Slowest second
col-sent = Sent (sender's count)
col-retransmits = Retransmits
col-retransmits-or-loss = Retransmits or loss
col-direction = Direction
col-loss = Loss
datagrams-heading = Datagrams (UDP)
datagrams-caption = Counts are sums over all trials, warm-up and drain included; the packet rate is the median over the trials, counted at the receiver. Up to { $window } numbers back, reordered datagrams are told from duplicates.
col-datagram = Payload each (B)
col-batch = Packets built
col-packet-rate = Receive rate
col-datagrams-sent = Sent
col-datagrams-received = Received
col-datagrams-lost = Lost
col-disorder = Duplicated / reordered / corrupt
col-overflowed = Dropped at full socket
loss-synchronous = { $loss } (synchronous loop)
synchronous-note = Synchronous loop: the sender’s own core carried each packet up to the receiver’s socket, as over a veth pair, so nothing between them could be overrun. That nothing was lost is no claim about a path.
tcp-heading = TCP connections
tcp-caption = State of the connections at the end of the counted time, as the sender’s kernel has it (TCP_INFO): lowest to highest over all connections and trials.
col-congestion = Congestion control
col-tcp-rtt = RTT (µs)
col-tcp-min-rtt = Minimum RTT (µs)
col-cwnd = Congestion window (segments)
col-mss = MSS (B)
col-path-mtu = Path MTU (B)
col-waited-window = Waited for receive window (%)
col-waited-buffer = Waited for send buffer (%)
col-zero-copied = Not copied / copied after all

cpu-heading = Processor use
cpu-caption = Use of each core of both ends’ machines while goodput was counted, in % of its time, median over the trials. Cores below 1 % that neither end is pinned to are left out.
cpu-caption-one = Use of each core while goodput was counted, in % of its time, median over the trials. Both ends are on one machine, so its cores are listed once. Cores below 1 % that neither end is pinned to are left out.
col-core = Core
col-role = Role
col-busy = Busy
col-softirq = of which soft interrupts
col-steal = of which taken by the hypervisor
col-mhz = Frequency (MHz)
role-sender = sender
role-receiver = receiver
role-both = sender and receiver
path-heading = Path MTU
path-caption = The largest IP packet that passes without being fragmented, each way by itself, and why one byte more does not.
col-refusal = Why no larger
col-routers = Routers
col-culprit = Cause
refusal-largest = there is no larger IP packet
refusal-interface = the sending interface takes nothing larger
refusal-too-big = router { $by } says it passes { $mtu } B
refusal-silent = larger packets vanish without notice
refusal-silent-after = larger packets vanish without notice after router { $router }
refusal-silent-filtered = larger packets vanish without notice, and routers on the way do not report expired packets either
culprit-none = every interface’s MTU is reached
culprit-own-interface = interface { $device } of the sending end ({ $host }) has the smaller MTU
culprit-peer-interface = interface { $device } of the other end ({ $host }) has the smaller MTU
culprit-bridge-member = { $device } at { $host } is a member with a smaller MTU, which lowers that of its whole bridge or bond
culprit-middle-hop = router { $host } on the way has a smaller MTU and reports it
culprit-black-hole = something on the way (last seen: { $host }) drops large packets silently
culprit-icmp-filtered = routers on the way (last seen: { $host }) cannot report it: ICMP is filtered
devices-caption = Devices at both ends that packets go through, and their neighbours on the same bridge or bond.
col-device = Device
col-kind = Kind
col-master = Member of
col-on-path = On the path
kind-card = card
yes = yes
no = no

limited-heading = What limited the figures
limited-caption = The place that limited each figure, where counters show it; evidence from the median trial. Where they do not, nothing is guessed.
col-configuration = Configuration
col-figure = Figure
col-interval = Uncertainty (interval)
col-verdict = Verdict
table-alone = The tester alone
col-made-alone = Achieved
col-rtt-p99-alone = RTT p99 (µs)
alone-note = The same loads for one second, with both sides at the near end over its loopback. Figures between the ends say nothing about the device under test beyond these limits.

## How to read this

glossary-heading = How to read this report
term-rtt = RTT (round-trip time)
term-rtt-meaning = From handing a message to the sending socket until the reply is in hand. It contains both programs, both kernels and the link, twice.
term-percentile = p50, p99, p99.9
term-percentile-meaning = Half of the round trips took no longer than p50 (the median), 99 % no longer than p99. A percentile is shown only when at least ten round trips lie beyond it.
term-half = RTT/2
term-half-meaning = Half of the RTT, for comparing with tools that print it. It is not a measured one-way delay.
term-load = Offered load
term-load-meaning = Messages per second that the sender puts on the path by its schedule. RTT under load counts from the intended send time.
term-gap = Inter-departure time
term-gap-meaning = The time that actually passed between two sends. Where it differs from the one asked for, the load came in bursts.
term-one-way = One-way delay
term-one-way-meaning = From one program’s send to the other’s receive, each way by itself. Measured, and not half of the RTT.
term-variation = IPDV (packet delay variation)
term-variation-meaning = How much the delay differs from one packet to the next, without its sign (RFC 5481). Often called jitter.
term-goodput = Goodput
term-goodput-meaning = Payload that arrived, per second, without headers. 1 Gbit/s is 1,000,000,000 bit/s.
term-loss = Loss, duplicated, reordered
term-loss-meaning = Datagrams that were sent and never arrived; that arrived again (RFC 5560); that arrived after one with a higher number (RFC 4737).
term-path-mtu = Path MTU
term-path-mtu-meaning = The largest IP packet that passes from end to end without being fragmented. It can differ between the two directions.
term-frame = Frame size
term-frame-meaning = The whole Ethernet frame with its check sequence (FCS), as in RFC 2544; preamble and gap are not counted.
term-frame-rate = Largest frame rate
term-frame-rate-meaning = What Ethernet lets through at most: link rate ÷ ((frame size + 20) × 8), as preamble (7), start delimiter (1) and gap (12) take 20 bytes of the wire beside each frame. At 10 Gbit/s these are 14,880,952 frames of 64 bytes a second, or 812,743 of 1518. A frame is a UDP datagram and its headers: 46 bytes over IPv4, 66 over IPv6, FCS included.
term-mode = spin, block, busy-poll
term-mode-meaning = How both programs wait for a message: asking the socket without pause, sleeping until the kernel wakes them, or letting the kernel poll the card’s queue.
term-interval = Uncertainty
term-interval-meaning = Where the true median lies with at least 95 % confidence, from the order statistics of the trials. It takes six trials or more.
statement = The results relate only to the items tested, in their state during this run. wireproof is not a calibrated instrument.
