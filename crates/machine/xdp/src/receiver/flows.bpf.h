// Sequences that are counted flow by flow.
#pragma once
#include "receiver/sequence.bpf.h"

// Counts a number of a sequence that is counted flow by flow.
static __always_inline void in_flow(__u32 number, __u64 sequence, __u32 bytes)
{
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	__u32 count_of = flows[number & (NUMBERED_MOST - 1)].count ?: 1;
	__u64 round = sequence / count_of;
	__u32 slot = flows[number & (NUMBERED_MOST - 1)].first + (__u32)(sequence - round * count_of);
	__u64 *here = bpf_map_lookup_elem(&rounds, &slot);
	if (!share || !here)
		return;
	__u64 was = *(volatile __u64 *)here;
	for (int tries = 0; tries < 64; tries++) {
		__u64 next = was >> 32, bits = (__u32)was, wanted, seen;
		int is_new = round >= next;
		if (is_new) {
			__u64 ahead = round - next + 1;
			bits = ahead < 32 ? bits << ahead | 1 : 1;
			wanted = (round + 1) << 32 | (__u32)bits;
		} else if (next - 1 - round >= 32) {
			share->late++;
			break;
		} else {
			wanted = was | 1ULL << ((next - 1 - round) & 31);
			if (wanted == was) {
				share->duplicated++;
				return;
			}
		}
		seen = __sync_val_compare_and_swap(here, was, wanted);
		if (seen == was) {
			share->reordered += !is_new;
			break;
		}
		was = seen;
	}
	count(share, bytes);
}
