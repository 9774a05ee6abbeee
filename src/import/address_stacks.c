/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/address_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/number.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"
#include "import/builder.h"
#include "model/entity.h"
#include "proc/maps.h"
#include "process_stacks/process_tracker.h"
#include "recording/writer.h"

#define OWN_PID 1 /* of the only process, whose PID is unknown */

struct address_stacks {
	struct import_builder *builder;
	struct process_tracker *tracker;
	struct tracked_process *process; /* NULL: nothing is mapped */
	uint32_t thread;
	VEC(struct frame) frames;
};

static void scope_release_stacks(struct address_stacks **stacks)
{
	address_stacks_free(*stacks);
}

static void scope_release_bytes(struct bytes *bytes)
{
	bytes_fini(bytes);
}

static void scope_release_maps(struct maps *maps)
{
	maps_fini(maps);
}

void address_stacks_free(struct address_stacks *stacks)
{
	if (!stacks)
		return;
	process_tracker_free(stacks->tracker);
	vec_fini(&stacks->frames);
	free(stacks);
}

static bool is_file(const struct map_region *region)
{
	return region->kind == REGION_FILE || region->kind == REGION_DELETED;
}

/* The program is the first mapped file. */
static const char *program_name(const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		if (is_file(&maps->items[i]))
			return path_base_name(maps->items[i].path);
	}
	return "";
}

/* The number of hexadecimal digits; 0 if there are none, or too many. */
static size_t hex_size(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && number_hex_digit(text[n]) < 16)
		n++;
	return n <= 16 ? n : 0;
}

/*
 * Some tools write "00400000-00fcb000: /bin/app", for code only, with leading blanks: convert it to
 * a line in the kernel's format.
 */
static void put_line(struct bytes *out, const char *line, size_t size)
{
	size_t start;
	size_t end;

	while (size > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		size--;
	}
	start = hex_size(line, size);
	end = start > 0 && start < size && line[start] == '-'
		      ? hex_size(line + start + 1, size - start - 1)
		      : 0;
	if (end > 0 && start + 1 + end < size && line[start + 1 + end] == ':') {
		bytes_put(out, line, start + 1 + end);
		bytes_printf(out, " r-xp 00000000 00:00 0");
		line += start + end + 2;
		size -= start + end + 2;
	}
	bytes_put(out, line, size);
	bytes_put_u8(out, '\n');
}

static int parse_maps(struct maps *maps, const char *text, size_t size)
{
	SCOPED(bytes) struct bytes lines = {0};
	const char *end = text + size;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		put_line(&lines, text, n);
		text += n + (stop ? 1 : 0);
	}
	if (lines.failed)
		return -ENOMEM;
	if (lines.size == 0) /* the mappings were not written */
		return 0;
	return maps_parse(maps, (const char *)lines.data, lines.size, MAPS_EXECUTABLE_ONLY);
}

/* A bare name does not say which file it was: no file is opened for it. */
static void add_maps(struct address_stacks *stacks, const struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		struct map_region region = maps->items[i];

		if (region.inode == 0)
			region.inode = UINT64_MAX;
		if (is_file(&region) || region.kind == REGION_VDSO)
			(void)process_tracker_map(stacks->tracker, 0, OWN_PID, &region, NULL);
	}
	stacks->process = process_tracker_find(stacks->tracker, OWN_PID);
}

int address_stacks_new(struct import_builder *builder, const char *text, size_t size,
		       struct address_stacks **ret, struct error *err)
{
	SCOPED(stacks) struct address_stacks *stacks = calloc(1, sizeof(*stacks));
	SCOPED(maps) struct maps maps = {0};
	const char *name;

	if (!stacks || parse_maps(&maps, text, size) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	stacks->builder = builder;
	stacks->tracker =
		process_tracker_new(recording_writer_sink(import_builder_writer(builder)));
	if (!stacks->tracker)
		return error_set(err, -ENOMEM, "out of memory");
	process_tracker_set_offline(stacks->tracker);
	add_maps(stacks, &maps);
	name = program_name(&maps);
	if (import_thread(builder, 0, 0, name, name, &stacks->thread) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	*ret = scope_take(&stacks);
	return 0;
}

static struct frame frame_of(const struct address_stacks *stacks, uint64_t pc)
{
	if (!stacks->process)
		return (struct frame){.kind = FRAME_NATIVE, .a = MODULE_NONE, .b = pc};
	return tracked_process_frame(stacks->process, IMPORT_START_NS, pc);
}

int address_stacks_add(struct address_stacks *stacks, const struct address_sample *sample,
		       struct error *err)
{
	struct import_sample put = {
		.thread = stacks->thread, .times = sample->times, .weight = sample->weight};

	stacks->frames.count = 0;
	for (size_t i = sample->count; i-- > 0;) {
		/* A leaf is looked up at its address; a call is at its return address minus one. */
		bool is_call = i == 0 && sample->leaf_returns && sample->pcs[i] > 0;

		if (vec_push(&stacks->frames, frame_of(stacks, sample->pcs[i] - is_call)) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	put.frames = stacks->frames.items;
	put.frame_count = stacks->frames.count;
	return import_sample(stacks->builder, &put, err);
}
