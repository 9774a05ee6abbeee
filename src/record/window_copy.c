/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/window_copy.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "load/convert/id_transfer.h"
#include "model/sink.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"

struct copied_schema {
	uint32_t id;
	bool is_span; /* a sample covers the time before it */
};

struct copy {
	const struct window *window;
	struct recording_writer *writer;
	struct sink *sink;
	struct id_transfer transfer;
	struct copied_schema schemas[RECORDING_MAX_SCHEMAS];
	VEC(struct map_event) maps; /* a new epoch repeats those in force */
	struct id_index map_index;
	struct error *err;
};

static bool is_inside(const struct copy *copy, uint64_t time_ns)
{
	return time_ns >= copy->window->from_ns && time_ns <= copy->window->until_ns;
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct copy *copy = self;
	struct copied_schema *known = &copy->schemas[id];

	known->is_span =
		strcmp(schema->unit, "nanoseconds") == 0 &&
		(strcmp(schema->value, "wall") == 0 || strcmp(schema->value, "off-cpu") == 0);
	return sink_schema(copy->sink, schema, &known->id);
}

static int take_sample(struct copy *copy, const struct sample_batch *batch, size_t i)
{
	const struct copied_schema *schema = &copy->schemas[batch->schema];
	uint64_t since_ns = batch->time_ns[i] - copy->window->from_ns;
	uint64_t weight = batch->weight[i];
	struct id_transfer_ids ids;
	struct sample_batch one = {
		.schema = schema->id,
		.count = 1,
		.stack = &ids.stack,
		.thread = &ids.thread,
		.cpu = &batch->cpu[i],
		.labels = &ids.labels,
		.time_ns = &batch->time_ns[i],
		.weight = &weight,
		.times = &batch->times[i],
	};
	int r;

	if (schema->is_span && weight > since_ns)
		weight = since_ns;
	r = id_transfer_sample(&copy->transfer, batch, i, &ids);
	if (r < 0)
		return error_errno(copy->err, r, "cannot store a sample of the recording");
	return sink_batch(copy->sink, &one, copy->err);
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct copy *copy = self;
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++)
		if (is_inside(copy, batch->time_ns[i]))
			r = take_sample(copy, batch, i);
	return r;
}

static bool same_map(const struct map_event *a, const struct map_event *b)
{
	return a->process == b->process && a->module == b->module && a->time_ns == b->time_ns &&
	       a->start == b->start && a->end == b->end && a->file_offset == b->file_offset;
}

/* Adds the event. Returns 1 if it is new, 0 if it is known, or -ENOMEM. */
static int file_map(struct copy *copy, const struct map_event *event)
{
	uint64_t hash = hash_pair(hash_pair(event->process, event->start), event->time_ns);
	struct id_probe probe = id_index_probe(&copy->map_index, hash);
	uint32_t id;

	while ((id = id_probe_next(&copy->map_index, &probe)) != ID_NONE)
		if (same_map(&copy->maps.items[id], event))
			return 0;
	if (vec_push(&copy->maps, *event) < 0 ||
	    id_index_add(&copy->map_index, hash, (uint32_t)copy->maps.count - 1) < 0)
		return -ENOMEM;
	return 1;
}

static int take_map(void *self, const struct map_event *event)
{
	struct copy *copy = self;
	struct map_event moved = *event;
	int r = file_map(copy, event);

	if (r == 0)
		return 0;
	if (r > 0)
		r = id_transfer_process(&copy->transfer, event->process, &moved.process);
	if (r == 0 && event->module != MODULE_NONE)
		r = id_transfer_module(&copy->transfer, event->module, &moved.module);
	return r < 0 ? error_errno(copy->err, r, "cannot store a mapping of the recording")
		     : sink_map(copy->sink, &moved, copy->err);
}

static int take_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct copy *copy = self;

	recording_writer_clock(copy->writer, monotonic_ns, realtime_ns);
	return 0;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct copy *copy = self;

	return is_inside(copy, time_ns) ? sink_loss(copy->sink, reason, time_ns, samples) : 0;
}

int window_copy(struct recording_reader *reader, struct recording_writer *writer,
		const struct window *window, struct error *err)
{
	struct copy copy = {
		.window = window,
		.writer = writer,
		.sink = recording_writer_sink(writer),
		.transfer = {.from = recording_reader_dictionary(reader),
			     .to = recording_writer_sink(writer)},
		.err = err,
	};
	struct recording_visitor visitor = {
		.self = &copy,
		.schema = take_schema,
		.samples = take_samples,
		.map = take_map,
		.clock = take_clock,
		.loss = take_loss,
	};
	int r;

	do {
		r = recording_reader_next(reader, &visitor, err);
		if (r > 0 && window->meanwhile && window->meanwhile(window->self, err) < 0)
			r = -ECANCELED; /* err says why */
	} while (r > 0);
	id_transfer_fini(&copy.transfer);
	vec_fini(&copy.maps);
	id_index_fini(&copy.map_index);
	return r;
}
