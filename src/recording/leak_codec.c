/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/leak_codec.h"

#include <errno.h>

#include "base/bytes.h"
#include "recording/dictionary_decoder.h"
#include "recording/dictionary_encoder.h"
#include "recording/format.h"

#define ALL_EVIDENCE (2u * LEAK_IN_CYCLE - 1u)

static void put_head(const struct leak_scan *scan, struct dictionary_encoder *encoder,
		     struct bytes *out)
{
	bytes_put_varint(out, dictionary_encoder_process(encoder, scan->process));
	bytes_put_u8(out, scan->trigger);
	bytes_put_varint(out, scan->time_ns);
	bytes_put_varint(out, scan->paused_ns);
	bytes_put_varint(out, scan->cpu_ns);
	bytes_put_varint(out, scan->live_blocks);
	bytes_put_varint(out, scan->live_bytes);
	bytes_put_varint(out, scan->read_bytes);
	bytes_put_varint(out, scan->unread_bytes);
	bytes_put_varint(out, scan->unread_threads);
}

/* Numbers + 1; 0 for none. */
static void put_stack_and_thread(const struct leak_group *group, struct dictionary_encoder *encoder,
				 struct bytes *out)
{
	bytes_put_varint(out, group->stack == ID_NONE ? 0
						      : 1 + (uint64_t)dictionary_encoder_stack(
								    encoder, group->stack));
	bytes_put_varint(out, group->thread == ID_NONE ? 0
						       : 1 + (uint64_t)dictionary_encoder_thread(
								     encoder, group->thread));
}

size_t leak_encode(const struct leak_scan *scan, size_t first, struct dictionary_encoder *encoder,
		   struct bytes *out)
{
	size_t left = scan->group_count - first;
	size_t end = first + (left < CHUNK_MAX_LEAK_GROUPS ? left : CHUNK_MAX_LEAK_GROUPS);
	uint64_t last_example = 0;

	put_head(scan, encoder, out);
	bytes_put_varint(out, end - first);
	for (size_t i = first; i < end; i++) {
		const struct leak_group *group = &scan->groups[i];

		bytes_put_u8(out, group->leak_class);
		bytes_put_varint(out, group->evidence);
		put_stack_and_thread(group, encoder, out);
		bytes_put_varint(out, group->size_bytes);
		bytes_put_varint(out, group->blocks);
		bytes_put_varint(out, group->led_blocks);
		bytes_put_varint(out, group->led_bytes);
		bytes_put_varint(out,
				 zigzag_encode((int64_t)(scan->time_ns - group->last_born_ns)));
		bytes_put_varint(
			out, zigzag_encode((int64_t)(group->last_born_ns - group->first_born_ns)));
		bytes_put_varint(out, zigzag_encode((int64_t)(group->example - last_example)));
		last_example = group->example;
	}
	return end;
}

void leak_decoder_fini(struct leak_decoder *decoder)
{
	vec_fini(&decoder->groups);
}

static uint32_t take_number(struct cursor *in, const struct number_map *map)
{
	uint64_t number = cursor_varint(in);

	return number == 0 ? ID_NONE : number_map_get(map, number - 1);
}

static struct leak_group take_group(struct cursor *in, uint64_t time_ns,
				    const struct dictionary_decoder *dictionary)
{
	struct leak_group group = {.leak_class = cursor_u8(in)};

	/* Ignores bits of later versions. */
	group.evidence = (uint16_t)(cursor_varint(in) & ALL_EVIDENCE);
	group.stack = take_number(in, &dictionary->stacks);
	group.thread = take_number(in, &dictionary->threads);
	group.size_bytes = cursor_varint(in);
	group.blocks = cursor_varint(in);
	group.led_blocks = cursor_varint(in);
	group.led_bytes = cursor_varint(in);
	group.last_born_ns = time_ns - (uint64_t)zigzag_decode(cursor_varint(in));
	group.first_born_ns = group.last_born_ns - (uint64_t)zigzag_decode(cursor_varint(in));
	group.example = (uint64_t)zigzag_decode(cursor_varint(in));
	if (group.leak_class >= LEAK_CLASSES)
		in->failed = true;
	return group;
}

static void take_head(struct leak_scan *scan, struct cursor *in,
		      const struct dictionary_decoder *dictionary)
{
	*scan = (struct leak_scan){
		.process = number_map_get(&dictionary->processes, cursor_varint(in)),
		.trigger = cursor_u8(in),
	};
	scan->time_ns = cursor_varint(in);
	scan->paused_ns = cursor_varint(in);
	scan->cpu_ns = cursor_varint(in);
	scan->live_blocks = cursor_varint(in);
	scan->live_bytes = cursor_varint(in);
	scan->read_bytes = cursor_varint(in);
	scan->unread_bytes = cursor_varint(in);
	scan->unread_threads = (uint32_t)cursor_varint_max(in, UINT32_MAX);
	if (scan->trigger > LEAK_ON_DEMAND)
		in->failed = true;
}

int leak_decoder_run(struct leak_decoder *decoder, const uint8_t *data, size_t size,
		     const struct dictionary_decoder *dictionary)
{
	struct cursor in = cursor_of(data, size);
	uint64_t last_example = 0;
	size_t count;

	take_head(&decoder->scan, &in, dictionary);
	count = cursor_varint_max(&in, CHUNK_MAX_LEAK_GROUPS);
	decoder->groups.count = 0;
	while (decoder->groups.count < count && !in.failed) {
		struct leak_group group = take_group(&in, decoder->scan.time_ns, dictionary);

		last_example += group.example;
		group.example = last_example;
		if (vec_push(&decoder->groups, group) < 0)
			return -ENOMEM;
	}
	if (in.failed)
		return -EBADMSG;
	decoder->scan.group_count = decoder->groups.count;
	decoder->scan.groups = decoder->groups.items;
	return 0;
}
