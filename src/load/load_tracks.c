/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include "base/scope.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "heap/values.h"
#include "load/load.h"
#include "load/loader.h"
#include "model/dictionary.h"

/* Data over time other than samples: see load_options.tracks. */

/* Adds the lifetimes of the blocks of a report. Returns 0 or -ENOMEM. */
static int add_spans(struct loader *loader, const struct heap_report *report,
		     const uint32_t *stacks, bool is_pool)
{
	int r = 0;

	for (size_t i = 0; i < report->spans.items.count && r == 0; i++) {
		const struct heap_span *span = &report->spans.items.items[i];
		const struct heap_share *share = &report->sites.shares.items[span->share];
		struct profile_blocks blocks = {
			.stack = stacks[share->site],
			.born = span->born,
			.died = span->died == HEAP_SPANS_LIVE ? PROFILE_BLOCKS_LIVE : span->died,
			.bytes = heap_whole(span->sum.bytes),
			.blocks = heap_whole(span->sum.blocks),
			.temporary = heap_whole(span->temporary_blocks),
			.is_pool = is_pool,
		};

		if (blocks.stack == ID_NONE)
			continue;
		r = loader_thread(loader, share->thread, &blocks.thread);
		if (r == 0)
			r = vec_push(&loader->profile->time.blocks, blocks);
	}
	return r;
}

int loader_add_spans(struct loader *loader)
{
	const struct heap_report *report = heap_analysis_report(loader->samples.heap);
	int r = add_spans(loader, report, loader->heap_stacks, false);

	return r == 0 && report->pools ? add_spans(loader, report->pools, loader->pool_stacks, true)
				       : r;
}

/* The name, unit and owner of a track. Returns 0 or -ENOMEM. */
static int name_track(struct loader *loader, struct level_track *track, const char *name,
		      const char *unit)
{
	struct strings *strings = &loader->profile->strings;
	const struct process *process =
		track->kind == LEVEL_HEAP ? NULL
					  : &loader->dictionary->processes.items[track->process];

	track->name = strings_add(strings, name);
	track->unit = strings_add(strings, unit);
	track->process_comm = process ? strings_add(strings, process->comm) : 0;
	track->pid = process ? process->pid : 0;
	return track->name == ID_NONE || track->unit == ID_NONE || track->process_comm == ID_NONE
		       ? -ENOMEM
		       : 0;
}

/* Adds a track and takes it over. Returns 0 or -ENOMEM. */
static int add_track(struct loader *loader, struct level_track *track, const char *name,
		     const char *unit)
{
	int r = name_track(loader, track, name, unit);

	level_track_finish(track);
	if (r == 0)
		r = vec_push(&loader->profile->time.tracks, *track);
	if (r < 0)
		level_track_fini(track);
	return r;
}

/* Live memory is known only for all stacks together, not for some of them. */
static int add_heap_level(struct loader *loader)
{
	const struct load_options *options = loader->options;
	const struct heap_timeline *timeline;
	struct level_track track = {.kind = LEVEL_HEAP};

	if (!loader->samples.heap || options->only_count + options->ignore_count > 0 ||
	    options->module_count > 0 || options->label_count > 0)
		return 0;
	timeline = &heap_analysis_report(loader->samples.heap)->timeline;
	for (size_t i = 0; i < timeline->steps.count; i++) {
		const struct heap_step *step = &timeline->steps.items[i];

		if (level_track_add(&track, (struct level_point){
						    .since_ns = i * timeline->step_ns,
						    .last = heap_whole(step->live.bytes),
						    .most = heap_whole(step->most_bytes),
					    }) < 0) {
			level_track_fini(&track);
			return -ENOMEM;
		}
	}
	return add_track(loader, &track, "heap", "bytes");
}

int loader_add_levels(struct loader *loader)
{
	struct sample_levels *levels = &loader->samples.levels;
	int r = loader->options->tracks ? add_heap_level(loader) : 0;

	for (size_t i = 0; i < levels->tracks.count && r == 0; i++) {
		struct level_track track = levels->tracks.items[i];
		const struct sample_event *event =
			track.kind == LEVEL_GAUGE ? &loader->samples.events.items.items[track.event]
						  : NULL;

		levels->tracks.items[i] = (struct level_track){0};
		r = add_track(loader, &track, event ? event->event : "resident",
			      event ? event->unit : "bytes");
	}
	return r;
}
