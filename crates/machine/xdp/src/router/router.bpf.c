// Forwards IPv4 and IPv6 packets as the kernel's routes and neighbours say, from port to port without the kernel's stack. All else goes to
// the kernel, which answers it, forwards it or drops it: packets for this machine, multicast, options, tags without a VLAN interface, packets
// at the end of their hop limit, larger than the next link takes, or with a next hop whose address is not known yet.
#include "common.bpf.h"
#include "router.h"

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/ipv6.h>

#define AF_INET 2
#define AF_INET6 10

// Bits of an IPv4 header's fragment field without "don't fragment": any of them marks a fragment.
#define FRAGMENT 0x3fff
// Traffic class and flow label, without the version.
#define FLOW_INFORMATION 0x0fffffff

struct place {
	__u32 interface;	// 0: none
	__u32 flags;
	__u64 mac;	// the first 6 bytes of a frame in memory order, then zeros
};

struct place places[WP_PLACES] SEC(".bss.places");

// The ports by place.
struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(max_entries, WP_PLACES);
} ports SEC(".maps");

// A tag on a port. Its value is the TPID before the number of the VLAN; 0 for frames without a tag.
struct tagged {
	__u32 interface;	// the port's
	__u32 tag;
};

struct vlan {
	__u32 interface;
	__u32 unused;
	__u64 mac;	// as that of a place
};

// VLAN interfaces by their tags, and tags by VLAN interfaces.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct tagged);
	__type(value, struct vlan);
	__uint(max_entries, WP_VLANS);
} vlans SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, __u32);
	__type(value, struct tagged);
	__uint(max_entries, WP_VLANS);
} tags SEC(".maps");

// Headers of a tagged frame behind its addresses.
struct vlan_header {
	__be16 tpid;
	__be16 tci;	// priority, drop eligibility and number
	__be16 type;
};

#define VLAN_NUMBER 0xfff
#define TAG_LEN 4

struct counters {
	__u64 forwarded;
	__u64 bytes;	// of the forwarded frames, without FCS
	__u64 passed[WP_PASSED];
	__u64 dropped[WP_DROPPED];
};

// By the place of the port that received.
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, __u32);
	__type(value, struct counters);
	__uint(max_entries, WP_PLACES);
} counted SEC(".maps");

// What a packet's header says, besides the question to the kernel's routes.
#define ASK (-1)

static __always_inline int place_of(__u32 interface)
{
	for (int i = 0; i < WP_PLACE_PROBES; i++) {
		__u32 place = (interface + i) & (WP_PLACES - 1);

		if (places[place].interface == interface)
			return place;
	}
	return -1;
}

// Whether routers never forward a packet with this address, or only the kernel knows: 0.0.0.0/8, 127.0.0.0/8, multicast and above.
static __always_inline int is_v4_special(__be32 address)
{
	__u32 first = bpf_ntohl(address) >> 24;

	return first == 0 || first == 127 || first >= 224;
}

// The same: addresses that begin with 64 zeros (::, ::1, IPv4-mapped), link-local and multicast ones.
static __always_inline int is_v6_special(const struct in6_addr *address)
{
	const volatile u32_any *words = (const void *)address;
	__u32 first = bpf_ntohl(words[0]);

	return (!first && !words[1]) || first >> 22 == 0xfe80 >> 6 || first >> 24 == 0xff;
}

// Ports of UDP and TCP, by which rules and multipath routes may choose.
static __always_inline void ask_with_ports(struct bpf_fib_lookup *ask, void *transport, void *end)
{
	if ((ask->l4_protocol != IPPROTO_UDP && ask->l4_protocol != IPPROTO_TCP) || transport + 4 > end)
		return;
	ask->sport = *(u16_any *)transport;
	ask->dport = *(u16_any *)(transport + 2);
}

// Fills the question; a reason to pass the packet, or ASK.
static __always_inline int read_v4(struct bpf_fib_lookup *ask, struct iphdr *ip, void *end, __u64 room)
{
	const volatile u32_any *words = (void *)ip;
	__u64 sum = 0;

	if ((void *)(ip + 1) > end || ip->version != 4)
		return WP_PASSED_MALFORMED;
	if (ip->ihl != 5)
		return WP_PASSED_OPTIONS;
	__u32 length = bpf_ntohs(ip->tot_len);

#pragma unroll
	for (int i = 0; i < 5; i++)
		sum += words[i];
	if (length < sizeof(*ip) || length > room || folded(sum) != 0xffff)
		return WP_PASSED_MALFORMED;
	if (is_v4_special(ip->saddr) || is_v4_special(ip->daddr))
		return WP_PASSED_SCOPE;
	if (ip->ttl <= 1)
		return WP_PASSED_HOP_LIMIT;
	ask->family = AF_INET;
	ask->l4_protocol = ip->protocol;
	ask->tot_len = length;
	ask->tos = ip->tos;
	ask->ipv4_src = ip->saddr;
	ask->ipv4_dst = ip->daddr;
	if (!(ip->frag_off & bpf_htons(FRAGMENT)))
		ask_with_ports(ask, ip + 1, end);
	return ASK;
}

static __always_inline int read_v6(struct bpf_fib_lookup *ask, struct ipv6hdr *ip, void *end, __u64 room)
{
	if ((void *)(ip + 1) > end || ip->version != 6)
		return WP_PASSED_MALFORMED;
	// Every router on the way has to look at hop-by-hop options (RFC 8200, section 4.3).
	if (ip->nexthdr == IPPROTO_HOPOPTS)
		return WP_PASSED_OPTIONS;
	__u32 length = bpf_ntohs(ip->payload_len) + sizeof(*ip);

	if (length > room || length > 0xffff)
		return WP_PASSED_MALFORMED;
	if (is_v6_special(&ip->saddr) || is_v6_special(&ip->daddr))
		return WP_PASSED_SCOPE;
	if (ip->hop_limit <= 1)
		return WP_PASSED_HOP_LIMIT;
	ask->family = AF_INET6;
	ask->l4_protocol = ip->nexthdr;
	ask->tot_len = length;
	ask->flowinfo = *(u32_any *)ip & bpf_htonl(FLOW_INFORMATION);
	__builtin_memcpy(ask->ipv6_src, &ip->saddr, sizeof(ask->ipv6_src));
	__builtin_memcpy(ask->ipv6_dst, &ip->daddr, sizeof(ask->ipv6_dst));
	ask_with_ports(ask, ip + 1, end);
	return ASK;
}

// The reason for which the kernel takes a packet that its routes do not let XDP forward.
static __always_inline int reason_of(long answer)
{
	switch (answer) {
	case BPF_FIB_LKUP_RET_UNREACHABLE:
	case BPF_FIB_LKUP_RET_PROHIBIT:
		return WP_PASSED_REFUSED;
	case BPF_FIB_LKUP_RET_FWD_DISABLED:
		return WP_PASSED_FORWARDING_OFF;
	case BPF_FIB_LKUP_RET_UNSUPP_LWT:
		return WP_PASSED_ENCAPSULATED;
	case BPF_FIB_LKUP_RET_NO_NEIGH:
		return WP_PASSED_NO_NEIGHBOUR;
	case BPF_FIB_LKUP_RET_FRAG_NEEDED:
		return WP_PASSED_TOO_BIG;
	default:
		return WP_PASSED_NO_ROUTE;
	}
}

// One hop less. RFC 1624: the header checksum grows by what the word of TTL and protocol loses.
static __always_inline void take_v4_hop(struct iphdr *ip)
{
	__u32 check = ip->check + bpf_htons(0x0100);

	ip->check = check + (check >= 0xffff);
	ip->ttl--;
}

static __always_inline int is_tag(__u16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

static __always_inline int passed(struct counters *count, __u32 reason)
{
	if (reason < WP_PASSED)
		count->passed[reason]++;
	return XDP_PASS;
}

static __always_inline int dropped(struct counters *count, __u32 reason)
{
	count->dropped[reason]++;
	return XDP_DROP;
}

SEC("xdp.frags")
int route(struct xdp_md *ctx)
{
	void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	struct ethhdr *eth = data;
	int from = place_of(ctx->ingress_ifindex);

	if (from < 0 || (void *)(eth + 1) > end)
		return XDP_PASS;
	__u32 key = from & (WP_PLACES - 1);
	const struct place *in = &places[key];
	struct counters *count = bpf_map_lookup_elem(&counted, &key);

	if (!count)
		return XDP_PASS;
	// Where the packet comes from: the port, or a VLAN interface on it.
	struct tagged tagged = { .interface = ctx->ingress_ifindex };
	__u32 source = ctx->ingress_ifindex;
	__u64 own_mac = in->mac;
	__u64 own_l2 = sizeof(*eth);
	__u16 type = eth->h_proto;

	if (is_tag(type)) {
		struct vlan_header *header = (void *)&eth->h_proto;

		if ((void *)(header + 1) > end)
			return passed(count, WP_PASSED_VLAN);
		tagged.tag = (__u32)bpf_ntohs(header->tpid) << 16 | (bpf_ntohs(header->tci) & VLAN_NUMBER);
		const struct vlan *vlan = bpf_map_lookup_elem(&vlans, &tagged);

		if (!vlan || is_tag(header->type))
			return passed(count, WP_PASSED_VLAN);
		source = vlan->interface;
		own_mac = vlan->mac;
		own_l2 += TAG_LEN;
		type = header->type;
	}
	if (type != bpf_htons(ETH_P_IP) && type != bpf_htons(ETH_P_IPV6))
		return passed(count, WP_PASSED_NOT_IP);
	__u64 mac = 0, size = end - data;

	// 64 bits: the verifier takes no difference of pointers in 32.
	asm volatile("" : "+r"(size));
	__builtin_memcpy(&mac, eth->h_dest, ETH_ALEN);
	if (mac != own_mac)
		return passed(count, WP_PASSED_LINK_ADDRESS);
	__u64 total = bpf_xdp_get_buff_len(ctx);

	// Not every driver can send frames that are spread over several buffers.
	if (total != size)
		return passed(count, WP_PASSED_IN_PARTS);
	struct bpf_fib_lookup ask;
	int is_v4 = type == bpf_htons(ETH_P_IP);
	__u64 room = total - own_l2;
	void *packet = data + own_l2;

	__builtin_memset(&ask, 0, sizeof(ask));
	ask.ifindex = source;
	int reason = is_v4 ? read_v4(&ask, packet, end, room) : read_v6(&ask, packet, end, room);

	if (reason != ASK)
		return passed(count, reason);
	long answer = bpf_fib_lookup(ctx, &ask, sizeof(ask), 0);

	if (answer == BPF_FIB_LKUP_RET_BLACKHOLE)
		return dropped(count, WP_DROPPED_BLACKHOLE);
	if (answer != BPF_FIB_LKUP_RET_SUCCESS)
		return passed(count, reason_of(answer));
	int to = place_of(ask.ifindex);
	__u32 tag = 0;

	if (to < 0) {
		__u32 vlan = ask.ifindex;
		const struct tagged *there = bpf_map_lookup_elem(&tags, &vlan);

		if (there) {
			to = place_of(there->interface);
			tag = there->tag;
		}
	}
	// The kernel tells a sender that could have sent to the next hop itself (ICMP redirect).
	if (to < 0 || ask.ifindex == source || !(places[to & (WP_PLACES - 1)].flags & WP_SENDS || in->flags & WP_GENERIC))
		return passed(count, WP_PASSED_OTHER_PORT);
	if (tag || tagged.tag) {
		int more = (tag ? TAG_LEN : 0) - (tagged.tag ? TAG_LEN : 0);

		if (more && bpf_xdp_adjust_head(ctx, -more))
			return passed(count, WP_PASSED_VLAN);
		// Not every driver fills up what XDP sends. Without room behind the frame, it stays short.
		if (more < 0 && total + more < ETH_ZLEN)
			bpf_xdp_adjust_tail(ctx, ETH_ZLEN - (total + more));
		total = bpf_xdp_get_buff_len(ctx);
		data = (void *)(long)ctx->data;
		end = (void *)(long)ctx->data_end;
		eth = data;
		packet = eth + 1;
		if (packet > end)
			return XDP_DROP;
		if (tag) {
			struct vlan_header *header = (void *)&eth->h_proto;

			packet = header + 1;
			if (packet > end)
				return XDP_DROP;
			header->tpid = bpf_htons(tag >> 16);
			header->tci = bpf_htons(tag & VLAN_NUMBER);
			header->type = type;
		} else {
			eth->h_proto = type;
		}
	}
	if (is_v4) {
		struct iphdr *ip = packet;

		if ((void *)(ip + 1) > end)
			return XDP_PASS;
		take_v4_hop(ip);
	} else {
		struct ipv6hdr *ip = packet;

		if ((void *)(ip + 1) > end)
			return XDP_PASS;
		ip->hop_limit--;
	}
	__builtin_memcpy(eth->h_dest, ask.dmac, ETH_ALEN);
	__builtin_memcpy(eth->h_source, ask.smac, ETH_ALEN);
	int verdict = bpf_redirect_map(&ports, to, XDP_DROP);

	if (verdict != XDP_REDIRECT)
		return dropped(count, WP_DROPPED_PORT_GONE);
	count->forwarded++;
	count->bytes += total;
	return verdict;
}

char LICENSE[] SEC("license") = "GPL";
