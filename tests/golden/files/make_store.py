#!/usr/bin/env python3
"""Makes a store with transfers of small files and from disk, which came after ../transfer: tests/golden/files/make_store.py runs.db

Copies of a run of ../transfer: nothing is measured. The rule is the same: runs.db.gz stays as it is.
"""

import copy
import gzip
import pathlib
import sys

sys.dont_write_bytecode = True
GOLDEN = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(GOLDEN / "everything"))
from make_store import Store  # noqa: E402

MIB = 1 << 20
FILE = "/srv/files/image.iso"
SMALL = 10_000 * 4096


def from_disk(store):
    """A file from a slow disk, by a method that it limits and one that it does not; and small files beside it."""
    run = store.copy("moved", "from-disk")
    methods = ["nc", "https"]
    run["body"]["plan"]["transfer"] = [{"methods": methods, "contents": ["file", "small-files"], "ip": 4, "file": FILE}]
    trials = []
    for it in run["trials"]:
        spec, result = it["measured"]["spec"], it["measured"]["result"]
        if spec["method"] not in methods:
            continue
        small = copy.deepcopy(it)
        seconds = {"nc": 2.0, "https": 4.0}[spec["method"]]
        spec.update(size=None, file=FILE)
        result.update(size=256 * MIB, arrived=256 * MIB, seconds=seconds, disks={"read_bps": 1.1e9, "write_bps": 3e9})
        small["measured"]["spec"].update(size=None, contents="small-files")
        small["measured"]["result"].update(size=SMALL, arrived=SMALL, seconds=seconds)
        for trial in [it, small]:
            trial["duration_s"] = seconds
            if spec["method"] == "https":
                trial["measured"]["result"]["kernel_tls"] = "unused"
            trials.append(trial)
    for number, trial in enumerate(trials):
        trial["number"] = number + 1
    run["trials"] = trials


def main(path):
    path.write_bytes(gzip.decompress((GOLDEN / "transfer" / "runs.db.gz").read_bytes()))
    store = Store(path)
    store.store.execute("DELETE FROM baseline")
    before = set(store.runs)
    from_disk(store)
    store.runs = {ident: run for ident, run in store.runs.items() if ident not in before}
    store.write()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
