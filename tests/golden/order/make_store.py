#!/usr/bin/env python3
"""Makes a store with doubts about the order of packets, which came after ../devices: tests/golden/order/make_store.py runs.db

Copies of runs of ../everything: nothing is measured. The rule is the same: runs.db.gz stays as it is.
"""

import gzip
import pathlib
import sys

sys.dont_write_bytecode = True
EVERYTHING = pathlib.Path(__file__).resolve().parent.parent / "everything"
sys.path.insert(0, str(EVERYTHING))
from make_store import Store, doubt  # noqa: E402


def doubts(store):
    """Each newer variant of `model::Doubt`, twice where the report shows the worse of two."""
    run = store.copy("dut", "order-doubts")
    run["body"]["doubts"] = []
    for number, it in enumerate(run["trials"]):
        it["doubts"] = [doubt("reordered", **{"from": "a", "to": "b"}, packets=3_000 * (1 + number))]


def main(path):
    path.write_bytes(gzip.decompress((EVERYTHING / "runs.db.gz").read_bytes()))
    store = Store(path)
    store.store.execute("DELETE FROM baseline")
    before = set(store.runs)
    doubts(store)
    store.runs = {ident: run for ident, run in store.runs.items() if ident not in before}
    store.write()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
