/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jit/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "symbol/jit/jit_names.h"

/*
 *	header   magic:u32 version:u32 size:u32 machine:u32 zero:u32 pid:u32 time:u64 flags:u64
 *	record   id:u32 size:u32 time:u64 …
 *	load     pid:u32 tid:u32 vma:u64 address:u64 size:u64 index:u64 name\0 code[size]
 *	move     pid:u32 tid:u32 vma:u64 old:u64 address:u64 size:u64 index:u64
 *	lines    address:u64 count:u64 (address:u64 line:u32 discriminator:u32 file\0)[count]
 *
 * The lines of code precede its load. A file name of the single byte 0xff repeats that of the
 * previous entry. Times are CLOCK_MONOTONIC unless the flags say that they are CPU ticks.
 */
#define JITDUMP_MAGIC 0x4a695444u
#define JITDUMP_VERSION 1u
#define HEADER_BYTES 40u
#define RECORD_BYTES 16u
#define PLACE_BYTES 16u /* pid, tid and vma */
#define MAX_NAME_BYTES 4096u
#define MAX_LINES 16384u /* in a record; the rest is ignored */
#define FLAG_TICKS 1u
#define SAME_FILE "\xff"

enum perf_record_id { RECORD_LOAD = 0, RECORD_MOVE = 1, RECORD_LINES = 2 };

struct load {
	uint64_t code_index;
	struct jit_name name;
};

struct loads {
	VEC(struct load) items;
	struct id_index index; /* by code index */
	struct jit_name lines; /* the latest; where they begin is in lines_start */
	uint64_t time_ns;      /* of the current record; 0: unknown */
};

static void scope_release_loads(struct loads *loads)
{
	vec_fini(&loads->items);
	id_index_fini(&loads->index);
}

static int add_load(struct loads *loads, struct cursor *in, struct jit_names *names)
{
	struct load load = {0};
	const uint8_t *end;

	(void)cursor_take(in, PLACE_BYTES); /* size is checked below */
	load.name.start = cursor_u64(in);
	load.name.size = cursor_u64(in);
	load.code_index = cursor_u64(in);
	if (in->failed)
		return 0;
	end = memchr(in->at, '\0', cursor_left(in));
	if (!end || end == in->at)
		return 0;
	load.name.text = (const char *)in->at;
	load.name.text_size = (size_t)(end - in->at);
	if (load.name.text_size > MAX_NAME_BYTES)
		load.name.text_size = MAX_NAME_BYTES;
	load.name.time_ns = loads->time_ns;
	if (loads->lines.lines && loads->lines.lines_start == load.name.start) {
		load.name.lines = loads->lines.lines;
		load.name.lines_size = loads->lines.lines_size;
		load.name.lines_start = load.name.start;
	}
	loads->lines.lines = NULL; /* they apply only to the next code */
	if (vec_push(&loads->items, load) < 0 ||
	    id_index_add(&loads->index, hash_pair(load.code_index, 0),
			 (uint32_t)loads->items.count - 1) < 0)
		return -ENOMEM;
	return jit_names_add(names, &load.name);
}

static int add_move(struct loads *loads, struct cursor *in, struct jit_names *names)
{
	struct jit_name name;
	struct id_probe probe;
	uint64_t address, size, code_index;
	uint32_t i;

	(void)cursor_take(in, PLACE_BYTES + sizeof(uint64_t)); /* size is checked below */
	address = cursor_u64(in);
	size = cursor_u64(in);
	code_index = cursor_u64(in);
	if (in->failed)
		return 0;
	probe = id_index_probe(&loads->index, hash_pair(code_index, 0));
	while ((i = id_probe_next(&loads->index, &probe)) != ID_NONE)
		if (loads->items.items[i].code_index == code_index)
			break;
	if (i == ID_NONE)
		return 0;
	name = loads->items.items[i].name;
	name.start = address;
	name.size = size;
	name.time_ns = loads->time_ns;
	return jit_names_add(names, &name);
}

static void keep_lines(struct loads *loads, struct cursor *in)
{
	uint64_t address = cursor_u64(in);

	(void)cursor_u64(in); /* their number; they end the record */
	if (in->failed)
		return;
	loads->lines = (struct jit_name){
		.lines = in->at, .lines_size = cursor_left(in), .lines_start = address};
}

void jitdump_find_line(const uint8_t *lines, size_t size, uint64_t address, struct jit_piece *piece)
{
	struct cursor in = cursor_of(lines, size);
	const char *file = NULL;
	size_t file_size = 0;
	uint64_t best = 0;

	for (size_t i = 0; i < MAX_LINES && cursor_left(&in) > 0; i++) {
		uint64_t start = cursor_u64(&in);
		uint32_t line = cursor_u32(&in);
		const uint8_t *end;

		(void)cursor_u32(&in); /* discriminator */
		end = in.failed ? NULL : memchr(in.at, '\0', cursor_left(&in));
		if (!end)
			return;
		if (strcmp((const char *)in.at, SAME_FILE) != 0) {
			file = (const char *)in.at;
			file_size = (size_t)(end - in.at);
		}
		(void)cursor_take(&in, (size_t)(end - in.at) + 1); /* exists, see above */
		if (start > address || start < best || !file || file_size == 0)
			continue;
		best = start;
		piece->file = file;
		piece->file_size = file_size < MAX_NAME_BYTES ? file_size : MAX_NAME_BYTES;
		piece->line = line;
	}
}

static int check_header(struct cursor *in, bool *ret_ticks, struct error *err)
{
	struct cursor flags = *in;
	uint32_t magic = cursor_u32(in);
	uint32_t version = cursor_u32(in);
	uint32_t size = cursor_u32(in);

	(void)cursor_take(&flags, HEADER_BYTES - sizeof(uint64_t)); /* size is checked below */
	*ret_ticks = cursor_u64(&flags) & FLAG_TICKS;

	if (in->failed || magic != JITDUMP_MAGIC)
		return error_set(err, -EBADMSG, "it is not a jitdump file of this byte order");
	if (version != JITDUMP_VERSION)
		return error_set(err, -EBADMSG, "its version is %u, but wick reads version %u",
				 version, JITDUMP_VERSION);
	if (size < HEADER_BYTES || !cursor_take(in, size - 3 * sizeof(uint32_t)))
		return error_set(err, -EBADMSG, "its header is damaged");
	return 0;
}

int jitdump_parse(const void *data, size_t size, struct jit_names *names, struct error *err)
{
	SCOPED(loads) struct loads loads = {0};
	struct cursor in = cursor_of(data, size);
	bool ticks = false;
	int r = check_header(&in, &ticks, err);

	while (r == 0 && cursor_left(&in) >= RECORD_BYTES) {
		uint32_t id = cursor_u32(&in);
		uint32_t bytes = cursor_u32(&in);
		struct cursor body;

		uint64_t time_ns = cursor_u64(&in);

		loads.time_ns = ticks ? 0 : time_ns; /* without times the order of records counts */
		if (bytes < RECORD_BYTES || bytes - RECORD_BYTES > cursor_left(&in))
			break;
		body = cursor_of(in.at, bytes - RECORD_BYTES);
		(void)cursor_take(&in, bytes - RECORD_BYTES); /* exists, see above */
		if (id == RECORD_LOAD)
			r = add_load(&loads, &body, names);
		else if (id == RECORD_MOVE)
			r = add_move(&loads, &body, names);
		else if (id == RECORD_LINES)
			keep_lines(&loads, &body);
		if (r < 0)
			return error_errno(err, r, "cannot read its names");
	}
	return r;
}
