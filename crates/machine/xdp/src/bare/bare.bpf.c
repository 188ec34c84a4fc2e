// Sends frames unchanged and drops them where they arrive: the cost without numbering.
#include "common.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(key_size, 4);
	__uint(value_size, 4);
	__uint(max_entries, 1);
} port SEC(".maps");

SEC("xdp")
int pass_on(struct xdp_md *ctx)
{
	return bpf_redirect_map(&port, 0, XDP_DROP);
}

SEC("xdp")
int drop(struct xdp_md *ctx)
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
