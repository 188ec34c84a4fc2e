// Selects the next stream and its time.
#pragma once
#include "sender/state.bpf.h"

// Time since the first call, in 2^-16 ns.
static __always_inline __u64 elapsed(__u64 now)
{
	if (!progress.started)
		progress.started = now;
	return (now - progress.started) << 16;
}

// The stream that is due; STREAMS_MOST for none.
static __always_inline __u32 choose(__u64 now)
{
	__u32 streams = GIVEN.streams, which = progress.next;
	if (!progress.left || (GIVEN.paced && GIVEN.duration && now >= GIVEN.duration << 16))
		return STREAMS_MOST;
	for (int i = 0; i < STREAMS_MOST; i++) {
		if (i >= streams)
			break;
		if (which >= streams)
			which = 0;
		struct progress *at = &progress.streams[which & (STREAMS_MOST - 1)];
		if (at->sequence < at->most && (!GIVEN.paced || at->due <= now)) {
			progress.next = which + 1;
			return which & (STREAMS_MOST - 1);
		}
		which++;
	}
	return STREAMS_MOST;
}

// Adds the gap to the time of the next frame.
static __always_inline void put_off(struct progress *at, const struct stream *stream, __u64 now)
{
	__u64 gap = stream->gap;
	if (gap && now - at->due > CATCH_UP) {
		at->given_up += now - CATCH_UP - at->due;
		at->due = now - CATCH_UP;
	}
	if (GIVEN.by_chance && !stream->burst)
		gap = (gap >> 8) * chances[bpf_get_prandom_u32() & (CHANCES - 1)] >> 8;
	if (stream->ramp) {
		__u64 doublings = (at->due - stream->after) * DOUBLINGS / stream->ramp;
		if (doublings < DOUBLINGS)
			gap <<= DOUBLINGS - doublings;
	}
	at->owed += gap;
	if (++at->in_burst >= stream->burst) {
		at->due += at->owed;
		at->owed = at->in_burst = 0;
	}
}
