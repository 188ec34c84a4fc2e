# Recorded trials and the goals of RFC 9971.

classified-goal = { $goal }: final duration { $final }, sum { $sum }, loss { $loss }, exceed ratio { $exceed }, width { $width }
classified-col-load = Load
classified-col-trials = Trials
classified-col-exceed = With too much loss
classified-col-classification = Classification
classification-lower = lower bound
classification-upper = upper bound
classification-undecided = undecided
classified-bounds = Relevant lower bound { $lower }, relevant upper bound { $upper } (difference { $width })
classified-throughput = Conditional throughput { $throughput }
irregular-no-upper-bound = Irregular result: no load is an upper bound. Measure higher loads.
irregular-no-lower-bound = Irregular result: the upper bound has no lower bound below. Measure lower loads.
irregular-no-bounds = Irregular result: no load is decided. Measure more, or longer trials.
irregular-too-wide = Irregular result: bounds further apart than the width. Measure between them.
