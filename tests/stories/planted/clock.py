# Sets the time of day ahead, and back after a moment. Both are steps by a difference: whatever happens in between, the clock is right afterwards.
import ctypes
import os
import time

STEP_US = 250_000
MOMENT_S = 0.3

# adjtimex(2): struct timex, and its modes.
ADJ_SETOFFSET = 0x0100


class Timex(ctypes.Structure):
    _fields_ = [
        ("modes", ctypes.c_uint),
        ("before", ctypes.c_long * 8),
        ("seconds", ctypes.c_long),
        ("microseconds", ctypes.c_long),
        ("after", ctypes.c_byte * 256),
    ]


libc = ctypes.CDLL(None, use_errno=True)


def step(microseconds):
    seconds, rest = divmod(microseconds, 1_000_000)
    timex = Timex(modes=ADJ_SETOFFSET, seconds=seconds, microseconds=rest)
    if libc.adjtimex(ctypes.byref(timex)) < 0:
        raise OSError(ctypes.get_errno(), "adjtimex")


# The way back is that of a process of its own, in a session of its own: nothing that ends the story ends it.
ready, started = os.pipe()
if os.fork() == 0:
    os.setsid()
    step(STEP_US)
    os.write(started, b"1")
    time.sleep(MOMENT_S)
    step(-STEP_US)
    os._exit(0)
os.close(started)
is_set = os.read(ready, 1) == b"1"
status = os.waitstatus_to_exitcode(os.wait()[1])
raise SystemExit(status or (0 if is_set else 1))
