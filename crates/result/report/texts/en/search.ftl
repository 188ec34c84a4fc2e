# Searches for the highest load. Each key is in ja/ as well.

search-heading = Searches for the highest load
search-caption = Highest load that upholds each goal, by the classification of RFC 9971. It lies between the two bounds: the trials at the lower bound uphold the goal, those at the upper bound fail it. Conditional throughput: the rate to expect at the lower bound, by the full-length trial with the largest loss that the exceed ratio does not leave out.
search-regular = regular
search-beyond-tester = { $verdict }: the tester alone, without the device, reaches no more; the device may do better
search-other-repeats = Courses of the searches of further repeats
search-line = { $traffic }, goal { $goal }: highest load between { $lower } and { $upper }; conditional throughput { $throughput }.
search-line-irregular = { $traffic }, goal { $goal }: { $why }
col-search-repeat = Repeat
col-search-goal = Goal
col-search-lower = Lower bound
col-search-upper = Upper bound
col-search-width = Difference
col-search-throughput = Conditional throughput
col-search-tester = Tester alone
figure-search = Course of the search: { $traffic } (repeat { $repeat })
figure-search-note = Load of each trial, in the order in which the search asked for it. Lines across: the bounds of each goal.
axis-search-trial = Trial
axis-search-load = Load asked for ({ $unit })
legend-search-kept = loss within all goals
legend-search-between = loss within some of the goals
legend-search-lost = more loss than any goal allows
legend-search-invalid = sender did not reach the load: not counted
legend-search-goal = { $goal }: bounds { $lower } and { $upper }
