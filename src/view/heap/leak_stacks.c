/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/leak_stacks.h"

#include <stdint.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"
#include "heap/leak/leak_rows.h"
#include "model/profile.h"

/* A position in a walk towards the root: a line of a location on a stack. */
struct place {
	uint32_t node; /* 0: beyond the root */
	uint32_t left; /* lines of the location still to come */
};

static const struct profile_location *location_of(const struct profile *profile, uint32_t node)
{
	return &profile->locations.items[profile->stacks.nodes.items[node].frame];
}

static struct place begin(const struct profile *profile, uint32_t stack)
{
	return (struct place){stack, stack ? location_of(profile, stack)->line_count : 0};
}

/* The next line, or ID_NONE. */
static uint32_t step(const struct profile *profile, struct place *place)
{
	while (place->node != 0 && place->left == 0) {
		place->node = profile->stacks.nodes.items[place->node].parent;
		*place = begin(profile, place->node);
	}
	if (place->node == 0)
		return ID_NONE;
	place->left--;
	return location_of(profile, place->node)->first_line + place->left;
}

static void put_line(const struct profile *profile, uint32_t id, unsigned int depth,
		     struct bytes *out)
{
	struct profile_line line = profile->lines.items[id];
	const char *file = profile_text(profile, profile_line_file(profile, line));

	bytes_printf(out, "            %*s", (int)depth * 2, "");
	text_put_terminal(out, profile_text(profile, profile->functions.items[line.function].name));
	if (*file) {
		bytes_printf(out, "  ");
		text_put_terminal(out, file);
		if (line.line > 0)
			bytes_printf(out, ":%u", line.line);
	}
}

struct branch {
	struct place places[LEAK_STACKS_SHOWN];
	uint64_t bytes[LEAK_STACKS_SHOWN];
	unsigned int count;
};

/* Splits a branch into the stacks with the same next line as the first, and the others. */
static uint32_t split(const struct profile *profile, const struct branch *all, struct branch *same,
		      struct branch *others)
{
	struct place first = all->places[0];
	uint32_t line = step(profile, &first);

	same->count = others->count = 0;
	for (unsigned int i = 0; i < all->count; i++) {
		struct place place = all->places[i];
		struct branch *to = step(profile, &place) == line ? same : others;

		to->places[to->count] = to == same ? place : all->places[i];
		to->bytes[to->count++] = all->bytes[i];
	}
	return line;
}

static void put_branch(const struct profile *profile, struct branch all, unsigned int depth,
		       struct bytes *out)
{
	while (all.count > 0) {
		struct branch same;
		struct branch others;
		uint32_t line = split(profile, &all, &same, &others);
		uint64_t bytes = 0;

		if (line != ID_NONE) {
			for (unsigned int i = 0; i < same.count; i++)
				bytes += same.bytes[i];
			put_line(profile, line, depth, out);
			if (others.count > 0 || depth == 0)
				bytes_printf(out, "  %s",
					     quantity_of((int64_t)bytes, "bytes").text);
			bytes_put_u8(out, '\n');
		}
		if (others.count == 0 && line == ID_NONE)
			return;
		if (others.count == 0) {
			all = same;
			depth += depth == 0;
			continue;
		}
		/* Recursion is at most as deep as there are stacks. */
		if (line != ID_NONE)
			put_branch(profile, same, depth + 1, out);
		all = others;
	}
}

void leak_stacks_put_tree(const struct profile *profile, const struct leak_rows *rows,
			  const struct leak_row *row, struct bytes *out)
{
	const struct leak_row_stack *stacks = rows->stacks.items + row->first_stack;
	struct branch all = {0};

	for (uint32_t i = 0; i < row->stack_count && i < LEAK_STACKS_SHOWN; i++) {
		all.places[all.count] = begin(profile, stacks[i].stack);
		all.bytes[all.count++] = stacks[i].bytes;
	}
	put_branch(profile, all, 0, out);
	if (row->stack_count > LEAK_STACKS_SHOWN)
		bytes_printf(out, "            and %u more stacks\n",
			     row->stack_count - LEAK_STACKS_SHOWN);
}

void leak_stacks_put_frames(const struct profile *profile, uint32_t stack, const char *key,
			    struct json *json)
{
	struct place place = begin(profile, stack);
	uint32_t id;

	json_open_array(json, key);
	while ((id = step(profile, &place)) != ID_NONE) {
		struct profile_line line = profile->lines.items[id];
		const struct profile_function *function = &profile->functions.items[line.function];

		json_open_object(json, NULL);
		json_string(json, "function_name", profile_text(profile, function->name));
		json_string(json, "module", profile_text(profile, function->module));
		json_string(json, "file", profile_text(profile, profile_line_file(profile, line)));
		json_u64(json, "line", line.line);
		json_bool(json, "inlined", place.left > 0);
		json_close(json);
	}
	json_close(json);
}

void leak_stacks_put_json(const struct profile *profile, const struct leak_rows *rows,
			  const struct leak_row *row, struct json *json)
{
	const struct leak_row_stack *stacks = rows->stacks.items + row->first_stack;

	json_u64(json, "stack_count", row->stack_count);
	json_open_array(json, "stacks");
	for (uint32_t i = 0; i < row->stack_count && i < LEAK_STACKS_SHOWN; i++) {
		json_open_object(json, NULL);
		json_u64(json, "bytes", stacks[i].bytes);
		json_u64(json, "blocks", stacks[i].blocks);
		leak_stacks_put_frames(profile, stacks[i].stack, "frames", json);
		json_close(json);
	}
	json_close(json);
}
