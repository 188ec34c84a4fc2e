# Words of the figures. Each key is in ja/ as well.

legend-goodput = { $name }: mean { $mean }, fastest { $max }, slowest { $min } { $unit } (n = { $n } s)
figure-cores = CPU by core
figure-cores-note = What each core did while goodput was counted, in percent of its time, median over the trials. Cores neither used nor pinned are left out.
axis-core-time = Core time (%)
cpu-user = programs (user)
cpu-system = kernel (system)
cpu-softirq = soft interrupts
cpu-irq = interrupts
cpu-steal = taken by the hypervisor (steal)
cpu-idle = idle
core-name = core { $cpu }
core-load = core { $cpu }: { $percent } %
figure-rtt-repeats = RTT p50 from repeat to repeat
figure-goodput-repeats = Goodput from repeat to repeat
figure-repeats-note = One dot per trial (up to { $dots }). Thick line: median. Thin line: from the lowest to the highest trial. Box, with { $box } trials or more: the middle half (quartiles). The axis does not begin at zero.
axis-rtt-p50 = RTT p50 (µs)
figure-bar = { $run }: { $value }
histogram-missing = no answer in time
histogram-none = No latency was measured, so there is no histogram.
