/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/ebpf/offcpu_locks.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "elf/elf.h"
#include "language/language.h"
#include "model/lock_label.h"
#include "model/sink.h"
#include "proc/maps.h"
#include "proc/module_file.h"
#include "process_stacks/interpreters.h"

/* How many maps may be read in a row, and the time until one more may be read. */
#define READS_AT_ONCE 64u
#define READ_GAP_NS (10 * NS_PER_MS)

#define STATE_ASLEEP "sleeping"

struct known_lock {
	uint32_t number; /* of the process */
	uint32_t labels;
	uint64_t address;
};

struct offcpu_locks {
	struct sink *sink;
	const struct interpreters *interpreters; /* NULL: not known */
	struct module_files *files;
	VEC(struct known_lock) items;
	struct id_index index;
	uint32_t others; /* the label set for locks that do not fit; 0: not needed yet */
	/* The map that was read last, and how many were read. */
	struct maps maps;
	uint32_t number;
	bool has_maps;
	uint64_t begun_ns;
	uint64_t reads;
};

struct offcpu_locks *offcpu_locks_new(struct sink *sink, const struct interpreters *interpreters)
{
	struct offcpu_locks *locks = calloc(1, sizeof(*locks));

	if (!locks)
		return NULL;
	locks->sink = sink;
	locks->interpreters = interpreters;
	locks->files = module_files_new();
	if (!locks->files) {
		free(locks);
		return NULL;
	}
	return locks;
}

void offcpu_locks_free(struct offcpu_locks *locks)
{
	if (!locks)
		return;
	module_files_free(locks->files);
	maps_fini(&locks->maps);
	vec_fini(&locks->items);
	id_index_fini(&locks->index);
	free(locks);
}

static bool may_read(struct offcpu_locks *locks, uint64_t now_ns)
{
	if (locks->begun_ns == 0 || now_ns < locks->begun_ns)
		locks->begun_ns = now_ns;
	if (locks->reads >= READS_AT_ONCE + (now_ns - locks->begun_ns) / READ_GAP_NS)
		return false;
	locks->reads++;
	return true;
}

/* The region of an address. For a process that has ended, the last map that was read counts. */
static const struct map_region *find_region(struct offcpu_locks *locks,
					    const struct offcpu_lock_owner *owner, uint64_t address,
					    uint64_t now_ns)
{
	bool is_same = locks->has_maps && locks->number == owner->number;
	const struct map_region *region = is_same ? maps_find(&locks->maps, address) : NULL;
	struct maps maps = {0};

	if (region || !may_read(locks, now_ns))
		return region;
	if (maps_read(&maps, owner->pid, 0, NULL) < 0 || maps.count == 0) {
		maps_fini(&maps);
		return NULL;
	}
	maps_fini(&locks->maps);
	locks->maps = maps;
	locks->number = owner->number;
	locks->has_maps = true;
	return maps_find(&locks->maps, address);
}

static bool is_of_file(const struct map_region *region)
{
	return region->kind == REGION_FILE || region->kind == REGION_DELETED ||
	       region->kind == REGION_MEMFD;
}

/*
 * The region of the file whose data may contain an address: its zeroed data (.bss) follows that
 * region.
 */
static const struct map_region *file_region(const struct offcpu_locks *locks,
					    const struct map_region *region)
{
	const struct map_region *before = region > locks->maps.items ? region - 1 : NULL;

	if (is_of_file(region))
		return region;
	return region->kind == REGION_ANONYMOUS && before && is_of_file(before) &&
			       before->end == region->start && (before->protection & REGION_WRITE)
		       ? before
		       : NULL;
}

/* Translates an address in memory to one of the file. False if it does not belong to the file. */
static bool find_vaddr(struct offcpu_locks *locks, pid_t pid, const struct map_region *region,
		       uint64_t address, uint64_t *ret)
{
	struct elf_file *elf;
	const struct elf_segment *segments;
	size_t count;
	uint64_t bias;
	bool found = false;

	if (module_files_open(locks->files, pid, region, &elf, NULL) < 0)
		return false;
	count = elf_segment_count(elf);
	segments = elf_segment_at(elf, 0);
	if (count > 0 && elf_segments_load_bias(segments, count, region->start, region->file_offset,
						false, &bias) == 0) {
		*ret = address - bias;
		for (size_t i = 0; i < count && !found; i++)
			found = *ret - segments[i].vaddr < segments[i].memory_bytes;
	}
	elf_close(elf);
	return found;
}

static void describe(struct offcpu_locks *locks, const struct offcpu_lock_owner *owner,
		     uint64_t address, uint64_t now_ns, struct bytes *out)
{
	const struct map_region *region = find_region(locks, owner, address, now_ns);
	const struct map_region *file = region ? file_region(locks, region) : NULL;
	uint64_t vaddr;

	if (!region)
		bytes_printf(out, "0x%" PRIx64, address);
	else if (file && find_vaddr(locks, owner->pid, file, address, &vaddr))
		bytes_printf(out, "%s+0x%" PRIx64, file->path, vaddr);
	else if (region->path[0] == '[')
		bytes_printf(out, "%s 0x%" PRIx64, region->path, address);
	else if (region->path[0]) /* shared memory, by its offset in the file */
		bytes_printf(out, "%s+0x%" PRIx64, region->path,
			     address - region->start + region->file_offset);
	else
		bytes_printf(out, "[anonymous] 0x%" PRIx64, address);
	bytes_put_u8(out, 0);
}

/* Whether it is a part of the global lock of the process's interpreter. */
static bool is_global(const struct offcpu_locks *locks, const struct offcpu_lock_owner *owner,
		      uint64_t address)
{
	const struct interpreter *interpreter =
		locks->interpreters ? interpreters_of(locks->interpreters, owner->number) : NULL;
	struct language_range range;

	return interpreter && interpreter_lock(interpreter, owner->pid, &range) &&
	       address >= range.start && address < range.end;
}

static uint32_t make_labels(struct offcpu_locks *locks, const char *state, const char *lock)
{
	const struct label labels[] = {{.key = "state", .value = state},
				       {.key = LOCK_LABEL, .value = lock}};
	uint32_t id = 0;

	if (sink_labels(locks->sink, labels, ARRAY_SIZE(labels), &id) < 0)
		return 0;
	return id;
}

static uint32_t other_locks(struct offcpu_locks *locks)
{
	if (locks->others == 0)
		locks->others = make_labels(locks, STATE_ASLEEP, AWAY_LOCKS_OTHERS);
	return locks->others;
}

uint32_t offcpu_locks_label(struct offcpu_locks *locks, const struct offcpu_lock_owner *owner,
			    uint64_t address, uint64_t now_ns)
{
	uint64_t hash = hash_pair(address, owner->number);
	struct id_probe probe = id_index_probe(&locks->index, hash);
	struct known_lock lock = {.number = owner->number, .address = address};
	struct bytes text = {0};
	uint32_t id;

	while ((id = id_probe_next(&locks->index, &probe)) != ID_NONE)
		if (locks->items.items[id].address == address &&
		    locks->items.items[id].number == owner->number)
			return locks->items.items[id].labels;
	if (locks->items.count >= AWAY_LOCKS_MAX)
		return other_locks(locks);
	describe(locks, owner, address, now_ns, &text);
	if (!text.failed)
		lock.labels = make_labels(locks,
					  is_global(locks, owner, address) ? LANGUAGE_STATE_WAITING
									   : STATE_ASLEEP,
					  (const char *)text.data);
	bytes_fini(&text);
	/* If out of memory, it is described again next time. */
	if (vec_push(&locks->items, lock) == 0 &&
	    id_index_add(&locks->index, hash, (uint32_t)(locks->items.count - 1)) < 0)
		locks->items.count--;
	return lock.labels;
}
