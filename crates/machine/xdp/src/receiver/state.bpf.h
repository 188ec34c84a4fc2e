// Settings of the receiver, and its state.
#pragma once
#include "common.bpf.h"

#define NUMBERED_MOST 1024
#define WINDOW 16384
#define WORDS (WINDOW / 32)
#define SPREAD 0xffffffff
#define LAYOUTS_MOST 4
#define PKTGEN_MAGIC 0xbe9be955	// net/core/pktgen.c
#define PKTGEN_HEADER 16
#define COMPARED 64	// one frame in this many is compared with what was sent

// Two frames have the same place and sequence only if one CPU receives both, or the sequence is `SPREAD`.
struct numbered {
	__u64 next;	// end of the run
	__u64 run;	// its beginning: the numbers of [run, next) came once each, in order, and have no bits
	__u64 frames;
	__u64 bytes;	// without FCS
	__u32 owner;	// CPU that receives it, plus 1; SPREAD for several
	__u32 origin;	// CPU that received the first frame, plus 1: `frames` is of that CPU
	__u64 highest;	// for SPREAD: highest number, plus 1
	__u64 smallest;	// frames of 60 bytes, not included in `frames` and `bytes`
	__u64 after_gap;	// first number behind the last gap; 0 without a gap
	__u64 apart[8];	// keeps two of these out of one cache line, as values of a map begin anywhere in one
};

// A histogram of times in ns.
struct times {
	__u64 least, longest, sum;
	__u64 counts[1024];	// logarithmic, with 32 linear steps in each octave
};

// Counts of one sequence on one CPU. `frames` and `bytes` exclude the frames counted in `numbered`.
struct share {
	__u64 frames;
	__u64 bytes;
	__u64 duplicated;
	__u64 reordered;
	__u64 late;	// WINDOW or more behind the highest: duplicate or late, which is unknown
	__u64 corrupt;
	__u64 compared;	// frames whose payload was compared with what was sent
	struct times latency;
};

// 32 bits; the upper half identifies them: the number of windows before, plus 1.
struct window {
	__u64 words[WORDS];
};

enum form { WHOLE, SHORT, PKTGEN };

struct layout {
	__u32 form;	// of the tag; PKTGEN: header of the kernel's packet generator
	__u32 tag;	// offset of the tag
	__u32 address;	// offset of the source address; the checksum covers all from there
	__u32 transport;
	__u32 protocol;
};

struct given {
	struct layout layouts[LAYOUTS_MOST];
	__u32 different;	// number of layouts
	__u32 numbered;	// number of sequences
	__u32 length;	// of all frames, without FCS; 0 for several lengths
	__u16 token;	// its lower half, as in the frame
	__u16 verify;	// whether to verify checksums
	__u32 per_flow;	// whether each flow has its own sequence
	__u32 first_port;	// PKTGEN: source port of sequence 0
	__u32 gaps;	// whether to record times between frames
	__u32 compare;	// whether the payload of each sequence is known
	__u32 upper_half;	// of the token, with which the sequences' numbers are masked
};

// Constants at load time, so that the verifier removes unused branches.
const volatile struct given GIVEN = {{{WHOLE, 42, 26, 34, 17}}, 1, 1, 60, 0, 1};

// Index of a sequence's first flow in `rounds`, number of its flows, and index of the first piece of its payload in `payloads`.
struct flows {
	__u32 first;
	__u32 count;
	__u32 payload;
};

struct flows flows[NUMBERED_MOST] SEC(".bss.flows");
struct numbered numbered[NUMBERED_MOST] SEC(".bss.numbered");
// Arrival of a sequence's last frame.
__u64 arrived[NUMBERED_MOST] SEC(".bss.arrived");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct share);
	__uint(max_entries, 1);
} shares SEC(".maps");

// Times between frames of a sequence in order of arrival.
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

// For each flow: the next expected round, and the received ones of the 32 before. Frame n of a sequence belongs to flow n mod flows,
// round n / flows.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} rounds SEC(".maps");

// State after a whole tag, of all sequences.
struct piece {
	__u64 words[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, __u32);
	__type(value, struct piece);
	__uint(max_entries, 1);
} payloads SEC(".maps");

// Frames of no test.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, __u64);
	__uint(max_entries, 1);
} others SEC(".maps");
