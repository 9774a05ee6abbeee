/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "base/text.h"
#include "export/export.h"
#include "export/formats.h"
#include "model/call_tree.h"
#include "model/profile.h"

/*
 * folded: one line for each stack, as flamegraph.pl and many others read it:
 *
 *	comm;main;parse;read 42
 *
 * CPU time and events are counted in samples. A wait is one sample however long it is, so other
 * kinds of time are in microseconds, as in other tools; everything else is in its own unit.
 *
 * The format has no escapes. Characters that would be read as structure are replaced: ';' by ':',
 * control bytes by '_', and the space in a name that ends in " 7" by '_' (readers would take the
 * number as the count of a second profile).
 */

/* Whether text from here to the name's end is a space and digits. */
static bool is_count_tail(const char *text)
{
	size_t digits = *text == ' ' ? strspn(text + 1, "0123456789.") : 0;

	return digits > 0 && text[1 + digits] == '\0';
}

static void put_name(struct bytes *out, const char *name)
{
	if (*name == '\0')
		bytes_put(out, "[unnamed]", 9);
	while (*name) {
		uint32_t c;
		unsigned int n = text_decode_utf8(name, &c);

		if (c == ';')
			bytes_put_u8(out, ':');
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || is_count_tail(name))
			bytes_put_u8(out, '_');
		else if (c == 0xfffd)
			bytes_put(out, "\xef\xbf\xbd", 3);
		else
			bytes_put(out, name, n);
		name += n;
	}
}

struct folder {
	const struct call_tree *tree;
	struct bytes line;   /* "comm;main;parse" of the current node */
	VEC(size_t) lengths; /* of the line up to each depth */
	bool samples;        /* count samples instead of the tree's value */
	bool waits;          /* the value is in nanoseconds, the output in microseconds */
	struct bytes *out;
};

/* Rounded, but at least 1 unless it is 0. */
static int64_t to_us(int64_t ns)
{
	const int64_t us = (int64_t)NS_PER_US;

	return ns > 0 && ns < us ? 1 : ns / us + (ns % us >= us / 2);
}

static int fold_node(struct folder *folder, uint32_t id)
{
	const struct call_node *node = &call_tree_nodes(folder->tree)[id];
	int64_t count = folder->samples ? (int64_t)node->self_samples : node->self;

	if (folder->waits)
		count = to_us(count);

	folder->lengths.count = node->depth;
	folder->line.size = folder->lengths.items[node->depth - 1];
	if (node->depth > 1)
		bytes_put_u8(&folder->line, ';');
	put_name(&folder->line, call_tree_name(folder->tree, id));
	if (vec_push(&folder->lengths, folder->line.size) < 0 || folder->line.failed)
		return -ENOMEM;
	if (count == 0)
		return 0;
	bytes_put(folder->out, folder->line.data, folder->line.size);
	bytes_printf(folder->out, " %" PRId64 "\n", count);
	return 0;
}

/*
 * The mark of a function by its position in the location: 0 is the one that others are inlined
 * into.
 */
static const char *mark_of(const struct profile_function *function, uint32_t at)
{
	if (at > 0)
		return "_[i]";
	if (function->origin == ORIGIN_KERNEL)
		return "_[k]";
	return function->origin == ORIGIN_JIT ? "_[j]" : "";
}

/* A copy of the location whose functions have marks; ID_NONE if out of memory. */
static uint32_t mark_location(const struct profile *profile, uint32_t id, struct profile *marked)
{
	const struct profile_location *location = &profile->locations.items[id];
	VEC(struct profile_line) lines = {0};
	struct bytes name = {0};
	uint32_t result = ID_NONE;
	uint32_t i;

	for (i = 0; i < location->line_count; i++) {
		struct profile_line line = profile->lines.items[location->first_line + i];
		const struct profile_function *function = &profile->functions.items[line.function];

		bytes_clear(&name);
		bytes_printf(&name, "%s%s", profile_text(profile, function->name),
			     mark_of(function, i));
		bytes_put_u8(&name, '\0');
		if (name.failed)
			break;
		line.file = 0; /* it is of the other profile's strings */
		line.function = profile_function(marked, (char *)name.data, "", "", 0);
		if (line.function == ID_NONE || vec_push(&lines, line) < 0)
			break;
	}
	if (i == location->line_count)
		result = profile_location(marked, "", 0, lines.items, i);
	vec_fini(&lines);
	bytes_fini(&name);
	return result;
}

/* A copy of the profile with marks in the names. */
static int mark(const struct profile *profile, struct profile **ret)
{
	const struct stack_tree *stacks = &profile->stacks;
	SCOPED(profile) struct profile *marked = NULL;
	VEC(uint32_t) nodes = {0};
	size_t i;
	int r = profile_new(profile->value_types, profile->value_count, &marked);

	for (i = 0; i < stacks->nodes.count && r == 0; i++) {
		struct stack_node node = stacks->nodes.items[i];
		uint32_t location = i > 0 ? mark_location(profile, node.frame, marked) : 0;
		uint32_t copy = 0;

		if (i > 0 && location != ID_NONE)
			copy = stack_tree_child(&marked->stacks, nodes.items[node.parent],
						location);
		r = location == ID_NONE || copy == ID_NONE ? -ENOMEM : vec_push(&nodes, copy);
	}
	for (i = 0; i < profile->threads.count && r == 0; i++) {
		const struct profile_thread *thread = &profile->threads.items[i];

		if (profile_thread(marked, thread->pid, thread->tid,
				   profile_text(profile, thread->comm),
				   profile_text(profile, thread->process_comm)) == ID_NONE)
			r = -ENOMEM;
	}
	for (i = 0; i < profile->entries.count && r == 0; i++)
		r = profile_add(marked, nodes.items[profile->entries.items[i].stack],
				profile->entries.items[i].thread, profile_entry_values(profile, i));
	vec_fini(&nodes);
	if (r < 0)
		return r;
	marked->main_value = profile->main_value;
	*ret = scope_take(&marked);
	return 0;
}

/* Whether it is a time that the number of samples does not measure. */
static bool is_waits(struct value_type type)
{
	return strcmp(type.unit, "nanoseconds") == 0 && strcmp(type.name, "cpu") != 0;
}

static int fold(const struct profile *profile, const struct export_config *config,
		struct bytes *out, struct error *err)
{
	uint32_t samples = call_tree_samples_value(profile);
	bool chosen = config->value != EXPORT_DEFAULT_VALUE;
	struct call_tree_options options = {.group = CALL_TREE_BY_PROCESS,
					    .value = chosen ? config->value : profile->main_value};
	SCOPED(call_tree) struct call_tree *tree = NULL;
	bool waits = !chosen && is_waits(profile->value_types[profile->main_value]);
	struct folder folder = {
		.out = out, .samples = !chosen && !waits && samples != ID_NONE, .waits = waits};
	uint32_t i;
	int r = call_tree_new(profile, &options, &tree);

	if (r < 0)
		return error_errno(err, r, "cannot build the call tree");
	folder.tree = tree;
	r = vec_push(&folder.lengths, 0);
	for (i = 1; i < call_tree_count(tree) && r == 0; i++)
		r = fold_node(&folder, i);
	bytes_fini(&folder.line);
	vec_fini(&folder.lengths);
	if (r < 0)
		return error_set(err, r, "out of memory");
	return 0;
}

static int folded_write(const struct profile *profile, const struct export_config *config,
			struct bytes *out, struct error *err)
{
	SCOPED(profile) struct profile *marked = NULL;

	if (config->marks && mark(profile, &marked) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return fold(marked ? marked : profile, config, out, err);
}

const struct exporter_ops export_folded = {
	.name = "folded",
	.summary = "one line per stack, for flamegraph.pl and similar tools",
	.extension = "folded",
	.write = folded_write,
};
