/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <wick/profile.h>

#include "base/error.h"
#include "libwick/frames.h"
#include "libwick/profile_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/function_cost.h"
#include "model/profile.h"

struct wick_stacks {
	const struct profile *profile;
	size_t next; /* entry */
	struct frame_list frames;
	VEC(struct wick_profile_label) labels; /* of the last stack */
};

struct wick_functions {
	const struct profile *profile;
	struct cost_table costs; /* a row for each function */
	uint32_t *order;
	size_t count;
};

int wick_stacks_new(const struct wick_profile *profile, struct wick_stacks **ret,
		    struct wick_error *err)
{
	struct wick_stacks *stacks;
	struct error why = {0};

	if (need(profile, "the profile", &why) < 0 || need(ret, "ret", &why) < 0)
		return public_error(&why, err);
	stacks = calloc(1, sizeof(*stacks));
	if (!stacks)
		return public_error(&(struct error){-ENOMEM, "no memory for a walk", ""}, err);
	stacks->profile = profile->profile;
	*ret = stacks;
	return 0;
}

void wick_stacks_free(struct wick_stacks *stacks)
{
	if (!stacks)
		return;
	frame_list_fini(&stacks->frames);
	vec_fini(&stacks->labels);
	free(stacks);
}

static int fill_labels(struct wick_stacks *stacks, uint32_t id)
{
	const struct profile *profile = stacks->profile;
	struct label_set set = profile->labels.sets.items[id];
	uint32_t i;
	int r = 0;

	stacks->labels.count = 0;
	for (i = 0; i < set.count && r == 0; i++) {
		struct label_pair pair = profile->labels.pairs.items[set.first + i];

		r = vec_push(&stacks->labels, ((struct wick_profile_label){
						      .key = profile_text(profile, pair.key),
						      .value = profile_text(profile, pair.value),
					      }));
	}
	return r;
}

int wick_stacks_next(struct wick_stacks *stacks, struct wick_profile_stack *ret)
{
	const struct profile *profile;
	struct wick_profile_stack stack = {0};
	const struct profile_thread *thread;
	size_t at;
	int r;

	if (!stacks || !ret)
		return -EINVAL;
	profile = stacks->profile;
	at = stacks->next;
	if (at >= profile->entries.count)
		return 0;
	r = frame_list_fill(&stacks->frames, profile, profile->entries.items[at].stack);
	if (r == 0)
		r = fill_labels(stacks, profile->entries.items[at].labels);
	if (r < 0)
		return r;
	thread = &profile->threads.items[profile->entries.items[at].thread];
	stack.frames = stacks->frames.items.items;
	stack.frame_count = stacks->frames.items.count;
	stack.values = profile_entry_values(profile, at);
	stack.value_count = profile->value_count;
	stack.pid = thread->pid;
	stack.tid = thread->tid;
	stack.thread = profile_text(profile, thread->comm);
	stack.process = profile_text(profile, thread->process_comm);
	stack.state = profile_text(profile, profile->entries.items[at].state);
	stack.labels = stacks->labels.items;
	stack.label_count = stacks->labels.count;
	r = sized_hand_out(ret, &stack, sizeof(stack), "wick_profile_stack", NULL);
	if (r < 0)
		return r;
	stacks->next++;
	return 1;
}

/* Largest first; equal ones in the order of the profile. */
static int compare_cost(const void *a, const void *b, void *context)
{
	const struct wick_functions *functions = context;
	uint32_t first = *(const uint32_t *)a;
	uint32_t second = *(const uint32_t *)b;
	const struct function_cost *one = &functions->costs.rows[first];
	const struct function_cost *other = &functions->costs.rows[second];

	if (one->self.weight != other->self.weight)
		return one->self.weight < other->self.weight ? 1 : -1;
	if (one->total.weight != other->total.weight)
		return one->total.weight < other->total.weight ? 1 : -1;
	return first < second ? -1 : first > second;
}

static int fill_functions(struct wick_functions *functions, uint32_t value)
{
	size_t count = functions->profile->functions.count;
	size_t i;

	functions->order = calloc(count > 0 ? count : 1, sizeof(*functions->order));
	if (!functions->order)
		return -ENOMEM;
	for (i = 0; i < count; i++)
		functions->order[i] = (uint32_t)i; /* each is a separate row */
	if (cost_table_init(&functions->costs, functions->profile, value, functions->order, count) <
	    0)
		return -ENOMEM;
	functions->count = count;
	qsort_r(functions->order, count, sizeof(*functions->order), compare_cost, functions);
	return 0;
}

int wick_functions_new(const struct wick_profile *profile, uint32_t value,
		       struct wick_functions **ret, struct wick_error *err)
{
	const struct profile *inner;
	struct wick_functions *functions;
	struct error why = {0};

	if (need(profile, "the profile", &why) < 0 || need(ret, "ret", &why) < 0)
		return public_error(&why, err);
	inner = profile->profile;
	if (value == WICK_MAIN_VALUE)
		value = inner->main_value;
	if (value >= inner->value_count) {
		(void)error_set(&why, -EINVAL,
				"the profile has only %u kinds of values, fewer than %u",
				inner->value_count, value + 1);
		error_remedy(&why, "use WICK_MAIN_VALUE, or a number below value_count of "
				   "wick_profile_describe()");
		return public_error(&why, err);
	}
	functions = calloc(1, sizeof(*functions));
	if (functions)
		functions->profile = inner;
	if (!functions || fill_functions(functions, value) < 0) {
		wick_functions_free(functions);
		(void)error_set(&why, -ENOMEM, "no memory for the functions of a profile");
		return public_error(&why, err);
	}
	*ret = functions;
	return 0;
}

size_t wick_functions_count(const struct wick_functions *functions)
{
	return functions ? functions->count : 0;
}

int wick_functions_get(const struct wick_functions *functions, size_t i,
		       struct wick_profile_function *ret)
{
	const struct profile *profile;
	const struct profile_function *function;
	const struct function_cost *cost;
	struct wick_profile_function row = {0};

	if (!functions || !ret)
		return -EINVAL;
	if (i >= functions->count)
		return -ENOENT;
	profile = functions->profile;
	function = &profile->functions.items[functions->order[i]];
	cost = &functions->costs.rows[functions->order[i]];
	row.name = profile_text(profile, function->name);
	row.file = profile_text(profile, function->file);
	row.module = profile_text(profile, function->module);
	row.self = cost->self.weight;
	row.total = cost->total.weight;
	return sized_hand_out(ret, &row, sizeof(row), "wick_profile_function", NULL);
}

void wick_functions_free(struct wick_functions *functions)
{
	if (!functions)
		return;
	cost_table_fini(&functions->costs);
	free(functions->order);
	free(functions);
}
