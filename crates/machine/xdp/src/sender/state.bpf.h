// Settings of the sender, and its state.
#pragma once
#include "common.bpf.h"

#define STREAMS_MOST 16
#define SIZES_MOST 4096
#define CYCLE_MOST 4096
#define TABLE_MOST 4096
#define VARIATIONS_MOST 16
#define CHANCES 1024
#define DOUBLINGS 10	// of a ramp, as in the room `model`
// A schedule more than 10 ms behind is shifted (in 2^-16 ns), so that a sender that was stopped does not flood the path afterwards.
#define CATCH_UP (10000000ULL << 16)

struct size {
	__u16 length;	// without FCS
	__u16 ip_length;	// network byte order from here on
	__u16 udp_length;
	__u16 ip_sum;
	__u16 transport_sum;
	__u16 whole;	// whether the frame has the whole tag
};

enum sequence { STEP, HASH, TABLE };

struct variation {
	__u16 offset;
	__u16 four;	// 4 or 2 bytes
	__u16 in_ip;
	__u16 in_transport;
	__u32 kind;	// enum sequence
	__u32 divisor;
	__u32 count;
	__u32 first;	// for a table: first index in `tables`
	__u32 step;	// for a hash: the seed
	__u32 reserved;
	__u64 span;
};

struct stream {
	__u16 number;	// in the tag
	__u16 tag;	// offset of the tag
	__u16 checksum;	// offset of the transport checksum
	__u16 tcp;
	__u16 ip_length;
	__u16 ip_checksum;	// 0: none
	__u16 udp_length;	// 0: none
	__u16 cycle;	// first index in `cycle`
	__u32 cycles;	// number of entries there
	__u32 variations;
	__u32 flows;
	__u32 burst;	// frames sent back to back; 0: random gaps
	__u64 gap;	// mean time between frames, in 2^-16 ns; 0: as fast as possible
	__u64 after;	// time of the first frame, in 2^-16 ns
	__u64 ramp;	// time in which the rate doubles DOUBLINGS times, in 2^-16 ns; 0: never
	struct variation varies[VARIATIONS_MOST];
	__u8 bytes[FRAME_MOST];
};

struct wheel {
	__u32 left;	// frames until the next turn
	__u32 position;
};

struct progress {
	__u64 sequence;	// number of the next frame
	__u64 most;	// limit for the frames of all streams; lowered to the number sent when the duration is over
	__u64 first;	// CLOCK_MONOTONIC in ns
	__u64 last;	// time of the last frame with a time
	__u64 last_sequence;
	__u64 due;	// time of the next frame, in 2^-16 ns since `started`
	__u64 owed;	// time that a burst's frames add to it
	__u64 given_up;	// total shift of the schedule, in 2^-16 ns
	__u64 bytes;	// for several sizes
	__u32 turn;	// position in the cycle
	__u32 flow;
	__u32 in_burst;
	__u32 reserved;
	struct wheel wheels[VARIATIONS_MOST];
};

struct given {
	__u32 streams;
	__u32 longest;	// longest frame, without FCS
	__u32 head;	// bytes of each frame that are copied in steps of eight
	__u32 fixed;	// whether all frames have one length
	__u32 tag;	// offset of the tag; 0 if streams differ
	__u32 checksum;
	__u32 varies;	// whether any field varies with the flow
	__u32 paced;
	__u32 by_chance;	// whether gaps are exponentially distributed
	__u16 whole;	// whether all frames have the whole tag
	__u16 token;
	__u64 every;	// frames whose sequence has none of these bits get a time
	__u64 duration;	// ns; 0: unlimited
};

// Constants at load time, so that the verifier removes unused branches.
const volatile struct given GIVEN = {1, 60, 56, 1, 42, 40};

struct stream streams[STREAMS_MOST] SEC(".bss.streams");
struct size sizes[SIZES_MOST] SEC(".bss.sizes");
__u16 cycle[CYCLE_MOST] SEC(".bss.cycle");
__u32 tables[TABLE_MOST] SEC(".bss.tables");
// Quantiles of the exponential distribution of mean 1, in 2^-16.
__u32 chances[CHANCES] SEC(".bss.chances");

struct {
	struct progress streams[STREAMS_MOST];
	__u64 started;
	__u64 left;	// frames of all streams that are left to send
	__u64 next;	// index of the next stream
	__u64 gone;	// whether the interface is gone
} progress SEC(".bss.progress");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(max_entries, 1);
} port SEC(".maps");
