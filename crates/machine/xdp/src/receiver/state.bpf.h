// What the receiver is given when it is loaded, and what it keeps.
#pragma once
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
