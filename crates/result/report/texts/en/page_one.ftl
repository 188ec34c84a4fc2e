# The first page: verdict, key figures, and what to know before they are used. Each key is in ja/ as well.

tally = PASS { $pass }, FAIL { $fail }, not decided { $undecided }.
verdict-undecided = { $count } could not be decided: { $why }.
undecided-of = { $count } because { $why }
undecided-not-comparable = it is not comparable with { $reference } ({ $why })
undecided-not-planned = the plan has no such configuration
undecided-not-measured = no trial has the figure
undecided-few-samples = the samples are too small for the percentile
undecided-mtu-disproved = packets of MTU { $mtu } do not pass over { $ip }
undecided-no-address = an endpoint has no { $ip } address
undecided-few-trials = trials are too few ({ $trials } each; an uncertainty interval takes { $needed })
undecided-straddles = the uncertainty interval straddles the limit
undecided-not-checked = nobody checked it
undecided-left-open = whoever checked it left it open
key-figures-caption = Key figures: medians over the trials.
key-load-missed = (the sender reached { $percent } % of this load at worst)
page-failed = What failed
page-failed-figures =
    { $count ->
        [one] one measured figure (FAIL in the table above)
       *[other] { $count } measured figures (FAIL in the table above)
    }
page-failed-figures-some = { $count } measured figures (the worst of each kind above, all under “Findings”)
page-failed-item = { $item } (found by a person)
page-failed-more = { $last }, and { $count } more under “Findings” and “Results”
page-todo = What to do
todo-figures = Begin with what limited the failed figures: { $places }. Then measure again with the command under “Repeating the run”.
todo-place = { $place }: { $remedy }
todo-figures-unknown = No reading shows what limited the failed figures. Heed the doubts, look at “Results” for the cause, remove it, then measure again with the command under “Repeating the run”.
todo-checks = Correct the settings of the device that forwards: “Correctness of forwarding” shows what became of each kind of frame. Then check again.
todo-items = Put right what a person found, check it again, and write the report again with the new result (wireproof report --meta FILE). That takes no new measurement.
todo-not-comparable = For a verdict, measure with the hardware and under the conditions of the reference, or set a bound in the plan (at_most, at_least).
todo-not-planned = For a verdict, add the configuration to the plan, or take its limit out.
todo-not-measured = For a verdict, remove what kept the figure from being measured (see “Doubts about these figures”), and measure again.
todo-few-samples = For a verdict, measure longer or with more round trips a trial.
todo-mtu-disproved = For a verdict, raise the MTU of the device that “Path MTU” names so that { $mtu } B pass over { $ip }, and measure again.
todo-no-address = For a verdict, give both ends an { $ip } address, and measure again.
todo-few-trials = For a verdict, measure again with --set repeats={ $needed }.
todo-straddles = More trials narrow the uncertainty intervals and may give a verdict: measure again with a larger --set repeats=N.
todo-not-checked = Check the open items, and write the report again with the results (wireproof report --meta FILE). That takes no new measurement.
todo-left-open = Decide the items that were left open, and write the report again with the results (wireproof report --meta FILE). That takes no new measurement.
page-doubt = Gravest doubt
page-doubt-in = { $count } of { $of } trials: { $words }
page-no-doubt = None was found.
page-doubts-more = { $count } more: see “{ $heading }”.
page-limited = Where it is known, most often { $place }: { $count } of { $of } configurations.
page-limited-each = Where it is known, equally often { $place }: { $count } of { $of } configurations each.
page-limited-load = The load asked for, in { $count } of { $of } configurations; no other limit is known.
page-limited-unknown = Not known: no counter of either end shows what limited the figures.
sentences = { $a } { $b }
list-semicolon = {"; "}

issue = No. { $numbers }: { $words }
issue-failed = { $figure }, criterion { $criterion }: { $figures }
configurations = { $count } configurations
see-results = see “Results”
conclusion-heading = Conclusion
name-count = { $count } round trips
name-warmup = warm-up { $amount }
