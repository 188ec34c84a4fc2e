"""The Python package MLRsearch over devices that another process simulates.

The first line of the input holds the goals as JSON. Each further "search MIN MAX" begins a search, which asks for trials by
"trial LOAD SECONDS", is answered with a loss ratio, and ends with "done" and the bounds of each goal.
"""

import json
import sys

from MLRsearch import (
    AbstractMeasurer,
    Config,
    MeasurementResult,
    MultipleLossRatioSearch,
    SearchGoal,
)

FRAMES = 10**12


def tell(*words):
    print(*words, flush=True)


class Simulated(AbstractMeasurer):
    """Asks the other process."""

    def measure(self, intended_duration, intended_load):
        load, seconds = float(intended_load), float(intended_duration)
        tell("trial", repr(load), repr(seconds))
        lost = round(FRAMES * float(input()))
        return MeasurementResult(
            intended_duration=seconds,
            intended_load=load,
            offered_count=FRAMES,
            loss_count=lost,
        )


def bound(value):
    return "none" if value is None else repr(float(value))


goals = [SearchGoal(**goal) for goal in json.loads(input())]
for line in sys.stdin:
    _, least, most = line.split()
    config = Config(
        goals=tuple(goals), min_load=float(least), max_load=float(most), search_duration_max=1e6, warmup_duration=0.0
    )
    results = MultipleLossRatioSearch(config=config).search(Simulated())
    words = []
    for goal in goals:
        result = results[goal]
        words += [bound(result.relevant_lower_bound), bound(result.relevant_upper_bound)]
    tell("done", *words)
