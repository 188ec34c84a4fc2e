#!/usr/bin/env python3
"""Makes a store with a far end without wireproof, which came after ../order: tests/golden/agentless/make_store.py runs.db

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
    """Each doubt about a far end without wireproof."""
    run = store.copy("dut", "agentless-doubts")
    run["body"]["bed"]["endpoints"][-1]["agentless"] = True
    run["body"]["doubts"] = [doubt("needs-agent", endpoint="b", probe=probe) for probe in ["path", "packets"]]
    for it in run["trials"]:
        it["doubts"] = [doubt("far-program", endpoint="b", command="nc -d -l > /dev/null"), doubt("far-unobserved", endpoint="b")]


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
