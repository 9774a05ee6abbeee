/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/profile_facts.h"

#include <errno.h>
#include <inttypes.h>

#include "base/bytes.h"
#include "load/load.h"
#include "load/samples/samples.h"
#include "model/profile.h"
#include "recording/format.h"

/* Remembers the first failure. */
struct teller {
	struct profile *profile;
	struct bytes text; /* scratch */
	int r;
};

/* Adds the scratch text as a fact. */
static void tell_as(struct teller *teller, const char *key)
{
	bytes_put_u8(&teller->text, 0);
	if (teller->text.failed)
		teller->r = -ENOMEM;
	else if (teller->r == 0)
		teller->r = profile_add_fact(teller->profile, key, (char *)teller->text.data);
	bytes_clear(&teller->text);
}

static void tell(struct teller *teller)
{
	tell_as(teller, "filter");
}

static void tell_words(struct teller *teller, const char *option, const char *const *words,
		       size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		bytes_printf(&teller->text, "%s%s%s", option, *words[i] ? " " : "", words[i]);
		tell(teller);
	}
}

static void tell_numbers(struct teller *teller, const char *option, const uint64_t *numbers,
			 size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		bytes_printf(&teller->text, "%s %" PRIu64, option, numbers[i]);
		tell(teller);
	}
}

static void tell_time(struct teller *teller, const char *option, uint64_t ns)
{
	bytes_printf(&teller->text, "%s %" PRIu64 "ns", option, ns);
	tell(teller);
}

static void tell_flag(struct teller *teller, const char *option, bool is_set)
{
	if (is_set)
		tell_words(teller, option, (const char *const[]){""}, 1);
}

int profile_facts_add(struct profile *profile, const struct samples *samples,
		      const struct load_options *options)
{
	struct teller teller = {.profile = profile};
	size_t i;

	for (i = 0; i < SAMPLES_FACTS && teller.r == 0; i++)
		if (samples->facts[i])
			teller.r =
				profile_add_fact(profile, samples_fact_keys[i], samples->facts[i]);
	sample_events_put_names(&samples->events, true, &teller.text);
	if (teller.text.size > 0)
		tell_as(&teller, "values left out");
	if (samples->damage.why && teller.r == 0)
		teller.r = profile_add_fact(profile, RECORDING_DAMAGE, samples->damage.why);
	tell_numbers(&teller, "--pid", options->pids, options->pid_count);
	tell_numbers(&teller, "--tid", options->tids, options->tid_count);
	tell_words(&teller, "--comm", options->comms, options->comm_count);
	tell_words(&teller, "--label", options->labels, options->label_count);
	tell_words(&teller, "--module", options->modules, options->module_count);
	tell_words(&teller, "--only", options->only, options->only_count);
	tell_words(&teller, "--ignore", options->ignore, options->ignore_count);
	for (i = 0; i < options->alloc_fn_count && teller.r == 0; i++)
		teller.r = profile_add_fact(profile, "alloc_fn", options->alloc_fns[i]);
	if (options->from_ns > 0)
		tell_time(&teller, "--from", options->from_ns);
	if (options->to_ns != UINT64_MAX)
		tell_time(&teller, "--to", options->to_ns);
	tell_flag(&teller, "--no-kernel", !options->kernel);
	tell_flag(&teller, "--no-inline", !options->inlines);
	tell_flag(&teller, "--collapse-recursion", options->collapse_recursion);
	bytes_fini(&teller.text);
	return teller.r;
}
