// Passes UDP packets of a flow in the table to the AF_XDP socket of their queue, and all other packets to the kernel: other protocols,
// VLAN tags, IP options, extension headers, fragments, multicast, broadcast, frames to other MAC addresses, packets larger than a
// frame, and packets from impossible sources, which the kernel drops.
#include "common.bpf.h"
#include "steer.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

// One value, which programs map into their memory and write.
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct wp_table);
	__uint(max_entries, 1);
} table SEC(".maps");

// Sockets of all interfaces, in order.
struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__type(key, __u32);
	__type(value, __u32);
	__uint(max_entries, 1);
} sockets SEC(".maps");

struct counters {
	__u64 taken;
	__u64 no_flow;	// packets to a known port without a flow
	__u64 no_socket;
	__u64 too_large;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct counters);
	__uint(max_entries, 1);
} counted SEC(".maps");

// Index of an interface's first socket.
struct place {
	__u32 interface;	// 0: none
	__u32 first;
	__u32 queues;
	__u32 room;	// packet bytes that a frame holds
	__u64 mac;	// the first 6 bytes of a frame in memory order, then zeros
};

struct place places[WP_INTERFACES] SEC(".bss.places");

// Whether the source is in 0.0.0.0/8 or 127.0.0.0/8, or at or above the multicast range: a remote host must not pass for this one.
static __always_inline int is_v4_martian(__u32 source)
{
	__u32 first = source >> 24;

	return first == 0 || first == 127 || first >= 224;
}

// Fills the key of a packet that may belong to a flow, and its destination MAC address.
static __always_inline int read_key(struct xdp_md *ctx, struct wp_key *key, __u64 *mac)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	struct udphdr *udp;

	if ((void *)(eth + 1) > end || eth->h_dest[0] & 1)
		return 0;
	if (eth->h_proto == bpf_htons(ETH_P_IP)) {
		struct iphdr *ip = (void *)(eth + 1);

		udp = (void *)(ip + 1);
		if ((void *)(udp + 1) > end || ip->version != 4 || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
		    ip->frag_off & bpf_htons(0x3fff) || is_v4_martian(bpf_ntohl(ip->saddr)))
			return 0;
		const __u64 mapped = bpf_cpu_to_be64(0xffff00000000);

		// In memory: two bytes of ones, then the address.
		key->local[0] = key->peer[0] = 0;
		key->local[1] = mapped | bpf_cpu_to_be64(bpf_ntohl(ip->daddr));
		key->peer[1] = mapped | bpf_cpu_to_be64(bpf_ntohl(ip->saddr));
	} else if (eth->h_proto == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr *ip = (void *)(eth + 1);

		udp = (void *)(ip + 1);
		if ((void *)(udp + 1) > end || ip->version != 6 || ip->nexthdr != IPPROTO_UDP)
			return 0;
		__builtin_memcpy(key->local, &ip->daddr, 16);
		__builtin_memcpy(key->peer, &ip->saddr, 16);
		// ::, ::1 and IPv4-mapped addresses begin with zeros; IPv4 keys have the mapped form.
		if (!key->peer[0] || !key->local[0] || ip->saddr.in6_u.u6_addr8[0] == 0xff)
			return 0;
	} else {
		return 0;
	}
	key->ports = *(u32_any *)udp;
	*mac = 0;
	__builtin_memcpy(mac, eth->h_dest, ETH_ALEN);
	return 1;
}

static __always_inline int is_there(struct wp_table *all, const struct wp_key *key)
{
	__u32 first = wp_place(key);

	for (__u32 probe = 0; probe < WP_PROBES; probe++) {
		const struct wp_flow *flow = &all->flows[(first + probe) & (WP_FLOWS - 1)];
		__u32 state = *(volatile __u32 *)&flow->state;

		if (state == WP_NEVER)
			return 0;
		// One branch for all conditions: the verifier follows each branch.
		__u64 differs = (flow->local[0] ^ key->local[0]) | (flow->local[1] ^ key->local[1]) |
			(flow->peer[0] ^ key->peer[0]) | (flow->peer[1] ^ key->peer[1]) | (flow->ports ^ key->ports);
		if (!(differs | (state ^ WP_LIVE)))
			return 1;
	}
	return 0;
}

static __always_inline const struct place *place_of(__u32 interface)
{
	for (int i = 0; i < WP_INTERFACES; i++)
		if (places[i].interface == interface)
			return &places[i];
	return 0;
}

// Writes arrival time and interface in front of a packet, as all interfaces share the frames. If the driver leaves no room, the reader
// of the packet writes them.
static __always_inline void stamp(struct xdp_md *ctx)
{
	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(struct wp_stamp)))
		return;
	struct wp_stamp *stamp = (void *)(long)ctx->data_meta;

	if ((void *)(stamp + 1) > (void *)(long)ctx->data)
		return;
	stamp->mark = WP_STAMP ^ ctx->ingress_ifindex;
	stamp->time = bpf_ktime_get_ns();
}

SEC("xdp.frags")
int steer(struct xdp_md *ctx)
{
	struct wp_key key;
	__u64 mac;
	__u32 zero = 0;
	struct wp_table *all = bpf_map_lookup_elem(&table, &zero);

	if (!all || !read_key(ctx, &key, &mac))
		return XDP_PASS;
	if (likely(!all->ports[bpf_ntohl(key.ports) & 0xffff]))
		return XDP_PASS;
	struct counters *count = bpf_map_lookup_elem(&counted, &zero);
	const struct place *place = place_of(ctx->ingress_ifindex);

	// A promiscuous card, or a switch that does not know the port of an address, delivers packets that the kernel drops or bridges.
	if (!count || !place || place->mac != mac)
		return XDP_PASS;
	if (!is_there(all, &key)) {
		key.peer[0] = key.peer[1] = 0;
		key.ports &= bpf_htonl(0xffff);
		if (!is_there(all, &key)) {
			count->no_flow++;
			return XDP_PASS;
		}
	}
	if (bpf_xdp_get_buff_len(ctx) > place->room) {
		count->too_large++;
		return XDP_PASS;
	}
	if (*(volatile __u32 *)&all->stamps)
		stamp(ctx);
	__u32 queue = ctx->rx_queue_index;
	int verdict = queue < place->queues ? bpf_redirect_map(&sockets, place->first + queue, XDP_PASS) : XDP_PASS;

	if (verdict == XDP_REDIRECT)
		count->taken++;
	else
		count->no_socket++;
	return verdict;
}

char LICENSE[] SEC("license") = "GPL";
