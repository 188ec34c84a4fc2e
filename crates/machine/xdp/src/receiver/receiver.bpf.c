// Counts the frames of each numbered sequence exactly, and passes all other frames to the kernel.
#include "receiver/sequence.bpf.h"
#include "receiver/times.bpf.h"
#include "receiver/flows.bpf.h"
#include "receiver/intact.bpf.h"

static __noinline int corrupt(__u32 number)
{
	struct share *share = bpf_map_lookup_elem(&shares, &number);
	if (share)
		share->corrupt++;
	return 0;
}

// Reads sequence and number, as in a tag, from the header of the kernel's packet generator, which counts from 1. No sequence is ~0.
static __always_inline __u64 number_of_pktgen(void *data, void *end, const struct layout *layout)
{
	if (data + layout->tag + PKTGEN_HEADER > end || *(u32_any *)(data + layout->tag) != bpf_htonl(PKTGEN_MAGIC))
		return ~0ULL;
	__u64 number = (__u32)(bpf_ntohl(*(u32_any *)(data + layout->tag + 4)) - 1), sequence = 0;
	if (GIVEN.numbered > 1)
		sequence = (__u16)(bpf_ntohs(*(u16_any *)(data + layout->transport)) - GIVEN.first_port);
	return sequence << 48 | number;
}

// Checks that the frame belongs to a test, and counts it.
static __always_inline int taken(struct xdp_md *ctx, void *data, void *end, const struct layout *layout)
{
	__u64 first, second = 0, size = end - data;
	// 64 bits: the verifier takes no difference of pointers in 32.
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
	__u32 number = (__u32)(first >> 48) ^ GIVEN.upper_half;
	// Compared and used in one register, so that the verifier of older kernels sees the bound.
	asm volatile("" : "+r"(number));
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
	if (GIVEN.compare && layout->form == WHOLE && is_right && unlikely(sequence % COMPARED == 0))
		is_right = is_as_sent(ctx, number, layout->tag + WP_TAG_WHOLE, total);
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

// Counts a frame of IPv4 and UDP of the smallest size, the most frequent case, if it is intact and the next of its sequence.
// All other frames take the general path, which gives a new sequence its CPU: also those counted flow by flow.
static __always_inline int is_next_smallest(void *data, void *end)
{
	__u32 cpu = bpf_get_smp_processor_id() + 1;
	if (data + 60 > end || data + 61 <= end)
		return 0;
	__u64 first = *(u64_any *)(data + 44), second = *(u64_any *)(data + 52);
	if (*(u16_any *)(data + 42) != bpf_htons(WP_TAG_MAGIC) || (__u16)second != GIVEN.token || *(__u8 *)(data + 23) != 17)
		return 0;
	// Adds whole words in memory order, which is less work than taking bytes apart. The sum of nine words folds twice to slightly
	// more than 16 bits; it is then a multiple of 0xffff only if it equals 0xffff.
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
	__u64 number = first >> 48 ^ GIVEN.upper_half, sequence = first & WP_TAG_MASK;
	// Compared in this form so that the verifier sees the bound.
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
