/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/allocators.h"

#include <string.h>

/* How the files of libraries begin that allocate for others. */
static const char *const libraries[] = {
	"libc.so",   "libc-2.",     "ld-linux",    "ld-musl-",    "libstdc++.so",
	"libc++.so", "libjemalloc", "libtcmalloc", "libmimalloc", "libwick-preload",
};

/* How the names of functions begin that do. */
static const char *const prefixes[] = {"operator new", "std::", "__gnu_cxx::"};

static const char *const names[] = {
	"malloc",        "calloc",   "realloc", "reallocarray", "posix_memalign",
	"aligned_alloc", "memalign", "valloc",  "pvalloc",
};

int allocators_init(struct allocators *allocators, const struct profile *profile)
{
	*allocators = (struct allocators){.profile = profile};
	for (size_t i = 0; i < profile->functions.count; i++)
		if (vec_push(&allocators->known, 0) < 0)
			return -ENOMEM;
	return 0;
}

void allocators_fini(struct allocators *allocators)
{
	vec_fini(&allocators->known);
}

static bool begins_with(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(text, list[i], strlen(list[i])) == 0)
			return true;
	return false;
}

static bool judge(const struct profile *profile, uint32_t id)
{
	const struct profile_function *function = &profile->functions.items[id];
	const char *name = profile_text(profile, function->name);
	const char *module = profile_text(profile, function->module);
	const char *slash = strrchr(module, '/');

	if (begins_with(slash ? slash + 1 : module, libraries, ARRAY_SIZE(libraries)) ||
	    begins_with(name, prefixes, ARRAY_SIZE(prefixes)))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool allocators_has(struct allocators *allocators, uint32_t function)
{
	int8_t *known = &allocators->known.items[function];

	if (*known == 0)
		*known = judge(allocators->profile, function) ? 1 : -1;
	return *known > 0;
}

int allocators_lines(struct allocators *allocators, uint32_t stack, size_t most,
		     struct allocation_lines *ret)
{
	const struct profile *profile = allocators->profile;
	const struct stack_node *nodes = profile->stacks.nodes.items;
	bool found = false;

	ret->items.count = 0;
	ret->place = 0;
	for (uint32_t at = stack; at != 0; at = nodes[at].parent) {
		const struct profile_location *location =
			&profile->locations.items[nodes[at].frame];
		bool is_cut = profile_is_truncated(profile, nodes[at].frame);

		for (uint32_t i = location->line_count; i-- > 0;) {
			uint32_t line = location->first_line + i;
			bool allocates =
				allocators_has(allocators, profile->lines.items[line].function);

			if (ret->items.count >= most)
				return 0;
			if (!found && !allocates && !is_cut) {
				found = true;
				ret->place = ret->items.count;
			}
			if (vec_push(&ret->items,
				     (struct allocation_line){line, i > 0, allocates}) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}
