/* SPDX-License-Identifier: BSD-2-Clause */

/* helper_bench: what the kernel's own walk by frame pointers costs, for comparison. */

#include <stdint.h>

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#define DEPTH 127

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, DEPTH * sizeof(uint64_t));
} place SEC(".maps");

uint64_t frames = 0;

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("perf_event")
int walk(void *ctx)
{
	uint32_t zero = 0;
	uint64_t *pcs = bpf_map_lookup_elem(&place, &zero);
	long bytes;

	if (!pcs)
		return 0;
	bytes = bpf_get_stack(ctx, pcs, DEPTH * sizeof(uint64_t), BPF_F_USER_STACK);
	if (bytes > 0)
		__sync_fetch_and_add(&frames, (uint64_t)bytes / 8);
	return 0;
}
