/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "export/export.h"
#include "export/formats.h"
#include "model/profile.h"

/*
 * speedscope: the file format of www.speedscope.app, one "sampled" profile for each thread, the
 * busiest first; if a profile has several value types, the others follow as separate profiles,
 * distinguished by name. Frames are functions; if the source file is unknown, the module is given
 * instead.
 *
 * Samples are listed in time order, which its "Time Order" view shows. If the profile does not have
 * single samples (heap blocks, or a profile whose file no longer exists), equal stacks are merged.
 */

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct thread_rank {
	uint32_t thread;
	int64_t total;
};

/* The cost of a stack in a thread. */
struct cost {
	uint32_t thread;
	uint32_t stack;
	int64_t value;
};

struct scope {
	const struct profile *profile;
	uint32_t value;
	bool beside; /* it is not the requested one */
	struct json json;
	struct thread_rank *ranks;
	VEC(struct cost) costs;  /* in the order of the profile */
	VEC(struct cost) sorted; /* by thread, then in the same order */
	VEC(uint32_t) path;
};

static const char *unit_of(const char *unit)
{
	static const char *const known[] = {"nanoseconds", "microseconds", "milliseconds",
					    "seconds", "bytes"};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(unit, known[i]) == 0)
			return known[i];
	return "none";
}

static void put_frames(struct scope *scope)
{
	const struct profile *profile = scope->profile;
	size_t i;

	json_open_object(&scope->json, "shared");
	json_open_array(&scope->json, "frames");
	for (i = 0; i < profile->functions.count; i++) {
		const struct profile_function *function = &profile->functions.items[i];
		const char *file =
			profile_text(profile, function->file ? function->file : function->module);

		json_open_object(&scope->json, NULL);
		json_string(&scope->json, "name", profile_text(profile, function->name));
		if (*file)
			json_string(&scope->json, "file", file);
		json_close(&scope->json);
	}
	json_close(&scope->json);
	json_close(&scope->json);
}

/* Entries of a profile with several values may have 0 of this one. */
static int add_cost(struct scope *scope, struct cost cost)
{
	return scope->profile->value_count > 2 && cost.value == 0 ? 0
								  : vec_push(&scope->costs, cost);
}

/* Collects the value, by sample if samples are known. Returns 0 or -ENOMEM. */
static int gather(struct scope *scope)
{
	const struct profile *profile = scope->profile;
	size_t i;
	int r = 0;

	scope->costs.count = 0;
	for (i = 0; i < profile->time.samples.count && r == 0; i++) {
		const struct profile_sample *sample = &profile->time.samples.items[i];

		if (sample->type == scope->value)
			r = add_cost(scope,
				     (struct cost){sample->thread, sample->stack, sample->value});
	}
	if (scope->costs.count > 0)
		return r;
	for (i = 0; i < profile->entries.count && r == 0; i++)
		r = add_cost(scope, (struct cost){profile->entries.items[i].thread,
						  profile->entries.items[i].stack,
						  profile_entry_values(profile, i)[scope->value]});
	return r;
}

static void put_stack(struct scope *scope, uint32_t stack)
{
	const struct profile *profile = scope->profile;
	size_t i;
	uint32_t at;

	scope->path.count = 0;
	for (; stack != 0; stack = profile->stacks.nodes.items[stack].parent)
		if (vec_push(&scope->path, profile->stacks.nodes.items[stack].frame) < 0)
			scope->json.out->failed = true;
	json_open_array(&scope->json, NULL);
	for (i = scope->path.count; i-- > 0;) {
		const struct profile_location *location =
			&profile->locations.items[scope->path.items[i]];

		for (at = 0; at < location->line_count; at++)
			json_u64(&scope->json, NULL,
				 profile->lines.items[location->first_line + at].function);
	}
	json_close(&scope->json);
}

/* One thread; its entries are `first` to `end` of the sorted ones. */
static void put_thread(struct scope *scope, const struct thread_rank *rank, uint32_t first,
		       uint32_t end)
{
	const struct profile *profile = scope->profile;
	const struct profile_thread *thread = &profile->threads.items[rank->thread];
	struct bytes name = {0};
	uint32_t i;

	bytes_printf(&name, "%s (%s %u, thread %u)", profile_text(profile, thread->comm),
		     profile_text(profile, thread->process_comm), thread->pid, thread->tid);
	if (scope->beside)
		bytes_printf(&name, ": %s", profile->value_types[scope->value].name);
	bytes_put_u8(&name, '\0');
	json_open_object(&scope->json, NULL);
	json_string(&scope->json, "type", "sampled");
	json_string(&scope->json, "name", name.failed ? "" : (char *)name.data);
	json_string(&scope->json, "unit", unit_of(profile->value_types[scope->value].unit));
	json_u64(&scope->json, "startValue", 0);
	json_i64(&scope->json, "endValue", rank->total);
	json_open_array(&scope->json, "samples");
	for (i = first; i < end; i++)
		put_stack(scope, scope->sorted.items[i].stack);
	json_close(&scope->json);
	json_open_array(&scope->json, "weights");
	for (i = first; i < end; i++)
		json_i64(&scope->json, NULL, scope->sorted.items[i].value);
	json_close(&scope->json);
	json_close(&scope->json);
	bytes_fini(&name);
}

static int by_total(const void *a, const void *b)
{
	const struct thread_rank *x = a;
	const struct thread_rank *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Groups entries by thread, with a counting sort. Returns where each thread begins. */
static uint32_t *sort_costs(struct scope *scope)
{
	size_t threads = scope->profile->threads.count;
	uint32_t *starts = calloc(threads + 2, sizeof(*starts));
	size_t i;

	if (!starts || vec_reserve(&scope->sorted, scope->costs.count) < 0) {
		free(starts);
		return NULL;
	}
	/*
	 * starts[t + 2] counts t; then starts[t + 1] is the next position of t, and at the end the
	 * start of t + 1.
	 */
	for (i = 0; i < scope->costs.count; i++)
		starts[scope->costs.items[i].thread + 2]++;
	for (i = 2; i < threads + 2; i++)
		starts[i] += starts[i - 1];
	for (i = 0; i < scope->costs.count; i++) {
		const struct cost *cost = &scope->costs.items[i];

		scope->sorted.items[starts[cost->thread + 1]++] = *cost;
		scope->ranks[cost->thread].total += cost->value;
	}
	for (i = 0; i < threads; i++)
		scope->ranks[i].thread = (uint32_t)i;
	return starts;
}

/* Writes the profiles of one value type. */
static int put_value(struct scope *scope)
{
	const struct profile *profile = scope->profile;
	uint32_t *starts;
	size_t i;

	memset(scope->ranks, 0, profile->threads.count * sizeof(*scope->ranks));
	starts = gather(scope) < 0 ? NULL : sort_costs(scope);
	if (!starts)
		return -ENOMEM;
	qsort(scope->ranks, profile->threads.count, sizeof(*scope->ranks), by_total);
	for (i = 0; i < profile->threads.count; i++) {
		uint32_t thread = scope->ranks[i].thread;

		if (starts[thread + 1] > starts[thread] &&
		    (!scope->beside || scope->ranks[i].total != 0))
			put_thread(scope, &scope->ranks[i], starts[thread], starts[thread + 1]);
	}
	free(starts);
	return 0;
}

static int put_profiles(struct scope *scope)
{
	const struct profile *profile = scope->profile;
	uint32_t first = scope->value;
	uint32_t i;
	int r;

	scope->ranks = calloc(profile->threads.count + 1, sizeof(*scope->ranks));
	if (!scope->ranks)
		return -ENOMEM;
	json_open_array(&scope->json, "profiles");
	r = put_value(scope);
	scope->beside = true;
	for (i = 0; i < profile->value_count && r == 0; i++) {
		scope->value = i;
		if (i != first && strcmp(profile->value_types[i].name, "samples") != 0)
			r = put_value(scope);
	}
	json_close(&scope->json);
	return r;
}

static int speedscope_write(const struct profile *profile, const struct export_config *config,
			    struct bytes *out, struct error *err)
{
	struct scope scope = {
		.profile = profile,
		.value =
			config->value == EXPORT_DEFAULT_VALUE ? profile->main_value : config->value,
	};
	int r;

	json_init(&scope.json, out, false);
	json_open_object(&scope.json, NULL);
	json_string(&scope.json, "$schema", SCHEMA);
	json_string(&scope.json, "exporter", "wick " WICK_VERSION);
	json_string(&scope.json, "name", profile->title);
	json_u64(&scope.json, "activeProfileIndex", 0);
	put_frames(&scope);
	r = put_profiles(&scope);
	json_close(&scope.json);
	bytes_put_u8(out, '\n');
	free(scope.ranks);
	vec_fini(&scope.costs);
	vec_fini(&scope.sorted);
	vec_fini(&scope.path);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

const struct exporter_ops export_speedscope = {
	.name = "speedscope",
	.summary = "for www.speedscope.app: a profile for each thread and value",
	.extension = "speedscope.json",
	.in_order = true,
	.write = speedscope_write,
};
