// What both programs need.
#pragma once
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tag.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

// Words of frames, wherever they stand. Their alignment is not told: clang would read them byte by byte, and whatever kernel takes
// these programs reads them whole.
typedef __u64 __attribute__((may_alias)) u64_any;
typedef __u32 __attribute__((may_alias)) u32_any;
typedef __u16 __attribute__((may_alias)) u16_any;

// Largest frame without FCS: what fits into a page beside what BPF_PROG_RUN keeps in it (net/bpf/test_run.c).
#define FRAME_MOST 3496

// A sum of 16-bit words, below 2^48, to the one's complement sum of RFC 1071.
static __always_inline __u32 folded(__u64 sum)
{
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

// The words of eight bytes as they lie in memory, for such a sum: its byte order is that of the field it goes to.
static __always_inline __u64 halves(__u64 bytes)
{
	return (bytes & 0xffffffff) + (bytes >> 32);
}
