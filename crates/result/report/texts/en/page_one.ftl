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
undecided-few-trials = it has { $trials } trials, and an uncertainty interval takes { $needed }
undecided-straddles = the uncertainty interval straddles the limit
undecided-not-checked = nobody checked it
undecided-left-open = whoever checked it left it open
key-figures-caption = Key figures: medians over the trials.
page-doubt = Gravest doubt
page-no-doubt = None was found.
page-doubts-more = { $count } more: see “{ $heading }”.
page-limited = Where it is known, most often { $place }: { $count } of { $of } configurations.
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
