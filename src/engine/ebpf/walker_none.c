/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The walker of a build without eBPF: its probe says so, and the other functions are never called.
 */

#include <errno.h>

#include "base/error.h"
#include "engine/ebpf/heap_probes.h"
#include "engine/ebpf/walker.h"

int walker_probe(struct error *err)
{
	(void)error_set(err, -EOPNOTSUPP, "this wick was built without eBPF");
	error_remedy(err, "use --engine perf, or build it with libbpf, clang and bpftool");
	return -EOPNOTSUPP;
}

int walker_open(const struct walker_config *config, struct walker **ret, struct error *err)
{
	(void)config;
	(void)ret;
	return walker_probe(err);
}

void walker_close(struct walker *walker)
{
	(void)walker;
}

bool walker_knows_interrupts(const struct walker *walker)
{
	(void)walker;
	return false;
}

int walker_attach(struct walker *walker, int event_fd, struct error *err)
{
	(void)walker;
	(void)event_fd;
	return walker_probe(err);
}

int walker_set_output(struct walker *walker, int cpu, int event_fd, struct error *err)
{
	(void)walker;
	(void)cpu;
	(void)event_fd;
	return walker_probe(err);
}

void walker_set_share(struct walker *walker, double share)
{
	(void)walker;
	(void)share;
}

void walker_set_away_gap(struct walker *walker, uint64_t gap_ns)
{
	(void)walker;
	(void)gap_ns;
}

void walker_pause_away(struct walker *walker, bool paused, uint64_t now_ns)
{
	(void)walker;
	(void)paused;
	(void)now_ns;
}

bool walker_knows_away(struct walker *walker, uint32_t task)
{
	(void)walker;
	(void)task;
	return false;
}

void walker_set_ring(struct walker *walker, size_t ring_bytes)
{
	(void)walker;
	(void)ring_bytes;
}

int walker_bell_fd(const struct walker *walker)
{
	(void)walker;
	return -1;
}

bool walker_take_bell(struct walker *walker)
{
	(void)walker;
	return false;
}

void walker_drained(struct walker *walker)
{
	(void)walker;
}

int walker_start(struct walker *walker, struct error *err)
{
	(void)walker;
	return walker_probe(err);
}

void walker_stop(struct walker *walker)
{
	(void)walker;
}

int walker_watch(struct walker *walker, pid_t id, bool expected, struct error *err)
{
	(void)walker;
	(void)id;
	(void)expected;
	return walker_probe(err);
}

int walker_each_sleeper(struct walker *walker,
			void (*show)(void *self, struct bpf_walk_slice *slice), void *self,
			struct error *err)
{
	(void)walker;
	(void)show;
	(void)self;
	return walker_probe(err);
}

bool walker_begin_away(struct walker *walker, uint32_t task, const struct bpf_walk_times *times,
		       bool has_stack)
{
	(void)walker;
	(void)task;
	(void)times;
	(void)has_stack;
	return false;
}

void walker_each_away(struct walker *walker,
		      void (*show)(void *self, const struct bpf_walk_away *away), void *self)
{
	(void)walker;
	(void)show;
	(void)self;
}

void walker_want(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process)
{
	(void)walker;
	(void)key;
	(void)process;
}

void walker_count_early(struct walker *walker, const struct bpf_walk_key *key)
{
	(void)walker;
	(void)key;
}

bool walker_meet(struct walker *walker, const struct bpf_walk_key *key,
		 struct tracked_process *process)
{
	(void)walker;
	(void)key;
	(void)process;
	return false;
}

bool walker_has_other(const struct walker *walker, const struct bpf_walk_key *key,
		      const struct tracked_process *process)
{
	(void)walker;
	(void)key;
	(void)process;
	return false;
}

bool walker_update(struct walker *walker, struct process_tracker *tracker)
{
	(void)walker;
	(void)tracker;
	return false;
}

void walker_stats(struct walker *walker, struct walker_stats *ret)
{
	(void)walker;
	*ret = (struct walker_stats){0};
}

int heap_links_attach(struct walker *walker, const struct heap_places *places, pid_t pid,
		      struct heap_links *ret, struct error *err)
{
	(void)walker;
	(void)places;
	(void)pid;
	*ret = (struct heap_links){.session_fd = -1};
	return walker_probe(err);
}

void heap_links_detach(struct heap_links *links)
{
	(void)links;
}

int heap_probes_space(struct walker *walker, pid_t pid, struct bpf_walk_key *ret)
{
	(void)walker;
	(void)pid;
	(void)ret;
	return -EOPNOTSUPP;
}

void heap_probes_set_trampoline(struct walker *walker, uint64_t address)
{
	(void)walker;
	(void)address;
}

void heap_probes_set_phase(struct walker *walker, enum bpf_heap_phase phase)
{
	(void)walker;
	(void)phase;
}

void heap_probes_stats(struct walker *walker, struct heap_probes_stats *ret)
{
	(void)walker;
	*ret = (struct heap_probes_stats){0};
}
