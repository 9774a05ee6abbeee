/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "model/call_tally.h"
#include "model/call_tree.h"
#include "store/aggregate.h"
#include "store/answer_profile.h"
#include "store/selection.h"
#include "store/store_state.h"

static int no_memory(struct error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int read_sums(struct names_copier *copier, struct answer *answer)
{
	struct profile *profile = copier->profile;

	while (answer_next(answer)) {
		const uint32_t *stack = answer_column(answer, SUM_STACK);
		const uint64_t *samples = answer_column(answer, SUM_SAMPLES);
		const int64_t *value = answer_column(answer, SUM_VALUE);
		size_t i;

		for (i = 0; i < answer->count; i++) {
			uint32_t copy = names_copy_stack(copier, stack[i]);
			int64_t values[] = {(int64_t)samples[i], value[i]};

			if (copy == ID_NONE || profile_add(profile, copy, 0, values) < 0)
				return -ENOMEM;
			profile->quality.samples += samples[i];
			profile->quality.in_file += samples[i];
		}
	}
	return 0;
}

/* The build ids of modules without names, so that whoever gets the profile can look for symbols. */
static int copy_modules(const struct names_copier *copier)
{
	const struct names *names = copier->names;
	size_t i;

	for (i = 0; i < copier->locations.count; i++) {
		const struct names_location *location = &names->locations.items[i];
		struct build_id build_id;

		if (copier->locations.items[i] == ID_NONE || !location->is_unnamed)
			continue;
		(void)build_id_parse(profile_text(names->profile, location->build_id), &build_id);
		if (profile_module(copier->profile, profile_text(names->profile, location->module),
				   &build_id) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int fill_profile(struct selection *selection, struct answer *answer, struct profile *profile)
{
	struct embedded *store = selection->store;
	struct names_copier copier = {.names = &store->names, .profile = profile};
	int r;

	(void)pthread_rwlock_rdlock(&store->names_lock); /* never fails: not held by us */
	r = read_sums(&copier, answer);
	if (r == 0)
		r = copy_modules(&copier);
	(void)pthread_rwlock_unlock(&store->names_lock);
	names_copier_fini(&copier);
	profile->quality.damaged_chunks = selection->damaged;
	profile->quality.incomplete = selection->damaged > 0;
	return r;
}

static int sum_profile(struct selection *selection, struct profile **ret, struct error *err)
{
	struct profile *profile = NULL;
	struct answer answer;
	int r = aggregate(selection, &(struct aggregate_question){.by_stack = true}, &answer, err);

	if (r < 0)
		return r;
	r = answer_profile_new(selection->selector, selection->type, selection->unit, &profile);
	if (r == 0)
		r = fill_profile(selection, &answer, profile);
	answer_end(&answer);
	if (r < 0) {
		profile_free(profile);
		return no_memory(err);
	}
	*ret = profile;
	return 0;
}

int embedded_profile(struct store *base, const struct store_selector *selector,
		     struct profile **ret, struct error *err)
{
	struct embedded *store = embedded_of(base);
	struct selection selection;
	int r = selection_begin(&selection, store, selector, err);

	if (r < 0)
		return r;
	r = sum_profile(&selection, ret, err);
	selection_end(&selection);
	return r;
}
