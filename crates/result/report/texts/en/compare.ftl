# Words of comparisons. Each key is in ja/ as well.

compare-reference = Compared with: { $run }
compare-run = Run: { $run }
compare-rtt-min = RTT min
compare-rtt-p50 = RTT p50
compare-rtt-p99 = RTT p99
compare-goodput = Goodput
compare-loss = Loss
compare-path-mtu = Path MTU
compare-points = { $points } points
compare-interval = { $low } to { $high }
compare-at-least = { $low } or more
compare-at-most = { $high } or less
finding-better = better
finding-worse = worse
finding-no-difference = no difference
finding-not-decidable = not decidable
compare-only-reference = Measured in the reference alone: { $configuration }
compare-only-run = Measured in this run alone: { $configuration }
compare-changed = Changed between the runs:
compare-changed-none = Nothing changed between the runs but the figures: same program, plan, bed and machines.
compare-nothing-in-common = The runs have no configuration in common. A configuration is the same only if everything that the plan says of it is, durations and counts included.
conclusion-worse = Worse
conclusion-not-decidable = Not decidable
conclusion-nothing-in-common = Nothing in common
conclusion-nothing-worse = Nothing worse
compare-tally = { $word }: { $worse } worse, { $better } better, { $same } without a difference shown, { $open } not decidable.
compare-tolerance = Up to { $tolerance } worse is tolerated; beyond that with the whole interval: { $beyond }.
compare-needed = Too few trials for { $open } of the figures; { $needed } in each run are always enough (--set repeats={ $needed }).
compare-note-difference = A difference is the median of the differences between each trial of one run and each of the other (Hodges–Lehmann), with its { $confidence } interval (Mann–Whitney); times and rates by their ratio, loss in percentage points.
compare-note-same = “No difference” means that none is shown: the interval contains zero. More trials make it narrower.
compare-note-chance = Of { $figures } figures about { $chance } would show a difference by chance alone.
compare-note-runs = The interval holds what varies between the trials of a run, not what varies from run to run. Before you blame a change, measure both again, in turn.
