/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "model/dictionary.h"
#include "recording/chunk.h"
#include "recording/dictionary_decoder.h"
#include "recording/format.h"
#include "recording/sample_codec.h"

#define READ_BYTES (256u << 10)
/* A file of nothing but fake chunk starts must not cost a checksum of megabytes each. */
#define MAX_FALSE_STARTS 64u

struct recording_reader {
	int fd;
	char *name;
	unsigned int major;
	unsigned int minor;

	uint8_t *buffer; /* [start, end) has not been used yet */
	size_t start;
	size_t end;
	size_t capacity;
	bool header_done;
	bool hunting; /* after damage: look for the next chunk that verifies */

	struct chunk_codec *codec;
	struct dictionary dictionary;
	struct dictionary_decoder decoder;
	struct sample_decoder samples;
	uint32_t epoch;
	uint64_t next_sample; /* number of the next sample if none is missing */

	/* columns of the batch that is handed out */
	VEC(uint32_t) stack;
	VEC(uint32_t) thread;
	VEC(uint32_t) cpu;
	VEC(uint32_t) labels;
	VEC(uint64_t) time_ns;
	VEC(uint64_t) weight;

	struct recording_damage damage;
	char *text[4]; /* scratch for strings handed to the visitor */
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
	reader->fd = -1;
	reader->name = strdup(name);
	reader->codec = chunk_codec_new();
	if (!reader->name || !reader->codec || dictionary_init(&reader->dictionary) < 0 ||
	    dictionary_decoder_init(&reader->decoder, &reader->dictionary) < 0) {
		recording_reader_free(reader);
		return error_set(err, -ENOMEM, "out of memory");
	}
	reader->fd = fd;
	*ret = reader;
	return 0;
}

void recording_reader_free(struct recording_reader *reader)
{
	size_t i;

	if (!reader)
		return;
	if (reader->fd >= 0)
		(void)close(reader->fd); /* only read from */
	free(reader->name);
	free(reader->buffer);
	chunk_codec_free(reader->codec);
	dictionary_decoder_fini(&reader->decoder);
	dictionary_fini(&reader->dictionary);
	sample_decoder_fini(&reader->samples);
	vec_fini(&reader->stack);
	vec_fini(&reader->thread);
	vec_fini(&reader->cpu);
	vec_fini(&reader->labels);
	vec_fini(&reader->time_ns);
	vec_fini(&reader->weight);
	for (i = 0; i < ARRAY_SIZE(reader->text); i++)
		free(reader->text[i]);
	free(reader);
}

const struct dictionary *recording_reader_dictionary(const struct recording_reader *reader)
{
	return &reader->dictionary;
}

struct recording_damage recording_reader_damage(const struct recording_reader *reader)
{
	struct recording_damage damage = reader->damage;

	damage.cut_bytes = reader->end - reader->start;
	return damage;
}

void recording_reader_version(const struct recording_reader *reader, unsigned int *ret_major,
			      unsigned int *ret_minor)
{
	*ret_major = reader->major;
	*ret_minor = reader->minor;
}

static size_t available(const struct recording_reader *reader)
{
	return reader->end - reader->start;
}

static int make_room(struct recording_reader *reader, size_t n)
{
	size_t want = available(reader) + n;
	uint8_t *grown;

	if (reader->start > 0) {
		memmove(reader->buffer, reader->buffer + reader->start, available(reader));
		reader->end -= reader->start;
		reader->start = 0;
	}
	if (want <= reader->capacity)
		return 0;
	grown = realloc(reader->buffer, want);
	if (!grown)
		return -ENOMEM;
	reader->buffer = grown;
	reader->capacity = want;
	return 0;
}

/* Tries to have n bytes at hand. Returns 1, 0 when the file has fewer for now, -errno. */
static int need(struct recording_reader *reader, size_t n)
{
	while (available(reader) < n) {
		size_t missing = n - available(reader);
		size_t want = missing < READ_BYTES ? READ_BYTES : missing;
		ssize_t got;

		if (make_room(reader, want) < 0)
			return -ENOMEM;
		got = read(reader->fd, reader->buffer + reader->end, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			return 0;
		reader->end += (size_t)got;
	}
	return 1;
}

static int not_a_recording(struct recording_reader *reader, struct error *err)
{
	(void)error_set(err, -EINVAL, "%s is not a wick recording", reader->name);
	error_remedy(err, "make one with: wick record -- COMMAND");
	return -EINVAL;
}

static int read_file_header(struct recording_reader *reader, struct error *err)
{
	struct cursor in;
	int r = need(reader, RECORDING_HEADER_BYTES);

	if (r < 0)
		return error_errno(err, r, "cannot read %s", reader->name);
	/* A recording that was just created may not have its header yet. */
	if (r == 0 &&
	    (available(reader) == 0 ||
	     memcmp(reader->buffer + reader->start, RECORDING_MAGIC,
		    available(reader) < RECORDING_MAGIC_BYTES ? available(reader)
							      : RECORDING_MAGIC_BYTES) == 0))
		return 0;
	if (!recording_is(reader->buffer + reader->start, available(reader)))
		return not_a_recording(reader, err);
	in = cursor_of(reader->buffer + reader->start + RECORDING_MAGIC_BYTES,
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
	reader->start += RECORDING_HEADER_BYTES;
	reader->header_done = true;
	return 1;
}

/* Takes a string of the payload as NUL-terminated text, valid until the slot's next use. */
static const char *take_text(struct recording_reader *reader, struct cursor *in, unsigned int slot)
{
	size_t n = cursor_varint_max(in, CHUNK_MAX_RAW);
	const uint8_t *data = cursor_take(in, n);

	if (!data)
		return "";
	free(reader->text[slot]);
	reader->text[slot] = strndup((const char *)data, n);
	return reader->text[slot] ? reader->text[slot] : "";
}

static int visit_info(struct recording_reader *reader, const struct recording_visitor *visitor,
		      struct cursor *in)
{
	while (cursor_left(in) > 0) {
		const char *key = take_text(reader, in, 0);
		const char *value = take_text(reader, in, 1);
		int r = 0;

		if (in->failed)
			return -EBADMSG;
		if (visitor->info)
			r = visitor->info(visitor->self, key, value);
		if (r < 0)
			return r;
	}
	return 0;
}

static int visit_schema(struct recording_reader *reader, const struct recording_visitor *visitor,
			struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint32_t id = (uint32_t)cursor_varint_max(in, UINT32_MAX);
		struct schema schema = {
			.event = take_text(reader, in, 0),
			.value = take_text(reader, in, 1),
			.unit = take_text(reader, in, 2),
			.period = cursor_varint(in),
		};
		int r = 0;

		if (in->failed)
			return -EBADMSG;
		if (visitor->schema)
			r = visitor->schema(visitor->self, id, &schema);
		if (r < 0)
			return r;
	}
	return 0;
}

static int visit_maps(struct recording_reader *reader, const struct recording_visitor *visitor,
		      struct cursor *in)
{
	uint64_t last_ns = 0;

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
		if (in->failed)
			return -EBADMSG;
		if (event.process == ID_NONE || (module > 0 && event.module == ID_NONE))
			continue; /* its dictionary chunk was lost and has been counted */
		if (visitor->map)
			r = visitor->map(visitor->self, &event);
		if (r < 0)
			return r;
	}
	return 0;
}

static int visit_clocks(const struct recording_visitor *visitor, struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint64_t monotonic_ns = cursor_varint(in);
		uint64_t realtime_ns = cursor_varint(in);
		int r = 0;

		if (in->failed)
			return -EBADMSG;
		if (visitor->clock)
			r = visitor->clock(visitor->self, monotonic_ns, realtime_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

static int visit_losses(const struct recording_visitor *visitor, struct cursor *in)
{
	while (cursor_left(in) > 0) {
		uint64_t reason = cursor_varint(in);
		uint64_t time_ns = cursor_varint(in);
		uint64_t samples = cursor_varint(in);
		int r = 0;

		if (in->failed)
			return -EBADMSG;
		if (reason >= LOSS_REASONS)
			reason =
				LOSS_RING_FULL; /* a reason of a later version: lost all the same */
		if (visitor->loss)
			r = visitor->loss(visitor->self, (enum loss_reason)reason, time_ns,
					  samples);
		if (r < 0)
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

		if (in->failed)
			return -EBADMSG;
		if (visitor->kernel_symbol)
			r = visitor->kernel_symbol(visitor->self, start, size, name, module);
		if (r < 0)
			return r;
	}
	return 0;
}

static int reserve_batch(struct recording_reader *reader, size_t n)
{
	return vec_reserve(&reader->stack, n) < 0 || vec_reserve(&reader->thread, n) < 0 ||
			       vec_reserve(&reader->cpu, n) < 0 ||
			       vec_reserve(&reader->labels, n) < 0 ||
			       vec_reserve(&reader->time_ns, n) < 0 ||
			       vec_reserve(&reader->weight, n) < 0
		       ? -ENOMEM
		       : 0;
}

/* Translates the decoded samples into batch columns; returns how many could be. */
static size_t fill_batch(struct recording_reader *reader)
{
	const struct coded_sample *samples = reader->samples.samples.items;
	size_t n = 0;
	size_t i;

	for (i = 0; i < reader->samples.samples.count; i++) {
		uint32_t stack = number_map_get(&reader->decoder.stacks, samples[i].stack);
		uint32_t thread = number_map_get(&reader->decoder.threads, samples[i].thread);

		if (stack == ID_NONE || thread == ID_NONE)
			continue;
		reader->stack.items[n] = stack;
		reader->thread.items[n] = thread;
		reader->cpu.items[n] = samples[i].cpu;
		reader->labels.items[n] = samples[i].labels;
		reader->time_ns.items[n] = samples[i].time_ns;
		reader->weight.items[n] = samples[i].weight;
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
	if (reserve_batch(reader, total) < 0)
		return -ENOMEM;
	n = fill_batch(reader);
	if (reader->samples.first_sample > reader->next_sample)
		reader->damage.missing_samples +=
			reader->samples.first_sample - reader->next_sample;
	reader->next_sample = reader->samples.first_sample + total;
	reader->damage.missing_samples += total - n;
	reader->damage.samples += n;
	batch = (struct sample_batch){
		.schema = reader->samples.schema,
		.count = n,
		.stack = reader->stack.items,
		.thread = reader->thread.items,
		.cpu = reader->cpu.items,
		.labels = reader->labels.items,
		.time_ns = reader->time_ns.items,
		.weight = reader->weight.items,
	};
	return visitor->samples && n > 0 ? visitor->samples(visitor->self, &batch) : 0;
}

static int visit_end(struct recording_reader *reader, struct cursor *in)
{
	uint64_t total = cursor_varint(in);

	if (in->failed)
		return -EBADMSG;
	if (total > reader->next_sample)
		reader->damage.missing_samples += total - reader->next_sample;
	reader->damage.complete = true;
	return 0;
}

static int visit_chunk(struct recording_reader *reader, const struct recording_visitor *visitor,
		       const struct chunk_header *header, const uint8_t *data, size_t size)
{
	struct cursor in = cursor_of(data, size);

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
		return visit_clocks(visitor, &in);
	case CHUNK_LOSS:
		return visit_losses(visitor, &in);
	case CHUNK_KERNEL_SYMBOLS:
		return visit_kernel_symbols(reader, visitor, &in);
	case CHUNK_SCHEMA:
		return visit_schema(reader, visitor, &in);
	case CHUNK_END:
		return visit_end(reader, &in);
	default:
		reader->damage.unknown_chunks++;
		return header->flags & CHUNK_MUST_UNDERSTAND ? -EPROTONOSUPPORT : 0;
	}
}

/* Uses a chunk that verified. Bad contents cost that chunk, not the file. */
static int use_chunk(struct recording_reader *reader, const struct recording_visitor *visitor,
		     const struct chunk_header *header, struct error *err)
{
	const uint8_t *data;
	size_t size;
	int r = 0;

	reader->damage.chunks++;
	if (header->epoch != reader->epoch) {
		r = dictionary_decoder_reset(&reader->decoder);
		reader->epoch = header->epoch;
	}
	if (r == 0)
		r = chunk_decode(reader->codec, reader->buffer + reader->start, header, &data,
				 &size);
	if (r == 0)
		r = visit_chunk(reader, visitor, header, data, size);
	reader->start += CHUNK_HEADER_BYTES + header->stored_bytes;
	if (r == -EBADMSG) {
		reader->damage.bad_chunks++;
		return 1;
	}
	if (r == -EPROTONOSUPPORT) {
		(void)error_set(err, r, "%s needs a newer wick (unknown part of type %u)",
				reader->name, header->type);
		error_remedy(err, "use the wick that recorded it, or a newer one");
		return r;
	}
	if (r < 0)
		return error_errno(err, r, "cannot read %s", reader->name);
	return 1;
}

/* Passes over one byte of damage. */
static void skip_byte(struct recording_reader *reader)
{
	if (!reader->hunting)
		reader->damage.bad_chunks++;
	reader->hunting = true;
	reader->start++;
	reader->damage.skipped_bytes++;
}

/*
 * Finds the next chunk that verifies. Returns 1 with it at the start of the
 * buffer, 0 when the file has no whole one for now, or a negative errno.
 */
static int find_chunk(struct recording_reader *reader, struct chunk_header *ret)
{
	unsigned int false_starts = 0;

	for (;;) {
		int r = need(reader, CHUNK_HEADER_BYTES);

		if (r <= 0)
			return r;
		if (!chunk_parse_header(reader->buffer + reader->start, ret)) {
			skip_byte(reader);
			continue;
		}
		r = need(reader, CHUNK_HEADER_BYTES + (size_t)ret->stored_bytes);
		if (r < 0)
			return r;
		if (r == 1 && chunk_verify(reader->buffer + reader->start, ret)) {
			reader->hunting = false;
			return 1;
		}
		/*
		 * An unfinished last chunk waits for its rest, unless we are past
		 * damage: then this may be no chunk at all, and one may follow.
		 */
		if (r == 0 && !reader->hunting)
			return 0;
		if (++false_starts > MAX_FALSE_STARTS)
			return -EBADMSG;
		skip_byte(reader);
	}
}

int recording_reader_next(struct recording_reader *reader, const struct recording_visitor *visitor,
			  struct error *err)
{
	struct chunk_header header;
	int r;

	if (!reader->header_done) {
		r = read_file_header(reader, err);
		if (r <= 0)
			return r;
	}
	r = find_chunk(reader, &header);
	if (r == -EBADMSG)
		return 0; /* nothing usable is left; the damage is counted */
	if (r < 0)
		return error_errno(err, r, "cannot read %s", reader->name);
	return r == 0 ? 0 : use_chunk(reader, visitor, &header, err);
}

int recording_reader_run(struct recording_reader *reader, const struct recording_visitor *visitor,
			 struct error *err)
{
	int r;

	do
		r = recording_reader_next(reader, visitor, err);
	while (r > 0);
	if (r == 0 && !reader->header_done)
		return not_a_recording(reader, err);
	return r;
}
