// Records the received numbers of a sequence.
//
// A sequence that one CPU receives costs one cache line a frame: while each number follows the one before, only the end of the
// run moves. Numbers out of order are recorded in bits, one for each of the last WINDOW numbers.
// Once a second CPU has received a frame of the sequence, all its frames use the bits, atomically.
#pragma once
#include "receiver/state.bpf.h"

static __always_inline __u64 word_of(__u64 sequence)
{
	return sequence >> 5;
}

static __always_inline __u64 *word_at(struct window *window, __u64 word)
{
	return &window->words[word & (WORDS - 1)];
}

static __always_inline __u64 turn_of(__u64 word)
{
	return (word / WORDS + 1) << 32;
}

// Sets the bits of [run, next) that the window covers. Only the CPU that owns the sequence calls it.
static __always_inline void note_run(struct window *window, struct numbered *n)
{
	__u64 next = n->next, run = n->run;
	if (next - run > WINDOW)
		run = next - WINDOW;
	__u64 word = word_of(run), last = word_of(next - 1);
	__u32 bits = 0xffffffff << (run & 31);
	for (int i = 0; i <= WORDS; i++) {
		__u64 *here = word_at(window, word), turn = turn_of(word);
		if (word == last)
			bits &= 0xffffffff >> (31 - ((next - 1) & 31));
		*here = (*here & ~0xffffffffULL) == turn ? *here | bits : turn | bits;
		if (word == last)
			break;
		word++;
		bits = 0xffffffff;
	}
}

// Sets a bit atomically, and returns whether it was set before.
static __always_inline int test_and_set(struct window *window, __u64 sequence)
{
	__u64 word = word_of(sequence), turn = turn_of(word), bit = 1ULL << (sequence & 31);
	__u64 *here = word_at(window, word), was = *(volatile __u64 *)here;
	for (int tries = 0; tries < 64; tries++) {
		__u64 wanted = (was & ~0xffffffffULL) == turn ? was | bit : turn | bit, seen;
		if (wanted == was)
			return 1;
		seen = __sync_val_compare_and_swap(here, was, wanted);
		if (seen == was)
			return 0;
		was = seen;
	}
	return 0;
}

static __always_inline void count(struct share *share, __u32 bytes)
{
	share->frames++;
	share->bytes += bytes;
}

// Records a number out of order on the only CPU that receives the sequence.
static __always_inline void alone(struct numbered *n, struct window *window, struct share *share, __u64 sequence, __u32 bytes)
{
	if (sequence >= n->next) {
		note_run(window, n);
		if (sequence > n->next)
			n->after_gap = sequence;
		n->run = sequence;
		n->next = sequence + 1;
		count(share, bytes);
	} else if (sequence >= n->run) {
		share->duplicated++;
	} else if (n->next - sequence > WINDOW) {
		share->late++;
		count(share, bytes);
	} else if (test_and_set(window, sequence)) {
		share->duplicated++;
	} else {
		share->reordered++;
		count(share, bytes);
	}
}

// Records a number where several CPUs receive the sequence. The run no longer moves.
static __always_inline void together(struct numbered *n, struct window *window, struct share *share, __u64 sequence, __u32 bytes)
{
	__u64 highest = *(volatile __u64 *)&n->highest;
	if (highest < n->next)
		highest = n->next;
	if (sequence >= n->run && sequence < n->next) {
		share->duplicated++;
		return;
	}
	if (sequence < highest && highest - sequence > WINDOW) {
		share->late++;
		count(share, bytes);
		return;
	}
	if (test_and_set(window, sequence)) {
		share->duplicated++;
		return;
	}
	count(share, bytes);
	if (sequence < highest) {
		share->reordered++;
		return;
	}
	// Exact as long as one CPU at a time receives the sequence; otherwise frames count as reordered, too.
	if (sequence > highest)
		n->after_gap = sequence;
	highest = *(volatile __u64 *)&n->highest;
	for (int tries = 0; tries < 64 && highest <= sequence; tries++)
		highest = __sync_val_compare_and_swap(&n->highest, highest, sequence + 1);
}

static __noinline int out_of_turn(__u32 number, __u64 sequence, __u32 bytes)
{
	__u32 cpu = bpf_get_smp_processor_id();
	if (number >= NUMBERED_MOST)
		return 0;
	struct numbered *n = &numbered[number];
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	struct window *window = bpf_map_lookup_elem(&windows, &number);
	if (!share || !window)
		return 0;
	if (n->owner == 0 && __sync_val_compare_and_swap(&n->owner, 0, cpu + 1) == 0) {
		n->origin = cpu + 1;
		n->after_gap = sequence;
		n->run = sequence;
		n->next = sequence + 1;
		count(share, bytes);
	} else if (n->owner == cpu + 1) {
		alone(n, window, share, sequence, bytes);
	} else {
		n->owner = SPREAD;
		together(n, window, share, sequence, bytes);
	}
	return 0;
}
