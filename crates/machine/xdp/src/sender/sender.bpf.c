// Writes every byte of each frame and sends it on one interface, once for each run of BPF_PROG_RUN in "live frames" mode.
//
// Each sending core loads its own copy: state and settings of that core are at addresses known at compile time, so that the
// program needs no lookup and shares no cache line. `frame::compiled` describes the construction of a frame.
#include "sender/pace.bpf.h"
#include "sender/write.bpf.h"

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

	// Network byte order from here on.
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
	// In UDP, 0 means no checksum (RFC 768).
	if (put(data, end, GIVEN.checksum ?: stream->checksum, transport || stream->tcp ? transport : 0xffff))
		return XDP_ABORTED;
	// The kernel removes the interface from the map when the interface goes.
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

// For `send_smallest`: values that would be computed anew for each frame.
struct {
	__u64 token;	// as in the frame
	__u64 sum;	// `transport_sum` and the token
} plain SEC(".bss.plain");

// Records the time of a frame; returns 0 when the duration is over.
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

// Sends the smallest frame of IPv4 and UDP at the highest rate: `send`, compiled for 60 bytes.
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
	// The checksum, the magic number of the tag, and the rest of the tag. The sum contains everything but the sequence.
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
