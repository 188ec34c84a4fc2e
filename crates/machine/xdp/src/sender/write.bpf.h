// Writes the bytes of a frame.
#pragma once
#include "sender/state.bpf.h"

// Copies the bytes that all frames share.
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
		// The rest of a short frame, in overlapping words.
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

// Writes the fields that vary with the flow, and adds them to the sums.
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
