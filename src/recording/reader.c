/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/dictionary.h"
#include "recording/chunk.h"
#include "recording/chunk_source.h"
#include "recording/dictionary_decoder.h"
#include "recording/format.h"
#include "recording/heap_codec.h"
#include "recording/leak_codec.h"
#include "recording/memory_codec.h"
#include "recording/sample_codec.h"
#include "recording/sample_columns.h"
#include "recording/writer.h"

/*
 * How many entries of dictionaries, symbol tables and so on are accepted per byte of the file, and
 * as a base. An entry takes about a byte even when compressed; only an attack on our memory has
 * many more.
 */
#define ENTRIES_A_BYTE 64u
#define FREE_ENTRIES (1u << 20)

/* Returned by functions that call the visitor if it wants to stop. */
#define STOPPED 1

struct recording_reader {
	struct chunk_source source;
	char *name;
	unsigned int major;
	unsigned int minor;

	bool header_done;
	bool is_skimming; /* see recording_reader_skim() */
	int stopped;      /* the result of the visitor */

	struct chunk_codec *codec;
	struct dictionary dictionary;
	struct dictionary_decoder decoder;
	struct sample_decoder samples;
	struct heap_decoder heap;
	struct leak_decoder leaks;
	uint32_t epoch;
	uint64_t next_sequence; /* expected for the next chunk */
	uint64_t next_sample;   /* expected number of the next sample */
	uint64_t next_heap_event;
	uint64_t heap_until_ns; /* that was delivered */
	bool known_schemas[RECORDING_MAX_SCHEMAS];

	struct sample_columns columns; /* of the batch being delivered */
	struct recording_writer *kept; /* read instead of a file; NULL: a file is read */

	struct recording_damage damage;
	char *why;     /* see RECORDING_DAMAGE; NULL: none */
	char *text[4]; /* scratch space for strings passed to the visitor */
};

bool recording_is(const void *data, size_t size)
{
	return size >= RECORDING_MAGIC_BYTES &&
	       memcmp(data, RECORDING_MAGIC, RECORDING_MAGIC_BYTES) == 0;
}

int recording_reader_open(int fd, const char *name, struct recording_reader **ret,
			  struct error *err)
{
	struct recording_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return error_set(err, -ENOMEM, "out of memory");
	reader->source.fd = -1;
	reader->name = strdup(name);
	reader->codec = chunk_codec_new();
	if (!reader->name || !reader->codec || dictionary_init(&reader->dictionary) < 0 ||
	    dictionary_decoder_init(&reader->decoder, &reader->dictionary) < 0) {
		recording_reader_free(reader);
		return error_set(err, -ENOMEM, "out of memory");
	}
	reader->source.fd = fd;
	*ret = reader;
	return 0;
}

void recording_reader_limit(struct recording_reader *reader, uint64_t bytes)
{
	reader->source.is_limited = true;
	reader->source.limit_bytes = bytes;
}

void recording_reader_skim(struct recording_reader *reader)
{
	reader->is_skimming = true;
}

int recording_reader_open_memory(const void *data, size_t size, const char *name,
				 struct recording_reader **ret, struct error *err)
{
	uint8_t *copy = malloc(size + 1);
	int r;

	if (!copy)
		return error_set(err, -ENOMEM, "out of memory");
	r = recording_reader_open(-1, name, ret, err);
	if (r < 0) {
		free(copy);
		return r;
	}
	if (size > 0)
		memcpy(copy, data, size);
	(*ret)->source.buffer = copy;
	(*ret)->source.end = size;
	(*ret)->source.capacity = size + 1;
	return 0;
}

void recording_reader_free(struct recording_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	chunk_source_fini(&reader->source);
	free(reader->name);
	chunk_codec_free(reader->codec);
	dictionary_decoder_fini(&reader->decoder);
	dictionary_fini(&reader->dictionary);
	sample_decoder_fini(&reader->samples);
	heap_decoder_fini(&reader->heap);
	leak_decoder_fini(&reader->leaks);
	sample_columns_fini(&reader->columns);
	recording_writer_free(reader->kept);
	for (i = 0; i < ARRAY_SIZE(reader->text); i++)
		free(reader->text[i]);
	free(reader->why);
	free(reader);
}

int recording_reader_open_kept(struct recording_writer *writer, const char *name,
			       struct recording_reader **ret, struct error *err)
{
	int r = recording_reader_open(-1, name, ret, err);

	if (r == 0)
		(*ret)->kept = writer;
	return r;
}

const struct dictionary *recording_reader_dictionary(const struct recording_reader *reader)
{
	return reader->kept ? recording_writer_dictionary(reader->kept) : &reader->dictionary;
}

struct recording_damage recording_reader_damage(const struct recording_reader *reader)
{
	struct recording_damage damage = reader->damage;

	damage.bad_chunks += reader->source.bad_runs;
	damage.skipped_bytes = reader->source.skipped_bytes;
	damage.cut_bytes = chunk_source_left(&reader->source);
	damage.why = damage.complete ? NULL : reader->why;
	return damage;
}

void recording_reader_version(const struct recording_reader *reader, unsigned int *ret_major,
			      unsigned int *ret_minor)
{
	*ret_major = reader->major;
	*ret_minor = reader->minor;
}

static int not_a_recording(struct recording_reader *reader, struct error *err)
{
	(void)error_set(err, -EINVAL, "%s is not a wick recording", reader->name);
	error_remedy(err, "see what else wick reads: wick list imports; make a recording with: "
			  "wick record -- COMMAND");
	return -EINVAL;
}

/* The file ends inside its header. */
static int too_short(struct recording_reader *reader, struct error *err)
{
	if (chunk_source_left(&reader->source) == 0)
		(void)error_set(err, -ENODATA, "%s is empty", reader->name);
	else
		(void)error_set(err, -ENODATA, "%s is cut off before the first recorded data",
				reader->name);
	error_remedy(err,
		     "record again: wick record -- COMMAND; or wait while it is being written");
	return -ENODATA;
}

static int read_file_header(struct recording_reader *reader, struct error *err)
{
	struct chunk_source *source = &reader->source;
	int r = chunk_source_need(source, RECORDING_HEADER_BYTES);
	size_t left = chunk_source_left(source);
	size_t n = left < RECORDING_MAGIC_BYTES ? left : RECORDING_MAGIC_BYTES;
	struct cursor in;

	if (r < 0)
		return error_file(err, r, "cannot read %s", reader->name);
	if (n > 0 && memcmp(source->buffer + source->start, RECORDING_MAGIC, n) != 0)
		return not_a_recording(reader, err);
	if (r == 0)
		return 0; /* a recording that has just been created may not have its header yet */
	in = cursor_of(source->buffer + source->start + RECORDING_MAGIC_BYTES,
		       RECORDING_HEADER_BYTES - RECORDING_MAGIC_BYTES);
	reader->major = cursor_u16(&in);
	reader->minor = cursor_u16(&in);
	if (reader->major != RECORDING_MAJOR) {
		(void)error_set(err, -EPROTONOSUPPORT,
				"%s has format version %u.%u, this wick reads %u.x", reader->name,
				reader->major, reader->minor, RECORDING_MAJOR);
		error_remedy(err, "use the wick that recorded it, or a newer one");
		return -EPROTONOSUPPORT;
	}
	chunk_source_skip(source, RECORDING_HEADER_BYTES);
	reader->header_done = true;
	return 1;
}

/* Reads a string of the payload as NUL-terminated text, valid until the next use of the slot. */
static const char *take_text(struct recording_reader *reader, struct cursor *in, unsigned int slot)
{
	size_t n = cursor_varint_max(in, CHUNK_MAX_BYTES);
	const uint8_t *data = cursor_take(in, n);

	if (!data)
		return "";
	free(reader->text[slot]);
	reader->text[slot] = strndup((const char *)data, n);
	if (!reader->text[slot])
		in->failed = true;
	return reader->text[slot] ? reader->text[slot] : "";
}

/* Passes on the result of the visitor. */
static int heed(struct recording_reader *reader, int answer)
{
	if (answer >= 0)
		return 0;
	reader->stopped = answer;
	return STOPPED;
}

/* Counts an entry. Returns false if there are more than a file of this size may have. */
static bool believe(struct recording_reader *reader)
{
	return ++reader->decoder.entries <= reader->decoder.max_entries;
}

/* Remembers why an imported file is cut off; if out of memory this is lost. */
static void note_damage(struct recording_reader *reader, const char *why)
{
	free(reader->why);
	reader->why = strdup(why);
}

static int visit_info(struct recording_reader *reader, const struct recording_visitor *visitor,
		      struct cursor *in)
{
	while (cursor_left(in) > 0) {
		const char *key = take_text(reader, in, 0);
		const char *value = take_text(reader, in, 1);
		int r = 0;

		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (strcmp(key, RECORDING_DAMAGE) == 0)
			note_damage(reader, value);
		if (visitor->info)
			r = heed(reader, visitor->info(visitor->self, key, value));
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_schema(struct recording_reader *reader, const struct recording_visitor *visitor,
			struct cursor *in, bool told)
{
	while (cursor_left(in) > 0) {
		uint32_t id = (uint32_t)cursor_varint_max(in, RECORDING_MAX_SCHEMAS - 1);
		struct schema schema;
		int r = 0;

		schema.event = take_text(reader, in, 0);
		schema.value = take_text(reader, in, 1);
		schema.unit = take_text(reader, in, 2);
		schema.period = cursor_varint(in);
		schema.kind = told ? (enum schema_kind)cursor_varint_max(in, SCHEMA_KINDS - 1)
				   : SCHEMA_SAMPLED;
		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (visitor->schema && !reader->known_schemas[id])
			r = heed(reader, visitor->schema(visitor->self, id, &schema));
		reader->known_schemas[id] = true;
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_maps(struct recording_reader *reader, const struct recording_visitor *visitor,
		      struct cursor *in)
{
	bool repeated = cursor_u8(in) != 0;
	uint64_t last_ns = 0;

	/* A new epoch repeats the maps in force, for readers that missed something. */
	if (repeated && reader->damage.missing_chunks + reader->damage.bad_chunks == 0)
		return 0;
	while (cursor_left(in) > 0) {
		uint64_t process = cursor_varint(in);
		uint64_t module = cursor_varint(in);
		struct map_event event = {.module = MODULE_NONE};
		int r = 0;

		last_ns += (uint64_t)zigzag_decode(cursor_varint(in));
		event.time_ns = last_ns;
		event.start = cursor_varint(in);
		event.end = event.start + cursor_varint(in);
		event.file_offset = cursor_varint(in);
		event.bias = event.start - cursor_varint(in);
		event.process = number_map_get(&reader->decoder.processes, process);
		if (module > 0)
			event.module = number_map_get(&reader->decoder.modules, module - 1);
		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (event.process == ID_NONE || (module > 0 && event.module == ID_NONE))
			continue; /* its dictionary chunk was lost and has been counted */
		if (visitor->map)
			r = heed(reader, visitor->map(visitor->self, &event));
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_clocks(struct recording_reader *reader, const struct recording_visitor *visitor,
			struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint64_t monotonic_ns = cursor_varint(in);
		uint64_t realtime_ns = cursor_varint(in);
		int r = 0;

		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (visitor->clock)
			r = heed(reader, visitor->clock(visitor->self, monotonic_ns, realtime_ns));
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_losses(struct recording_reader *reader, const struct recording_visitor *visitor,
			struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint64_t reason = cursor_varint(in);
		uint64_t time_ns = cursor_varint(in);
		uint64_t samples = cursor_varint(in);
		int r = 0;

		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (reason >= LOSS_REASONS)
			reason = LOSS_RING_FULL; /* of a later version: counts as lost too */
		if (visitor->loss)
			r = heed(reader, visitor->loss(visitor->self, (enum loss_reason)reason,
						       time_ns, samples));
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_kernel_symbols(struct recording_reader *reader,
				const struct recording_visitor *visitor, struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint64_t start = cursor_varint(in);
		uint64_t size = cursor_varint(in);
		const char *name = take_text(reader, in, 0);
		const char *module = take_text(reader, in, 1);
		int r = 0;

		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (visitor->kernel_symbol)
			r = heed(reader,
				 visitor->kernel_symbol(visitor->self, start, size, name, module));
		if (r != 0)
			return r;
	}
	return 0;
}

static int visit_jit_symbols(struct recording_reader *reader,
			     const struct recording_visitor *visitor, struct cursor *in,
			     bool are_places)
{
	while (cursor_left(in) > 0) {
		struct recording_jit_symbol symbol = {0};
		int r = 0;

		symbol.pid = (uint32_t)cursor_varint_max(in, UINT32_MAX);
		symbol.start_ns = cursor_varint(in);
		symbol.exec_count = (uint32_t)cursor_varint_max(in, UINT32_MAX);
		symbol.start = cursor_varint(in);
		symbol.size = cursor_varint(in);
		symbol.name = take_text(reader, in, 0);
		if (are_places) {
			symbol.from_ns = cursor_varint(in);
			symbol.file = take_text(reader, in, 1);
			symbol.line = (uint32_t)cursor_varint_max(in, UINT32_MAX);
		}
		if (in->failed || !believe(reader))
			return -EBADMSG;
		if (symbol.file && !symbol.file[0])
			symbol.file = NULL;
		if (visitor->jit_symbol)
			r = heed(reader, visitor->jit_symbol(visitor->self, &symbol));
		if (r != 0)
			return r;
	}
	return 0;
}

/* Translates the decoded samples into batch columns; returns how many were translated. */
static size_t fill_batch(struct recording_reader *reader)
{
	struct sample_columns *columns = &reader->columns;
	const struct coded_sample *samples = reader->samples.samples.items;
	size_t n = 0;
	size_t i;

	for (i = 0; i < reader->samples.samples.count; i++) {
		uint32_t stack = number_map_get(&reader->decoder.stacks, samples[i].stack);
		uint32_t thread = number_map_get(&reader->decoder.threads, samples[i].thread);
		uint32_t labels = dictionary_decoder_labels(&reader->decoder, samples[i].labels);

		if (stack == ID_NONE || thread == ID_NONE)
			continue;
		if (labels == ID_NONE) {
			reader->damage.lost_labels++;
			labels = 0;
		}
		columns->schema.items[n] = reader->samples.schema;
		columns->stack.items[n] = stack;
		columns->thread.items[n] = thread;
		columns->cpu.items[n] = samples[i].cpu;
		columns->labels.items[n] = labels;
		columns->time_ns.items[n] = samples[i].time_ns;
		columns->weight.items[n] = samples[i].weight;
		columns->times.items[n] =
			samples[i].more < INT64_MAX ? samples[i].more + 1 : INT64_MAX;
		n++;
	}
	return n;
}

static int visit_samples(struct recording_reader *reader, const struct recording_visitor *visitor,
			 const uint8_t *data, size_t size)
{
	int r = sample_decoder_run(&reader->samples, data, size);
	size_t total = reader->samples.samples.count;
	struct sample_batch batch;
	size_t n;

	if (r < 0)
		return r;
	if (reader->samples.first_sample < reader->next_sample ||
	    reader->samples.first_sample > UINT64_MAX - total)
		return -EBADMSG; /* these samples were already read */
	if (sample_columns_reserve(&reader->columns, total) < 0)
		return -ENOMEM;
	/* Weights without a schema mean nothing. */
	n = reader->samples.schema < RECORDING_MAX_SCHEMAS &&
			    reader->known_schemas[reader->samples.schema]
		    ? fill_batch(reader)
		    : 0;
	if (reader->samples.first_sample > reader->next_sample)
		reader->damage.missing_samples +=
			reader->samples.first_sample - reader->next_sample;
	reader->next_sample = reader->samples.first_sample + total;
	reader->damage.missing_samples += total - n;
	reader->damage.samples += n;
	reader->columns.count = n;
	if (!visitor->samples || n == 0)
		return 0;
	batch = sample_columns_batch(&reader->columns, 0);
	return heed(reader, visitor->samples(visitor->self, &batch));
}

/* Compacts the events whose stacks are known; returns how many there are. */
static size_t drop_holes(struct heap_event *events, size_t count)
{
	size_t n = 0;
	size_t i;

	for (i = 0; i < count; i++)
		if (!events[i].zero)
			events[n++] = events[i];
	return n;
}

/* Delivers the events of one thread. */
static int visit_heap_run(struct recording_reader *reader, const struct recording_visitor *visitor,
			  const struct heap_run *run, struct heap_event *events)
{
	struct heap_batch batch = {
		.thread = number_map_get(&reader->decoder.threads, run->thread),
		.count = run->count,
		.events = events,
	};

	if (batch.thread == ID_NONE)
		batch.count = 0;
	else if (reader->heap.has_holes)
		batch.count = drop_holes(events, run->count);
	reader->damage.missing_heap_events += run->count - batch.count;
	reader->damage.heap_events += batch.count;
	if (!visitor->heap || batch.count == 0)
		return 0;
	return heed(reader, visitor->heap(visitor->self, &batch));
}

static int visit_heap(struct recording_reader *reader, const struct recording_visitor *visitor,
		      const uint8_t *data, size_t size)
{
	struct heap_decoder *heap = &reader->heap;
	int r = heap_decoder_run(heap, data, size, &reader->decoder.stacks);
	size_t at = 0;
	size_t i;

	if (r < 0)
		return r;
	if (heap->first_event < reader->next_heap_event ||
	    heap->first_event > UINT64_MAX - heap->events.count)
		return -EBADMSG; /* these events were already read */
	reader->damage.missing_heap_events += heap->first_event - reader->next_heap_event;
	reader->next_heap_event = heap->first_event + heap->events.count;
	for (i = 0; i < heap->runs.count && r == 0; i++) {
		r = visit_heap_run(reader, visitor, &heap->runs.items[i], heap->events.items + at);
		at += heap->runs.items[i].count;
	}
	if (r != 0 || heap->until_ns <= reader->heap_until_ns)
		return r;
	reader->heap_until_ns = heap->until_ns;
	return visitor->heap_until
		       ? heed(reader, visitor->heap_until(visitor->self, heap->until_ns))
		       : 0;
}

static int visit_memory(struct recording_reader *reader, const struct recording_visitor *visitor,
			struct cursor *in)
{
	struct memory_region regions[MEMORY_MAX_REGIONS];
	struct memory_reading reading;
	int r = 0;

	while (cursor_left(in) > 0 && r == 0) {
		r = memory_decode(in, regions, &reading);
		if (r > 0 && !believe(reader))
			return -EBADMSG;
		if (r > 0)
			r = visitor->memory ? heed(reader, visitor->memory(visitor->self, &reading))
					    : 0;
	}
	return r;
}

static int visit_leaks(struct recording_reader *reader, const struct recording_visitor *visitor,
		       const uint8_t *data, size_t size)
{
	int r = leak_decoder_run(&reader->leaks, data, size, &reader->decoder);

	/* A reading is useless if its process was lost. */
	if (r < 0 || !visitor->leaks || reader->leaks.scan.process == ID_NONE)
		return r;
	return heed(reader, visitor->leaks(visitor->self, &reader->leaks.scan));
}

static int visit_end(struct recording_reader *reader, struct cursor *in)
{
	uint64_t total = cursor_varint(in);
	uint64_t heap_total = cursor_left(in) > 0 ? cursor_varint(in) : 0;

	if (in->failed)
		return -EBADMSG;
	if (heap_total > reader->next_heap_event)
		reader->damage.missing_heap_events += heap_total - reader->next_heap_event;
	if (total > reader->next_sample)
		reader->damage.missing_samples += total - reader->next_sample;
	reader->damage.complete = true;
	return 0;
}

static int visit_chunk(struct recording_reader *reader, const struct recording_visitor *visitor,
		       const struct chunk_header *header, const uint8_t *data, size_t size)
{
	struct cursor in = cursor_of(data, size);

	reader->decoder.max_entries = FREE_ENTRIES + reader->source.used_bytes * ENTRIES_A_BYTE;
	switch (header->type) {
	case CHUNK_INFO:
		return visit_info(reader, visitor, &in);
	case CHUNK_DICTIONARY:
		return dictionary_decoder_run(&reader->decoder, data, size);
	case CHUNK_SAMPLES:
		return visit_samples(reader, visitor, data, size);
	case CHUNK_MAPS:
		return visit_maps(reader, visitor, &in);
	case CHUNK_CLOCK:
		return visit_clocks(reader, visitor, &in);
	case CHUNK_LOSS:
		return visit_losses(reader, visitor, &in);
	case CHUNK_KERNEL_SYMBOLS:
		return visit_kernel_symbols(reader, visitor, &in);
	case CHUNK_SCHEMA:
		return visit_schema(reader, visitor, &in, false);
	case CHUNK_END:
		return visit_end(reader, &in);
	case CHUNK_JIT_SYMBOLS:
		return visit_jit_symbols(reader, visitor, &in, false);
	case CHUNK_JIT_PLACES:
		return visit_jit_symbols(reader, visitor, &in, true);
	case CHUNK_TOLD_SCHEMA:
		return visit_schema(reader, visitor, &in, true);
	case CHUNK_HEAP:
		return visit_heap(reader, visitor, data, size);
	case CHUNK_MEMORY:
		return visit_memory(reader, visitor, &in);
	case CHUNK_LEAKS:
		return visit_leaks(reader, visitor, data, size);
	default:
		return 0; /* not reached, see use_chunk() */
	}
}

static bool is_known(const struct chunk_header *header)
{
	return header->type >= CHUNK_INFO && header->type <= CHUNK_LEAKS &&
	       !(header->flags & ~(CHUNK_MUST_UNDERSTAND | CHUNK_ZSTD));
}

static int pass_over_unknown(struct recording_reader *reader, const struct chunk_header *header,
			     struct error *err)
{
	reader->damage.unknown_chunks++;
	if (!(header->flags & CHUNK_MUST_UNDERSTAND))
		return 1;
	(void)error_set(err, -EPROTONOSUPPORT, "%s needs a newer wick (unknown part of type %u)",
			reader->name, header->type);
	error_remedy(err, "use the wick that recorded it, or a newer one");
	return -EPROTONOSUPPORT;
}

static bool is_skimmed(const struct chunk_header *header)
{
	return header->type == CHUNK_INFO || header->type == CHUNK_SCHEMA ||
	       header->type == CHUNK_TOLD_SCHEMA || header->type == CHUNK_END;
}

/* Uses a chunk with a valid checksum. Invalid content costs that chunk, not the file. */
static int use_chunk(struct recording_reader *reader, const struct recording_visitor *visitor,
		     const struct chunk_header *header, const uint8_t *place, struct error *err)
{
	const uint8_t *data;
	size_t size;
	int r = 0;

	chunk_source_skip(&reader->source, CHUNK_HEADER_BYTES + (size_t)header->stored_bytes);
	if (header->sequence < reader->next_sequence) {
		reader->damage.bad_chunks++; /* already used: nothing is counted twice */
		return 1;
	}
	reader->damage.chunks++;
	reader->damage.missing_chunks += header->sequence - reader->next_sequence;
	reader->next_sequence = (uint64_t)header->sequence + 1;
	if (header->epoch != reader->epoch)
		r = dictionary_decoder_reset(&reader->decoder);
	reader->epoch = header->epoch;
	if (!is_known(header))
		return pass_over_unknown(reader, header, err);
	if (reader->is_skimming && !is_skimmed(header))
		return 1;
	if (r == 0)
		r = chunk_decode(reader->codec, place, header, &data, &size);
	if (r == 0)
		r = visit_chunk(reader, visitor, header, data, size);
	if (r == STOPPED)
		return reader->stopped;
	if (r == -EBADMSG)
		reader->damage.bad_chunks++;
	else if (r < 0)
		return error_file(err, r, "cannot read %s", reader->name);
	return 1;
}

/* Delivers everything that a writer has kept, at once. */
static int visit_kept(struct recording_reader *reader, const struct recording_visitor *visitor,
		      struct error *err)
{
	struct recording_kept kept = recording_writer_kept(reader->kept);
	struct sample_batch batch;
	size_t at;
	size_t i;
	int r = 0;

	reader->header_done = true;
	for (i = 0; i < ARRAY_SIZE(kept.payloads) && r == 0; i++) {
		struct chunk_header header = {.type = (uint8_t)kept.payloads[i].type};

		r = kept.payloads[i].bytes->failed
			    ? -ENOMEM
			    : visit_chunk(reader, visitor, &header, kept.payloads[i].bytes->data,
					  kept.payloads[i].bytes->size);
	}
	for (at = 0; visitor->samples && at < kept.samples->count && r == 0; at += batch.count) {
		batch = sample_columns_batch(kept.samples, at);
		r = heed(reader, visitor->samples(visitor->self, &batch));
	}
	reader->damage.samples = kept.samples->count;
	reader->damage.complete = kept.is_finished;
	if (r == STOPPED)
		return reader->stopped;
	return r < 0 ? error_file(err, r, "cannot read %s", reader->name) : 1;
}

int recording_reader_next(struct recording_reader *reader, const struct recording_visitor *visitor,
			  struct error *err)
{
	struct chunk_header header;
	const uint8_t *place;
	int r;

	if (reader->kept)
		return reader->header_done ? 0 : visit_kept(reader, visitor, err);
	if (!reader->header_done) {
		r = read_file_header(reader, err);
		if (r <= 0)
			return r;
	}
	r = chunk_source_find(&reader->source, &header, &place);
	if (r < 0)
		return error_file(err, r, "cannot read %s", reader->name);
	return r == 0 ? 0 : use_chunk(reader, visitor, &header, place, err);
}

int recording_reader_run(struct recording_reader *reader, const struct recording_visitor *visitor,
			 struct error *err)
{
	int r;

	do
		r = recording_reader_next(reader, visitor, err);
	while (r > 0);
	if (r == 0 && !reader->header_done)
		return too_short(reader, err);
	return r;
}
