/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/dictionary_encoder.h"

#include <errno.h>
#include <string.h>

#include "recording/format.h"

void dictionary_encoder_init(struct dictionary_encoder *encoder, struct dictionary *source)
{
	*encoder = (struct dictionary_encoder){.source = source};
}

void dictionary_encoder_fini(struct dictionary_encoder *encoder)
{
	vec_fini(&encoder->strings.ids);
	vec_fini(&encoder->processes.ids);
	vec_fini(&encoder->modules.ids);
	vec_fini(&encoder->threads.ids);
	vec_fini(&encoder->places.ids);
	vec_fini(&encoder->frames.ids);
	vec_fini(&encoder->nodes.ids);
	vec_fini(&encoder->stacks.ids);
	vec_fini(&encoder->labels.ids);
	vec_fini(&encoder->path);
	vec_fini(&encoder->new_frames);
	bytes_fini(&encoder->string_bytes);
	bytes_fini(&encoder->process_bytes);
	bytes_fini(&encoder->module_bytes);
	bytes_fini(&encoder->thread_bytes);
	bytes_fini(&encoder->place_bytes);
	bytes_fini(&encoder->attach_bytes);
	bytes_fini(&encoder->count_bytes);
	bytes_fini(&encoder->node_bytes);
	bytes_fini(&encoder->label_bytes);
}

static void id_map_reset(struct id_map *map)
{
	map->ids.count = 0;
	map->next = 0;
	map->flushed = 0;
}

void dictionary_encoder_reset(struct dictionary_encoder *encoder)
{
	id_map_reset(&encoder->strings);
	id_map_reset(&encoder->processes);
	id_map_reset(&encoder->modules);
	id_map_reset(&encoder->threads);
	id_map_reset(&encoder->places);
	id_map_reset(&encoder->frames);
	id_map_reset(&encoder->nodes);
	id_map_reset(&encoder->stacks);
	id_map_reset(&encoder->labels);
}

/* Gives the session id the next epoch number. */
static uint32_t id_map_number(struct dictionary_encoder *encoder, struct id_map *map, uint32_t id)
{
	size_t want = (size_t)id + 1;

	if (want > map->ids.count) {
		if (vec_reserve(&map->ids, want) < 0) {
			encoder->failed = true;
			return 0;
		}
		memset(map->ids.items + map->ids.count, 0,
		       (want - map->ids.count) * sizeof(*map->ids.items));
		map->ids.count = want;
	}
	map->ids.items[id] = ++map->next;
	return map->next - 1;
}

static uint32_t put_string_id(struct dictionary_encoder *encoder, uint32_t id)
{
	const char *text = strings_get(&encoder->source->strings, id);
	uint32_t number = id_map_get(&encoder->strings, id);

	if (number != ID_NONE)
		return number;
	bytes_put_string(&encoder->string_bytes, text, strnlen(text, RECORDING_MAX_TEXT));
	return id_map_number(encoder, &encoder->strings, id);
}

static uint32_t put_string(struct dictionary_encoder *encoder, const char *text)
{
	uint32_t id = strings_add(&encoder->source->strings, text);

	if (id == ID_NONE) {
		encoder->failed = true;
		return 0;
	}
	return put_string_id(encoder, id);
}

uint32_t dictionary_encoder_process(struct dictionary_encoder *encoder, uint32_t process)
{
	const struct process *item = &encoder->source->processes.items[process];
	uint32_t number = id_map_get(&encoder->processes, process);
	struct bytes *out = &encoder->process_bytes;

	if (number != ID_NONE)
		return number;
	bytes_put_varint(out, item->pid);
	bytes_put_varint(out, item->parent_pid);
	bytes_put_varint(out, item->start_ns);
	bytes_put_varint(out, item->exec_count);
	bytes_put_varint(out, put_string(encoder, item->comm));
	bytes_put_varint(out, put_string(encoder, item->executable));
	return id_map_number(encoder, &encoder->processes, process);
}

uint32_t dictionary_encoder_module(struct dictionary_encoder *encoder, uint32_t module)
{
	const struct module *item = &encoder->source->modules.items[module];
	uint32_t number = id_map_get(&encoder->modules, module);
	struct bytes *out = &encoder->module_bytes;
	uint32_t owner = 0;

	if (number != ID_NONE)
		return number;
	if (item->kind == MODULE_ANONYMOUS)
		owner = dictionary_encoder_process(encoder, item->owner);
	bytes_put_varint(out, item->kind);
	bytes_put_varint(out, put_string(encoder, item->path));
	bytes_put_string(out, (const char *)item->build_id.bytes, item->build_id.size);
	bytes_put_varint(out, item->device);
	bytes_put_varint(out, item->inode);
	bytes_put_varint(out, item->mtime_ns);
	bytes_put_varint(out, item->size_bytes);
	bytes_put_varint(out, owner);
	return id_map_number(encoder, &encoder->modules, module);
}

uint32_t dictionary_encoder_new_thread(struct dictionary_encoder *encoder, uint32_t thread)
{
	const struct thread *item = &encoder->source->threads.items[thread];
	struct bytes *out = &encoder->thread_bytes;

	bytes_put_varint(out, dictionary_encoder_process(encoder, item->process));
	bytes_put_varint(out, item->tid);
	bytes_put_varint(out, put_string(encoder, item->comm));
	return id_map_number(encoder, &encoder->threads, thread);
}

/* Writes one place whose outer place already has a number. */
static uint32_t put_place(struct dictionary_encoder *encoder, uint32_t id)
{
	const struct place item = encoder->source->places.items[id];
	struct bytes *out = &encoder->place_bytes;
	uint32_t module = 0;
	uint32_t outer = 0;

	if (item.module != MODULE_NONE)
		module = dictionary_encoder_module(encoder, item.module) + 1;
	if (item.outer != PLACE_NONE)
		outer = id_map_get(&encoder->places, item.outer) + 1;
	bytes_put_varint(out, put_string(encoder, item.name));
	bytes_put_varint(out, put_string(encoder, item.file));
	bytes_put_varint(out, item.line);
	bytes_put_varint(out, module);
	bytes_put_varint(out, item.origin);
	bytes_put_varint(out, outer);
	return id_map_number(encoder, &encoder->places, id);
}

/* The number of a place; those it is inlined into come first. */
static uint32_t place_number(struct dictionary_encoder *encoder, uint32_t place)
{
	uint32_t chain[PLACES_MAX];
	uint32_t number = id_map_get(&encoder->places, place);
	size_t n = 0;

	while (place != PLACE_NONE && id_map_get(&encoder->places, place) == ID_NONE &&
	       n < PLACES_MAX) {
		chain[n++] = place;
		place = encoder->source->places.items[place].outer;
	}
	while (n-- > 0)
		number = put_place(encoder, chain[n]);
	return number;
}

static bool names_module(struct frame frame)
{
	return (frame.kind == FRAME_NATIVE || frame.kind == FRAME_KERNEL) && frame.a != MODULE_NONE;
}

/* Writes a reference to a frame: 0 for the next new one, else its number + 1. */
static void put_frame_reference(struct dictionary_encoder *encoder, uint32_t frame)
{
	uint32_t number = id_map_get(&encoder->frames, frame);
	struct frame item;

	if (number != ID_NONE) {
		bytes_put_varint(&encoder->node_bytes, (uint64_t)number + 1);
		return;
	}
	item = encoder->source->frames.items[frame];
	if (names_module(item))
		item.a = dictionary_encoder_module(encoder, item.a);
	else if (item.kind == FRAME_CUSTOM && item.a < encoder->source->places.count)
		item.a = place_number(encoder, item.a);
	if (vec_push(&encoder->new_frames, item) < 0)
		encoder->failed = true;
	(void)id_map_number(encoder, &encoder->frames, frame);
	bytes_put_u8(&encoder->node_bytes, 0);
}

uint32_t dictionary_encoder_new_stack(struct dictionary_encoder *encoder, uint32_t node)
{
	const struct stack_node *nodes = encoder->source->stacks.nodes.items;
	uint32_t attach = node;
	uint32_t known;
	size_t i;

	/* Goes up to an ancestor that the epoch has, then down again with the new nodes. */
	encoder->path.count = 0;
	while (attach != 0 && id_map_get(&encoder->nodes, attach) == ID_NONE) {
		if (vec_push(&encoder->path, attach) < 0) {
			encoder->failed = true;
			return 0;
		}
		attach = nodes[attach].parent;
	}
	/* Epoch nodes are numbered from 1; 0 is the empty stack. */
	known = attach == 0 ? 0 : id_map_get(&encoder->nodes, attach) + 1;
	bytes_put_varint(&encoder->attach_bytes, encoder->nodes.next - known);
	bytes_put_varint(&encoder->count_bytes, encoder->path.count);
	for (i = encoder->path.count; i-- > 0;) {
		put_frame_reference(encoder, nodes[encoder->path.items[i]].frame);
		(void)id_map_number(encoder, &encoder->nodes, encoder->path.items[i]);
	}
	return id_map_number(encoder, &encoder->stacks, node);
}

uint32_t dictionary_encoder_new_labels(struct dictionary_encoder *encoder, uint32_t set)
{
	struct label_set item = encoder->source->labels.sets.items[set];
	struct bytes *out = &encoder->label_bytes;
	uint32_t i;

	bytes_put_varint(out, item.count);
	for (i = item.first; i < item.first + item.count; i++) {
		struct label_pair pair = encoder->source->labels.pairs.items[i];

		bytes_put_varint(out, put_string_id(encoder, pair.key));
		bytes_put_varint(out, put_string_id(encoder, pair.value));
	}
	return id_map_number(encoder, &encoder->labels, set);
}

static void put_section(struct bytes *out, enum dictionary_section id, struct id_map *map,
			struct bytes *data)
{
	if (map->next == map->flushed)
		return;
	bytes_put_u8(out, (uint8_t)id);
	bytes_put_varint(out, map->flushed);
	bytes_put_varint(out, map->next - map->flushed);
	bytes_put_varint(out, data->size);
	bytes_put(out, data->data, data->size);
	map->flushed = map->next;
	if (data->failed)
		out->failed = true;
	bytes_clear(data);
}

/*
 * Frames as two columns: (module, kind) and the address relative to the last
 * one of that module, without the low bits that are zero in all of them.
 */
static int encode_frames(struct dictionary_encoder *encoder, struct bytes *out)
{
	VEC(uint64_t) last = {0};
	uint64_t low_bits = 0;
	unsigned int shift = 0;
	size_t i;
	int r = 0;

	for (i = 0; i < encoder->new_frames.count; i++)
		low_bits |= encoder->new_frames.items[i].b;
	while (shift < 2 && !(low_bits >> shift & 1))
		shift++;
	bytes_put_u8(out, (uint8_t)shift);
	for (i = 0; i < encoder->new_frames.count; i++) {
		struct frame frame = encoder->new_frames.items[i];

		bytes_put_varint(out, ((uint64_t)frame.a + 1) << 3 | frame.kind);
	}
	for (i = 0; i < encoder->new_frames.count && r == 0; i++) {
		struct frame frame = encoder->new_frames.items[i];
		size_t slot = names_module(frame) ? (size_t)frame.a + 1 : 0;

		while (last.count <= slot && r == 0)
			r = vec_push(&last, 0);
		if (r < 0)
			break;
		bytes_put_varint(out,
				 zigzag_encode((int64_t)(frame.b - last.items[slot]) >> shift));
		last.items[slot] = frame.b;
	}
	vec_fini(&last);
	return r;
}

static void encode_stacks(struct dictionary_encoder *encoder, uint32_t first_node,
			  uint32_t first_frame, struct bytes *out)
{
	bytes_put_varint(out, first_node);
	bytes_put_varint(out, first_frame);
	bytes_put_varint(out, encoder->attach_bytes.size);
	bytes_put(out, encoder->attach_bytes.data, encoder->attach_bytes.size);
	bytes_put_varint(out, encoder->count_bytes.size);
	bytes_put(out, encoder->count_bytes.data, encoder->count_bytes.size);
	bytes_put(out, encoder->node_bytes.data, encoder->node_bytes.size);
	if (encoder->attach_bytes.failed || encoder->count_bytes.failed ||
	    encoder->node_bytes.failed)
		out->failed = true;
	bytes_clear(&encoder->attach_bytes);
	bytes_clear(&encoder->count_bytes);
	bytes_clear(&encoder->node_bytes);
}

size_t dictionary_encoder_pending(const struct dictionary_encoder *encoder)
{
	return encoder->string_bytes.size + encoder->process_bytes.size +
	       encoder->module_bytes.size + encoder->thread_bytes.size + encoder->place_bytes.size +
	       encoder->new_frames.count * 6 + encoder->attach_bytes.size +
	       encoder->count_bytes.size + encoder->node_bytes.size + encoder->label_bytes.size;
}

uint32_t dictionary_encoder_numbers(const struct dictionary_encoder *encoder)
{
	const uint32_t numbers[] = {
		encoder->strings.next, encoder->processes.next, encoder->modules.next,
		encoder->threads.next, encoder->frames.next,    encoder->nodes.next,
		encoder->labels.next,  encoder->places.next,
	};
	uint32_t most = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		most = numbers[i] > most ? numbers[i] : most;
	return most;
}

int dictionary_encoder_flush(struct dictionary_encoder *encoder, struct bytes *out)
{
	uint32_t first_frame = encoder->frames.flushed;
	uint32_t first_node = encoder->nodes.flushed;
	struct bytes section = {0};
	size_t before = out->size;

	put_section(out, SECTION_STRINGS, &encoder->strings, &encoder->string_bytes);
	put_section(out, SECTION_PROCESSES, &encoder->processes, &encoder->process_bytes);
	put_section(out, SECTION_MODULES, &encoder->modules, &encoder->module_bytes);
	put_section(out, SECTION_THREADS, &encoder->threads, &encoder->thread_bytes);
	put_section(out, SECTION_PLACES, &encoder->places, &encoder->place_bytes);
	if (encode_frames(encoder, &section) < 0)
		encoder->failed = true;
	put_section(out, SECTION_FRAMES, &encoder->frames, &section);
	encoder->new_frames.count = 0;
	bytes_clear(&section);
	encode_stacks(encoder, first_node, first_frame, &section);
	put_section(out, SECTION_STACKS, &encoder->stacks, &section);
	encoder->nodes.flushed = encoder->nodes.next;
	put_section(out, SECTION_LABELS, &encoder->labels, &encoder->label_bytes);
	bytes_fini(&section);
	if (encoder->failed || out->failed)
		return -ENOMEM;
	return out->size > before ? 1 : 0;
}
