// What the sender is given when it is loaded, and how far it is.
#pragma once
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
