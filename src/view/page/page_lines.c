/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/page/page_lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "model/profile.h"
#include "view/page/page_source.h"

void page_lines_fini(struct page_lines *lines)
{
	stack_tree_fini(&lines->tree);
	vec_fini(&lines->lines);
	id_index_fini(&lines->index);
	free(lines->ends);
}

/* The number of a line, created if missing; ID_NONE: out of memory. */
static uint32_t number_of(struct page_lines *lines, struct page_line line)
{
	uint64_t hash = hash_pair(line.file, line.line);
	struct id_probe probe = id_index_probe(&lines->index, hash);
	uint32_t id;

	while ((id = id_probe_next(&lines->index, &probe)) != ID_NONE)
		if (lines->lines.items[id].file == line.file &&
		    lines->lines.items[id].line == line.line)
			return id;
	id = (uint32_t)lines->lines.count;
	return id_index_add(&lines->index, hash, id) < 0 || vec_push(&lines->lines, line) < 0
		       ? ID_NONE
		       : id;
}

/* Maps a stack, from the result for its parent. 0 or -ENOMEM. */
static int add_location(struct page_lines *lines, const struct profile *profile,
			const struct page_source *source, uint32_t location, uint32_t *end)
{
	const struct profile_location *at = &profile->locations.items[location];
	uint32_t node = *end / 2;
	bool is_known = false;

	for (uint32_t i = 0; i < at->line_count; i++) {
		struct profile_line line = profile->lines.items[at->first_line + i];
		uint32_t file = source->file_of[profile_line_file(profile, line)];
		uint32_t number;

		is_known = line.line > 0 && file > 0;
		if (!is_known)
			continue;
		number = number_of(lines, (struct page_line){file - 1, line.line});
		node = number == ID_NONE ? ID_NONE : stack_tree_child(&lines->tree, node, number);
		if (node == ID_NONE)
			return -ENOMEM;
	}
	*end = node * 2 + is_known;
	return 0;
}

int page_lines_init(struct page_lines *lines, const struct profile *profile,
		    const struct page_source *source)
{
	size_t count = profile->stacks.nodes.count;
	int r = 0;

	if (!source->file_of || count > PAGE_LINES_STACKS)
		return 0;
	if (stack_tree_init(&lines->tree) < 0)
		return -ENOMEM;
	lines->ends = calloc(count + 1, sizeof(*lines->ends));
	for (size_t i = 1; lines->ends && i < count && r == 0; i++) { /* parents come first */
		struct stack_node node = profile->stacks.nodes.items[i];

		lines->ends[i] = lines->ends[node.parent];
		r = add_location(lines, profile, source, node.frame, &lines->ends[i]);
	}
	return lines->ends ? r : -ENOMEM;
}

void page_lines_put(const struct page_lines *lines, struct bytes *out)
{
	size_t count = lines->tree.nodes.count;

	bytes_put_varint(out, lines->lines.count);
	for (size_t i = 0; i < lines->lines.count; i++)
		bytes_put_varint(out, lines->lines.items[i].file);
	for (size_t i = 0; i < lines->lines.count; i++)
		bytes_put_varint(out, lines->lines.items[i].line);
	bytes_put_varint(out, count > 0 ? count - 1 : 0);
	for (size_t i = 1; i < count; i++)
		bytes_put_varint(out, i - lines->tree.nodes.items[i].parent);
	for (size_t i = 1; i < count; i++)
		bytes_put_varint(out, lines->tree.nodes.items[i].frame);
}
