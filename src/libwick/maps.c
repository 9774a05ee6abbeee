/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/maps.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "libwick/public_error.h"
#include "proc/address_space.h"
#include "proc/maps.h"
#include "proc/module_file.h"

_Static_assert((int)WICK_MAPS_DELETED == (int)REGION_DELETED &&
		       (int)WICK_MAPS_MEMFD == (int)REGION_MEMFD &&
		       (int)WICK_MAPS_VDSO == (int)REGION_VDSO &&
		       (int)WICK_MAPS_VSYSCALL == (int)REGION_VSYSCALL &&
		       (int)WICK_MAPS_SPECIAL == (int)REGION_SPECIAL &&
		       (int)WICK_MAPS_ANONYMOUS == (int)REGION_ANONYMOUS,
	       "public and internal kinds must match");
_Static_assert(WICK_MAPS_EXEC == REGION_EXEC && WICK_MAPS_SHARED == REGION_SHARED,
	       "public and internal protection bits must match");
_Static_assert(WICK_MAPS_EXECUTABLE_ONLY == MAPS_EXECUTABLE_ONLY,
	       "public and internal options must match");

/* The pid of a snapshot that was parsed from text. */
#define NO_PID (-1)

struct wick_maps {
	pid_t pid;
	struct maps maps;
};

struct library {
	const char *path; /* in the converter's arena, like the build id */
	const char *build_id;
	uint64_t device;
	uint64_t inode;
	uint64_t mtime_ns;
};

/*
 * One process: an address space whose "times" are the numbers of its snapshots, and the regions of
 * the last one, to find what the next one changes.
 */
struct lane {
	pid_t pid;
	uint64_t next_time;
	struct address_space *space;
	VEC(struct map_region) last; /* paths in the converter's arena */
};

struct added_snapshot {
	uint64_t id;
	uint64_t time;
	size_t lane;
};

struct wick_maps_converter {
	struct arena text;
	struct module_files *files;
	VEC(struct library) libraries;
	struct id_index library_index;
	VEC(struct lane) lanes;
	VEC(struct added_snapshot) snapshots;
	struct id_index snapshot_index;
};

static struct wick_maps *maps_new(pid_t pid)
{
	struct wick_maps *maps = calloc(1, sizeof(*maps));

	if (maps)
		maps->pid = pid;
	return maps;
}

static void scope_release_maps(struct wick_maps **place)
{
	wick_maps_free(*place);
}

int wick_maps_read_pid(pid_t pid, unsigned int options, struct wick_maps **ret,
		       struct wick_error *err)
{
	struct error inner = {0};
	SCOPED(maps) struct wick_maps *maps = NULL;

	if (need(ret, "ret", &inner) < 0)
		return public_error(&inner, err);
	maps = maps_new(pid);
	if (!maps)
		(void)error_set(&inner, -ENOMEM, "no memory for a memory map");
	else if (pid <= 0)
		(void)refuse_pid(pid, &inner);
	else
		(void)maps_read(&maps->maps, pid, options, &inner);
	if (inner.code < 0)
		return public_error(&inner, err);
	*ret = scope_take(&maps);
	return 0;
}

int wick_maps_read_self(unsigned int options, struct wick_maps **ret, struct wick_error *err)
{
	return wick_maps_read_pid(getpid(), options, ret, err);
}

int wick_maps_parse(const char *text, size_t size, unsigned int options, struct wick_maps **ret,
		    struct wick_error *err)
{
	struct error inner = {0};
	SCOPED(maps) struct wick_maps *maps = NULL;

	if ((size > 0 && need(text, "the text", &inner) < 0) || need(ret, "ret", &inner) < 0)
		return public_error(&inner, err);
	maps = maps_new(NO_PID);
	if (!maps || maps_parse(&maps->maps, text, size, options) < 0) {
		(void)error_set(&inner, -ENOMEM, "no memory for a memory map");
		return public_error(&inner, err);
	}
	*ret = scope_take(&maps);
	return 0;
}

void wick_maps_free(struct wick_maps *maps)
{
	if (!maps)
		return;
	maps_fini(&maps->maps);
	free(maps);
}

size_t wick_maps_count(const struct wick_maps *maps)
{
	return maps ? maps->maps.count : 0;
}

size_t wick_maps_bad_lines(const struct wick_maps *maps)
{
	return maps ? maps->maps.bad_lines : 0;
}

int wick_maps_region_at(const struct wick_maps *maps, size_t i, struct wick_maps_region *ret)
{
	if (!maps || !ret)
		return -EINVAL;
	if (i >= maps->maps.count)
		return -ERANGE;
	const struct map_region *region = &maps->maps.items[i];
	*ret = (struct wick_maps_region){
		.start = region->start,
		.end = region->end,
		.file_offset = region->file_offset,
		.device = region->device,
		.inode = region->inode,
		.path = region->path,
		.kind = (uint32_t)region->kind,
		.protection = region->protection,
	};
	return 0;
}

int wick_maps_converter_new(struct wick_maps_converter **ret)
{
	SCOPED(mem) struct wick_maps_converter *converter = NULL;

	if (!ret)
		return -EINVAL;
	converter = calloc(1, sizeof(*converter));
	if (!converter)
		return -ENOMEM;
	converter->files = module_files_new();
	if (!converter->files)
		return -ENOMEM;
	*ret = scope_take(&converter);
	return 0;
}

void wick_maps_converter_free(struct wick_maps_converter *converter)
{
	if (!converter)
		return;
	for (size_t i = 0; i < converter->lanes.count; i++) {
		address_space_free(converter->lanes.items[i].space);
		vec_fini(&converter->lanes.items[i].last);
	}
	vec_fini(&converter->lanes);
	vec_fini(&converter->snapshots);
	id_index_fini(&converter->snapshot_index);
	vec_fini(&converter->libraries);
	id_index_fini(&converter->library_index);
	module_files_free(converter->files);
	arena_fini(&converter->text);
	free(converter);
}

static uint64_t hash_text(const char *text)
{
	uint64_t hash = hash_seed.first;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	return hash;
}

static bool same_library(const struct library *library, const struct module *module,
			 const char *build_id)
{
	return library->inode == module->inode && library->device == module->device &&
	       library->mtime_ns == module->mtime_ns && !strcmp(library->path, module->path) &&
	       !strcmp(library->build_id, build_id);
}

/* The number of a library, a new one if it has not been seen. */
static int intern_library(struct wick_maps_converter *converter, const struct module *module,
			  uint32_t *ret)
{
	uint64_t hash = hash_pair(hash_text(module->path), module->inode);
	struct id_probe probe = id_index_probe(&converter->library_index, hash);
	char build_id[2 * BUILD_ID_MAX + 1];
	uint32_t id;

	build_id_format(&module->build_id, build_id);
	while ((id = id_probe_next(&converter->library_index, &probe)) != ID_NONE) {
		if (same_library(&converter->libraries.items[id], module, build_id)) {
			*ret = id;
			return 0;
		}
	}
	struct library library = {
		.path = arena_strndup(&converter->text, module->path, strlen(module->path)),
		.build_id = arena_strndup(&converter->text, build_id, strlen(build_id)),
		.device = module->device,
		.inode = module->inode,
		.mtime_ns = module->mtime_ns,
	};
	if (!library.path || !library.build_id || vec_push(&converter->libraries, library) < 0)
		return -ENOMEM;
	*ret = (uint32_t)(converter->libraries.count - 1);
	return id_index_add(&converter->library_index, hash, *ret);
}

static int find_lane(struct wick_maps_converter *converter, pid_t pid, size_t *ret)
{
	struct lane lane = {.pid = pid};

	for (size_t i = 0; i < converter->lanes.count; i++) {
		if (converter->lanes.items[i].pid == pid) {
			*ret = i;
			return 0;
		}
	}
	lane.space = address_space_new();
	if (!lane.space)
		return -ENOMEM;
	if (vec_push(&converter->lanes, lane) < 0) {
		address_space_free(lane.space);
		return -ENOMEM;
	}
	*ret = converter->lanes.count - 1;
	return 0;
}

static bool same_region(const struct map_region *a, const struct map_region *b)
{
	return a->start == b->start && a->end == b->end && a->file_offset == b->file_offset &&
	       a->device == b->device && a->inode == b->inode && a->kind == b->kind &&
	       (a->protection & REGION_EXEC) == (b->protection & REGION_EXEC) &&
	       !strcmp(a->path, b->path);
}

/* Finds an equal region in a sorted list; *at only moves forward. */
static const struct map_region *find_same(const struct map_region *items, size_t count, size_t *at,
					  const struct map_region *region)
{
	while (*at < count && items[*at].start < region->start)
		++*at;
	if (*at < count && same_region(&items[*at], region))
		return &items[*at];
	return NULL;
}

static int unmap_vanished(struct lane *lane, uint64_t time, const struct maps *maps)
{
	size_t at = 0;

	for (size_t i = 0; i < lane->last.count; i++) {
		const struct map_region *old = &lane->last.items[i];

		if (!find_same(maps->items, maps->count, &at, old) &&
		    address_space_unmap(lane->space, time, old->start, old->end) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Maps a region that is new, and gives it a path that lives with the converter. */
static int map_fresh(struct wick_maps_converter *converter, struct lane *lane, uint64_t time,
		     struct map_region *region)
{
	struct address_mapping mapping = {
		.start = region->start, .end = region->end, .file_offset = region->file_offset};
	struct module_place place;

	if (module_files_identify(converter->files, lane->pid, region, &place) < 0 ||
	    intern_library(converter, &place.module, &mapping.module) < 0)
		return -ENOMEM;
	if (region->path[0])
		region->path = converter->libraries.items[mapping.module].path;
	else
		region->path = "";
	mapping.bias = place.bias;
	return address_space_map(lane->space, time, &mapping);
}

static int apply(struct wick_maps_converter *converter, struct lane *lane, uint64_t time,
		 const struct maps *maps)
{
	VEC(struct map_region) next = {0};
	size_t at = 0;
	int r = unmap_vanished(lane, time, maps);

	for (size_t i = 0; i < maps->count && r == 0; i++) {
		struct map_region region = maps->items[i];
		const struct map_region *old =
			find_same(lane->last.items, lane->last.count, &at, &region);

		if (old)
			region = *old;
		else
			r = map_fresh(converter, lane, time, &region);
		if (r == 0)
			r = vec_push(&next, region);
	}
	if (r < 0) {
		vec_fini(&next);
		return r;
	}
	vec_fini(&lane->last);
	lane->last.items = next.items;
	lane->last.count = next.count;
	lane->last.capacity = next.capacity;
	return 0;
}

static const struct added_snapshot *find_snapshot(const struct wick_maps_converter *converter,
						  uint64_t id)
{
	struct id_probe probe = id_index_probe(&converter->snapshot_index, hash_pair(id, 0));
	uint32_t i;

	while ((i = id_probe_next(&converter->snapshot_index, &probe)) != ID_NONE)
		if (converter->snapshots.items[i].id == id)
			return &converter->snapshots.items[i];
	return NULL;
}

int wick_maps_converter_add(struct wick_maps_converter *converter, uint64_t id,
			    const struct wick_maps *maps)
{
	struct added_snapshot snapshot = {.id = id};

	if (!converter || !maps)
		return -EINVAL;
	if (find_snapshot(converter, id))
		return -EEXIST;
	if (vec_reserve(&converter->snapshots, converter->snapshots.count + 1) < 0 ||
	    find_lane(converter, maps->pid, &snapshot.lane) < 0)
		return -ENOMEM;
	struct lane *lane = &converter->lanes.items[snapshot.lane];
	/* The first snapshot of a process is at time 0 and so needs no history. */
	snapshot.time = lane->next_time;
	if (apply(converter, lane, snapshot.time, &maps->maps) < 0 ||
	    id_index_add(&converter->snapshot_index, hash_pair(id, 0),
			 (uint32_t)converter->snapshots.count) < 0) {
		/* Earlier snapshots stay valid; the next one starts from scratch. */
		lane->pid = NO_PID - 1;
		return -ENOMEM;
	}
	lane->next_time++;
	converter->snapshots.items[converter->snapshots.count++] = snapshot;
	return 0;
}

static void fill_location(const struct wick_maps_converter *converter, uint64_t address,
			  const struct address_hit *hit, struct wick_maps_location *ret)
{
	bool known = hit && hit->module != MODULE_NONE;

	ret->library = known ? converter->libraries.items[hit->module].path : WICK_MAPS_UNKNOWN;
	ret->build_id = known ? converter->libraries.items[hit->module].build_id : "";
	ret->offset = known ? hit->vaddr : address;
	ret->file_offset = known ? hit->file_offset : 0;
	ret->address = address;
}

size_t wick_maps_convert_batch(const struct wick_maps_converter *converter, uint64_t id,
			       const uint64_t *addresses, size_t n, struct wick_maps_location *ret)
{
	const struct added_snapshot *snapshot;
	struct address_hit hits[64];
	size_t known = 0;

	if (!converter || !addresses || !ret)
		return 0;
	snapshot = find_snapshot(converter, id);
	if (!snapshot) {
		for (size_t i = 0; i < n; i++)
			fill_location(converter, addresses[i], NULL, &ret[i]);
		return 0;
	}
	const struct address_space *space = converter->lanes.items[snapshot->lane].space;
	while (n > 0) {
		size_t some = n < ARRAY_SIZE(hits) ? n : ARRAY_SIZE(hits);

		known += address_space_resolve_batch(space, snapshot->time, addresses, some, hits);
		for (size_t i = 0; i < some; i++)
			fill_location(converter, addresses[i], &hits[i], &ret[i]);
		addresses += some;
		ret += some;
		n -= some;
	}
	return known;
}

int wick_maps_convert(const struct wick_maps_converter *converter, uint64_t id, uint64_t address,
		      struct wick_maps_location *ret)
{
	if (!converter || !ret)
		return -EINVAL;
	return wick_maps_convert_batch(converter, id, &address, 1, ret) > 0;
}
