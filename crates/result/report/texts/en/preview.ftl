# What a plan would do: verify --dry-run.

preview-set-up = Set up on this machine, and undone at the end:
preview-stands = Nothing is set up: test bed “{ $bed }” is already up.
preview-for-trials = Set for single trials, and put back after them:
preview-steps = Steps of plan “{ $plan }”:
preview-step = { $times } × { $what }: about { $time }
preview-search = Search from { $what } down: about { $times } trials in about { $time }, at most { $most } trials in { $longest }
preview-total-searched = In total about { $time }, at most { $most } with the longest searches, plus a few seconds for the bed.
preview-total = In total about { $time }, plus a few seconds for the bed.
preview-limits = Limits:
preview-limit-nothing-measured = (NOT RUN: the plan measures nothing that it speaks of)
preview-limit-no-address = (NOT RUN: an endpoint has no { $ip } address)
preview-limit-not-comparable = (cannot be judged on this bed)
preview-limit-several = { $count } configurations
