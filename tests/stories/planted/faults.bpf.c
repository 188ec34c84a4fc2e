// Faults for the tests to plant: what a bad cable, switch or router does to packets, at a rate that is known exactly.
// EVERY is set when this is compiled: each EVERY-th UDP datagram meets the fault (reorder takes two of them).

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>
#include <linux/udp.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#ifndef EVERY
#define EVERY 1000
#endif
#define LARGE (1400 + ETH_HLEN) // an IP packet of 1400 bytes passes, one byte more does not
#define COPY 7                  // marks what was sent again, so that it is not sent again for ever
#define SLOW 0x10020            // class 1:20 of the queueing discipline that the test sets up
#define NUMBERED 49185          // model::stream::DESTINATION_PORT
#define PAUSE 100               // ms between two trials at the least
#define PAYLOAD (ETH_HLEN + sizeof(struct iphdr) + sizeof(struct udphdr))
#define DESTINATION (ETH_HLEN + __builtin_offsetof(struct iphdr, daddr))
#define HEADER_SUM (ETH_HLEN + __builtin_offsetof(struct iphdr, check))
#define STRANGER bpf_htonl(0xc6120009) // 198.18.0.9, which nobody has
#define FLIPPED (PAYLOAD + 64)  // behind what a tester writes at the front of the payload

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, __u64);
} datagrams SEC(".maps");

static __always_inline int is_datagram(void *data, void *end)
{
    struct ethhdr *ethernet = data;
    struct iphdr *ip = data + sizeof(*ethernet);
    return (void *)(ip + 1) <= end && ethernet->h_proto == bpf_htons(ETH_P_IP) && ip->protocol == IPPROTO_UDP;
}

// Whether this is one of the last so many of EVERY datagrams. They are counted together, whatever core sends them.
static __always_inline int is_chosen(void *data, void *end, __u64 last)
{
    __u32 first = 0;
    __u64 *count = bpf_map_lookup_elem(&datagrams, &first);
    return count && is_datagram(data, end) && __sync_fetch_and_add(count, 1) % EVERY >= EVERY - last;
}

static __always_inline int skb_is_chosen(struct __sk_buff *skb, __u64 last)
{
    return is_chosen((void *)(long)skb->data, (void *)(long)skb->data_end, last);
}

SEC("xdp/lose")
int lose(struct xdp_md *frame)
{
    return is_chosen((void *)(long)frame->data, (void *)(long)frame->data_end, 1) ? XDP_DROP : XDP_PASS;
}

// Frames of numbered packets alone, so that both ends still speak to each other: by their destination port.
static __always_inline int is_numbered(struct xdp_md *frame)
{
    void *data = (void *)(long)frame->data, *end = (void *)(long)frame->data_end;
    struct udphdr *udp = data + ETH_HLEN + sizeof(struct iphdr);
    return is_datagram(data, end) && (void *)(udp + 1) <= end && udp->dest == bpf_htons(NUMBERED);
}

// Times since the first numbered packet, and since the last one before a pause; in ms.
struct clock {
    __u64 first, last, pause;
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, __u32);
    __type(value, struct clock);
} clocks SEC(".maps");

static __always_inline struct clock *tick(__u64 now)
{
    __u32 key = 0;
    struct clock *clock = bpf_map_lookup_elem(&clocks, &key);
    if (!clock)
        return 0;
    if (!clock->first)
        clock->first = now;
    if (now - clock->last > PAUSE)
        clock->pause = now;
    clock->last = now;
    return clock;
}

SEC("xdp/all")
int all(struct xdp_md *frame)
{
    return is_numbered(frame) ? XDP_DROP : XDP_PASS;
}

// Sends everything back to where it came from.
SEC("xdp/reflect")
int reflect(struct xdp_md *frame)
{
    return is_numbered(frame) ? XDP_TX : XDP_PASS;
}

// Sends everything out of the port with the number EVERY.
SEC("xdp/misroute")
int misroute(struct xdp_md *frame)
{
    return is_numbered(frame) ? bpf_redirect(EVERY, 0) : XDP_PASS;
}

// A bit is flipped, and the checksum stays.
SEC("xdp/corrupt")
int corrupt(struct xdp_md *frame)
{
    void *data = (void *)(long)frame->data, *end = (void *)(long)frame->data_end;
    __u8 *byte = data + FLIPPED;
    if (is_numbered(frame) && (void *)(byte + 1) <= end && is_chosen(data, end, 1))
        *byte ^= 4;
    return XDP_PASS;
}

// Is away for 300 ms in each EVERY ms: a link that flaps, or with a long time a device that starts anew.
SEC("xdp/away")
int away(struct xdp_md *frame)
{
    __u64 now = bpf_ktime_get_ns() / 1000000;
    struct clock *clock = is_numbered(frame) ? tick(now) : 0;
    return clock && (now - clock->first) % EVERY >= EVERY - 300 ? XDP_DROP : XDP_PASS;
}

// Starts anew once: it is away for 3 s, EVERY ms after the first packet.
SEC("xdp/reboot")
int reboot(struct xdp_md *frame)
{
    __u64 now = bpf_ktime_get_ns() / 1000000;
    struct clock *clock = is_numbered(frame) ? tick(now) : 0;
    return clock && now - clock->first >= EVERY && now - clock->first < EVERY + 3000 ? XDP_DROP : XDP_PASS;
}

// Loses more and more: nothing at first, everything after EVERY ms.
SEC("xdp/degrade")
int degrade(struct xdp_md *frame)
{
    __u64 now = bpf_ktime_get_ns() / 1000000;
    struct clock *clock = is_numbered(frame) ? tick(now) : 0;
    return clock && bpf_get_prandom_u32() % EVERY < (now - clock->first) / 2 ? XDP_DROP : XDP_PASS;
}

// Forgets in a pause, and takes EVERY ms to learn again.
SEC("xdp/learn")
int learn(struct xdp_md *frame)
{
    __u64 now = bpf_ktime_get_ns() / 1000000;
    struct clock *clock = is_numbered(frame) ? tick(now) : 0;
    return clock && now - clock->pause < EVERY ? XDP_DROP : XDP_PASS;
}

// Sends everything back to where it came from, as a switch that has learnt wrong does.
SEC("tc/back")
int back(struct __sk_buff *skb)
{
    void *data = (void *)(long)skb->data, *end = (void *)(long)skb->data_end;
    struct udphdr *udp = data + ETH_HLEN + sizeof(struct iphdr);
    int is_numbered = is_datagram(data, end) && (void *)(udp + 1) <= end && udp->dest == bpf_htons(NUMBERED);
    return is_numbered ? bpf_redirect(skb->ifindex, 0) : TC_ACT_OK;
}

SEC("tc/duplicate")
int duplicate(struct __sk_buff *skb)
{
    if (skb->mark != COPY && skb_is_chosen(skb, 1)) {
        skb->mark = COPY;
        bpf_clone_redirect(skb, skb->ifindex, 0);
    }
    return TC_ACT_OK;
}

SEC("tc/reorder")
int reorder(struct __sk_buff *skb)
{
    // Two at a time: the first finds the slow lane free, the second has to wait for it.
    if (skb_is_chosen(skb, 2))
        skb->priority = SLOW;
    return TC_ACT_OK;
}

SEC("tc/drop_large")
int drop_large(struct __sk_buff *skb)
{
    // "Stolen" counts nowhere, as a switch's drop is counted at neither end.
    return skb->len > LARGE ? TC_ACT_STOLEN : TC_ACT_OK;
}

// To a station that the receiver is not, as a switch floods what it does not know.
SEC("tc/misdirect")
int misdirect(struct __sk_buff *skb)
{
    __u8 station[ETH_ALEN] = { 0x02, 0, 0, 0, 0, 0x99 };
    if (skb_is_chosen(skb, 1))
        bpf_skb_store_bytes(skb, 0, station, sizeof(station), 0);
    return TC_ACT_OK;
}

// To an address that the receiver does not have.
SEC("tc/readdress")
int readdress(struct __sk_buff *skb)
{
    __u32 address, stranger = STRANGER;
    if (skb_is_chosen(skb, 1) && !bpf_skb_load_bytes(skb, DESTINATION, &address, sizeof(address))) {
        bpf_l3_csum_replace(skb, HEADER_SUM, address, stranger, sizeof(stranger));
        bpf_skb_store_bytes(skb, DESTINATION, &stranger, sizeof(stranger), 0);
    }
    return TC_ACT_OK;
}

// A bit is flipped, and the checksum stays. Only a sender without checksum offload has written one (ethtool -K … tx off).
SEC("tc/flip")
int flip(struct __sk_buff *skb)
{
    __u8 byte;
    if (skb_is_chosen(skb, 1) && !bpf_skb_load_bytes(skb, FLIPPED, &byte, 1)) {
        byte ^= 4;
        bpf_skb_store_bytes(skb, FLIPPED, &byte, 1, 0);
    }
    return TC_ACT_OK;
}

// Two words change, and their sum does not: the checksum holds.
SEC("tc/forge")
int forge(struct __sk_buff *skb)
{
    __u16 words[2];
    if (skb_is_chosen(skb, 1) && !bpf_skb_load_bytes(skb, FLIPPED, words, sizeof(words))) {
        __u16 sum = words[0] == 0xffff ? 0 : words[0]; // both are 0 to a checksum
        __u16 others[2] = { words[1], words[0] };
        if (words[0] == words[1]) {
            others[0] = sum + 1;
            others[1] = sum ? sum - 1 : 0xfffe;
        }
        bpf_skb_store_bytes(skb, FLIPPED, others, sizeof(others), 0);
    }
    return TC_ACT_OK;
}

char gpl[] SEC("license") = "GPL";
