/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TESTS_MAKE_PROFILE_H
#define WICK_TESTS_MAKE_PROFILE_H

/*
 * make_profile: small profiles for tests, written as stacks of names.
 *
 *	make_stack(profile, thread, "main;parse;read", 3);
 *
 * "a>b" is b inlined into a, "a@1" and "a@2" are two addresses of a. A name that
 * starts with "lib", "sys_", "jit_", "0x" or "[truncated]" is of that origin,
 * others are of the program. Values are samples and 10 ms of cpu for each.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "model/profile.h"

#define MAKE_PERIOD_NS 10000000

static inline uint32_t make_function(struct profile *profile, const char *name)
{
	static const struct {
		const char *prefix;
		const char *module;
		enum function_origin origin;
	} origins[] = {
		{"lib", "/usr/lib/libdemo.so.1", ORIGIN_LIBRARY},
		{"sys_", "[kernel]", ORIGIN_KERNEL},
		{"jit_", "", ORIGIN_JIT},
		{"0x", "", ORIGIN_UNKNOWN},
		{"[truncated]", "", ORIGIN_TRUNCATED},
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(origins); i++)
		if (strncmp(name, origins[i].prefix, strlen(origins[i].prefix)) == 0)
			return profile_function(profile, name, "", origins[i].module,
						origins[i].origin);
	return profile_function(profile, name, "app.c", "/usr/bin/app", ORIGIN_PROGRAM);
}

/* The location of "outer>inlined@address". */
static inline uint32_t make_location(struct profile *profile, char *frame)
{
	struct profile_line lines[8] = {0};
	char *address = strrchr(frame, '@');
	uint32_t count = 0;
	char *name;

	if (address)
		*address++ = '\0';
	while (count < 8 && (name = strsep(&frame, ">")))
		lines[count++].function = make_function(profile, name);
	return profile_location(profile, "/usr/bin/app",
				0x1000 + lines[count - 1].function * 0x100 +
					(address ? strtoul(address, NULL, 10) : 0),
				lines, count);
}

static inline void make_stack(struct profile *profile, uint32_t thread, const char *frames,
			      int64_t samples)
{
	const int64_t values[2] = {samples, samples * MAKE_PERIOD_NS};
	char *copy = strdup(frames);
	char *rest = copy;
	uint32_t stack = 0;
	char *frame;

	assert_non_null(copy);
	while ((frame = strsep(&rest, ";")))
		if (*frame)
			stack = stack_tree_child(&profile->stacks, stack,
						 make_location(profile, frame));
	free(copy);
	assert_int_equal(profile_add(profile, stack, thread, values), 0);
	profile->quality.samples += (uint64_t)samples;
	profile->duration_ns += (uint64_t)samples * MAKE_PERIOD_NS;
}

/* An empty profile of one process "app" with thread 0 = "app" (tid 100). */
static inline struct profile *make_profile(void)
{
	static const struct value_type types[] = {{"samples", "count"}, {"cpu", "nanoseconds"}};
	struct profile *profile = NULL;

	assert_int_equal(profile_new(types, ARRAY_SIZE(types), &profile), 0);
	profile->main_value = 1;
	profile->title = "app --demo";
	profile->period_ns = MAKE_PERIOD_NS;
	assert_int_equal(profile_thread(profile, 100, 100, "app", "app"), 0);
	return profile;
}

#endif
