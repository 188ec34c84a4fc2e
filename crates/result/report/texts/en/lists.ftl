# Lists on a terminal. Each key is in ja/ as well.

list-col-run = run
list-col-started = started
list-col-plan = plan
list-col-bed = bed
list-col-trials = trials
list-col-verdict = verdict
list-col-baseline = baseline
list-col-reference = reference
list-col-figures = figures
list-col-measured = measured
list-col-by = by
list-col-what = what
list-runs-none = Nothing has been measured yet; start with "wireproof verify".
list-unreadable = unreadable
list-grade = grade { $grade }
list-partial = { $verdict } (partial)
list-baselines-none = No baseline is set; set one with "wireproof baseline set RUN".
list-references-folder = Files of your own are read from { $folder }
list-bed = { $name }: { $what }
list-bed-simulated = { $name } (simulated): { $what }
list-bed-end = { $name }: namespace { $namespace }, { $interface } MTU { $mtu }, { $addresses }
list-bed-device = { $name }: namespace { $namespace }
list-bed-hint = Use it with --bed { $name }; take it down with "wireproof bed down { $name }".
list-beds-none = No bed stands.
list-undone = undone: { $change }
list-undone-none = Nothing to undo.
