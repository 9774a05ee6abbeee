/* SPDX-License-Identifier: BSD-2-Clause */
#include "relay/merged_window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/vec.h"
#include "load/convert/id_transfer.h"
#include "model/dictionary.h"
#include "model/sink.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"

/*
 * Time of day minus the times in a merged recording: those of all hosts are positive then, whenever
 * they booted.
 */
#define TO_REAL_NS NS_PER_SEC

/* One kind of value, which windows of several agents have. */
struct merged_schema {
	struct schema schema; /* with copies of its texts */
	uint32_t id;
};

struct merged_window {
	struct recording_writer *writer;
	struct sink *sink;
	uint32_t processes; /* so far: keeps those of different hosts apart */
	uint32_t parts;
	uint64_t start_ns; /* of the first sample, and of the last one */
	uint64_t end_ns;
	VEC(struct merged_schema) schemas;
};

/* A window that is being added. */
struct part {
	struct merged_window *merged;
	struct recording_reader *reader;
	struct id_transfer transfer;
	uint32_t number;
	uint64_t shift_ns; /* added to times, modulo 2^64 */
	uint32_t schemas[RECORDING_MAX_SCHEMAS];
	VEC(uint32_t) labels; /* by label set; ID_NONE: not needed yet */
	const char *id;
};

/* When a window began, in the time of its host and in the time of day; 0: it does not say. */
struct beginning {
	uint64_t monotonic_ns;
	uint64_t real_ns;
};

static int take_beginning(void *self, const char *key, const char *value)
{
	struct beginning *beginning = self;
	uint64_t number;

	if (number_parse_u64(value, &number) < 0)
		return 0;
	if (strcmp(key, "start_monotonic_ns") == 0)
		beginning->monotonic_ns = number;
	if (strcmp(key, "window.start") == 0 && number > NS_PER_SEC)
		beginning->real_ns = number;
	return 0;
}

static bool find_beginning(const void *data, size_t size, struct beginning *ret)
{
	const struct recording_visitor visitor = {.self = ret, .info = take_beginning};
	struct recording_reader *reader;
	int r;

	*ret = (struct beginning){0};
	if (recording_reader_open_memory(data, size, "a window", &reader, NULL) < 0)
		return false;
	recording_reader_skim(reader);
	r = recording_reader_run(reader, &visitor, NULL);
	recording_reader_free(reader);
	return r == 0 && ret->monotonic_ns > 0 && ret->real_ns > 0;
}

/* Addresses of a kernel or of JIT-compiled code mean something on their own host only. */
static bool is_mergeable(uint8_t type)
{
	switch (type) {
	case CHUNK_INFO:
	case CHUNK_DICTIONARY:
	case CHUNK_SAMPLES:
	case CHUNK_CLOCK:
	case CHUNK_LOSS:
	case CHUNK_SCHEMA:
	case CHUNK_TOLD_SCHEMA:
	case CHUNK_END:
		return true;
	default:
		return false;
	}
}

bool merged_window_takes(const void *data, size_t size, uint64_t *ret_raw_bytes)
{
	const uint8_t *bytes = data;
	struct beginning beginning;
	size_t at = RECORDING_HEADER_BYTES;

	*ret_raw_bytes = 0;
	while (at < size) {
		struct chunk_header header;

		if (size - at < CHUNK_HEADER_BYTES || !chunk_parse_header(bytes + at, &header) ||
		    size - at - CHUNK_HEADER_BYTES < header.stored_bytes ||
		    !is_mergeable(header.type))
			return false;
		*ret_raw_bytes += header.raw_bytes;
		at += CHUNK_HEADER_BYTES + header.stored_bytes;
	}
	return find_beginning(data, size, &beginning);
}

int merged_window_open(int fd, const char *id, struct merged_window **ret, struct error *err)
{
	struct merged_window *merged = calloc(1, sizeof(*merged));
	int r = merged ? recording_writer_open(fd, "a merged window", &merged->writer, err)
		       : error_set(err, -ENOMEM, "out of memory");

	if (r < 0) {
		(void)close(fd); /* nothing was written */
		free(merged);
		return r;
	}
	merged->sink = recording_writer_sink(merged->writer);
	recording_writer_info(merged->writer, "title", "windows of several hosts");
	recording_writer_info(merged->writer, "wick", WICK_VERSION);
	recording_writer_info(merged->writer, "window.id", id);
	*ret = merged;
	return 0;
}

static void schema_fini(struct schema *schema)
{
	free((char *)(uintptr_t)schema->event); /* copies of ours */
	free((char *)(uintptr_t)schema->value);
	free((char *)(uintptr_t)schema->unit);
}

void merged_window_free(struct merged_window *merged)
{
	if (!merged)
		return;
	for (size_t i = 0; i < merged->schemas.count; i++)
		schema_fini(&merged->schemas.items[i].schema);
	vec_fini(&merged->schemas);
	recording_writer_free(merged->writer);
	free(merged);
}

static void put_fact(struct merged_window *merged, uint32_t part, const char *key,
		     const char *value)
{
	char name[160];

	(void)snprintf(name, sizeof(name), "relay.%" PRIu32 ".%.100s", part, key);
	recording_writer_info(merged->writer, name, value);
}

static int take_info(void *self, const char *key, const char *value)
{
	const struct part *part = self;

	put_fact(part->merged, part->number, key, value);
	return 0;
}

static bool is_same(const struct schema *a, const struct schema *b)
{
	return strcmp(a->event, b->event) == 0 && strcmp(a->value, b->value) == 0 &&
	       strcmp(a->unit, b->unit) == 0 && a->kind == b->kind;
}

static int add_schema(struct merged_window *merged, const struct schema *schema, uint32_t *ret)
{
	struct merged_schema made = {.schema = *schema};
	int r = 0;

	made.schema.event = strdup(schema->event);
	made.schema.value = strdup(schema->value);
	made.schema.unit = strdup(schema->unit);
	if (!made.schema.event || !made.schema.value || !made.schema.unit)
		r = -ENOMEM;
	if (r == 0)
		r = sink_schema(merged->sink, schema, &made.id);
	if (r == 0)
		r = vec_push(&merged->schemas, made);
	if (r < 0)
		schema_fini(&made.schema);
	else
		*ret = made.id;
	return r;
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct part *part = self;
	struct merged_window *merged = part->merged;
	size_t i;

	if (id >= RECORDING_MAX_SCHEMAS)
		return -E2BIG;
	for (i = 0; i < merged->schemas.count; i++)
		if (is_same(&merged->schemas.items[i].schema, schema)) {
			part->schemas[id] = merged->schemas.items[i].id;
			return 0;
		}
	return add_schema(merged, schema, &part->schemas[id]);
}

/* The labels of a sample and the number of its window. */
static int map_labels(struct part *part, uint32_t id, uint32_t *ret)
{
	const struct dictionary *from = part->transfer.from;
	struct label labels[LABELS_MAX];
	char number[16];
	size_t n;
	int r;

	while (part->labels.count <= id)
		if (vec_push(&part->labels, ID_NONE) < 0)
			return -ENOMEM;
	if (part->labels.items[id] == ID_NONE) {
		n = label_sets_get(&from->labels, &from->strings, id, labels);
		if (n == LABELS_MAX)
			return -E2BIG;
		(void)snprintf(number, sizeof(number), "%" PRIu32, part->number);
		labels[n] = (struct label){.key = "relay.window", .value = number};
		r = sink_labels(part->merged->sink, labels, n + 1, &part->labels.items[id]);
		if (r < 0)
			return r;
	}
	*ret = part->labels.items[id];
	return 0;
}

static int take_sample(struct part *part, const struct sample_batch *batch, size_t i)
{
	struct merged_window *merged = part->merged;
	uint64_t time_ns = batch->time_ns[i] + part->shift_ns;
	uint32_t stack;
	uint32_t thread;
	uint32_t labels;
	struct sample_batch one = {
		.schema = part->schemas[batch->schema],
		.count = 1,
		.stack = &stack,
		.thread = &thread,
		.cpu = &batch->cpu[i],
		.labels = &labels,
		.time_ns = &time_ns,
		.weight = &batch->weight[i],
		.times = batch->times ? &batch->times[i] : NULL,
	};
	int r = id_transfer_stack(&part->transfer, batch->stack[i], &stack);

	if (r == 0)
		r = id_transfer_thread(&part->transfer, batch->thread[i], &thread);
	if (r == 0)
		r = map_labels(part, batch->labels ? batch->labels[i] : 0, &labels);
	if (r < 0)
		return r;
	if (merged->start_ns == 0 || time_ns < merged->start_ns)
		merged->start_ns = time_ns;
	if (time_ns > merged->end_ns)
		merged->end_ns = time_ns;
	return sink_batch(merged->sink, &one, NULL);
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct part *part = self;
	int r = 0;

	for (size_t i = 0; i < batch->count && r == 0; i++)
		r = take_sample(part, batch, i);
	return r;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	const struct part *part = self;

	return sink_loss(part->merged->sink, reason, time_ns + part->shift_ns, samples);
}

static int add_part(struct part *part, struct error *err)
{
	const struct recording_visitor visitor = {.self = part,
						  .info = take_info,
						  .schema = take_schema,
						  .samples = take_samples,
						  .loss = take_loss};
	int r;

	part->transfer.from = recording_reader_dictionary(part->reader);
	part->transfer.to = part->merged->sink;
	part->transfer.process_count = &part->merged->processes;
	r = recording_reader_run(part->reader, &visitor, NULL);
	id_transfer_fini(&part->transfer);
	vec_fini(&part->labels);
	return r < 0 ? error_errno(err, r, "cannot merge window %s", part->id) : 0;
}

static int refuse_beginning(const char *id, struct error *err)
{
	(void)error_set(err, -EINVAL, "window %s does not say when it began", id);
	error_remedy(err, "send windows of wick agent");
	return -EINVAL;
}

int merged_window_add(struct merged_window *merged, const struct merged_part *added,
		      struct error *err)
{
	struct part part = {.merged = merged, .number = merged->parts, .id = added->id};
	struct beginning beginning;
	char text[32];
	int r;

	if (!find_beginning(added->data, added->size, &beginning))
		return refuse_beginning(added->id, err);
	part.shift_ns = beginning.real_ns - beginning.monotonic_ns - TO_REAL_NS;
	r = recording_reader_open_memory(added->data, added->size, "a window", &part.reader, err);
	if (r < 0)
		return r;
	r = add_part(&part, err);
	recording_reader_free(part.reader);
	/* After its own facts: the last one counts. */
	(void)snprintf(text, sizeof(text), "%" PRId64, added->offset_s);
	put_fact(merged, part.number, "clock_offset_s", text);
	put_fact(merged, part.number, "window.id", added->id);
	merged->parts++;
	return r;
}

int merged_window_finish(struct merged_window *merged, struct error *err)
{
	uint64_t start_ns = merged->start_ns > 0 ? merged->start_ns : 1;
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu32, merged->parts);
	recording_writer_info(merged->writer, "relay.windows", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, start_ns);
	recording_writer_info(merged->writer, "start_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, merged->end_ns);
	recording_writer_info(merged->writer, "end_monotonic_ns", text);
	recording_writer_clock(merged->writer, start_ns, start_ns + TO_REAL_NS);
	return recording_writer_finish(merged->writer, err);
}
