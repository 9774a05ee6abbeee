/* SPDX-License-Identifier: BSD-2-Clause */
#include "model/profile_pair.h"

#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"

struct joiner {
	struct profile_pair *pair;
	const struct profile *const *sides;
	const uint32_t *values;
	struct strings names;      /* of all functions */
	VEC(uint32_t) unique;      /* by name: the current side's function, or SEVERAL */
	VEC(bool) ambiguous;       /* by name: it occurs several times on one side */
	struct strings identities; /* what distinguishes functions */
	VEC(uint32_t) known;       /* by identity: id in both */
};

#define SEVERAL (ID_NONE - 1)

static const char *module_of(const struct profile *profile, const struct profile_function *function)
{
	if (function->origin == ORIGIN_PROGRAM)
		return "";
	return path_base_name(profile_text(profile, function->module));
}

static bool same_place(const struct profile *profile, const struct profile_function *a,
		       const struct profile_function *b)
{
	return strcmp(module_of(profile, a), module_of(profile, b)) == 0 &&
	       strcmp(path_base_name(profile_text(profile, a->file)),
		      path_base_name(profile_text(profile, b->file))) == 0;
}

static int grow(struct joiner *joiner, uint32_t name)
{
	while (joiner->unique.count <= name)
		if (vec_push(&joiner->unique, ID_NONE) < 0 ||
		    vec_push(&joiner->ambiguous, false) < 0)
			return -ENOMEM;
	return 0;
}

/* Finds the names that different functions of one side share. */
static int find_ambiguous(struct joiner *joiner, const struct profile *profile)
{
	size_t i;

	for (i = 0; i < joiner->unique.count; i++)
		joiner->unique.items[i] = ID_NONE;
	for (i = 0; i < profile->functions.count; i++) {
		const struct profile_function *function = &profile->functions.items[i];
		uint32_t name = strings_add(&joiner->names, profile_text(profile, function->name));
		uint32_t *first;

		if (name == ID_NONE || grow(joiner, name) < 0)
			return -ENOMEM;
		first = &joiner->unique.items[name];
		if (*first == ID_NONE)
			*first = (uint32_t)i;
		else if (*first != SEVERAL &&
			 !same_place(profile, &profile->functions.items[*first], function))
			*first = SEVERAL;
		if (*first == SEVERAL)
			joiner->ambiguous.items[name] = true;
	}
	return 0;
}

/* What distinguishes a function: NUL-terminated texts, joined by a byte that none contains. */
static uint32_t identify(struct joiner *joiner, const struct profile *profile,
			 const struct profile_function *function)
{
	const char *name = profile_text(profile, function->name);
	uint32_t id = strings_add(&joiner->names, name);
	const char *module = "";
	const char *file = "";
	SCOPED(mem) char *identity = NULL;
	int n;

	if (id == ID_NONE)
		return ID_NONE;
	if (joiner->ambiguous.items[id]) {
		module = module_of(profile, function);
		file = path_base_name(profile_text(profile, function->file));
	}
	/* Neither part of a path contains a slash. */
	n = asprintf(&identity, "%s/%s/%s", module, file, name);
	if (n < 0) {
		identity = NULL; /* undefined after asprintf() failed */
		return ID_NONE;
	}
	return strings_add_n(&joiner->identities, identity, (size_t)n);
}

static int join_function(struct joiner *joiner, int side, uint32_t id)
{
	const struct profile *profile = joiner->sides[side];
	const struct profile_function *function = &profile->functions.items[id];
	uint32_t identity = identify(joiner, profile, function);

	if (identity == ID_NONE)
		return -ENOMEM;
	while (joiner->known.count <= identity)
		if (vec_push(&joiner->known, ID_NONE) < 0)
			return -ENOMEM;
	if (joiner->known.items[identity] == ID_NONE)
		joiner->known.items[identity] =
			profile_function(joiner->pair->both, profile_text(profile, function->name),
					 profile_text(profile, function->file),
					 profile_text(profile, function->module),
					 (enum function_origin)function->origin);
	joiner->pair->functions[side][id] = joiner->known.items[identity];
	return joiner->known.items[identity] == ID_NONE ? -ENOMEM : 0;
}

static int join_functions(struct joiner *joiner)
{
	int side;
	uint32_t i;

	for (side = 0; side < 2; side++) {
		const struct profile *profile = joiner->sides[side];

		joiner->pair->functions[side] =
			calloc(profile->functions.count + 1, sizeof(uint32_t));
		if (!joiner->pair->functions[side] || find_ambiguous(joiner, profile) < 0)
			return -ENOMEM;
	}
	/* Other attributes are taken from after, which is newer. */
	for (side = 1; side >= 0; side--)
		for (i = 0; i < joiner->sides[side]->functions.count; i++)
			if (join_function(joiner, side, i) < 0)
				return -ENOMEM;
	return 0;
}

/* Stacks */

/* Extends the joined stack of a parent by the functions at a location of a side. */
static uint32_t extend(struct joiner *joiner, int side, uint32_t stack, uint32_t location)
{
	const struct profile *profile = joiner->sides[side];
	struct profile *both = joiner->pair->both;
	struct profile_location from = profile->locations.items[location];
	uint32_t i;

	for (i = 0; i < from.line_count && stack != ID_NONE; i++) {
		uint32_t function = profile->lines.items[from.first_line + i].function;
		struct profile_line line = {.function = joiner->pair->functions[side][function]};
		uint32_t at = profile_location(both, "", line.function, &line, 1);

		stack = at == ID_NONE ? ID_NONE : stack_tree_child(&both->stacks, stack, at);
	}
	return stack;
}

/* The joined stack of each stack of a side. A parent's id is smaller than its children's. */
static uint32_t *join_stacks(struct joiner *joiner, int side)
{
	const struct stack_tree *stacks = &joiner->sides[side]->stacks;
	SCOPED(mem) uint32_t *joined = calloc(stacks->nodes.count + 1, sizeof(*joined));
	size_t i;

	for (i = 1; joined && i < stacks->nodes.count; i++) {
		struct stack_node node = stacks->nodes.items[i];

		joined[i] = extend(joiner, side, joined[node.parent], node.frame);
		if (joined[i] == ID_NONE)
			return NULL;
	}
	return scope_take(&joined);
}

static uint32_t join_thread(struct joiner *joiner, int side, uint32_t id)
{
	const struct profile *profile = joiner->sides[side];
	const struct profile_thread *thread = &profile->threads.items[id];

	return profile_thread(joiner->pair->both, 0, 0, profile_text(profile, thread->comm),
			      profile_text(profile, thread->process_comm));
}

static int join_entries(struct joiner *joiner, int side)
{
	const struct profile *profile = joiner->sides[side];
	uint32_t counted = call_tree_samples_value(profile);
	SCOPED(mem) uint32_t *stacks = join_stacks(joiner, side);
	size_t i;

	if (!stacks)
		return -ENOMEM;
	for (i = 0; i < profile->entries.count; i++) {
		struct profile_entry entry = profile->entries.items[i];
		const int64_t *from = profile_entry_values(profile, i);
		uint32_t thread = join_thread(joiner, side, entry.thread);
		int64_t values[PAIR_VALUES] = {0};

		values[side ? PAIR_AFTER : PAIR_BEFORE] = from[joiner->values[side]];
		values[PAIR_BOTH] = from[joiner->values[side]];
		if (counted != ID_NONE)
			values[side ? PAIR_SAMPLES_AFTER : PAIR_SAMPLES_BEFORE] = from[counted];
		if (thread == ID_NONE ||
		    profile_add(joiner->pair->both, stacks[entry.stack], thread, values) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Readers judge the joined profile by the losses of both. */
static void join_quality(struct profile_quality *sum, const struct profile_quality *side)
{
	sum->samples += side->samples;
	sum->lost += side->lost;
	sum->unreadable += side->unreadable;
	sum->truncated += side->truncated;
	sum->resolved += side->resolved;
	sum->name_only += side->name_only;
	sum->unsymbolised += side->unsymbolised;
	sum->corrupted += side->corrupted;
	sum->invalid += side->invalid;
	sum->damaged_chunks += side->damaged_chunks;
	sum->incomplete = sum->incomplete || side->incomplete;
}

static int join(struct joiner *joiner)
{
	struct value_type type = joiner->sides[1]->value_types[joiner->values[1]];
	struct value_type types[PAIR_VALUES] = {
		[PAIR_BEFORE] = {"before", type.unit},
		[PAIR_AFTER] = type,
		[PAIR_SAMPLES_BEFORE] = {"samples before", "count"},
		[PAIR_SAMPLES_AFTER] = {"samples", "count"},
		[PAIR_BOTH] = {"both", type.unit},
	};
	int side;

	if (profile_new(types, PAIR_VALUES, &joiner->pair->both) < 0 || join_functions(joiner) < 0)
		return -ENOMEM;
	for (side = 0; side < 2; side++) {
		if (join_entries(joiner, side) < 0)
			return -ENOMEM;
		join_quality(&joiner->pair->both->quality, &joiner->sides[side]->quality);
	}
	joiner->pair->both->main_value = PAIR_AFTER;
	joiner->pair->both->title = joiner->sides[1]->title;
	return 0;
}

int profile_pair_init(struct profile_pair *pair, const struct profile *const sides[2],
		      const uint32_t values[2])
{
	struct joiner joiner = {.pair = pair, .sides = sides, .values = values};
	int r = -ENOMEM;

	*pair = (struct profile_pair){0};
	if (strings_init(&joiner.names) == 0) {
		if (strings_init(&joiner.identities) == 0) {
			r = join(&joiner);
			strings_fini(&joiner.identities);
		}
		strings_fini(&joiner.names);
	}
	vec_fini(&joiner.unique);
	vec_fini(&joiner.ambiguous);
	vec_fini(&joiner.known);
	if (r < 0)
		profile_pair_fini(pair);
	return r;
}

void profile_pair_fini(struct profile_pair *pair)
{
	profile_free(pair->both);
	free(pair->functions[0]);
	free(pair->functions[1]);
	*pair = (struct profile_pair){0};
}
