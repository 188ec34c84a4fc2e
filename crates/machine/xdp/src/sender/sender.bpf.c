// Writes every byte of each frame and sends it out of one interface, as often as BPF_PROG_RUN runs it in its "live frames" mode.
//
// It is loaded once for each sending core: what it reads and writes is that core's own, at addresses known when it was
// compiled, so that nothing has to be looked up and no cache line is shared. How a frame is made is said in `frame::compiled`.
#include "common.bpf.h"

#define STREAMS_MOST 16
#define SIZES_MOST 4096
#define CYCLE_MOST 4096
#define TABLE_MOST 4096
#define VARIATIONS_MOST 16
#define CHANCES 1024
// What is later is given up, so that a sender that was away does not flood the path when it comes back: 10 ms in 2^-16 ns.
#define CATCH_UP (10000000ULL << 16)

struct size {
	__u16 length;	// without FCS
	__u16 ip_length;	// all in network byte order from here on
	__u16 udp_length;
	__u16 ip_sum;
	__u16 transport_sum;
	__u16 whole;	// whether the tag is whole
};

enum sequence { STEP, HASH, TABLE };

struct variation {
	__u16 offset;
	__u16 four;	// bytes: 4, else 2
	__u16 in_ip;
	__u16 in_transport;
	__u32 kind;	// enum sequence
	__u32 divisor;
	__u32 count;
	__u32 first;	// for a table: where in `tables` it begins
	__u32 step;	// for a hash: the seed
	__u32 reserved;
	__u64 span;
};

struct stream {
	__u16 number;	// in the tag
	__u16 tag;	// where the tag begins
	__u16 checksum;	// where the transport checksum stands
	__u16 tcp;
	__u16 ip_length;
	__u16 ip_checksum;	// 0: there is none
	__u16 udp_length;	// 0: there is none
	__u16 cycle;	// where in `cycle` its part begins
	__u32 cycles;	// how long that is
	__u32 variations;
	__u32 flows;
	__u32 burst;	// frames that leave back to back; 0: gaps are by chance
	__u64 gap;	// mean time between frames, in 2^-16 ns; 0: flat out
	struct variation varies[VARIATIONS_MOST];
	__u8 bytes[FRAME_MOST];
};

struct wheel {
	__u32 left;	// frames until it turns
	__u32 position;
};

struct progress {
	__u64 sequence;	// of the next frame
	__u64 most;	// frames of all streams that may be sent; lowered to its own when the time is over
	__u64 first;	// CLOCK_MONOTONIC in ns
	__u64 last;	// of the last frame whose time was taken
	__u64 last_sequence;
	__u64 due;	// when the next frame is due, in 2^-16 ns since `started`
	__u64 owed;	// what the frames of a burst add to it
	__u64 given_up;	// what the schedule was put off by, in 2^-16 ns
	__u64 bytes;	// where there are several sizes
	__u32 turn;	// position in the cycle
	__u32 flow;
	__u32 in_burst;
	__u32 reserved;
	struct wheel wheels[VARIATIONS_MOST];
};

struct given {
	__u32 streams;
	__u32 longest;	// frame, without FCS
	__u32 head;	// bytes of each frame that are copied eight at a time
	__u32 fixed;	// whether all frames are as long
	__u32 tag;	// where all streams have it; 0 where they differ
	__u32 checksum;
	__u32 varies;	// whether anything differs with the flow
	__u32 paced;
	__u32 by_chance;	// whether gaps are exponential
	__u16 whole;	// whether all tags are whole
	__u16 token;
	__u64 every;	// time is taken of frames whose sequence has none of these bits
	__u64 duration;	// ns; 0: without end
};

// Constants when the program is loaded: the verifier takes out what they rule out.
const volatile struct given GIVEN = {1, 60, 56, 1, 42, 40};

struct stream streams[STREAMS_MOST] SEC(".bss.streams");
struct size sizes[SIZES_MOST] SEC(".bss.sizes");
__u16 cycle[CYCLE_MOST] SEC(".bss.cycle");
__u32 tables[TABLE_MOST] SEC(".bss.tables");
// Exponential distribution of mean 1 in equal shares, in 2^-16.
__u32 chances[CHANCES] SEC(".bss.chances");

struct {
	struct progress streams[STREAMS_MOST];
	__u64 started;
	__u64 left;	// frames of all streams that may still be sent
	__u64 next;	// stream whose turn it is
	__u64 gone;	// whether the interface went away
} progress SEC(".bss.progress");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(max_entries, 1);
} port SEC(".maps");

// Time since the first call, in 2^-16 ns.
static __always_inline __u64 elapsed(__u64 now)
{
	if (!progress.started)
		progress.started = now;
	return (now - progress.started) << 16;
}

// The stream whose turn it is, STREAMS_MOST if none is due.
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

// Puts the time of the next frame ahead.
static __always_inline void put_off(struct progress *at, const struct stream *stream, __u64 now)
{
	__u64 gap = stream->gap;
	if (gap && now - at->due > CATCH_UP) {
		at->given_up += now - CATCH_UP - at->due;
		at->due = now - CATCH_UP;
	}
	if (GIVEN.by_chance && !stream->burst)
		gap = (gap >> 8) * chances[bpf_get_prandom_u32() & (CHANCES - 1)] >> 8;
	at->owed += gap;
	if (++at->in_burst >= stream->burst) {
		at->due += at->owed;
		at->owed = at->in_burst = 0;
	}
}

// All bytes of the frame, as far as they do not differ.
static __always_inline int copy(struct xdp_md *ctx, void *data, const struct stream *stream, __u32 length)
{
	__u32 head = GIVEN.head;
#pragma unroll
	for (int at = 0; at < 128; at += 8) {
		if (at + 8 > head)
			break;
		*(u64_any *)(data + at) = *(u64_any *)(stream->bytes + at);
	}
	if (GIVEN.fixed && GIVEN.longest < 128) {
		// The rest of a short frame, by words that overlap.
		*(u64_any *)(data + GIVEN.longest - 8) = *(u64_any *)(stream->bytes + GIVEN.longest - 8);
		return 0;
	}
	length -= head;
	if (length == 0)
		return 0;
	if (length > FRAME_MOST - 128)
		return -1;
	return bpf_xdp_store_bytes(ctx, head, (void *)stream->bytes + head, length);
}

static __always_inline __u32 value_of(const struct variation *variation, __u32 position)
{
	switch (variation->kind) {
	case STEP:
		return variation->first + variation->step * position;
	case HASH:
		return variation->first + (wp_hash(variation->step, position) * variation->span >> 32);
	default:
		return tables[(variation->first + position) & (TABLE_MOST - 1)];
	}
}

static __always_inline void turn(struct wheel *wheel, const struct variation *variation)
{
	if (--wheel->left)
		return;
	wheel->left = variation->divisor;
	if (++wheel->position == variation->count)
		wheel->position = 0;
}

// What differs with the flow; adds to the sums.
static __always_inline int vary(void *data, void *end, const struct stream *stream, struct progress *at, __u64 *ip, __u64 *transport)
{
	for (int i = 0; i < VARIATIONS_MOST; i++) {
		if (i >= stream->variations)
			break;
		const struct variation *variation = &stream->varies[i];
		struct wheel *wheel = &at->wheels[i];
		if (at->flow == 0) {
			wheel->left = variation->divisor;
			wheel->position = 0;
		}
		__u32 value = bpf_htonl(value_of(variation, wheel->position));
		void *field = data + (variation->offset & 0xff);
		if (field + 4 > end)
			return -1;
		if (variation->four) {
			*(u32_any *)field = value;
		} else {
			value >>= 16;
			*(u16_any *)field = value;
		}
		if (variation->in_ip)
			*ip += value;
		if (variation->in_transport)
			*transport += value;
		turn(wheel, variation);
	}
	if (++at->flow >= stream->flows)
		at->flow = 0;
	return 0;
}

static __always_inline int put(void *data, void *end, __u32 offset, __u16 value)
{
	void *field = data + (offset & 0xff);
	if (field + 2 > end)
		return -1;
	*(u16_any *)field = value;
	return 0;
}

SEC("xdp")
int send(struct xdp_md *ctx)
{
	__u64 now = 0, since = 0;
	if (GIVEN.paced) {
		now = bpf_ktime_get_ns();
		since = elapsed(now);
	}
	__u32 which = 0;
	if (GIVEN.streams > 1 || GIVEN.paced) {
		which = choose(since);
		if (which >= STREAMS_MOST)
			return XDP_DROP;
	}
	struct stream *stream = &streams[which];
	struct progress *at = &progress.streams[which];
	__u64 sequence = at->sequence;
	if (unlikely(sequence >= at->most))
		return XDP_DROP;

	// Big end first from here on.
	__u64 first = bpf_cpu_to_be64((__u64)stream->number << 48 | sequence), second = (__u64)GIVEN.token << 48;
	if ((sequence & GIVEN.every) == 0) {
		if (!GIVEN.paced)
			now = bpf_ktime_get_ns();
		if (GIVEN.duration && at->first && now - at->first >= GIVEN.duration) {
			at->most = sequence;
			return XDP_DROP;
		}
		if (sequence == 0)
			at->first = now;
		at->last = now;
		at->last_sequence = sequence;
		second |= now & WP_TAG_MASK;
	}
	second = bpf_cpu_to_be64(second);
	if (GIVEN.paced) {
		at->last = now;
		at->last_sequence = sequence;
	}

	const struct size *size = &sizes[0];
	if (!GIVEN.fixed || GIVEN.streams > 1) {
		__u32 turn = at->turn;
		size = &sizes[cycle[(stream->cycle + turn) & (CYCLE_MOST - 1)] & (SIZES_MOST - 1)];
		at->turn = turn + 1 >= stream->cycles ? 0 : turn + 1;
	}
	if (GIVEN.paced)
		put_off(at, stream, since);

	__u32 length = GIVEN.longest;
	if (!GIVEN.fixed) {
		length = size->length;
		at->bytes += length;
		if (length < GIVEN.longest && bpf_xdp_adjust_tail(ctx, (int)(length - GIVEN.longest)))
			return XDP_ABORTED;
	}
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	if (data + (GIVEN.fixed ? GIVEN.longest : GIVEN.head) > end)
		return XDP_ABORTED;
	if (copy(ctx, data, stream, length))
		return XDP_ABORTED;

	__u64 ip = size->ip_sum, transport = size->transport_sum + halves(first);
	if (GIVEN.varies && vary(data, end, stream, at, &ip, &transport))
		return XDP_ABORTED;
	if (!GIVEN.fixed) {
		if (put(data, end, stream->ip_length, size->ip_length))
			return XDP_ABORTED;
		if (stream->udp_length && put(data, end, stream->udp_length, size->udp_length))
			return XDP_ABORTED;
	}
	if ((!GIVEN.fixed || GIVEN.varies) && stream->ip_checksum && put(data, end, stream->ip_checksum, ~folded(ip)))
		return XDP_ABORTED;

	void *tag = data + (GIVEN.tag ?: stream->tag & 0xff);
	if (tag + WP_TAG_SHORT > end)
		return XDP_ABORTED;
	*(u64_any *)(tag + WP_TAG_STREAM) = first;
	if (GIVEN.whole || size->whole) {
		if (tag + WP_TAG_WHOLE > end)
			return XDP_ABORTED;
		*(u64_any *)(tag + WP_TAG_TOKEN) = second;
		transport += halves(second);
	}
	transport = (__u16)~folded(transport);
	// Of UDP, 0 says that there is none (RFC 768).
	if (put(data, end, GIVEN.checksum ?: stream->checksum, transport || stream->tcp ? transport : 0xffff))
		return XDP_ABORTED;
	// The kernel takes the interface out of the map when it goes.
	int verdict = bpf_redirect_map(&port, 0, XDP_DROP);
	if (unlikely(verdict != XDP_REDIRECT)) {
		progress.gone = 1;
		return XDP_DROP;
	}
	at->sequence = sequence + 1;
	if (GIVEN.streams > 1 || GIVEN.paced)
		progress.left--;
	return verdict;
}

// Of `send_smallest`: what it would find out anew for each frame.
struct {
	__u64 token;	// as it lies in the frame
	__u64 sum;	// `transport_sum` and the token
} plain SEC(".bss.plain");

// Takes the time of a frame; 0 where the job's is over.
static __noinline __u64 stamp(__u64 sequence)
{
	struct progress *at = &progress.streams[0];
	__u64 now = bpf_ktime_get_ns();
	if (GIVEN.duration && at->first && now - at->first >= GIVEN.duration) {
		at->most = sequence;
		return 0;
	}
	if (sequence == 0)
		at->first = now;
	at->last = now;
	at->last_sequence = sequence;
	return now;
}

// The smallest frame of IPv4 and UDP, flat out, where every nanosecond counts: the same as `send` does, compiled for its 60 bytes.
SEC("xdp")
int send_smallest(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct progress *at = &progress.streams[0];
	__u64 sequence = at->sequence, time = 0;

	if (unlikely(sequence >= at->most))
		return XDP_DROP;
	if (data + 60 > end)
		return XDP_ABORTED;
	if (unlikely((sequence & GIVEN.every) == 0)) {
		time = stamp(sequence);
		if (!time)
			return XDP_DROP;
	}
	u64_any *to = data;
	const u64_any *from = (const void *)streams[0].bytes;
	to[0] = from[0];
	to[1] = from[1];
	to[2] = from[2];
	to[3] = from[3];
	to[4] = from[4];
	// The checksum, the tag's magic, and the rest of the tag to the end. All but the sequence is in the sum already.
	__u64 first = bpf_cpu_to_be64((__u64)streams[0].number << 48 | sequence), second = plain.token;
	__u64 sums = plain.sum + halves(first);
	if (unlikely(time)) {
		second |= bpf_cpu_to_be64(time & WP_TAG_MASK);
		sums += halves(second) - plain.token;
	}
	__u32 sum = (__u16)~folded(sums);
	*(u32_any *)(data + 40) = (sum ?: 0xffff) | bpf_htons(WP_TAG_MAGIC) << 16;
	*(u64_any *)(data + 44) = first;
	*(u64_any *)(data + 52) = second;
	int verdict = bpf_redirect_map(&port, 0, XDP_DROP);
	if (unlikely(verdict != XDP_REDIRECT)) {
		progress.gone = 1;
		return XDP_DROP;
	}
	at->sequence = sequence + 1;
	return verdict;
}

char LICENSE[] SEC("license") = "GPL";
