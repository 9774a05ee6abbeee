/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/scope.h"
#include "base/vec.h"
#include "model/dictionary.h"
#include "model/dictionary_sink.h"
#include "model/entity.h"
#include "model/label_sets.h"
#include "model/leak.h"
#include "model/sink.h"
#include "recording/chunk.h"
#include "recording/dictionary_encoder.h"
#include "recording/format.h"
#include "recording/heap_log.h"
#include "recording/leak_codec.h"
#include "recording/map_log.h"
#include "recording/memory_codec.h"
#include "recording/plain_records.h"
#include "recording/sample_codec.h"
#include "recording/sample_columns.h"

/*
 * Above this many stack nodes, or new mappings, an epoch is large: 12 MB of memory for the former,
 * 4 MB for the latter.
 */
#define EPOCH_NODES (1u << 18)
#define EPOCH_MAPS (1u << 16)

/* Pending data becomes a chunk at this size, far below CHUNK_MAX_BYTES. */
#define BYTES_A_CHUNK (1u << 20)

struct recording_writer {
	struct dictionary dictionary; /* first: see dictionary_sink.h */
	int fd;
	char *name;
	int failure; /* code of the first failed write */

	struct sink sink;
	struct dictionary_encoder encoder;
	struct sample_encoder samples;
	struct heap_log heap;
	struct chunk_codec *codec;
	bool keeps; /* everything stays in memory */
	bool is_finished;
	struct sample_columns kept;
	VEC(struct schema) schemas;
	struct map_log maps;
	size_t node_limit;
	bool epoch_asked;

	struct bytes info;
	struct bytes clocks;
	struct bytes memory;
	struct bytes losses;
	struct bytes kernel_symbols;
	struct bytes jit_symbols;
	struct bytes jit_places;
	struct bytes schema_bytes;
	struct bytes told_schema_bytes;

	struct bytes payload; /* scratch */
	struct bytes out;     /* complete chunks waiting to be written */
	uint32_t own_labels;  /* of every sample; 0: none */
	uint32_t epoch;
	uint32_t sequence;
	uint64_t epoch_limit_bytes;
	uint64_t epoch_start_bytes;
	uint64_t file_bytes;
	uint64_t sample_count;
};

_Static_assert(offsetof(struct recording_writer, dictionary) == 0,
	       "the dictionary must come first");

static const struct sink_ops writer_sink_ops;

static void put_file_header(struct bytes *out)
{
	bytes_put(out, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	bytes_put_u16(out, RECORDING_MAJOR);
	bytes_put_u16(out, RECORDING_MINOR);
	bytes_put_u32(out, 0);
}

int recording_writer_open(int fd, const char *name, struct recording_writer **ret,
			  struct error *err)
{
	struct recording_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return error_set(err, -ENOMEM, "out of memory");
	writer->fd = -1;
	writer->name = strdup(name);
	writer->codec = chunk_codec_new();
	if (!writer->name || !writer->codec || dictionary_init(&writer->dictionary) < 0) {
		recording_writer_free(writer);
		return error_set(err, -ENOMEM, "out of memory");
	}
	dictionary_encoder_init(&writer->encoder, &writer->dictionary);
	writer->sink = (struct sink){.ops = &writer_sink_ops, .self = writer};
	writer->epoch_limit_bytes = EPOCH_BYTES;
	writer->node_limit = EPOCH_NODES;
	put_file_header(&writer->out);
	writer->fd = fd;
	*ret = writer;
	return 0;
}

void recording_writer_free(struct recording_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		(void)close(writer->fd); /* the data was written and checked before */
	free(writer->name);
	chunk_codec_free(writer->codec);
	dictionary_encoder_fini(&writer->encoder);
	dictionary_fini(&writer->dictionary);
	sample_encoder_fini(&writer->samples);
	sample_columns_fini(&writer->kept);
	vec_fini(&writer->schemas);
	map_log_fini(&writer->maps);
	heap_log_fini(&writer->heap);
	bytes_fini(&writer->info);
	bytes_fini(&writer->clocks);
	bytes_fini(&writer->memory);
	bytes_fini(&writer->losses);
	bytes_fini(&writer->kernel_symbols);
	bytes_fini(&writer->jit_symbols);
	bytes_fini(&writer->jit_places);
	bytes_fini(&writer->schema_bytes);
	bytes_fini(&writer->told_schema_bytes);
	bytes_fini(&writer->payload);
	bytes_fini(&writer->out);
	free(writer);
}

void recording_writer_set_plain(struct recording_writer *writer)
{
	chunk_codec_set_plain(writer->codec);
}

void recording_writer_set_kept(struct recording_writer *writer)
{
	writer->keeps = true;
}

struct recording_kept recording_writer_kept(const struct recording_writer *writer)
{
	return (struct recording_kept){
		.payloads = {{CHUNK_INFO, &writer->info},
			     {CHUNK_CLOCK, &writer->clocks},
			     {CHUNK_SCHEMA, &writer->schema_bytes},
			     {CHUNK_TOLD_SCHEMA, &writer->told_schema_bytes},
			     {CHUNK_LOSS, &writer->losses},
			     {CHUNK_KERNEL_SYMBOLS, &writer->kernel_symbols},
			     {CHUNK_JIT_SYMBOLS, &writer->jit_symbols},
			     {CHUNK_JIT_PLACES, &writer->jit_places}},
		.samples = &writer->kept,
		.is_finished = writer->is_finished,
	};
}

struct sink *recording_writer_sink(struct recording_writer *writer)
{
	return &writer->sink;
}

const struct dictionary *recording_writer_dictionary(const struct recording_writer *writer)
{
	return &writer->dictionary;
}

uint64_t recording_writer_bytes(const struct recording_writer *writer)
{
	return writer->file_bytes;
}

uint64_t recording_writer_samples(const struct recording_writer *writer)
{
	return writer->sample_count;
}

uint64_t recording_writer_heap_events(const struct recording_writer *writer)
{
	return writer->heap.count;
}

void recording_writer_ask_epoch(struct recording_writer *writer)
{
	writer->epoch_asked = true;
}

uint64_t recording_writer_epoch_bytes(const struct recording_writer *writer)
{
	return writer->epoch_start_bytes;
}

void recording_writer_set_epoch_bytes(struct recording_writer *writer, uint64_t bytes)
{
	writer->epoch_limit_bytes = bytes;
}

void recording_writer_set_node_limit(struct recording_writer *writer, size_t nodes)
{
	writer->node_limit = nodes;
}

/* Makes a chunk from payload and clears it. */
static int queue_chunk(struct recording_writer *writer, enum chunk_type type, struct bytes *payload)
{
	struct chunk_header header = {
		.type = (uint8_t)type,
		.flags = type == CHUNK_DICTIONARY || type == CHUNK_SAMPLES || type == CHUNK_HEAP
				 ? CHUNK_MUST_UNDERSTAND
				 : 0,
		.epoch = writer->epoch,
		.sequence = writer->sequence,
	};
	int r;

	if (payload->failed)
		return -ENOMEM;
	r = chunk_encode(writer->codec, &header, payload->data, payload->size, &writer->out);
	if (r < 0)
		return r;
	writer->sequence++;
	bytes_clear(payload);
	return 0;
}

static int queue_if_any(struct recording_writer *writer, enum chunk_type type,
			struct bytes *payload)
{
	return payload->size > 0 || payload->failed ? queue_chunk(writer, type, payload) : 0;
}

/* Limits pending data; a failure shows in the next flush. */
static void queue_if_large(struct recording_writer *writer, enum chunk_type type,
			   struct bytes *payload)
{
	bool is_large = payload->size > BYTES_A_CHUNK && !writer->keeps;
	int r = is_large ? queue_chunk(writer, type, payload) : 0;

	if (r < 0 && writer->failure == 0)
		writer->failure = r;
}

void recording_writer_info(struct recording_writer *writer, const char *key, const char *value)
{
	put_text(&writer->info, key);
	put_text(&writer->info, value);
	queue_if_large(writer, CHUNK_INFO, &writer->info);
}

void recording_writer_kernel_symbol(struct recording_writer *writer, uint64_t start, uint64_t size,
				    const char *name, const char *module)
{
	bytes_put_varint(&writer->kernel_symbols, start);
	bytes_put_varint(&writer->kernel_symbols, size);
	put_text(&writer->kernel_symbols, name);
	put_text(&writer->kernel_symbols, module);
	queue_if_large(writer, CHUNK_KERNEL_SYMBOLS, &writer->kernel_symbols);
}

void recording_writer_jit_symbol(struct recording_writer *writer,
				 const struct recording_jit_symbol *symbol)
{
	bool is_place = symbol->from_ns > 0 || symbol->file;
	struct bytes *out = is_place ? &writer->jit_places : &writer->jit_symbols;

	put_jit_symbol(out, symbol, is_place);
	queue_if_large(writer, is_place ? CHUNK_JIT_PLACES : CHUNK_JIT_SYMBOLS, out);
}

void recording_writer_clock(struct recording_writer *writer, uint64_t monotonic_ns,
			    uint64_t realtime_ns)
{
	bytes_put_varint(&writer->clocks, monotonic_ns);
	bytes_put_varint(&writer->clocks, realtime_ns);
	queue_if_large(writer, CHUNK_CLOCK, &writer->clocks);
}

void recording_writer_memory(struct recording_writer *writer, const struct memory_reading *reading)
{
	if (writer->keeps)
		return;
	memory_encode(reading, &writer->memory);
	queue_if_large(writer, CHUNK_MEMORY, &writer->memory);
}

static int queue_dictionary(struct recording_writer *writer)
{
	int r = dictionary_encoder_flush(&writer->encoder, &writer->payload);

	return r > 0 ? queue_chunk(writer, CHUNK_DICTIONARY, &writer->payload) : r;
}

static int queue_maps(struct recording_writer *writer)
{
	struct bytes maps = {0};
	int r = 0;

	while (r == 0 && map_log_waits(&writer->maps)) {
		map_log_encode(&writer->maps, &writer->encoder, BYTES_A_CHUNK, &maps);
		r = queue_dictionary(writer);
		if (r == 0)
			r = queue_chunk(writer, CHUNK_MAPS, &maps);
	}
	bytes_fini(&maps);
	return r;
}

static int queue_samples(struct recording_writer *writer)
{
	int r;

	if (writer->samples.count == 0)
		return 0;
	r = sample_encoder_finish(&writer->samples, &writer->payload);
	if (r < 0)
		return r;
	writer->samples.count = 0;
	return queue_chunk(writer, CHUNK_SAMPLES, &writer->payload);
}

static int queue_heap(struct recording_writer *writer)
{
	int r = heap_log_encode(&writer->heap, &writer->payload);

	return r > 0 ? queue_chunk(writer, CHUNK_HEAP, &writer->payload) : r;
}

static int queue_all(struct recording_writer *writer)
{
	int r = queue_if_any(writer, CHUNK_INFO, &writer->info);

	if (r == 0)
		r = queue_if_any(writer, CHUNK_CLOCK, &writer->clocks);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_SCHEMA, &writer->schema_bytes);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_TOLD_SCHEMA, &writer->told_schema_bytes);
	if (r == 0)
		r = queue_maps(writer);
	if (r == 0)
		r = queue_dictionary(writer);
	if (r == 0)
		r = queue_samples(writer);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_MEMORY, &writer->memory);
	if (r == 0)
		r = queue_heap(writer);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_LOSS, &writer->losses);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_KERNEL_SYMBOLS, &writer->kernel_symbols);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_JIT_SYMBOLS, &writer->jit_symbols);
	if (r == 0)
		r = queue_if_any(writer, CHUNK_JIT_PLACES, &writer->jit_places);
	return r;
}

/* How many of the first n bytes of out are complete chunks (and the file header). */
static size_t whole_bytes(const struct recording_writer *writer, size_t n)
{
	size_t whole = 0;

	if (writer->file_bytes == 0) {
		if (n < RECORDING_HEADER_BYTES)
			return 0;
		whole = RECORDING_HEADER_BYTES;
	}
	while (whole + CHUNK_HEADER_BYTES <= n) {
		struct chunk_header header;
		size_t next;

		if (!chunk_parse_header(writer->out.data + whole, &header))
			break;
		next = whole + CHUNK_HEADER_BYTES + header.stored_bytes;
		if (next > n)
			break;
		whole = next;
	}
	return whole;
}

/* Reports the first failure again. Returns its code. */
static int cannot_write(const struct recording_writer *writer, struct error *err)
{
	(void)error_file(err, writer->failure, "cannot write %s",
			 strcmp(writer->name, "-") ? writer->name : "to standard output");
	if (writer->failure == -ENOSPC || writer->failure == -EDQUOT)
		error_remedy(err, "free some space, or choose another place");
	return writer->failure;
}

/*
 * After a failed write: truncates the file to its last complete chunk, relative to where the write
 * ended, because the recording may not start at the beginning of the file.
 */
static int keep_what_fits(struct recording_writer *writer, int code, size_t written,
			  struct error *err)
{
	size_t whole = whole_bytes(writer, written);
	off_t end = written > whole ? lseek(writer->fd, 0, SEEK_CUR) : -1;

	writer->failure = code;
	writer->file_bytes += whole;
	if (end >= 0 && ftruncate(writer->fd, end - (off_t)(written - whole)) < 0)
		writer->file_bytes += written - whole; /* readers can handle half a chunk */
	return cannot_write(writer, err);
}

static int write_out(struct recording_writer *writer, struct error *err)
{
	size_t written;
	int r = outfile_write_some(writer->fd, writer->out.data, writer->out.size, &written);

	if (r < 0)
		return keep_what_fits(writer, r, written, err);
	writer->file_bytes += writer->out.size;
	bytes_clear(&writer->out);
	return 0;
}

/* Readers that do not know kinds must not mistake levels for weights: use another chunk type. */
static void add_schema(struct recording_writer *writer, uint32_t id, const struct schema *schema)
{
	if (schema->kind == SCHEMA_SAMPLED) {
		put_schema(&writer->schema_bytes, id, schema);
		return;
	}
	put_schema(&writer->told_schema_bytes, id, schema);
	bytes_put_varint(&writer->told_schema_bytes, schema->kind);
}

static void begin_epoch(struct recording_writer *writer)
{
	uint32_t i;

	writer->epoch++;
	writer->epoch_start_bytes = writer->file_bytes;
	dictionary_encoder_reset(&writer->encoder);
	map_log_begin_epoch(&writer->maps);
	for (i = 0; i < writer->schemas.count; i++)
		add_schema(writer, i, &writer->schemas.items[i]);
}

int recording_writer_begin(struct recording_writer *writer, struct error *err)
{
	return write_out(writer, err);
}

int recording_writer_check(const struct recording_writer *writer, struct error *err)
{
	return writer->failure < 0 ? cannot_write(writer, err) : 0;
}

int recording_writer_flush(struct recording_writer *writer, struct error *err)
{
	int r;

	if (writer->keeps)
		return 0;
	if (writer->failure < 0)
		return cannot_write(writer, err);
	r = queue_all(writer);
	if (r < 0) {
		writer->failure = r;
		return error_file(err, r, "cannot store the recording");
	}
	if (writer->out.size == 0)
		return 0;
	r = write_out(writer, err);
	if (r < 0)
		return r;
	if (writer->file_bytes - writer->epoch_start_bytes >= writer->epoch_limit_bytes ||
	    dictionary_encoder_numbers(&writer->encoder) >= EPOCH_MAX_NUMBERS / 2)
		begin_epoch(writer);
	return 0;
}

int recording_writer_finish(struct recording_writer *writer, struct error *err)
{
	struct bytes end = {0};
	int r = recording_writer_flush(writer, err);

	writer->is_finished = r == 0;
	if (r < 0 || writer->keeps)
		return r;
	bytes_put_varint(&end, writer->sample_count);
	if (writer->heap.count > 0)
		bytes_put_varint(&end, writer->heap.count);
	r = queue_chunk(writer, CHUNK_END, &end);
	bytes_fini(&end);
	if (r < 0)
		return error_file(err, r, "cannot close the recording");
	return write_out(writer, err);
}

/* A copy that lives as long as the writer; NULL if out of memory. */
static const char *keep_text(struct recording_writer *writer, const char *text)
{
	uint32_t id = strings_add(&writer->dictionary.strings, text);

	return id == ID_NONE ? NULL : strings_get(&writer->dictionary.strings, id);
}

static int take_schema(void *self, const struct schema *schema, uint32_t *ret_id)
{
	struct recording_writer *writer = self;
	uint32_t id = (uint32_t)writer->schemas.count;
	struct schema copy = {
		.event = keep_text(writer, schema->event),
		.value = keep_text(writer, schema->value),
		.unit = keep_text(writer, schema->unit),
		.period = schema->period,
		.kind = schema->kind,
	};

	if (id >= RECORDING_MAX_SCHEMAS)
		return -E2BIG;
	if (!copy.event || !copy.value || !copy.unit || vec_push(&writer->schemas, copy) < 0)
		return -ENOMEM;
	add_schema(writer, id, &copy);
	*ret_id = id;
	return 0;
}

static int take_process(void *self, const struct process *process, uint32_t *ret_id)
{
	struct recording_writer *writer = self;
	int r = dictionary_sink_process(self, process, ret_id);

	if (r == 0)
		map_log_revive(&writer->maps, *ret_id);
	return r;
}

int recording_writer_set_labels(struct recording_writer *writer, const struct label *labels,
				size_t n)
{
	return dictionary_sink_labels(writer, labels, n, &writer->own_labels);
}

/* The sample's own come last: of equal keys the last counts. */
static int take_labels(void *self, const struct label *labels, size_t n, uint32_t *ret_id)
{
	struct recording_writer *writer = self;
	struct label all[LABELS_MAX];
	size_t own = label_sets_get(&writer->dictionary.labels, &writer->dictionary.strings,
				    writer->own_labels, all);

	if (own == 0)
		return dictionary_sink_labels(self, labels, n, ret_id);
	if (n > LABELS_MAX - own)
		return -E2BIG;
	memcpy(all + own, labels, n * sizeof(*labels));
	return dictionary_sink_labels(self, all, own + n, ret_id);
}

static int take_map(void *self, const struct map_event *event, struct error *err)
{
	struct recording_writer *writer = self;

	if (vec_push(&writer->maps.events, *event) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

/* Checks for bugs of our own, which would make a file that readers reject. */
static int check_batch(const struct recording_writer *writer, const struct sample_batch *batch,
		       struct error *err)
{
	size_t i;

	if (batch->schema >= writer->schemas.count)
		return error_advise(
			err, error_set(err, -EINVAL, "unknown sample kind %u", batch->schema),
			RECORDING_REPORT);
	for (i = 0; i < batch->count; i++)
		if (batch->cpu[i] >= RECORDING_MAX_CPUS || batch->weight[i] == UINT64_MAX)
			return error_advise(
				err,
				error_set(err, -EINVAL,
					  "a sample has an invalid CPU (%u) or weight (%llu)",
					  batch->cpu[i], (unsigned long long)batch->weight[i]),
				RECORDING_REPORT);
	return 0;
}

static void begin_samples(struct recording_writer *writer, uint32_t schema)
{
	const struct schema *item = &writer->schemas.items[schema];
	uint64_t period_ns = strcmp(item->unit, "nanoseconds") == 0 ? item->period : 0;

	sample_encoder_begin(&writer->samples, schema, period_ns, writer->sample_count,
			     writer->encoder.stacks.flushed);
}

static uint32_t labels_of(const struct recording_writer *writer, const struct sample_batch *batch,
			  size_t i)
{
	return batch->labels && batch->labels[i] ? batch->labels[i] : writer->own_labels;
}

/* Encodes samples from `at` on until a chunk is full. Returns where it stopped. */
static size_t add_samples(struct recording_writer *writer, const struct sample_batch *batch,
			  size_t at)
{
	uint32_t stacks = writer->encoder.stacks.next;
	size_t room = SAMPLES_A_CHUNK - writer->samples.count;
	size_t end = batch->count - at < room ? batch->count : at + room;
	size_t i;

	for (i = at; i < end; i++) {
		struct coded_sample sample = {
			.stack = dictionary_encoder_stack(&writer->encoder, batch->stack[i]),
			.thread = dictionary_encoder_thread(&writer->encoder, batch->thread[i]),
			.cpu = batch->cpu[i],
			.labels = dictionary_encoder_labels(&writer->encoder,
							    labels_of(writer, batch, i)),
			.time_ns = batch->time_ns[i],
			.weight = batch->weight[i],
			.more = batch->times && batch->times[i] > 0 ? batch->times[i] - 1 : 0,
		};

		sample_encoder_add(&writer->samples, &sample);
		if (writer->encoder.stacks.next == stacks)
			continue;
		stacks = writer->encoder.stacks.next;
		if (dictionary_encoder_pending(&writer->encoder) > BYTES_A_CHUNK) {
			i++;
			break;
		}
	}
	writer->sample_count += i - at;
	return i;
}

static int take_batch(void *self, const struct sample_batch *batch, struct error *err)
{
	struct recording_writer *writer = self;
	int r = check_batch(writer, batch, err);
	size_t i = 0;

	if (r == 0 && writer->keeps)
		return sample_columns_add(&writer->kept, batch) < 0
			       ? error_set(err, -ENOMEM, "out of memory")
			       : 0;
	if (r == 0 && writer->failure < 0)
		r = cannot_write(writer, err);
	if (r == 0 && writer->samples.count > 0 && writer->samples.schema != batch->schema)
		r = recording_writer_flush(writer, err);
	while (r == 0 && i < batch->count) {
		if (writer->samples.count == 0)
			begin_samples(writer, batch->schema);
		i = add_samples(writer, batch, i);
		if (writer->samples.count >= SAMPLES_A_CHUNK ||
		    dictionary_encoder_pending(&writer->encoder) > BYTES_A_CHUNK)
			r = recording_writer_flush(writer, err);
	}
	return r;
}

/* Whether heap events can be accepted at all. */
static int check_heap_room(const struct recording_writer *writer, struct error *err)
{
	if (writer->keeps)
		return error_advise(
			err, error_set(err, -ENOTSUP, "the heap cannot be recorded without a file"),
			"write a recording to a file first, and read that");
	return writer->failure < 0 ? cannot_write(writer, err) : 0;
}

static int take_heap(void *self, const struct heap_batch *batch, struct error *err)
{
	struct recording_writer *writer = self;
	int r = check_heap_room(writer, err);
	size_t i = 0;

	if (r == 0)
		r = heap_log_check(batch, err);
	while (r == 0 && i < batch->count) {
		r = heap_log_add(&writer->heap, &writer->encoder, batch, BYTES_A_CHUNK, &i);
		if (r < 0)
			return error_errno(err, r, "cannot store allocations in the recording");
		if (r > 0)
			r = recording_writer_flush(writer, err);
	}
	return r;
}

static int take_heap_until(void *self, uint64_t time_ns, struct error *err)
{
	struct recording_writer *writer = self;
	int r = check_heap_room(writer, err);

	if (r == 0)
		heap_log_until(&writer->heap, time_ns);
	return r;
}

/* Written at once, so that its chunks come after the events it is about. */
static int take_leaks(void *self, const struct leak_scan *scan, struct error *err)
{
	struct recording_writer *writer = self;
	struct bytes leaks = {0};
	int r = check_heap_room(writer, err);
	size_t at = 0;

	if (r == 0)
		r = recording_writer_flush(writer, err);
	if (r < 0)
		return r;
	do {
		at = leak_encode(scan, at, &writer->encoder, &leaks);
		r = queue_dictionary(writer);
		if (r == 0)
			r = queue_chunk(writer, CHUNK_LEAKS, &leaks);
	} while (r == 0 && at < scan->group_count);
	bytes_fini(&leaks);
	return r < 0 ? error_errno(err, r, "cannot store a leak scan in the recording")
		     : write_out(writer, err);
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct recording_writer *writer = self;

	bytes_put_varint(&writer->losses, reason);
	bytes_put_varint(&writer->losses, time_ns);
	bytes_put_varint(&writer->losses, samples);
	queue_if_large(writer, CHUNK_LOSS, &writer->losses);
	return writer->losses.failed ? -ENOMEM : writer->failure;
}

static void take_ended(void *self, uint32_t process)
{
	struct recording_writer *writer = self;

	map_log_end(&writer->maps, process);
}

static int take_trim(void *self, struct error *err)
{
	struct recording_writer *writer = self;
	size_t new_maps = writer->maps.events.count - writer->maps.repeated;
	int r;

	if (writer->keeps ||
	    (!writer->epoch_asked && writer->dictionary.stacks.nodes.count < writer->node_limit &&
	     new_maps < EPOCH_MAPS))
		return 0;
	/* Data that is already encoded no longer needs ids. */
	r = recording_writer_flush(writer, err);
	if (r < 0)
		return r;
	begin_epoch(writer);
	r = dictionary_forget_stacks(&writer->dictionary, !writer->epoch_asked);
	writer->epoch_asked = false;
	return r < 0 ? error_file(err, r, "cannot store the recording") : 1;
}

static const struct sink_ops writer_sink_ops = {
	.schema = take_schema,
	.module = dictionary_sink_module,
	.process = take_process,
	.thread = dictionary_sink_thread,
	.place = dictionary_sink_place,
	.stack = dictionary_sink_stack,
	.labels = take_labels,
	.map = take_map,
	.batch = take_batch,
	.loss = take_loss,
	.heap = take_heap,
	.heap_until = take_heap_until,
	.leaks = take_leaks,
	.ended = take_ended,
	.trim = take_trim,
};
