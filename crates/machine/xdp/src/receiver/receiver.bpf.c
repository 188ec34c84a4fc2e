// Counts the frames of each numbered sequence, exactly, and passes on to the kernel what is not ours.
//
// A sequence that one CPU receives costs one cache line a frame: as long as each frame has the number after that of the one
// before, only the run's end moves. What comes out of order is looked up among bits, one for each of the last WINDOW numbers.
// Once a second CPU has received a frame of a sequence, all its frames take the way of the bits, atomically.
#include "common.bpf.h"

#define NUMBERED_MOST 1024
#define WINDOW 16384
#define WORDS (WINDOW / 32)
#define SPREAD 0xffffffff
#define LAYOUTS_MOST 4
#define PKTGEN_MAGIC 0xbe9be955	// net/core/pktgen.c
#define PKTGEN_HEADER 16

// Two frames at the same place can be of one sequence only if they are on one CPU, or one of them is `SPREAD`.
struct numbered {
	__u64 next;	// end of the run
	__u64 run;	// its beginning: [run, next) came in order, once each, and is not among the bits
	__u64 frames;
	__u64 bytes;	// without FCS
	__u32 owner;	// CPU that receives it, plus 1; SPREAD where several do
	__u32 origin;	// CPU that received the first one, plus 1: that of `frames`
	__u64 highest;	// where SPREAD: one more than the highest number seen
	__u64 smallest;	// frames of 60 bytes that are not in `frames` and `bytes`
	__u64 apart[9];	// values of a map begin anywhere in a cache line: two of these shall not meet in one
};

// A sample of times in ns.
struct times {
	__u64 least, longest, sum;
	__u64 counts[1024];	// logarithmic with 32 linear steps an octave
};

// Of one sequence on one CPU. `frames` and `bytes` are those that are not counted in `numbered`.
struct share {
	__u64 frames;
	__u64 bytes;
	__u64 duplicated;
	__u64 reordered;
	__u64 late;	// WINDOW or more behind the highest: nobody knows whether they were there before
	__u64 corrupt;
	struct times latency;
};

// 32 of the bits, and which 32: the upper half is the number of times that the window has gone by, plus 1.
struct window {
	__u64 words[WORDS];
};

enum form { WHOLE, SHORT, PKTGEN };

struct layout {
	__u32 form;	// of the tag; PKTGEN is the header of the kernel's own generator
	__u32 tag;	// where the tag begins
	__u32 address;	// where the source address begins; from there on all is in the checksum
	__u32 transport;
	__u32 protocol;
};

struct given {
	struct layout layouts[LAYOUTS_MOST];
	__u32 different;	// how many layouts there are
	__u32 numbered;	// how many sequences there are
	__u32 length;	// of all frames, without FCS; 0 where there are several
	__u16 token;
	__u16 verify;	// whether checksums are verified
	__u32 per_flow;	// whether each flow has a sequence of its own
	__u32 first_port;	// PKTGEN: the source port of sequence 0
	__u32 gaps;	// whether the time between frames is taken
	__u32 reserved;
};

// Constants when the program is loaded: the verifier takes out what they rule out.
const volatile struct given GIVEN = {{{WHOLE, 42, 26, 34, 17}}, 1, 1, 60, 0, 1};

// Where the flows of a sequence are among `rounds`, and how many.
struct flows {
	__u32 first;
	__u32 count;
};

struct flows flows[NUMBERED_MOST] SEC(".bss.flows");
struct numbered numbered[NUMBERED_MOST] SEC(".bss.numbered");
// When the last frame of a sequence came.
__u64 arrived[NUMBERED_MOST] SEC(".bss.arrived");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct share);
	__uint(max_entries, 1);
} shares SEC(".maps");

// Between the frames of a sequence, as they came.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct times);
	__uint(max_entries, 1);
} gaps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct window);
	__uint(max_entries, 1);
} windows SEC(".maps");

// Of each flow: the round it expects, and which of the 32 before that came. Frame n of a sequence is that of flow n mod flows in
// round n / flows.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} rounds SEC(".maps");

// Frames that are not ours.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} others SEC(".maps");

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

// Sets the bits of [run, next), as far back as the window goes. Only the one CPU that owns the sequence does so.
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

// Sets a bit; whether it was set before. Safe among CPUs.
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

// A number that is not the next one, on the only CPU that receives the sequence.
static __always_inline void alone(struct numbered *n, struct window *window, struct share *share, __u64 sequence, __u32 bytes)
{
	if (sequence >= n->next) {
		note_run(window, n);
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

// Any number, where several CPUs receive the sequence. The run is what it was when the second one came.
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

static __noinline int corrupt(__u32 number)
{
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	if (share)
		share->corrupt++;
	return 0;
}

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
	// A clock that reads less than the sender's did: not on the same machine.
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
	// Two CPUs that receive it at once can read the clock in another order.
	if (before && now >= before)
		note(times, now - before);
	return 0;
}

// A number of a sequence whose flows are counted one by one.
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

// Whether the transport checksum is right, which covers all from `address` to the end of the frame.
static __always_inline int is_intact(void *data, void *end, __u64 size, const struct layout *layout)
{
	__u32 length = GIVEN.length;
	void *at = data + layout->address;
	__u64 sum = bpf_htons(layout->protocol);
	if (length && length <= 128) {
		sum += bpf_htons(length - layout->transport);
#pragma unroll
		for (int i = 0; i < 128; i += 4) {
			if (layout->address + i + 4 > length)
				break;
			sum += *(u32_any *)(at + i);
		}
		if ((length - layout->address) & 2)
			sum += *(u16_any *)(data + length - 2);
		return folded(sum) == 0xffff;
	}
	sum += bpf_htons((__u16)(size - layout->transport));
	for (int i = 0; i < FRAME_MOST / 32 + 1; i++) {
		if (at + 32 > end)
			break;
		u64_any *words = at;
		sum += halves(words[0]) + halves(words[1]) + halves(words[2]) + halves(words[3]);
		at += 32;
	}
	for (int i = 0; i < 15; i++) {
		if (at + 2 > end)
			break;
		sum += *(u16_any *)at;
		at += 2;
	}
	if (at + 1 <= end)
		sum += *(__u8 *)at;
	return folded(sum) == 0xffff;
}

// The same for a frame of several parts (`total` bytes), of which only the first lies at `data`.
static __noinline int is_intact_in_parts(struct xdp_md *ctx, __u32 address, __u32 total, __u32 pseudo)
{
	__u32 piece[64];
	__s64 sum = 0;
	for (int i = 0; i < 64; i++) {
		__u32 left = total - address;
		if (address >= total)
			break;
		if (left >= sizeof(piece)) {
			left = sizeof(piece);
		} else {
			__builtin_memset(piece, 0, sizeof(piece));
			left &= sizeof(piece) - 1;
		}
		if (left == 0 || bpf_xdp_load_bytes(ctx, address, piece, left))
			return 0;
		sum = bpf_csum_diff(0, 0, piece, sizeof(piece), (__u32)sum);
		address += left;
	}
	return folded((__u64)(__u32)sum + pseudo) == 0xffff;
}

// Sequence and number in one, as in a tag, from the header of the kernel's own generator; no sequence is ~0. It counts from 1.
static __always_inline __u64 number_of_pktgen(void *data, void *end, const struct layout *layout)
{
	if (data + layout->tag + PKTGEN_HEADER > end || *(u32_any *)(data + layout->tag) != bpf_htonl(PKTGEN_MAGIC))
		return ~0ULL;
	__u64 number = (__u32)(bpf_ntohl(*(u32_any *)(data + layout->tag + 4)) - 1), sequence = 0;
	if (GIVEN.numbered > 1)
		sequence = (__u16)(bpf_ntohs(*(u16_any *)(data + layout->transport)) - GIVEN.first_port);
	return sequence << 48 | number;
}

// Whether it is ours, and then all that is to be done with it.
static __always_inline int taken(struct xdp_md *ctx, void *data, void *end, const struct layout *layout)
{
	__u64 first, second = 0, size = end - data;
	// As 64 bits: the difference of pointers is none of 32.
	asm volatile("" : "+r"(size));

	if (layout->form == PKTGEN) {
		first = number_of_pktgen(data, end, layout);
	} else {
		if (data + layout->tag + (layout->form == SHORT ? WP_TAG_SHORT : WP_TAG_WHOLE) > end)
			return 0;
		if (*(u16_any *)(data + layout->tag) != bpf_htons(WP_TAG_MAGIC))
			return 0;
		if (layout->form == WHOLE) {
			second = *(u64_any *)(data + layout->tag + WP_TAG_TOKEN);
			if ((__u16)second != GIVEN.token)
				return 0;
		}
		first = bpf_be64_to_cpu(*(u64_any *)(data + layout->tag + WP_TAG_STREAM));
	}
	__u32 number = first >> 48;
	__u64 sequence = first & WP_TAG_MASK;
	if (number >= GIVEN.numbered || number >= NUMBERED_MOST)
		return 0;
	__u64 total = bpf_xdp_get_buff_len(ctx);
	int is_right = !GIVEN.length || total == GIVEN.length;
	if (total > size) {
		__u32 pseudo = bpf_htons(layout->protocol) + bpf_htons((__u16)(total - layout->transport));
		is_right = is_right && (!GIVEN.verify || is_intact_in_parts(ctx, layout->address, total, pseudo));
	} else {
		is_right = is_right && data + GIVEN.length <= end && (!GIVEN.verify || is_intact(data, end, size, layout));
	}
	if (unlikely(!is_right)) {
		corrupt(number);
		return 1;
	}
	struct numbered *n = &numbered[number];
	if (GIVEN.gaps)
		gap(number);
	if (GIVEN.per_flow) {
		in_flow(number, sequence, total);
	} else if (likely(sequence == n->next && n->owner == bpf_get_smp_processor_id() + 1)) {
		n->next = sequence + 1;
		n->frames++;
		n->bytes += total;
	} else {
		out_of_turn(number, sequence, total);
	}
	if (unlikely(second >> 16))
		time(number, bpf_be64_to_cpu(second) & WP_TAG_MASK);
	return 1;
}

static __noinline int receive_any(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
#pragma unroll
	for (int i = 0; i < LAYOUTS_MOST; i++) {
		struct layout layout = GIVEN.layouts[i];
		if (i >= GIVEN.different)
			break;
		if (taken(ctx, data, end, &layout))
			return XDP_DROP;
	}
	__u32 zero = 0;
	__u64 *counted = bpf_map_lookup_elem(&others, &zero);
	if (counted)
		(*counted)++;
	return XDP_PASS;
}

// The smallest frame of IPv4 and UDP, where every instruction counts, if it is the next of its sequence and intact. All others
// take the long way: the first of a sequence finds it a CPU there, if the sequence is one of ours and not counted by flows.
static __always_inline int is_next_smallest(void *data, void *end)
{
	__u32 cpu = bpf_get_smp_processor_id() + 1;
	if (data + 60 > end || data + 61 <= end)
		return 0;
	__u64 first = *(u64_any *)(data + 44), second = *(u64_any *)(data + 52);
	if (*(u16_any *)(data + 42) != bpf_htons(WP_TAG_MAGIC) || (__u16)second != GIVEN.token || *(__u8 *)(data + 23) != 17)
		return 0;
	// Word by word, as they lie there: taking apart what was loaded is more work. Nine of them fold twice to 16 bits and a little, which
	// is a multiple of 0xffff only where it is just that.
	const volatile u32_any *words = data + 26;
	__u64 sum = bpf_htons(17) + bpf_htons(26) + bpf_htons(WP_TAG_MAGIC);
	sum += words[0];
	sum += words[1];
	sum += words[2]; // ports
	sum += words[3]; // length and checksum
	words = data + 44;
	sum += words[0];
	sum += words[1];
	sum += words[2];
	sum += words[3];
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	first = bpf_be64_to_cpu(first);
	__u64 number = first >> 48, sequence = first & WP_TAG_MASK;
	// As it is compared here, for the verifier to see that it is in bounds.
	asm volatile("" : "+r"(number));
	if (sum != 0xffff || number >= NUMBERED_MOST)
		return 0;
	struct numbered *n = &numbered[number];
	if (sequence != n->next || n->owner != cpu)
		return 0;
	n->next = sequence + 1;
	n->smallest++;
	if (GIVEN.gaps)
		gap(number);
	if (unlikely(second >> 16))
		time(number, bpf_be64_to_cpu(second) & WP_TAG_MASK);
	return 1;
}

SEC("xdp.frags")
int receive(struct xdp_md *ctx)
{
	if (likely(is_next_smallest((void *)(long)ctx->data, (void *)(long)ctx->data_end)))
		return XDP_DROP;
	return receive_any(ctx);
}

char LICENSE[] SEC("license") = "GPL";
