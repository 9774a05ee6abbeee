/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "heap/analysis.h"
#include "heap/report.h"
#include "heap/values.h"
#include "model/dictionary.h"
#include "pipeline/load.h"
#include "pipeline/loader.h"
#include "pipeline/stack_filter.h"

uint32_t loader_list_heap(struct loader *loader, struct value_type *types, uint32_t *ret_main)
{
	uint32_t wanted =
		loader->options->event ? heap_value_find(loader->options->event) : ID_NONE;

	memcpy(types, heap_value_types, sizeof(heap_value_types));
	*ret_main = wanted != ID_NONE ? wanted : HEAP_PEAK_SPACE;
	return HEAP_VALUES;
}

/* The stacks of all sites, ID_NONE for those that are filtered out. 0 or -ENOMEM. */
static int name_sites(struct loader *loader, struct stack_filter *filter, uint32_t **ret)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	uint32_t *stacks = malloc((report->sites.sites.count + 1) * sizeof(*stacks));

	for (size_t i = 0; stacks && i < report->sites.sites.count; i++) {
		const struct heap_site *site = &report->sites.sites.items[i];
		int r = loader_rebuild_at(loader, site->stack, report->begin_ns + site->last_ns,
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

static int add_share(struct loader *loader, const struct load_quality *quality,
		     const struct heap_share *share, uint32_t stack)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	int64_t values[PROFILE_MAX_VALUES] = {0};
	struct profile_entry entry = {.stack = stack};
	int r = loader_thread(loader, share->thread, &entry.thread);

	heap_share_values(share, report->totals.peak_number, values);
	load_quality_add(quality, stack, (uint64_t)values[HEAP_ALLOC_OBJECTS]);
	if (r == 0)
		r = profile_add_entry(loader->profile, entry, values);
	return r < 0 ? r : profile_add_state(loader->profile, "", values);
}

/* Those that only free blocks have no share in a stack. */
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

/* Whether blocks of the group are looked at; its ids become those of the profile. */
static int name_group(struct loader *loader, struct stack_filter *filter, struct leak_group *group,
		      bool *ret)
{
	int r = 0;

	*ret = true;
	if (group->thread != ID_NONE)
		r = samples_want_thread(&loader->samples, group->thread, ret);
	if (r == 0 && *ret && group->thread != ID_NONE)
		r = loader_thread(loader, group->thread, &group->thread);
	if (r == 0 && *ret && group->stack != ID_NONE)
		r = loader_rebuild_at(loader, group->stack, group->last_born_ns, &group->stack);
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

int loader_add_heap(struct loader *loader, struct stack_filter *filter)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	struct load_quality quality = {.profile = loader->profile,
				       .gaps = loader->gaps.items,
				       .gap_count = loader->gaps.count};
	int r = name_sites(loader, filter, &loader->heap_stacks);

	quality.judged = loader->judged.items;
	quality.may_be_cut = loader->may_be_cut;
	for (size_t i = 0; i < report->sites.shares.count && r == 0; i++) {
		const struct heap_share *share = &report->sites.shares.items[i];
		uint32_t stack = loader->heap_stacks[share->site];

		if (stack != ID_NONE)
			r = add_share(loader, &quality, share, stack);
	}
	if (r == 0)
		r = name_threads(loader);
	return r < 0 ? r : name_leaks(loader, filter);
}
