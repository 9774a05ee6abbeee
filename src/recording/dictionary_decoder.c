/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/dictionary_decoder.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "recording/format.h"

int dictionary_decoder_init(struct dictionary_decoder *decoder, struct dictionary *target)
{
	*decoder = (struct dictionary_decoder){.target = target, .max_entries = UINT64_MAX};
	return dictionary_decoder_reset(decoder);
}

static void number_map_fini(struct number_map *map)
{
	vec_fini(&map->ids);
	vec_fini(&map->holes);
}

void dictionary_decoder_fini(struct dictionary_decoder *decoder)
{
	number_map_fini(&decoder->strings);
	number_map_fini(&decoder->processes);
	number_map_fini(&decoder->modules);
	number_map_fini(&decoder->threads);
	number_map_fini(&decoder->places);
	number_map_fini(&decoder->frames);
	number_map_fini(&decoder->nodes);
	number_map_fini(&decoder->stacks);
	number_map_fini(&decoder->labels);
}

static void number_map_clear(struct number_map *map)
{
	map->ids.count = 0;
	map->holes.count = 0;
	map->next = 0;
}

int dictionary_decoder_reset(struct dictionary_decoder *decoder)
{
	number_map_clear(&decoder->strings);
	number_map_clear(&decoder->processes);
	number_map_clear(&decoder->modules);
	number_map_clear(&decoder->threads);
	number_map_clear(&decoder->places);
	number_map_clear(&decoder->frames);
	number_map_clear(&decoder->nodes);
	number_map_clear(&decoder->stacks);
	number_map_clear(&decoder->labels);
	decoder->is_first = decoder->target->stacks.nodes.count == 1;
	decoder->nodes.next = 1;
	return vec_push(&decoder->nodes.ids, 0);
}

size_t number_map_place_slow(const struct number_map *map, uint64_t number)
{
	size_t low = 0;
	size_t high = map->holes.count;
	uint64_t place = number;

	/* Finds the first hole that begins after the number. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->holes.items[middle].first > number)
			high = middle;
		else
			low = middle + 1;
	}
	if (low > 0) {
		const struct number_hole *hole = &map->holes.items[low - 1];

		if (number < hole->end)
			return SIZE_MAX;
		place = number - hole->end + hole->known;
	}
	return place < map->ids.count ? (size_t)place : SIZE_MAX;
}

/*
 * Makes `first` the next number of the map: adds a hole for a lost chunk, and refuses to go back.
 */
static int number_map_seek(struct number_map *map, uint64_t first)
{
	struct number_hole hole = {map->next, (uint32_t)first, (uint32_t)map->ids.count};

	if (first < map->next || first > EPOCH_MAX_NUMBERS)
		return -EBADMSG;
	if (first > map->next && vec_push(&map->holes, hole) < 0)
		return -ENOMEM;
	map->next = (uint32_t)first;
	return 0;
}

/* Gives an id the next number. */
static int number_map_add(struct dictionary_decoder *decoder, struct number_map *map, uint32_t id)
{
	if (map->next >= EPOCH_MAX_NUMBERS || ++decoder->entries > decoder->max_entries)
		return -EBADMSG;
	map->next++;
	return vec_push(&map->ids, id);
}

static int decode_string(struct dictionary_decoder *decoder, struct cursor *in)
{
	size_t n = cursor_varint_max(in, CHUNK_MAX_BYTES);
	const uint8_t *text = cursor_take(in, n);

	if (!text)
		return -EBADMSG;
	return number_map_add(decoder, &decoder->strings,
			      strings_add_n(&decoder->target->strings, (const char *)text, n));
}

/* The text of a string number; "" if unknown. */
static const char *string_of(const struct dictionary_decoder *decoder, uint64_t number)
{
	uint32_t id = number_map_get(&decoder->strings, number);

	return strings_get(&decoder->target->strings, id == ID_NONE ? 0 : id);
}

static int decode_process(struct dictionary_decoder *decoder, struct cursor *in)
{
	struct process process = {0};

	process.pid = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	process.parent_pid = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	process.start_ns = cursor_varint(in);
	process.exec_count = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	process.comm = string_of(decoder, cursor_varint(in));
	process.executable = string_of(decoder, cursor_varint(in));
	if (in->failed)
		return -EBADMSG;
	return number_map_add(decoder, &decoder->processes,
			      dictionary_process(decoder->target, &process));
}

static int decode_module(struct dictionary_decoder *decoder, struct cursor *in)
{
	struct module module = {.kind = (enum module_kind)cursor_varint_max(in, UINT8_MAX)};
	uint64_t path = cursor_varint(in);
	const uint8_t *build_id;
	uint64_t owner;
	bool lost;

	module.build_id.size = (uint8_t)cursor_varint_max(in, BUILD_ID_MAX);
	build_id = cursor_take(in, module.build_id.size);
	if (build_id)
		memcpy(module.build_id.bytes, build_id, module.build_id.size);
	module.device = cursor_varint(in);
	module.inode = cursor_varint(in);
	module.mtime_ns = cursor_varint(in);
	module.size_bytes = cursor_varint(in);
	owner = cursor_varint(in);
	if (module.kind == MODULE_ANONYMOUS)
		module.owner = number_map_get(&decoder->processes, owner);
	if (in->failed)
		return -EBADMSG;
	/* A part of its identity is missing: it could be mistaken for another one. */
	lost = module.owner == ID_NONE || number_map_get(&decoder->strings, path) == ID_NONE;
	module.path = string_of(decoder, path);
	return number_map_add(decoder, &decoder->modules,
			      lost ? ID_NONE : dictionary_module(decoder->target, &module));
}

static int decode_thread(struct dictionary_decoder *decoder, struct cursor *in)
{
	struct thread thread = {.process = number_map_get(&decoder->processes, cursor_varint(in))};

	thread.tid = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	thread.comm = string_of(decoder, cursor_varint(in));
	if (in->failed)
		return -EBADMSG;
	return number_map_add(
		decoder, &decoder->threads,
		thread.process == ID_NONE ? ID_NONE : dictionary_thread(decoder->target, &thread));
}

/* The id for a reference (number + 1; 0 is none); also none if it is lost. */
static uint32_t referred(const struct number_map *map, uint64_t reference)
{
	return reference == 0 ? ID_NONE : number_map_get(map, reference - 1);
}

static int decode_place(struct dictionary_decoder *decoder, struct cursor *in)
{
	struct place place = {.name = string_of(decoder, cursor_varint(in))};

	place.file = string_of(decoder, cursor_varint(in));
	place.line = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	place.module = referred(&decoder->modules, cursor_varint(in));
	place.origin = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	place.outer = referred(&decoder->places, cursor_varint(in));
	if (in->failed)
		return -EBADMSG;
	return number_map_add(decoder, &decoder->places,
			      dictionary_own_place(decoder->target, &place));
}

/* One frame from its (module, kind) code and address; ID_NONE if its module is lost. */
static uint32_t make_frame(struct dictionary_decoder *decoder, uint64_t code, uint64_t address)
{
	struct frame frame = {
		.kind = (uint32_t)(code & 7), .a = (uint32_t)((code >> 3) - 1), .b = address};

	if ((frame.kind == FRAME_NATIVE || frame.kind == FRAME_KERNEL) && frame.a != MODULE_NONE) {
		frame.a = number_map_get(&decoder->modules, frame.a);
		if (frame.a == ID_NONE)
			return ID_NONE;
	}
	if (frame.kind == FRAME_CUSTOM) /* PLACE_NONE is ID_NONE */
		frame.a = number_map_get(&decoder->places, frame.a);
	return dictionary_frame(decoder->target, frame);
}

/*
 * The module whose last address a frame is relative to: 1 + index of the module, SIZE_MAX for a
 * lost one.
 */
static size_t slot_of(const struct dictionary_decoder *decoder, uint64_t code)
{
	uint64_t module = code >> 3; /* number + 1; 2^32 for MODULE_NONE */
	size_t place;

	if ((code & 7) > FRAME_KERNEL || module > UINT32_MAX || module == 0)
		return 0;
	place = number_map_place(&decoder->modules, module - 1);
	return place == SIZE_MAX ? SIZE_MAX : place + 1;
}

static int decode_frames(struct dictionary_decoder *decoder, struct cursor *in, uint64_t count)
{
	VEC(uint64_t) last = {0};
	unsigned int shift = cursor_u8(in) & 3;
	struct cursor codes = *in;
	uint64_t i;
	int r = 0;

	for (i = 0; i < count && !in->failed; i++)
		(void)cursor_varint(in); /* addresses follow after all codes */
	for (i = 0; i < count && r == 0 && !in->failed; i++) {
		uint64_t code = cursor_varint(&codes);
		uint64_t delta = (uint64_t)zigzag_decode(cursor_varint(in)) << shift;
		size_t slot = slot_of(decoder, code);

		if (slot == SIZE_MAX) { /* the module is lost: so is the frame */
			r = number_map_add(decoder, &decoder->frames, ID_NONE);
			continue;
		}
		while (last.count <= slot && r == 0)
			r = vec_push(&last, 0);
		if (r < 0)
			break;
		last.items[slot] += delta;
		r = number_map_add(decoder, &decoder->frames,
				   make_frame(decoder, code, last.items[slot]));
	}
	vec_fini(&last);
	return in->failed ? -EBADMSG : r;
}

/* Adds one stack: `count` new nodes below the node `attach`. */
static int decode_stack(struct dictionary_decoder *decoder, uint64_t attach, uint64_t count,
			struct cursor *nodes, uint32_t *next_frame)
{
	uint32_t node = number_map_get(&decoder->nodes, attach);
	uint64_t i;
	int r;

	for (i = 0; i < count; i++) {
		uint64_t code = cursor_varint(nodes);
		uint32_t frame =
			number_map_get(&decoder->frames, code == 0 ? (*next_frame)++ : code - 1);

		if (nodes->failed)
			return -EBADMSG;
		if (node == ID_NONE || frame == ID_NONE)
			node = ID_NONE;
		else /* within an epoch each stack is unique; only other epochs may have it too */
			node = decoder->is_first
				       ? stack_tree_append(&decoder->target->stacks, node, frame)
				       : stack_tree_child(&decoder->target->stacks, node, frame);
		r = number_map_add(decoder, &decoder->nodes, node);
		if (r < 0)
			return r;
	}
	return number_map_add(decoder, &decoder->stacks, node);
}

static int decode_stacks(struct dictionary_decoder *decoder, struct cursor *in, uint64_t count)
{
	uint64_t first_node = cursor_varint_max(in, UINT32_MAX);
	uint32_t next_frame = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	size_t attach_size = cursor_varint_max(in, CHUNK_MAX_BYTES);
	const uint8_t *attach_data = cursor_take(in, attach_size);
	size_t counts_size = cursor_varint_max(in, CHUNK_MAX_BYTES);
	const uint8_t *counts_data = cursor_take(in, counts_size);
	struct cursor attach;
	struct cursor counts;
	uint64_t i;
	int r;

	if (in->failed)
		return -EBADMSG;
	attach = cursor_of(attach_data, attach_size);
	counts = cursor_of(counts_data, counts_size);
	r = number_map_seek(&decoder->nodes, first_node + 1);
	for (i = 0; i < count && r == 0; i++) {
		uint64_t distance = cursor_varint(&attach);
		uint64_t n = cursor_varint_max(&counts, cursor_left(in));
		uint64_t newest = decoder->nodes.next - 1u;

		if (attach.failed || counts.failed || distance > newest)
			return -EBADMSG;
		r = decode_stack(decoder, newest - distance, n, in, &next_frame);
	}
	return r;
}

static int decode_labels(struct dictionary_decoder *decoder, struct cursor *in)
{
	size_t n = cursor_varint_max(in, LABELS_MAX);
	struct label labels[LABELS_MAX];
	bool lost = false;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t key = number_map_get(&decoder->strings, cursor_varint(in));
		uint32_t value = number_map_get(&decoder->strings, cursor_varint(in));

		lost = lost || key == ID_NONE || value == ID_NONE;
		labels[i].key = strings_get(&decoder->target->strings, key);
		labels[i].value = strings_get(&decoder->target->strings, value);
	}
	if (in->failed)
		return -EBADMSG;
	return number_map_add(decoder, &decoder->labels,
			      lost ? ID_NONE : dictionary_labels(decoder->target, labels, n));
}

static int decode_each(struct dictionary_decoder *decoder, struct cursor *in, uint64_t count,
		       int (*decode)(struct dictionary_decoder *decoder, struct cursor *in))
{
	uint64_t i;
	int r = 0;

	for (i = 0; i < count && r == 0; i++)
		r = decode(decoder, in);
	return r;
}

static int decode_section(struct dictionary_decoder *decoder, uint8_t id, uint64_t first,
			  uint64_t count, struct cursor *in)
{
	static const struct {
		size_t map;
		int (*decode)(struct dictionary_decoder *decoder, struct cursor *in);
	} simple[] = {
		[SECTION_STRINGS] = {offsetof(struct dictionary_decoder, strings), decode_string},
		[SECTION_PROCESSES] = {offsetof(struct dictionary_decoder, processes),
				       decode_process},
		[SECTION_MODULES] = {offsetof(struct dictionary_decoder, modules), decode_module},
		[SECTION_THREADS] = {offsetof(struct dictionary_decoder, threads), decode_thread},
		[SECTION_PLACES] = {offsetof(struct dictionary_decoder, places), decode_place},
		[SECTION_LABELS] = {offsetof(struct dictionary_decoder, labels), decode_labels},
	};
	int r;

	if (id < ARRAY_SIZE(simple) && simple[id].decode) {
		r = number_map_seek((struct number_map *)((char *)decoder + simple[id].map), first);
		return r < 0 ? r : decode_each(decoder, in, count, simple[id].decode);
	}
	if (id == SECTION_FRAMES) {
		r = number_map_seek(&decoder->frames, first);
		return r < 0 ? r : decode_frames(decoder, in, count);
	}
	if (id == SECTION_STACKS) {
		r = number_map_seek(&decoder->stacks, first);
		return r < 0 ? r : decode_stacks(decoder, in, count);
	}
	return 0; /* of a later version: nothing that we know refers to it */
}

int dictionary_decoder_run(struct dictionary_decoder *decoder, const uint8_t *data, size_t size)
{
	struct cursor in = cursor_of(data, size);

	while (cursor_left(&in) > 0) {
		uint8_t id = cursor_u8(&in);
		uint64_t first = cursor_varint_max(&in, UINT32_MAX);
		uint64_t count = cursor_varint_max(&in, CHUNK_MAX_BYTES);
		size_t n = cursor_varint_max(&in, CHUNK_MAX_BYTES);
		const uint8_t *section_data = cursor_take(&in, n);
		struct cursor section;
		int r;

		if (!section_data)
			return -EBADMSG;
		section = cursor_of(section_data, n);
		r = decode_section(decoder, id, first, count, &section);
		if (r < 0)
			return r;
	}
	return 0;
}
