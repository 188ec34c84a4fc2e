// Definitions for the sending and the receiving program.
#pragma once
#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "tag.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

// Words of frames at any address. The packed type hides their alignment; without it clang would read single bytes,
// and every kernel that loads these programs can read whole words.
typedef __u64 __attribute__((may_alias)) u64_any;
typedef __u32 __attribute__((may_alias)) u32_any;
typedef __u16 __attribute__((may_alias)) u16_any;

// Largest frame without FCS: it fits into a page beside the data of BPF_PROG_RUN (net/bpf/test_run.c).
#define FRAME_MOST 3496

// Folds a sum of 16-bit words, below 2^48, to the one's complement sum of RFC 1071.
static __always_inline __u32 folded(__u64 sum)
{
	sum = (sum & 0xffff) + ((sum >> 16) & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

// Adds the words of eight bytes in memory order, for such a sum: it has the byte order of the checksum field.
static __always_inline __u64 halves(__u64 bytes)
{
	return (bytes & 0xffffffff) + (bytes >> 32);
}
