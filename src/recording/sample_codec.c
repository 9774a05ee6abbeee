/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/sample_codec.h"

#include <errno.h>
#include <string.h>

#include "recording/format.h"

enum column_encoding {
	ENCODING_VARINTS = 0,
	ENCODING_CONSTANT = 1, /* one varint for all samples */
};

static void cpu_states_begin(struct cpu_states *states, uint64_t base_ticks)
{
	states->chunk++;
	states->base_ticks = base_ticks;
}

static int cpu_states_grow(struct cpu_states *states, uint32_t cpu)
{
	size_t count = (size_t)cpu + 1;

	if (cpu >= RECORDING_MAX_CPUS)
		return -EBADMSG;
	if (vec_reserve(&states->list, count) < 0)
		return -ENOMEM;
	memset(states->list.items + states->list.count, 0,
	       (count - states->list.count) * sizeof(*states->list.items));
	states->list.count = count;
	return 0;
}

/* The state of a CPU in this chunk; NULL for an absurd number, or if out of memory. */
static struct cpu_state *cpu_states_get(struct cpu_states *states, uint32_t cpu)
{
	struct cpu_state *state;

	if (cpu >= states->list.count && cpu_states_grow(states, cpu) < 0)
		return NULL;
	state = &states->list.items[cpu];
	if (state->chunk != states->chunk)
		*state = (struct cpu_state){
			.ticks = states->base_ticks, .thread = UINT32_MAX, .chunk = states->chunk};
	return state;
}

static struct bytes *column(struct sample_encoder *encoder, enum sample_column id)
{
	return &encoder->columns[id - 1];
}

void sample_encoder_fini(struct sample_encoder *encoder)
{
	int i;

	for (i = 0; i < SAMPLE_COLUMNS; i++)
		bytes_fini(&encoder->columns[i]);
	vec_fini(&encoder->cpus.list);
}

void sample_encoder_begin(struct sample_encoder *encoder, uint32_t schema, uint64_t period_ns,
			  uint64_t first_sample, uint32_t first_stack)
{
	int i;

	/* Room for the longest varints now, so that adding a sample needs no checks. */
	encoder->failed = false;
	for (i = 0; i < SAMPLE_COLUMNS; i++) {
		bytes_clear(&encoder->columns[i]);
		if (!bytes_reserve(&encoder->columns[i], (size_t)SAMPLES_A_CHUNK * 10))
			encoder->failed = true;
	}
	encoder->count = 0;
	encoder->schema = schema;
	encoder->first_sample = first_sample;
	encoder->period_ticks = period_ns / TIME_TICK_NS;
	encoder->first_stack = encoder->next_stack = first_stack;
	encoder->max_thread = 0;
	encoder->max_labels = 0;
	encoder->last_weight = 0;
	encoder->last_labels = 0;
}

/* The code of a value that is likely to equal `same`. */
static uint64_t code_or_same(uint64_t value, uint64_t same)
{
	return value == same ? 0 : value + 1;
}

/* Appends to a column that has room, see sample_encoder_begin(). */
static void put_code(struct sample_encoder *encoder, enum sample_column id, uint64_t code)
{
	struct bytes *data = column(encoder, id);

	data->size = (size_t)(varint_write(data->data + data->size, code) - data->data);
}

void sample_encoder_add(struct sample_encoder *encoder, const struct coded_sample *sample)
{
	uint64_t ticks = sample->time_ns / TIME_TICK_NS;
	struct cpu_state *cpu;
	int64_t delta;

	if (encoder->count == 0)
		cpu_states_begin(&encoder->cpus, ticks);
	cpu = cpu_states_get(&encoder->cpus, sample->cpu);
	if (!cpu || encoder->failed) {
		encoder->failed = true;
		encoder->count++;
		return;
	}
	delta = (int64_t)(ticks - cpu->ticks - encoder->period_ticks);
	put_code(encoder, COLUMN_STACK, code_or_same(sample->stack, encoder->next_stack));
	put_code(encoder, COLUMN_CPU, sample->cpu);
	put_code(encoder, COLUMN_TIME, zigzag_encode(delta));
	put_code(encoder, COLUMN_THREAD, code_or_same(sample->thread, cpu->thread));
	put_code(encoder, COLUMN_WEIGHT, code_or_same(sample->weight, encoder->last_weight));
	put_code(encoder, COLUMN_LABELS, code_or_same(sample->labels, encoder->last_labels));
	put_code(encoder, COLUMN_TIMES, sample->more);
	if (sample->stack == encoder->next_stack)
		encoder->next_stack++;
	if (sample->thread > encoder->max_thread)
		encoder->max_thread = sample->thread;
	if (sample->labels > encoder->max_labels)
		encoder->max_labels = sample->labels;
	encoder->last_weight = sample->weight;
	encoder->last_labels = sample->labels;
	cpu->ticks = ticks;
	cpu->thread = sample->thread;
	encoder->count++;
}

/* Whether the column repeats its first varint from end to end. */
static bool is_constant(const struct bytes *data, size_t count)
{
	size_t n = 1;
	size_t i;

	while (n < data->size && data->data[n - 1] >= 0x80)
		n++;
	if (n * count != data->size)
		return false;
	for (i = n; i < data->size; i++)
		if (data->data[i] != data->data[i - n])
			return false;
	return true;
}

int sample_encoder_finish(struct sample_encoder *encoder, struct bytes *out)
{
	int i;

	if (encoder->failed)
		return -ENOMEM;
	bytes_put_varint(out, encoder->schema);
	bytes_put_varint(out, encoder->count);
	bytes_put_varint(out, encoder->first_sample);
	bytes_put_varint(out, TIME_TICK_NS);
	bytes_put_varint(out, encoder->cpus.base_ticks);
	bytes_put_varint(out, encoder->period_ticks);
	bytes_put_varint(out, encoder->first_stack);
	bytes_put_varint(out, encoder->next_stack);
	bytes_put_varint(out, encoder->max_thread);
	bytes_put_varint(out, encoder->max_labels);
	for (i = 0; i < SAMPLE_COLUMNS; i++) {
		const struct bytes *data = &encoder->columns[i];
		bool constant = is_constant(data, encoder->count);
		size_t n = constant ? data->size / encoder->count : data->size;

		if (i + 1 == COLUMN_TIMES && constant && data->data[0] == 0)
			continue; /* each represents only itself: the usual case */
		bytes_put_u8(out, (uint8_t)(i + 1));
		bytes_put_u8(out, constant ? ENCODING_CONSTANT : ENCODING_VARINTS);
		bytes_put_varint(out, n);
		bytes_put(out, data->data, n);
	}
	return out->failed ? -ENOMEM : 0;
}

/* The state of reading a column: a constant one returns the same value every time. */
struct column_reader {
	struct cursor in;
	uint64_t constant;
	bool is_constant;
};

static uint64_t column_next(struct column_reader *reader)
{
	return reader->is_constant ? reader->constant : cursor_varint(&reader->in);
}

struct chunk_columns {
	struct column_reader readers[SAMPLE_COLUMNS];
	uint64_t tick_ns;
	uint64_t period_ticks;
	uint32_t next_stack;
};

void sample_decoder_fini(struct sample_decoder *decoder)
{
	vec_fini(&decoder->cpus.list);
	vec_fini(&decoder->samples);
}

/* Finds the columns; missing ones read as zeros, unknown ones are skipped. */
static int find_columns(struct cursor *in, struct chunk_columns *columns)
{
	int i;

	for (i = 0; i < SAMPLE_COLUMNS; i++)
		columns->readers[i] = (struct column_reader){.is_constant = true};
	while (cursor_left(in) > 0 && !in->failed) {
		uint8_t id = cursor_u8(in);
		uint8_t encoding = cursor_u8(in);
		size_t n = cursor_varint_max(in, CHUNK_MAX_BYTES);
		const uint8_t *data = cursor_take(in, n);
		struct column_reader *reader;

		if (!data || id == 0 || id > SAMPLE_COLUMNS)
			continue;
		reader = &columns->readers[id - 1];
		reader->in = cursor_of(data, n);
		reader->is_constant = encoding == ENCODING_CONSTANT;
		if (reader->is_constant)
			reader->constant = cursor_varint(&reader->in);
		else if (encoding != ENCODING_VARINTS)
			return -EBADMSG;
	}
	return in->failed ? -EBADMSG : 0;
}

static int decode_samples(struct sample_decoder *decoder, struct chunk_columns *columns,
			  size_t count)
{
	struct column_reader *readers = columns->readers;
	uint64_t weight = 0;
	uint64_t labels = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t stack = column_next(&readers[COLUMN_STACK - 1]);
		uint64_t cpu = column_next(&readers[COLUMN_CPU - 1]);
		uint64_t ticks = column_next(&readers[COLUMN_TIME - 1]);
		uint64_t thread = column_next(&readers[COLUMN_THREAD - 1]);
		uint64_t weight_code = column_next(&readers[COLUMN_WEIGHT - 1]);
		uint64_t labels_code = column_next(&readers[COLUMN_LABELS - 1]);
		struct cpu_state *state = cpu < RECORDING_MAX_CPUS
						  ? cpu_states_get(&decoder->cpus, (uint32_t)cpu)
						  : NULL;

		if (!state || stack > UINT32_MAX || thread > UINT32_MAX || labels_code > UINT32_MAX)
			return -EBADMSG;
		state->ticks += (uint64_t)zigzag_decode(ticks) + columns->period_ticks;
		state->thread = thread == 0 ? state->thread : (uint32_t)thread - 1;
		weight = weight_code == 0 ? weight : weight_code - 1;
		labels = labels_code == 0 ? labels : labels_code - 1;
		decoder->samples.items[i] = (struct coded_sample){
			.stack = stack == 0 ? columns->next_stack++ : (uint32_t)stack - 1,
			.thread = state->thread,
			.cpu = (uint32_t)cpu,
			.labels = (uint32_t)labels,
			.time_ns = state->ticks * columns->tick_ns,
			.weight = weight,
			.more = column_next(&readers[COLUMN_TIMES - 1]),
		};
	}
	return 0;
}

int sample_decoder_run(struct sample_decoder *decoder, const uint8_t *data, size_t size)
{
	struct cursor in = cursor_of(data, size);
	struct chunk_columns columns;
	size_t count;
	int r;
	int i;

	decoder->samples.count = 0;
	decoder->schema = (uint32_t)cursor_varint_max(&in, UINT32_MAX);
	count = cursor_varint_max(&in, CHUNK_MAX_SAMPLES);
	decoder->first_sample = cursor_varint(&in);
	columns.tick_ns = cursor_varint(&in);
	cpu_states_begin(&decoder->cpus, cursor_varint(&in));
	columns.period_ticks = cursor_varint(&in);
	columns.next_stack = (uint32_t)cursor_varint_max(&in, UINT32_MAX);
	(void)cursor_varint(&in); /* the highest ids in use: each one is checked anyway */
	(void)cursor_varint(&in);
	(void)cursor_varint(&in);
	if (in.failed)
		return -EBADMSG;
	r = find_columns(&in, &columns);
	if (r < 0)
		return r;
	if (vec_reserve(&decoder->samples, count) < 0)
		return -ENOMEM;
	r = decode_samples(decoder, &columns, count);
	if (r < 0)
		return r;
	for (i = 0; i < SAMPLE_COLUMNS; i++)
		if (columns.readers[i].in.failed)
			return -EBADMSG;
	decoder->samples.count = count;
	return 0;
}
