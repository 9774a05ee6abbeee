/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes the flame graph of a made-up profile with several value types to standard
 * output, with an argument as a page, for the browser tests: recordings have one value besides
 * samples.
 */
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/profile.h"
#include "view/flame_page.h"

struct leaf {
	const char *caller;
	const char *name;
	int64_t values[4];
};

static int add(struct profile *profile, const struct leaf *leaf)
{
	const char *const names[] = {"main", leaf->caller, leaf->name};
	uint32_t stack = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct profile_line line = {
			.function = profile_function(profile, names[i], "", "app", ORIGIN_PROGRAM)};

		stack = stack_tree_child(&profile->stacks, stack,
					 profile_location(profile, "", line.function, &line, 1));
	}
	profile->quality.samples += (uint64_t)leaf->values[0];
	return profile_add(profile, stack, profile_thread(profile, 1, 1, "app", "app"),
			   leaf->values);
}

int main(int argc, char **argv)
{
	static const struct value_type types[] = {{"samples", "count"},
						  {"cycles", "count"},
						  {"instructions", "count"},
						  {"alloc_space", "bytes"}};
	/* In all 1,000 cycles and 1,500 instructions; walk is slow, add is quick. */
	static const struct leaf leaves[] = {
		{"work", "walk", {60, 600, 300, 4096}},
		{"work", "add", {30, 300, 1100, 0}},
		{"load", "read", {10, 100, 100, 61440}},
	};
	struct flame_page_options options = {.graph = FLAME_OPTIONS_DEFAULT};
	SCOPED(profile) struct profile *profile = NULL;
	struct bytes out = {0};
	struct error err = {0};
	size_t i;
	int r = profile_new(types, ARRAY_SIZE(types), &profile);

	for (i = 0; i < ARRAY_SIZE(leaves) && r == 0; i++)
		r = add(profile, &leaves[i]);
	if (r < 0)
		return 1;
	profile->title = "several values";
	profile->main_value = 1;
	r = argc > 1 ? flame_page_write(profile, &options, &out, &err)
		     : flame_write(profile, &options.graph, &out, &err);
	if (r == 0 && fwrite(out.data, 1, out.size, stdout) != out.size)
		r = -1;
	bytes_fini(&out);
	return r < 0;
}
