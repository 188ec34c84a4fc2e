#!/usr/bin/env python3
"""Makes a store with runs of transfers: sudo tests/golden/transfer/make_store.py PROGRAM runs.db

As ../everything/make_store.py, whose beds it takes, and under the same rule: runs.db.gz stays as it is.
"""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "everything"))
from make_store import Store, main, make_anonymous  # noqa: E402

LIMITS = """
[[limits]]
metric = "transfer_rate"
at_least = "1 Mbit/s"
[[limits]]
metric = "damaged"
at_most = "0"
"""
MOVED = '[[transfer]]\nsize = "16 MiB"\n' + LIMITS
IPV6 = '[[transfer]]\nsize = "4 MiB"\nip = 6\nmtus = [1500, 9000]\nmethods = ["tcp", "nc", "http"]\n' + LIMITS


def moved(maker):
    for _ in range(2):
        maker.verify("moved", MOVED, repeats=3)
    maker.verify("mtus", IPV6)


PARTS = [moved]

# Edited.


def lacking(run):
    """A machine without two servers, whatever the one that made the store has."""
    for it in run["trials"]:
        method = it["measured"]["spec"].get("method")
        program = {"rsync": "rsync", "ftp-put": "vsftpd", "ftp-get": "vsftpd"}.get(method)
        if program:
            it["measured"]["result"].update(
                lacks=[{"endpoint": "b", "program": {"name": program, "package": program}}],
                commands=[None, None], size=0, arrived=0, seconds=0.0, verified=None,
            )


def damaged(store):
    """A method that damages what it moves."""
    run = store.copy("moved", "damaged")
    for it in run["trials"]:
        if it["measured"]["spec"].get("method") == "http":
            it["measured"]["result"]["verified"] = False


def edit(path):
    store = Store(path)
    for run in store.runs.values():
        make_anonymous(run)
        lacking(run)
    damaged(store)
    store.write()


if __name__ == "__main__":
    main(PARTS, edit)
