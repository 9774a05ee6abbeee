/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "export/export.h"
#include "load/filter/stack_filter.h"
#include "load/filter/thread_state.h"
#include "load/load.h"
#include "load/load_open.h"
#include "load/loader.h"
#include "load/pipe_copy.h"
#include "model/dictionary.h"
#include "recording/sample_columns.h"

/* The second pass over a file, after the first has collected the names. */
struct second_pass {
	struct loader *loader;
	struct stack_filter *filter;
	load_sample_fn *fn;
	void *self;
	struct error *err;
};

static int public_error(struct second_pass *pass, const struct sample_batch *batch, size_t i)
{
	struct loader *loader = pass->loader;
	const struct samples *samples = &loader->samples;
	uint32_t event = sample_events_find(&samples->events, batch->schema);
	const struct sample_event *item = &samples->events.items.items[event];
	struct sample_cover whole = samples_cover(&loader->samples, batch, i);
	struct sample_cover cover =
		sample_cover_cut(&whole, loader->options->from_ns, loader->options->to_ns);
	struct label labels[LABELS_MAX];
	struct export_sample sample = {
		.time_ns = batch->time_ns[i],
		.from_ns = cover.begin_ns,
		.lasted_ns = cover.end_ns - cover.begin_ns,
		.cpu = batch->cpu[i],
		.weight = cover.weight,
		.times = batch->times[i],
		.state = thread_state_of(loader->dictionary, batch->labels[i]),
		.event = item->event,
		.value = item->value,
		.unit = item->unit,
		.kind = event == samples->events.main && item->kind == SCHEMA_TOLD ? SCHEMA_SAMPLED
										   : item->kind,
		.labels = labels,
		.label_count = thread_state_labels(loader->dictionary, batch->labels[i], labels),
		.label_set = batch->labels[i],
	};
	int r = loader_rebuild_at(loader, batch->stack[i], true, sample.time_ns, &sample.stack);

	if (r == 0)
		r = loader_thread(loader, batch->thread[i], &sample.thread);
	if (r < 0)
		return error_errno(pass->err, r, "cannot build a stack of the recording");
	if (!stack_filter_accepts(pass->filter, loader->profile, sample.stack))
		return 0;
	if (sample.time_ns > samples->start_ns)
		sample.since_ns = sample.time_ns - samples->start_ns;
	/* The time of a sample that was cut is that of the remaining part. */
	if (sample.since_ns < cover.begin_ns)
		sample.since_ns = cover.begin_ns;
	if (sample.since_ns > cover.end_ns)
		sample.since_ns = cover.end_ns;
	if (sample.time_ns > samples->start_ns)
		sample.time_ns = samples->start_ns + sample.since_ns;
	if (samples->clock_realtime_ns > 0)
		sample.realtime_ns =
			samples->clock_realtime_ns - samples->clock_monotonic_ns + sample.time_ns;
	return pass->fn(pass->self, loader->profile, &sample, pass->err);
}

static int take_again(void *self, const struct sample_batch *batch)
{
	struct second_pass *pass = self;
	const struct dictionary *dictionary = pass->loader->dictionary;
	size_t i;
	int r = 0;

	for (i = 0; i < batch->count && r == 0; i++) {
		bool wanted;

		/* Of a growing file, only the part that the first pass has seen. */
		if (batch->stack[i] >= dictionary->stacks.nodes.count ||
		    batch->thread[i] >= dictionary->threads.count)
			continue;
		r = samples_want(&pass->loader->samples, batch, i, &wanted);
		if (r == 0 && wanted)
			r = public_error(pass, batch, i);
	}
	return r;
}

/* The second pass over copies of the samples, if there are any. */
static int take_copies(struct second_pass *pass, const struct sample_columns *copies)
{
	struct sample_batch batch;
	size_t at;
	int r = 0;

	for (at = 0; at < copies->count && r == 0; at += batch.count) {
		batch = sample_columns_batch(copies, at);
		r = take_again(pass, &batch);
	}
	return r;
}

static int read_again(struct second_pass *pass, int fd, const char *name, struct error *err)
{
	struct recording_visitor visitor = {.self = pass, .samples = take_again};
	struct recording_reader *reader = NULL;
	int r = recording_reader_open(fd, name, &reader, err);

	if (r < 0) {
		(void)close(fd); /* only read from */
		return r;
	}
	r = recording_reader_run(reader, &visitor, err);
	recording_reader_free(reader);
	return r;
}

int load_samples_fd(int fd, const char *name, const struct load_options *options,
		    load_sample_fn *fn, void *self, struct error *err)
{
	struct loader loader = {.options = options, .cache = {.fd = -1}, .tables = {.fd = -1}};
	struct stack_filter filter;
	struct second_pass pass = {&loader, &filter, fn, self, err};
	struct sample_columns copies = {.count = 0};
	int again = -1;
	int r;

	fd = pipe_copy(fd, &again, err);
	if (fd < 0)
		return fd;
	r = stack_filter_init(&filter, options, err);
	if (r < 0) {
		(void)close(fd); /* nothing was read yet */
		(void)close(again);
		return r;
	}
	r = samples_read(&loader.samples, fd, name, options, &copies, err);
	if (r == 0)
		r = loader_prepare(&loader, err);
	if (r == 0 && options->heap_sums && samples_are_heap(&loader.samples) &&
	    loader_add_heap(&loader, &filter) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && loader_add_levels(&loader) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		loader_describe(&loader);
	if (r == 0 && copies.count == 0)
		r = read_again(&pass, again, name, err);
	else
		(void)close(again); /* only read from */
	if (r == 0)
		r = take_copies(&pass, &copies);
	if (r == 0)
		r = fn(self, loader.profile, NULL, err);
	sample_columns_fini(&copies);
	stack_filter_fini(&filter);
	loader_fini(&loader);
	return r;
}

int load_samples(const char *path, const struct load_options *options, load_sample_fn *fn,
		 void *self, struct error *err)
{
	int fd = load_open(path, options->importers, err);

	return fd < 0 ? fd
		      : load_samples_fd(fd, strcmp(path, "-") ? path : "standard input", options,
					fn, self, err);
}
