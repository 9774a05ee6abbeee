/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/convert/merge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "base/vec.h"
#include "load/convert/id_transfer.h"
#include "load/load.h"
#include "load/load_open.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"

/* The result, and what all files must agree on. */
struct merger {
	struct recording_writer *writer;
	struct sink *sink;
	const struct load_options *options;
	bool alone; /* a single file: it keeps its facts */
	bool has_schema;
	VEC(char *) events; /* events counted beside the first; their schemas count from 1 */
	char *value;
	char *unit;
	bool complete;        /* the values are complete in every file so far: see
				 docs/reference/recording-format.md */
	bool retracted;       /* they were complete only in the first files */
	bool begun;           /* a file was read */
	bool has_cut;         /* a file without an end mark: the result gets none either */
	char *boot_id;        /* of the first file with frames of a kernel */
	uint32_t processes;   /* number so far: keeps processes of different files apart */
	uint64_t start_ns;    /* of the first file: the times of the others are shifted to it */
	uint64_t end_ns;      /* of the last sample of all */
	uint64_t recorded_ns; /* total of all files, without the gaps between them */
	uint64_t to_real_ns;  /* real time minus time of the first file; 0: unknown */
	VEC(struct heap_event) heap_events; /* the current batch */
	const char *const *left;            /* the file that is read, and those to come */
	size_t left_count;
};

/* One of the files. */
struct source {
	struct merger *merger;
	const char *name;
	struct recording_reader *reader;
	const struct dictionary *dictionary;
	struct id_transfer transfer;
	uint32_t schemas[RECORDING_MAX_SCHEMAS]; /* by schema id of this file; 0 of members: unknown
						  */
	char *boot_id;
	bool complete;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t recorded_ns; /* if the file itself has gaps */
	uint64_t to_real_ns;
	uint64_t shift_ns; /* added to times, modulo 2^64 */
	bool shifted;
	bool peeks;          /* nothing of it is written */
	bool limited;        /* the next is known */
	uint64_t limit_ns;   /* limit of heap_until: when events of later files begin */
	uint32_t last_maker; /* process of the last JIT symbol */
	struct error *err;
};

/* The time shift of this file, determined by its first sample. */
static void find_shift(struct source *source, uint64_t first_ns)
{
	struct merger *merger = source->merger;

	source->shifted = true;
	if (source->start_ns == 0)
		source->start_ns = first_ns;
	if (merger->start_ns == 0) {
		merger->start_ns = source->start_ns;
		merger->to_real_ns = source->to_real_ns;
	}
	source->shift_ns = merger->to_real_ns && source->to_real_ns
				   ? source->to_real_ns - merger->to_real_ns
				   : merger->start_ns - source->start_ns;
	/* A file from before the boot of the first file starts together with it. */
	if (source->start_ns + source->shift_ns > INT64_MAX)
		source->shift_ns = merger->start_ns - source->start_ns;
}

static int take_sample(struct source *source, const struct sample_batch *batch, size_t i)
{
	struct merger *merger = source->merger;
	uint64_t time_ns = batch->time_ns[i] + source->shift_ns;
	struct id_transfer_ids ids;
	struct sample_batch one = {
		.schema = source->schemas[batch->schema],
		.count = 1,
		.stack = &ids.stack,
		.thread = &ids.thread,
		.cpu = &batch->cpu[i],
		.labels = &ids.labels,
		.time_ns = &time_ns,
		.weight = &batch->weight[i],
		.times = &batch->times[i],
	};
	int r = id_transfer_sample(&source->transfer, batch, i, &ids);

	if (r < 0)
		return error_errno(source->err, r, "cannot store a sample of %s", source->name);
	if (time_ns > merger->end_ns)
		merger->end_ns = time_ns;
	return sink_batch(merger->sink, &one, source->err);
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct source *source = self;
	size_t i;
	int r = 0;

	if (!source->shifted)
		find_shift(source, batch->time_ns[0]);
	if (batch->schema != 0 && source->schemas[batch->schema] == 0)
		return 0; /* counted beside an event that the file does not have */
	for (i = 0; i < batch->count && r == 0; i++)
		r = take_sample(source, batch, i);
	return r;
}

static int take_info(void *self, const char *key, const char *value)
{
	struct source *source = self;
	uint64_t number;

	if (strcmp(key, "start_monotonic_ns") == 0 && number_parse_u64(value, &number) == 0)
		source->start_ns = number;
	if (strcmp(key, "end_monotonic_ns") == 0 && number_parse_u64(value, &number) == 0)
		source->end_ns = number;
	if (strcmp(key, "recorded_ns") == 0 && number_parse_u64(value, &number) == 0)
		source->recorded_ns = number;
	if (strcmp(key, "values") == 0)
		source->complete = strcmp(value, "complete") == 0;
	if (source->peeks)
		return 0;
	/* The first file names the main event, before its samples. */
	if (source->merger->alone || (!source->merger->begun && (strcmp(key, "values") == 0 ||
								 strcmp(key, "main_event") == 0)))
		recording_writer_info(source->merger->writer, key, value);
	if (strcmp(key, "boot_id") == 0 && !source->boot_id) {
		source->boot_id = strdup(value);
		return source->boot_id ? 0 : -ENOMEM;
	}
	return 0;
}

static int take_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct source *source = self;

	if (source->to_real_ns == 0)
		source->to_real_ns = realtime_ns - monotonic_ns;
	return 0;
}

/* A single file keeps all its events. The reader delivers them before samples. */
static int keep_schema(struct source *source, uint32_t id, const struct schema *schema)
{
	const struct sink *sink = source->merger->sink;

	return sink_schema(sink, schema, &source->schemas[id]);
}

/* An event that was counted beside the first: equal events of other files are merged with it. */
static int take_member(struct source *source, uint32_t id, const struct schema *schema)
{
	struct merger *merger = source->merger;
	char *event;
	size_t i;

	if (!merger->has_schema)
		return 0;
	for (i = 0; i < merger->events.count; i++)
		if (strcmp(merger->events.items[i], schema->event) == 0) {
			source->schemas[id] = (uint32_t)i + 1;
			return 0;
		}
	event = strdup(schema->event);
	if (!event || vec_push(&merger->events, event) < 0) {
		free(event);
		return -ENOMEM;
	}
	return sink_schema(merger->sink, schema, &source->schemas[id]);
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct source *source = self;
	struct merger *merger = source->merger;
	uint32_t made;

	if (merger->alone)
		return keep_schema(source, id, schema);
	if (id != 0)
		return take_member(source, id, schema);
	if (merger->has_schema) {
		if (strcmp(merger->value, schema->value) == 0 &&
		    strcmp(merger->unit, schema->unit) == 0)
			return 0;
		return error_advise(
			source->err,
			error_set(source->err, -EINVAL,
				  "%s measures %s in %s, but the others measure %s in %s",
				  source->name, schema->value, schema->unit, merger->value,
				  merger->unit),
			"merge only recordings made with the same --mode and -e");
	}
	merger->value = strdup(schema->value);
	merger->unit = strdup(schema->unit);
	merger->has_schema = true;
	if (!merger->value || !merger->unit)
		return -ENOMEM;
	return sink_schema(merger->sink, schema, &made);
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct source *source = self;
	struct sink *sink = source->merger->sink;

	return sink_loss(sink, reason, time_ns + source->shift_ns, samples);
}

/* Kernel addresses mean something else after a reboot. */
static int refuse_boot(const struct source *source)
{
	static const char mixed[] = "kernel function names would be mixed up";
	const char *name = source->name;

	if (!source->boot_id)
		(void)error_set(source->err, -EINVAL,
				"%s does not say during which boot it was recorded: %s", name,
				mixed);
	else if (!*source->merger->boot_id)
		(void)error_set(
			source->err, -EINVAL,
			"a file before %s does not say during which boot it was recorded: %s", name,
			mixed);
	else
		(void)error_set(source->err, -EINVAL, "%s was recorded during another boot: %s",
				name, mixed);
	error_remedy(source->err, "export it as pprof first, and merge that");
	return -EINVAL;
}

static int take_kernel_symbol(void *self, uint64_t start, uint64_t size, const char *name,
			      const char *module)
{
	struct source *source = self;
	struct merger *merger = source->merger;
	const char *boot_id = source->boot_id ? source->boot_id : "";

	if (!merger->boot_id) {
		merger->boot_id = strdup(boot_id);
		if (!merger->boot_id)
			return -ENOMEM;
	}
	if (strcmp(merger->boot_id, boot_id) != 0)
		return refuse_boot(source);
	recording_writer_kernel_symbol(merger->writer, start, size, name, module);
	return 0;
}

static void source_fini(struct source *source)
{
	recording_reader_free(source->reader);
	id_transfer_fini(&source->transfer);
	free(source->boot_id);
}

static bool is_maker(const struct process *process, const struct recording_jit_symbol *symbol)
{
	return process->pid == symbol->pid && process->start_ns == symbol->start_ns &&
	       process->exec_count == symbol->exec_count;
}

/* Names of JIT-compiled code belong to their process, which now has another number. */
static int take_jit_symbol(void *self, const struct recording_jit_symbol *symbol)
{
	struct source *source = self;
	const struct process *processes = source->dictionary->processes.items;
	struct recording_jit_symbol moved = *symbol;
	uint32_t id = source->last_maker;
	int r;

	/* The symbols of one process are consecutive. */
	if (id >= source->dictionary->processes.count || !is_maker(&processes[id], symbol))
		for (id = 0; id < source->dictionary->processes.count; id++)
			if (is_maker(&processes[id], symbol))
				break;
	if (id == source->dictionary->processes.count)
		return 0;
	source->last_maker = id;
	r = id_transfer_process(&source->transfer, id, &id);
	if (r < 0)
		return r;
	processes = recording_writer_dictionary(source->merger->writer)->processes.items;
	moved.exec_count = processes[id].exec_count;
	if (moved.from_ns > 0)
		moved.from_ns += source->shift_ns;
	recording_writer_jit_symbol(source->merger->writer, &moved);
	return 0;
}

/* Stops peeking into a file when its events begin. */
static int stop_at_heap(void *self, const struct heap_batch *batch)
{
	return -ECANCELED;
}

/*
 * When the events of a file begin, in times of the result; 0: unknown without reading them, and a
 * stream cannot be read twice.
 */
static uint64_t find_start(struct merger *merger, const char *path)
{
	struct source source = {.merger = merger, .name = path, .peeks = true};
	struct recording_visitor visitor = {
		.self = &source, .info = take_info, .clock = take_clock, .heap = stop_at_heap};
	int fd = strcmp(path, "-") == 0 ? -1 : load_open(path, merger->options->importers, NULL);
	uint64_t start_ns = 0;
	int r;

	if (fd < 0)
		return 0;
	r = recording_reader_open(fd, path, &source.reader, NULL);
	if (r < 0) {
		(void)close(fd); /* only read from; a failure is reported when it is merged */
		return 0;
	}
	r = recording_reader_run(source.reader, &visitor, NULL);
	if (r == 0)
		start_ns = UINT64_MAX; /* no events of a heap at all */
	else if (r == -ECANCELED && source.start_ns > 0) {
		find_shift(&source, source.start_ns);
		start_ns = source.start_ns + source.shift_ns;
	}
	source_fini(&source);
	return start_ns;
}

/* Until when all events are complete, because no later file has any before that. */
static uint64_t find_limit(struct merger *merger)
{
	uint64_t limit_ns = UINT64_MAX;

	for (size_t i = 1; i < merger->left_count; i++) {
		uint64_t start_ns = find_start(merger, merger->left[i]);

		if (start_ns < limit_ns)
			limit_ns = start_ns;
	}
	return limit_ns;
}

/* The event as it is in the result. Returns 0 or -ENOMEM. */
static int move_event(struct source *source, struct heap_event *event)
{
	event->time_ns += source->shift_ns;
	if (event->time_ns > source->merger->end_ns)
		source->merger->end_ns = event->time_ns;
	return event->stack < source->dictionary->stacks.nodes.count
		       ? id_transfer_stack(&source->transfer, event->stack, &event->stack)
		       : 0;
}

static int take_heap(void *self, const struct heap_batch *batch)
{
	struct source *source = self;
	struct merger *merger = source->merger;
	struct heap_batch moved = {.count = batch->count};
	int r = 0;

	if (batch->count == 0 || batch->thread >= source->dictionary->threads.count)
		return 0;
	if (!source->shifted)
		find_shift(source, batch->events[0].time_ns);
	if (vec_reserve(&merger->heap_events, batch->count) < 0)
		return -ENOMEM;
	moved.events = merger->heap_events.items;
	memcpy(merger->heap_events.items, batch->events, batch->count * sizeof(*batch->events));
	for (size_t i = 0; i < batch->count && r == 0; i++)
		r = move_event(source, &merger->heap_events.items[i]);
	if (r == 0)
		r = id_transfer_thread(&source->transfer, batch->thread, &moved.thread);
	if (r < 0)
		return error_errno(source->err, r, "cannot store heap events of %s", source->name);
	return sink_heap(merger->sink, &moved, source->err);
}

static int take_heap_until(void *self, uint64_t time_ns)
{
	struct source *source = self;
	struct merger *merger = source->merger;

	if (!source->shifted)
		return 0; /* no events */
	if (!source->limited) {
		source->limited = true;
		source->limit_ns = find_limit(merger);
	}
	time_ns += source->shift_ns;
	return sink_heap_until(
		merger->sink, time_ns < source->limit_ns ? time_ns : source->limit_ns, source->err);
}

static int merge_file(struct merger *merger, const char *path, struct error *err)
{
	struct source source = {.merger = merger, .name = path, .err = err};
	struct recording_visitor visitor = {
		.self = &source,
		.info = take_info,
		.schema = take_schema,
		.samples = take_samples,
		.heap = take_heap,
		.heap_until = take_heap_until,
		.clock = take_clock,
		.loss = take_loss,
		.kernel_symbol = take_kernel_symbol,
		.jit_symbol = take_jit_symbol,
	};
	struct recording_damage damage;
	int fd = load_open(path, merger->options->importers, err);
	int r;

	if (fd < 0)
		return fd;
	r = recording_reader_open(fd, path, &source.reader, err);
	if (r < 0) {
		(void)close(fd); /* only read from */
		return r;
	}
	source.dictionary = recording_reader_dictionary(source.reader);
	source.transfer = (struct id_transfer){
		.from = source.dictionary, .to = merger->sink, .process_count = &merger->processes};
	r = recording_reader_run(source.reader, &visitor, err);
	if (source.shifted && source.end_ns + source.shift_ns > merger->end_ns)
		merger->end_ns = source.end_ns + source.shift_ns;
	if (source.recorded_ns > 0)
		merger->recorded_ns += source.recorded_ns;
	else if (source.end_ns > source.start_ns)
		merger->recorded_ns += source.end_ns - source.start_ns;
	merger->retracted = merger->retracted || (merger->complete && !source.complete);
	merger->complete = source.complete && (merger->complete || !merger->begun);
	merger->begun = true;
	damage = recording_reader_damage(source.reader);
	if (r == 0)
		load_tell_damage(merger->options, path, &damage);
	merger->has_cut = merger->has_cut || !damage.complete;
	source_fini(&source);
	return r;
}

static int finish(struct merger *merger, size_t count, struct error *err)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "%zu recordings", count); /* all of these fit */
	if (!merger->alone)
		recording_writer_info(merger->writer, "title", text);
	if (merger->retracted)
		recording_writer_info(merger->writer, "values", "");
	if (merger->boot_id && *merger->boot_id)
		recording_writer_info(merger->writer, "boot_id", merger->boot_id);
	(void)snprintf(text, sizeof(text), "%" PRIu64, merger->start_ns);
	recording_writer_info(merger->writer, "start_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, merger->end_ns);
	recording_writer_info(merger->writer, "end_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, merger->recorded_ns);
	if (merger->recorded_ns > 0 && merger->recorded_ns < merger->end_ns - merger->start_ns)
		recording_writer_info(merger->writer, "recorded_ns", text);
	if (merger->to_real_ns)
		recording_writer_clock(merger->writer, merger->start_ns,
				       merger->start_ns + merger->to_real_ns);
	return merger->has_cut ? recording_writer_flush(merger->writer, err)
			       : recording_writer_finish(merger->writer, err);
}

int merge_files(const char *const *paths, size_t count, const struct load_options *options,
		int output, struct error *err)
{
	struct merger merger = {.alone = count == 1, .options = options};
	size_t i;
	int r = recording_writer_open(output, "the result", &merger.writer, err);

	if (r < 0) {
		(void)close(output); /* nothing was written */
		return r;
	}
	merger.sink = recording_writer_sink(merger.writer);
	for (i = 0; i < count && r == 0; i++) {
		merger.left = paths + i;
		merger.left_count = count - i;
		r = merge_file(&merger, paths[i], err);
	}
	if (r == 0)
		r = finish(&merger, count, err);
	recording_writer_free(merger.writer);
	free(merger.value);
	free(merger.unit);
	free(merger.boot_id);
	for (i = 0; i < merger.events.count; i++)
		free(merger.events.items[i]);
	vec_fini(&merger.events);
	vec_fini(&merger.heap_events);
	return r;
}
