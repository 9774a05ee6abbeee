/* SPDX-License-Identifier: BSD-2-Clause */
#include "store/cluster/stack_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "model/profile.h"
#include "store/cluster/clickhouse.h"
#include "store/names.h"

static void put_text(struct stack_ids *ids, uint32_t text)
{
	clickhouse_put_string(&ids->row, names_clean(&ids->text, profile_text(ids->profile, text)));
}

/* The build id of the module of a location without a name; "" if it has a name, or no build id. */
static void find_build_id(const struct profile *profile, const struct profile_location *location,
			  char ret[2 * BUILD_ID_MAX + 1])
{
	const struct profile_line *line = &profile->lines.items[location->first_line];
	const struct profile_module *module;

	ret[0] = '\0';
	if (location->line_count != 1 ||
	    profile->functions.items[line->function].origin != ORIGIN_UNKNOWN)
		return;
	module = profile_find_module(profile, location->module);
	if (module)
		build_id_format(&module->build_id, ret);
}

enum line_column { NAMES, FILES, MODULES, ORIGINS, LINES, LINE_FILES, LINE_COLUMNS };

static void put_column(struct stack_ids *ids, const struct profile_line *line,
		       enum line_column column)
{
	const struct profile_function *function = &ids->profile->functions.items[line->function];

	switch (column) {
	case NAMES:
		put_text(ids, function->name);
		break;
	case FILES:
		put_text(ids, function->file);
		break;
	case MODULES:
		put_text(ids, function->module);
		break;
	case ORIGINS:
		bytes_put_u8(&ids->row, (uint8_t)function->origin);
		break;
	case LINES:
		bytes_put_u32(&ids->row, line->line);
		break;
	case LINE_FILES:
		put_text(ids, line->file);
		break;
	case LINE_COLUMNS:
		break;
	}
}

int stack_ids_location(struct stack_ids *ids, uint32_t number, bool *ret_is_named)
{
	const struct profile_location *location = &ids->profile->locations.items[number];
	const struct profile_line *lines = ids->profile->lines.items + location->first_line;
	char build_id[2 * BUILD_ID_MAX + 1];
	unsigned int column;
	uint32_t i;

	find_build_id(ids->profile, location, build_id);
	*ret_is_named = !build_id[0];
	bytes_clear(&ids->row);
	put_text(ids, location->module);
	clickhouse_put_string(&ids->row, build_id);
	bytes_put_u64(&ids->row, *ret_is_named ? 0 : location->vaddr);
	for (column = 0; column < LINE_COLUMNS; column++) {
		bytes_put_varint(&ids->row, location->line_count);
		for (i = 0; i < location->line_count; i++)
			put_column(ids, &lines[i], (enum line_column)column);
	}
	return ids->row.failed || ids->text.failed ? -ENOMEM : 0;
}

static int find_location(struct stack_ids *ids, uint32_t number, uint64_t *ret)
{
	const struct profile_location *location = &ids->profile->locations.items[number];
	char build_id[2 * BUILD_ID_MAX + 1];
	bool is_named;
	int r;

	*ret = ids->locations[number];
	if (*ret != 0)
		return 0;
	r = stack_ids_location(ids, number, &is_named);
	if (r < 0)
		return r;
	if (is_named) {
		*ret = XXH3_64bits(ids->row.data, ids->row.size);
	} else {
		find_build_id(ids->profile, location, build_id);
		*ret = XXH3_64bits_withSeed(build_id, strlen(build_id), location->vaddr);
	}
	*ret += *ret == 0;
	ids->locations[number] = *ret;
	return 0;
}

static int find_stacks(struct stack_ids *ids)
{
	const struct stack_tree *stacks = &ids->profile->stacks;
	size_t i;

	for (i = stacks->nodes.count; i-- > 1;)
		ids->needed[stacks->nodes.items[i].parent] |= ids->needed[i];
	for (i = 1; i < stacks->nodes.count; i++) {
		struct stack_node node = stacks->nodes.items[i];
		uint64_t both[2] = {ids->stacks[node.parent], 0};
		int r;

		if (!ids->needed[i])
			continue;
		r = find_location(ids, node.frame, &both[1]);
		if (r < 0)
			return r;
		ids->stacks[i] = XXH3_64bits(both, sizeof(both));
		ids->stacks[i] += ids->stacks[i] == 0;
	}
	return 0;
}

int stack_ids_init(struct stack_ids *ids, const struct profile *profile, const uint8_t *wanted)
{
	size_t count = profile->stacks.nodes.count;

	*ids = (struct stack_ids){.profile = profile};
	ids->locations = calloc(profile->locations.count + 1, sizeof(*ids->locations));
	ids->stacks = calloc(count, sizeof(*ids->stacks));
	ids->needed = malloc(count);
	if (!ids->locations || !ids->stacks || !ids->needed)
		return -ENOMEM;
	memcpy(ids->needed, wanted, count);
	return find_stacks(ids);
}

void stack_ids_fini(struct stack_ids *ids)
{
	free(ids->locations);
	free(ids->stacks);
	free(ids->needed);
	bytes_fini(&ids->row);
	bytes_fini(&ids->text);
	*ids = (struct stack_ids){0};
}
