/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/heap_probes.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/log.h"
#include "engine/ebpf/skeleton.h"
#include "engine/ebpf/walker.h"
#include "engine/ebpf/walker_programs.h"

#define SCRATCHES_OF_CPU 2u /* HEAP_SLOTS */

struct session_request {
	uint32_t program_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t zero;
	uint64_t path;
	uint64_t offsets;
	uint64_t counters;
	uint64_t cookies;
	uint32_t count;
	uint32_t flags;
	uint32_t pid;
	uint32_t zero_too;
};

static int set_maps(struct wick_bpf *programs, const struct heap_probes_config *config,
		    uint32_t cpu_count)
{
	const struct {
		struct bpf_map *map;
		uint32_t entries; /* 0: unchanged */
	} maps[] = {
		{programs->maps.heap_threads, 0},
		{programs->maps.heap_counters, 0},
		{programs->maps.heap_scratch, cpu_count * SCRATCHES_OF_CPU},
		{programs->maps.heap_blocks, config && config->sample_bytes ? BPF_HEAP_BLOCKS : 1},
		/* Other kernels need this instead: */
		{programs->maps.sample_scratch, config ? 1 : 0},
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(maps) && r == 0; i++) {
		if (maps[i].map != programs->maps.sample_scratch)
			r = bpf_map__set_autocreate(maps[i].map, config != NULL);
		if (r == 0 && maps[i].entries > 0)
			r = bpf_map__set_max_entries(maps[i].map, maps[i].entries);
	}
	return r;
}

static void set_ranges(struct wick_bpf *programs, const struct heap_probes_config *config)
{
	struct bpf_heap_range all = {UINT64_MAX, 0};

	for (uint32_t i = 0; i < config->range_count && i < BPF_HEAP_FUNCTIONS; i++) {
		const struct bpf_heap_range *range = &config->ranges[i];

		programs->rodata->heap_ranges[i] = *range;
		all.start = range->start < all.start ? range->start : all.start;
		all.end = range->end > all.end ? range->end : all.end;
	}
	programs->rodata->heap_range_count = config->range_count;
	if (config->range_count > 0)
		programs->rodata->heap_code = all;
}

int heap_probes_prepare(struct wick_bpf *programs, const struct heap_probes_config *config,
			uint32_t cpu_count)
{
	struct bpf_program *own[] = {programs->progs.heap_session, programs->progs.heap_entered,
				     programs->progs.heap_returned, programs->progs.heap_space};

	/* None of these can fail before loading. */
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		(void)bpf_program__set_autoload(own[i], config != NULL);
	if (config) {
		(void)bpf_program__set_autoload(programs->progs.sample, false);
		(void)bpf_program__set_expected_attach_type(
			programs->progs.heap_session,
			(enum bpf_attach_type)HEAP_SESSION_ATTACH_TYPE);
		programs->rodata->heap_sample_bytes = config->sample_bytes;
		set_ranges(programs, config);
	}
	return set_maps(programs, config, cpu_count);
}

int heap_session_open(int program_fd, const struct heap_places *places, pid_t pid)
{
	uint64_t offsets[BPF_HEAP_FUNCTIONS];
	uint64_t cookies[BPF_HEAP_FUNCTIONS];
	struct session_request request = {.program_fd = (uint32_t)program_fd,
					  .attach_type = HEAP_SESSION_ATTACH_TYPE,
					  .path = (uintptr_t)places->path,
					  .offsets = (uintptr_t)offsets,
					  .cookies = (uintptr_t)cookies,
					  .count = places->count,
					  .pid = (uint32_t)pid};
	long fd;

	if (places->count > BPF_HEAP_FUNCTIONS)
		return -E2BIG;
	for (uint32_t i = 0; i < places->count; i++) {
		offsets[i] = places->probes[i].offset;
		cookies[i] = places->probes[i].cookie;
	}
	fd = syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof(request));
	return fd < 0 ? -errno : (int)fd;
}

static int attach_single(struct heap_links *links, struct bpf_program *program, bool at_return,
			 const char *path, pid_t pid, const struct heap_probe *probe)
{
	struct bpf_uprobe_opts options = {
		.sz = sizeof(options), .retprobe = at_return, .bpf_cookie = probe->cookie};
	struct bpf_link *link =
		bpf_program__attach_uprobe_opts(program, pid, path, probe->offset, &options);

	if (!link)
		return -errno;
	if (vec_push(&links->single, link) == 0)
		return 0;
	(void)bpf_link__destroy(link); /* frees it even on failure */
	return -ENOMEM;
}

/* Returns first, so that every call that is seen also has its return. */
static int attach_pairs(struct heap_links *links, struct wick_bpf *programs,
			const struct heap_places *places, pid_t pid)
{
	const struct heap_probe *probes = places->probes;
	int r = 0;

	for (uint32_t i = 0; i < places->count && r == 0; i++)
		if (BPF_HEAP_SHAPE_OF(probes[i].cookie) != BPF_HEAP_FREE)
			r = attach_single(links, programs->progs.heap_returned, true, places->path,
					  pid, &probes[i]);
	for (uint32_t i = 0; i < places->count && r == 0; i++)
		r = attach_single(links, programs->progs.heap_entered, false, places->path, pid,
				  &probes[i]);
	return r;
}

int heap_links_attach(struct walker *walker, const struct heap_places *places, pid_t pid,
		      struct heap_links *ret, struct error *err)
{
	struct wick_bpf *programs = walker_programs(walker);
	int r;

	*ret = (struct heap_links){.session_fd = -1};
	r = heap_session_open(bpf_program__fd(programs->progs.heap_session), places, pid);
	if (r >= 0) {
		ret->session_fd = r;
		return 0;
	}
	if (r != -ESRCH) {
		log_debug("no uprobe sessions here: errno %d", -r);
		r = attach_pairs(ret, programs, places, pid);
	}
	if (r < 0)
		heap_links_detach(ret);
	return r < 0 ? error_errno(err, r, "cannot attach probes to %s", places->path) : 0;
}

void heap_links_detach(struct heap_links *links)
{
	if (links->session_fd >= 0)
		(void)close(links->session_fd); /* ends with it */
	links->session_fd = -1;
	/* Entries first, so that no call is left waiting for its return. */
	while (links->single.count > 0)
		(void)bpf_link__destroy(links->single.items[--links->single.count]);
	vec_fini(&links->single);
}

int heap_probes_space(struct walker *walker, pid_t pid, struct bpf_walk_key *ret)
{
	struct wick_bpf *programs = walker_programs(walker);
	struct bpf_link *link = bpf_program__attach_iter(programs->progs.heap_space, NULL);
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -errno;
	ssize_t n = 0;

	programs->bss->heap_pid = (uint32_t)pid;
	if (fd >= 0) {
		n = read(fd, ret, sizeof(*ret));
		(void)close(fd); /* only read from */
	}
	(void)bpf_link__destroy(link); /* frees it even on failure */
	if (fd < 0)
		return fd;
	return n == (ssize_t)sizeof(*ret) && ret->mm != 0 ? 0 : -ESRCH;
}

void heap_probes_set_trampoline(struct walker *walker, uint64_t address)
{
	walker_programs(walker)->bss->heap_trampoline = address;
}

void heap_probes_set_phase(struct walker *walker, enum bpf_heap_phase phase)
{
	walker_programs(walker)->bss->heap_phase = phase;
}

static void add_run_time(const struct bpf_program *program, struct heap_probes_stats *stats)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size) == 0)
		stats->run_ns += info.run_time_ns;
}

void heap_probes_stats(struct walker *walker, struct heap_probes_stats *ret)
{
	struct wick_bpf *programs = walker_programs(walker);

	*ret = (struct heap_probes_stats){0};
	walker_sum_counters(bpf_map__fd(programs->maps.heap_counters), ret->counters,
			    BPF_HEAP_COUNTERS);
	add_run_time(programs->progs.heap_session, ret);
	add_run_time(programs->progs.heap_entered, ret);
	add_run_time(programs->progs.heap_returned, ret);
}
