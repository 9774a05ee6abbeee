/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heap/analysis.h"
#include "heap/heap_profile.h"
#include "heap/report.h"
#include "heap/values.h"
#include "load/filter/stack_filter.h"
#include "load/load.h"
#include "load/loader.h"
#include "model/dictionary.h"

uint32_t loader_list_heap(struct loader *loader, struct value_type *types, uint32_t *ret_main)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	uint32_t count = heap_value_count(report);
	uint32_t wanted =
		loader->options->event ? heap_value_find(loader->options->event) : ID_NONE;

	memcpy(types, heap_value_types, sizeof(heap_value_types));
	*ret_main = wanted < count ? wanted : HEAP_PEAK_SPACE;
	return count;
}

/* The stack in the profile for a stack of the recording, at a time of the report. */
static int name_stack(struct loader *loader, uint32_t stack, uint64_t time_ns, uint32_t *ret)
{
	bool exact = !samples_heap_leaf_returns(&loader->samples);

	*ret = ID_NONE;
	return stack == ID_NONE ? 0 : loader_rebuild_at(loader, stack, exact, time_ns, ret);
}

/* The stacks of all sites, ID_NONE for those that are filtered out. Returns 0 or -ENOMEM. */
static int name_sites(struct loader *loader, struct stack_filter *filter,
		      const struct heap_report *report, uint32_t **ret)
{
	uint32_t *stacks = malloc((report->sites.sites.count + 1) * sizeof(*stacks));

	for (size_t i = 0; stacks && i < report->sites.sites.count; i++) {
		const struct heap_site *site = &report->sites.sites.items[i];
		int r = name_stack(loader, site->stack, report->begin_ns + site->last_ns,
				   &stacks[i]);

		if (r < 0) {
			free(stacks);
			return r;
		}
		if (!stack_filter_accepts(filter, loader->profile, stacks[i]))
			stacks[i] = ID_NONE;
	}
	*ret = stacks;
	return stacks ? 0 : -ENOMEM;
}

static int name_misuses(struct loader *loader)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	const struct heap_misuses *misuses = &report->misuses;
	struct heap_misuse_stacks *stacks = calloc(misuses->groups.count + 1, sizeof(*stacks));
	int r = stacks ? 0 : -ENOMEM;

	for (size_t i = 0; i < misuses->groups.count && r == 0; i++) {
		const struct heap_misuse *group = &misuses->groups.items[i];
		uint64_t time_ns = report->begin_ns + group->time_ns;
		uint64_t freed_ns = report->begin_ns + group->freed_ns;

		r = name_stack(loader, group->stack, time_ns, &stacks[i].stack);
		if (r == 0)
			r = name_stack(loader, group->freed_stack, freed_ns, &stacks[i].freed);
		if (r == 0)
			r = name_stack(loader, group->allocated_stack, freed_ns,
				       &stacks[i].allocated);
	}
	loader->heap_misuses = stacks;
	return r;
}

bool loader_has_heap_beside(const struct loader *loader)
{
	return loader->options->tracks && loader->options->slices && loader->samples.heap &&
	       !samples_are_heap(&loader->samples);
}

/*
 * Adds what a thread allocated at a site. The values of an entry are those of blocks or of pools.
 * `quality` is NULL beside samples, which determine the quality then.
 */
static int add_share(struct loader *loader, const struct load_quality *quality,
		     const struct heap_share *share, uint32_t stack, const int64_t *of_heap)
{
	uint32_t first = loader->profile->time.heap_value;
	struct profile_entry entry = {.stack = stack};
	int64_t values[PROFILE_MAX_VALUES] = {0};
	int r = loader_thread(loader, share->thread, &entry.thread);

	memcpy(values + first, of_heap, (loader->profile->value_count - first) * sizeof(*values));
	if (quality)
		load_quality_add(quality, stack, (uint64_t)of_heap[HEAP_ALLOC_OBJECTS]);
	if (r == 0)
		r = profile_add_entry(loader->profile, entry, values);
	return r < 0 || !quality ? r : profile_add_state(loader->profile, "", values);
}

typedef void values_fn(const struct heap_share *share, uint64_t peak, int64_t *values);

/* Adds all shares of a report whose sites have a stack. */
static int add_shares(struct loader *loader, const struct load_quality *quality,
		      const struct heap_report *report, const uint32_t *stacks, values_fn *fn)
{
	int64_t values[HEAP_VALUES] = {0};
	int r = 0;

	for (size_t i = 0; i < report->sites.shares.count && r == 0; i++) {
		const struct heap_share *share = &report->sites.shares.items[i];

		if (stacks[share->site] == ID_NONE)
			continue;
		fn(share, report->totals.peak_number, values);
		r = add_share(loader, quality, share, stacks[share->site], values);
	}
	return r;
}

/* Threads that only free blocks have no share in a stack. */
static int name_threads(struct loader *loader)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	uint32_t thread;

	for (uint32_t i = 0; i < report->threads.count; i++)
		if (report->threads.items[i].freed.blocks > 0 &&
		    loader_thread(loader, i, &thread) < 0)
			return -ENOMEM;
	return 0;
}

/* Whether blocks of the group are selected; translates its ids to those of the profile. */
static int name_group(struct loader *loader, struct stack_filter *filter, struct leak_group *group,
		      bool *ret)
{
	int r = 0;

	*ret = true;
	if (group->thread != ID_NONE)
		r = samples_want_thread(&loader->samples, group->thread, ret);
	if (r == 0 && *ret && group->thread != ID_NONE)
		r = loader_thread(loader, group->thread, &group->thread);
	if (r == 0 && *ret)
		r = name_stack(loader, group->stack, group->last_born_ns, &group->stack);
	if (r == 0 && *ret && group->stack != ID_NONE)
		*ret = stack_filter_accepts(filter, loader->profile, group->stack);
	return r;
}

static int name_scan(struct loader *loader, struct stack_filter *filter,
		     struct leak_scan_kept *kept)
{
	const struct process *process = &loader->dictionary->processes.items[kept->scan.process];
	uint32_t comm = strings_add(&loader->profile->strings, process->comm);
	size_t n = 0;
	bool wanted;

	if (comm == ID_NONE)
		return -ENOMEM;
	kept->pid = process->pid;
	kept->comm = strings_get(&loader->profile->strings, comm);
	for (size_t i = 0; i < kept->groups.count; i++) {
		struct leak_group group = kept->groups.items[i];

		if (name_group(loader, filter, &group, &wanted) < 0)
			return -ENOMEM;
		if (wanted)
			kept->groups.items[n++] = group;
	}
	kept->groups.count = kept->scan.group_count = n;
	return 0;
}

static int name_leaks(struct loader *loader, struct stack_filter *filter)
{
	int r = 0;

	for (size_t i = 0; i < loader->samples.leaks.items.count && r == 0; i++)
		r = name_scan(loader, filter, &loader->samples.leaks.items.items[i]);
	return r;
}

static int name_all_sites(struct loader *loader, struct stack_filter *filter)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	int r = name_sites(loader, filter, report, &loader->heap_stacks);

	return r == 0 && report->pools
		       ? name_sites(loader, filter, report->pools, &loader->pool_stacks)
		       : r;
}

static int add_all_shares(struct loader *loader, const struct load_quality *quality)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	int r = add_shares(loader, quality, report, loader->heap_stacks, heap_share_values);

	if (r == 0 && report->pools)
		r = add_shares(loader, quality, report->pools, loader->pool_stacks,
			       heap_pool_values);
	return r < 0 ? r : loader_add_spans(loader);
}

int loader_add_heap_beside(struct loader *loader, struct stack_filter *filter)
{
	int r = name_all_sites(loader, filter);

	return r < 0 ? r : add_all_shares(loader, NULL);
}

int loader_add_heap(struct loader *loader, struct stack_filter *filter)
{
	struct load_quality quality = {.profile = loader->profile,
				       .gaps = loader->gaps.items,
				       .gap_count = loader->gaps.count};
	int r = name_all_sites(loader, filter);

	quality.judged = loader->judged.items;
	quality.may_be_cut = loader->may_be_cut;
	if (r == 0)
		r = add_all_shares(loader, &quality);
	if (r == 0)
		r = name_misuses(loader);
	if (r == 0)
		r = name_threads(loader);
	return r < 0 ? r : name_leaks(loader, filter);
}
