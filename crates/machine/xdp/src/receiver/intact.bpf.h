// Verifies a frame by its checksum, and by its bytes.
#pragma once
#include "receiver/state.bpf.h"

// Whether the transport checksum, from `address` to the end of the frame, is right.
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
		__u32 rest = (length - layout->address) & 3;
		if (rest & 2)
			sum += *(u16_any *)(data + length - rest);
		if (rest & 1)
			sum += *(__u8 *)(data + length - 1);
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

// A length from 1 to `most`, a power of two. Old verifiers, as of Linux 6.1, forget the bound of one whose copy was compared.
static __always_inline __u32 bounded(__u32 length, __u32 most)
{
	barrier_var(length);
	return ((length - 1) & (most - 1)) + 1;
}

// The same for a frame of several parts (`total` bytes), of which only the first is at `data`.
__noinline int is_intact_in_parts(struct xdp_md *ctx, __u32 address, __u32 total, __u32 pseudo)
{
	__u32 piece[64];
	__s64 sum = 0;
	for (int i = 0; i < 64; i++) {
		__u32 left = total - address;
		if (address >= total)
			break;
		if (left > sizeof(piece))
			left = sizeof(piece);
		else
			__builtin_memset(piece, 0, sizeof(piece));
		left = bounded(left, sizeof(piece));
		if (bpf_xdp_load_bytes(ctx, address, piece, left))
			return 0;
		sum = bpf_csum_diff(0, 0, piece, sizeof(piece), (__u32)sum);
		address += left;
	}
	return folded((__u64)(__u32)sum + pseudo) == 0xffff;
}

// A comparison with what was sent.
struct comparison {
	struct xdp_md *ctx;
	__u32 from, total;	// first byte of the payload, and length of the frame
	__u32 index;	// first piece of the payload in `payloads`
	__u32 differs;
};

// Compares one piece; not 0 ends the loop.
static long compare(__u64 turn, struct comparison *it)
{
	__u32 index = it->index + turn, from = it->from + turn * sizeof(struct piece), left = it->total - from;
	struct piece *sent = bpf_map_lookup_elem(&payloads, &index);
	__u64 differs = 0;
	if (from >= it->total)
		return 1;
	if (left > sizeof(struct piece))
		left = sizeof(struct piece);
	left = bounded(left, sizeof(struct piece));
	it->differs = 1;
	if (!sent)
		return 1;
	// A last piece that is shorter keeps the bytes it is compared with.
	struct piece arrived = *sent;
	if (bpf_xdp_load_bytes(it->ctx, from, &arrived, left))
		return 1;
#pragma unroll
	for (int word = 0; word < 8; word++)
		differs |= arrived.words[word] ^ sent->words[word];
	it->differs = differs != 0;
	return it->differs;
}

// Whether the bytes from `from` to the end of the frame are those that were sent: a checksum misses changes that cancel each other.
__noinline int is_as_sent(struct xdp_md *ctx, __u32 number, __u32 from, __u32 total)
{
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	if (!share || number >= NUMBERED_MOST)
		return 0;
	if (from >= total)
		return 1;
	share->compared++;
	struct comparison it = { ctx, from, total, flows[number].payload, 0 };
	bpf_loop(total / sizeof(struct piece) + 1, compare, &it, 0);
	return !it.differs;
}
