/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * layout_bench: what it costs to make the call tree of a profile with a million nodes
 * and to place all of its boxes, none left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/scope.h"
#include "model/call_tree.h"
#include "model/profile.h"
#include "view/flame/flame_layout.h"

#define NODES 1000000u
#define FUNCTIONS 20000u
#define DEPTH 60u
#define REPEATS 5

static double cpu_s(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now); /* cannot fail */
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Stacks that leave the one before at some depth, until there are enough nodes. */
static int fill(struct profile *profile)
{
	uint32_t path[DEPTH] = {0};
	uint32_t random = 7;
	uint32_t depth = 0;
	uint32_t i;

	for (i = 0; i < FUNCTIONS; i++) {
		struct profile_line line = {0};
		char name[32];

		(void)snprintf(name, sizeof(name), "function_%u", i); /* fits */
		line.function = profile_function(profile, name, "", "", ORIGIN_PROGRAM);
		if (line.function == ID_NONE ||
		    profile_location(profile, "", i, &line, 1) == ID_NONE)
			return -1;
	}
	if (profile_thread(profile, 1, 1, "app", "app") == ID_NONE)
		return -1;
	while (profile->stacks.nodes.count < NODES) {
		for (depth = depth / 2 + (random >> 9) % 4; depth + 1 < DEPTH; depth++) {
			random = random * 1103515245u + 12345u;
			path[depth + 1] = stack_tree_child(&profile->stacks, path[depth],
							   (random >> 8) % FUNCTIONS);
			if (path[depth + 1] == ID_NONE)
				return -1;
		}
		if (profile_add(profile, path[depth], 0, &(int64_t){1 + random % 9}) < 0)
			return -1;
	}
	return 0;
}

static int measure(const struct profile *profile)
{
	double least_s = 1e9;
	uint32_t count = 0;
	size_t boxes = 0;
	int i;

	for (i = 0; i < REPEATS; i++) {
		SCOPED(call_tree) struct call_tree *tree = NULL;
		struct flame_layout layout;
		double begin_s = cpu_s();

		if (call_tree_new(profile, &(struct call_tree_options){0}, &tree) < 0 ||
		    flame_layout_init(&layout, tree, 0) < 0)
			return -1;
		if (cpu_s() - begin_s < least_s)
			least_s = cpu_s() - begin_s;
		count = call_tree_count(tree);
		boxes = layout.boxes.count;
		flame_layout_fini(&layout);
	}
	(void)printf("%u nodes, %zu boxes: %.3f s\n", count, boxes, least_s);
	return 0;
}

int main(void)
{
	static const struct value_type types[] = {{"samples", "count"}};
	SCOPED(profile) struct profile *profile = NULL;

	if (profile_new(types, 1, &profile) < 0 || fill(profile) < 0 || measure(profile) < 0) {
		(void)fprintf(stderr, "layout_bench: no memory\n");
		return 1;
	}
	return 0;
}
