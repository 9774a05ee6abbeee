/* SPDX-License-Identifier: BSD-2-Clause */
#include "symbol/jitdump.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/scope.h"
#include "base/vec.h"
#include "symbol/jit_names.h"

/*
 *	header   magic:u32 version:u32 size:u32 machine:u32 zero:u32 pid:u32 time:u64 flags:u64
 *	record   id:u32 size:u32 time:u64 …
 *	load     pid:u32 tid:u32 vma:u64 address:u64 size:u64 index:u64 name\0 code[size]
 *	move     pid:u32 tid:u32 vma:u64 old:u64 address:u64 size:u64 index:u64
 */
#define JITDUMP_MAGIC 0x4a695444u
#define JITDUMP_VERSION 1u
#define HEADER_BYTES 40u
#define RECORD_BYTES 16u
#define PLACE_BYTES 16u /* pid, tid and vma */
#define MAX_NAME_BYTES 4096u

enum record_id { RECORD_LOAD = 0, RECORD_MOVE = 1 };

struct load {
	uint64_t code_index;
	struct jit_name name;
};

struct loads {
	VEC(struct load) items;
	struct id_index index; /* by code index */
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

	(void)cursor_take(in, PLACE_BYTES); /* a short record shows below */
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

	(void)cursor_take(in, PLACE_BYTES + sizeof(uint64_t)); /* a short record shows below */
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
	return jit_names_add(names, &name);
}

static int check_header(struct cursor *in, struct error *err)
{
	uint32_t magic = cursor_u32(in);
	uint32_t version = cursor_u32(in);
	uint32_t size = cursor_u32(in);

	if (in->failed || magic != JITDUMP_MAGIC)
		return error_set(err, -EBADMSG, "it is no jitdump of this byte order");
	if (version != JITDUMP_VERSION)
		return error_set(err, -EBADMSG, "its version is %u, known is %u", version,
				 JITDUMP_VERSION);
	if (size < HEADER_BYTES || !cursor_take(in, size - 3 * sizeof(uint32_t)))
		return error_set(err, -EBADMSG, "its header is damaged");
	return 0;
}

int jitdump_parse(const void *data, size_t size, struct jit_names *names, struct error *err)
{
	SCOPED(loads) struct loads loads = {0};
	struct cursor in = cursor_of(data, size);
	int r = check_header(&in, err);

	while (r == 0 && cursor_left(&in) >= RECORD_BYTES) {
		uint32_t id = cursor_u32(&in);
		uint32_t bytes = cursor_u32(&in);
		struct cursor body;

		(void)cursor_u64(&in); /* the time; the order of records says as much */
		if (bytes < RECORD_BYTES || bytes - RECORD_BYTES > cursor_left(&in))
			break;
		body = cursor_of(in.at, bytes - RECORD_BYTES);
		(void)cursor_take(&in, bytes - RECORD_BYTES); /* there, see above */
		if (id == RECORD_LOAD)
			r = add_load(&loads, &body, names);
		else if (id == RECORD_MOVE)
			r = add_move(&loads, &body, names);
		if (r < 0)
			return error_errno(err, r, "its names");
	}
	return r;
}
