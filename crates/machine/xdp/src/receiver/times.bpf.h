// One-way times of frames, and times between frames.
#pragma once
#include "receiver/state.bpf.h"

static __always_inline void note(struct times *times, __u64 took)
{
	__u64 octave = 0, rest = took >> 5;
#pragma unroll
	for (int bits = 32; bits; bits >>= 1) {
		if (rest >> bits) {
			rest >>= bits;
			octave += bits;
		}
	}
	if (took >= 32)
		octave++;
	if (octave > 31)
		octave = 31;
	__u64 bucket = octave ? (octave << 5) + ((took >> (octave - 1)) & 31) : took;
	times->counts[bucket & 1023]++;
	times->sum += took;
	if (took > times->longest)
		times->longest = took;
	if (took < times->least || !times->least)
		times->least = took;
}

static __noinline int time(__u32 number, __u64 left)
{
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	__u64 took = (bpf_ktime_get_ns() - left) & WP_TAG_MASK;
	// The clock is behind the sender's: another machine's clock.
	if (share)
		note(&share->latency, took >> 47 ? 0 : took);
	return 0;
}

static __noinline int gap(__u32 number)
{
	struct times *times = bpf_map_lookup_elem(&gaps, &number);
	__u64 now = bpf_ktime_get_ns();
	if (!times || number >= NUMBERED_MOST)
		return 0;
	__u64 before = arrived[number];
	arrived[number] = now;
	// Two CPUs that receive at the same time may read the clock in another order.
	if (before && now >= before)
		note(times, now - before);
	return 0;
}
