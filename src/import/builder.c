/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/scope.h"
#include "import/import.h"
#include "model/sink.h"
#include "model/strings.h"
#include "recording/writer.h"

struct import_builder {
	struct recording_writer *writer;
	struct sink *sink;
	const struct import_host *host; /* NULL: none */
	struct strings processes;       /* names that have no pid, numbered */
	uint32_t schema;
	uint64_t last_ns;
	bool is_incomplete;
};

void import_builder_free(struct import_builder *builder)
{
	if (!builder)
		return;
	recording_writer_free(builder->writer);
	strings_fini(&builder->processes);
	free(builder);
}

int import_builder_new(int output, const struct import_host *host, struct import_builder **ret,
		       struct error *err)
{
	struct import_builder *builder = calloc(1, sizeof(*builder));
	int r = builder ? strings_init(&builder->processes) : -ENOMEM;

	if (r == 0)
		r = recording_writer_open(output, "the recording", &builder->writer, err);
	else
		(void)error_set(err, r, "out of memory");
	if (r < 0) {
		import_builder_free(builder);
		return r;
	}
	if (output < 0)
		recording_writer_set_kept(builder->writer);
	recording_writer_set_plain(builder->writer);
	builder->host = host;
	builder->sink = recording_writer_sink(builder->writer);
	*ret = builder;
	return 0;
}

struct recording_writer *import_builder_writer(struct import_builder *builder)
{
	return builder->writer;
}

struct recording_writer *import_builder_take_writer(struct import_builder *builder)
{
	return scope_take(&builder->writer);
}

int import_schema(struct import_builder *builder, const char *event, const char *value,
		  const char *unit, uint64_t period)
{
	struct schema schema = {event, value, unit, period};

	return sink_schema(builder->sink, &schema, &builder->schema);
}

void import_choose_schema(struct import_builder *builder, uint32_t schema)
{
	builder->schema = schema;
}

int import_place(struct import_builder *builder, const struct place *place, uint32_t *ret)
{
	return sink_place(builder->sink, place, ret);
}

int import_thread(struct import_builder *builder, uint32_t pid, uint32_t tid, const char *comm,
		  const char *process, uint32_t *ret)
{
	/*
	 * Without a pid, processes are distinguished by name: its number is stored as the exec
	 * count.
	 */
	uint32_t number = pid == 0 ? strings_add(&builder->processes, process) : 0;
	struct process item = {.pid = pid, .exec_count = number, .comm = process, .executable = ""};
	struct thread thread = {.tid = tid, .comm = comm};
	int r = number == ID_NONE ? -ENOMEM : sink_process(builder->sink, &item, &thread.process);

	return r < 0 ? r : sink_thread(builder->sink, &thread, ret);
}

int import_sample(struct import_builder *builder, const struct import_sample *sample,
		  struct error *err)
{
	uint64_t time_ns = IMPORT_START_NS + sample->since_ns;
	/* The file format cannot store the largest possible weight. */
	uint64_t weight = sample->weight < INT64_MAX ? sample->weight : INT64_MAX;
	uint32_t cpu = 0;
	uint32_t stack;
	uint32_t labels;
	struct sample_batch batch = {
		.schema = builder->schema,
		.count = 1,
		.stack = &stack,
		.thread = &sample->thread,
		.cpu = &cpu,
		.labels = &labels,
		.time_ns = &time_ns,
		.weight = &weight,
		.times = &sample->times,
	};
	int r = sink_stack(builder->sink, sample->frames, sample->frame_count, &stack);

	if (r == 0)
		r = sink_labels(builder->sink, sample->labels, sample->label_count, &labels);
	if (r < 0)
		return error_errno(err, r, "cannot store a stack");
	if (sample->since_ns > builder->last_ns)
		builder->last_ns = sample->since_ns;
	return sink_batch(builder->sink, &batch, err);
}

void import_kernel_names(struct import_builder *builder, const struct import_kernel *kernel)
{
	if (builder->host && builder->host->kernel_names)
		builder->host->kernel_names(builder->writer, kernel);
}

void import_jit_names(struct import_builder *builder, const struct import_origin *origin)
{
	if (builder->host && builder->host->jit_names)
		builder->host->jit_names(builder->writer, origin);
}

void import_set_incomplete(struct import_builder *builder)
{
	builder->is_incomplete = true;
}

int import_finish(struct import_builder *builder, uint64_t duration_ns, struct error *err)
{
	char text[32];

	if (duration_ns < builder->last_ns)
		duration_ns = builder->last_ns;
	(void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)IMPORT_START_NS); /* they fit */
	recording_writer_info(builder->writer, "start_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)IMPORT_START_NS + duration_ns);
	recording_writer_info(builder->writer, "end_monotonic_ns", text);
	return builder->is_incomplete ? recording_writer_flush(builder->writer, err)
				      : recording_writer_finish(builder->writer, err);
}
