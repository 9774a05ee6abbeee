/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/vec.h"
#include "import/address_stacks.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "recording/writer.h"

/*
 * Text profiles of gperftools and jemalloc: a header, a line for each stack, and the
 * mappings after "MAPPED_LIBRARIES:" or "--- Memory map: ---".
 *
 *	heap profile:   3:  900 [  9:  2700] @ heapprofile    live objects and bytes,
 *	     3:      900 [     9:     2700] @ 0x401 0x402     in brackets: all allocated
 *
 *	heap_v2/524288                                        the same from jemalloc
 *	@ 0x401 0x402
 *	  t*: 3: 900 [0: 0]
 *
 *	--- contention ---                                    waits for locks
 *	cycles/second = 1000000000
 *	sampling period = 100
 *	      5000        2 @ 0x401 0x402                     cycles and how often
 *
 * Sampled profiles give the period after a slash; then values are scaled up by the sampling
 * probability.
 */

#define MAX_FRAMES 65536u
#define MAX_KINDS 4u

enum form { FORM_NONE, FORM_HEAP, FORM_JEMALLOC, FORM_CONTENTION };

struct kind {
	const char *name;
	const char *unit;
	unsigned int value; /* of a sample */
};

/* Objects and bytes: live ones, then all. */
static const struct kind heap_kinds[] = {
	{"alloc_objects", "count", 2},
	{"alloc_space", "bytes", 3},
	{"inuse_objects", "count", 0},
	{"inuse_space", "bytes", 1},
};
static const struct kind growth_kinds[] = {
	{"growth_objects", "count", 0},
	{"growth_space", "bytes", 1},
};
static const struct kind contention_kinds[] = {
	{"contentions", "count", 0},
	{"delay", "nanoseconds", 1},
};

struct stack_values {
	size_t first; /* of its addresses */
	size_t count;
	uint64_t values[MAX_KINDS];
};

struct reading {
	enum form form;
	const struct kind *kinds;
	size_t kind_count;
	double period; /* bytes between samples of the heap, 0: all; events, of locks */
	double cycles_per_ns;
	uint64_t duration_ns;
	unsigned long long line;
	bool has_stack; /* jemalloc: the numbers of the last stack have not come yet */
	VEC(uint64_t) pcs;
	VEC(struct stack_values) samples;
};

/* The rest of a line, or of the whole text. */
struct text {
	const char *at;
	const char *end;
};

/* Ignores a last line without a line end. Returns whether there is one. */
static bool drop_cut_line(struct text *all)
{
	const char *end = all->end;

	while (all->end > all->at && all->end[-1] != '\n')
		all->end--;
	return all->end < end;
}

static struct text next_line(struct text *all)
{
	const char *stop = memchr(all->at, '\n', (size_t)(all->end - all->at));
	struct text line = {all->at, stop ? stop : all->end};

	all->at = stop ? stop + 1 : all->end;
	while (line.end > line.at && (line.end[-1] == '\r' || line.end[-1] == ' '))
		line.end--;
	while (line.at < line.end && (*line.at == ' ' || *line.at == '\t'))
		line.at++;
	return line;
}

static bool take(struct text *text, const char *word)
{
	size_t n = strlen(word);

	while (text->at < text->end && *text->at == ' ')
		text->at++;
	if ((size_t)(text->end - text->at) < n || memcmp(text->at, word, n) != 0)
		return false;
	text->at += n;
	return true;
}

static bool take_number(struct text *text, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start;

	(void)take(text, "");
	start = text->at;
	for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++)
		if (value > (INT64_MAX - 9) / 10)
			value = INT64_MAX / 10; /* it is no longer a plausible number of bytes */
		else
			value = value * 10 + (uint64_t)(*text->at - '0');
	*ret = value;
	return text->at > start;
}

/* "3: 900 [9: 2700]" */
static bool take_counts(struct text *text, uint64_t values[MAX_KINDS])
{
	return take_number(text, &values[0]) && take(text, ":") && take_number(text, &values[1]) &&
	       take(text, "[") && take_number(text, &values[2]) && take(text, ":") &&
	       take_number(text, &values[3]) && take(text, "]");
}

static bool take_address(struct text *text, uint64_t *ret)
{
	unsigned int digit;
	uint64_t value = 0;
	int digits = 0;

	if (!take(text, "0x"))
		return false;
	for (; text->at < text->end && (digit = number_hex_digit(*text->at)) < 16; text->at++) {
		value = value << 4 | digit;
		digits++;
	}
	*ret = value;
	return digits > 0 && digits <= 16;
}

/* The addresses after "@", up to the end of the line. */
static int take_stack(struct reading *reading, struct text *line, const uint64_t *values)
{
	struct stack_values sample = {.first = reading->pcs.count};
	uint64_t pc;

	memcpy(sample.values, values, sizeof(sample.values));
	while (take_address(line, &pc)) {
		if (vec_push(&reading->pcs, pc) < 0)
			return -ENOMEM;
		if (++sample.count > MAX_FRAMES)
			return -EBADMSG;
	}
	if (line->at < line->end)
		return -EBADMSG;
	return vec_push(&reading->samples, sample);
}

/* Scales up sampled values: small blocks are sampled less often than large ones. */
static void scale(const struct reading *reading, uint64_t *objects, uint64_t *bytes)
{
	double factor;

	if (reading->period <= 1 || *objects == 0 || *bytes == 0)
		return;
	factor = 1 / (1 - exp(-((double)*bytes / (double)*objects) / reading->period));
	*objects = (uint64_t)fmin((double)*objects * factor, (double)(INT64_MAX / 2));
	*bytes = (uint64_t)fmin((double)*bytes * factor, (double)(INT64_MAX / 2));
}

/* "heap profile: 3: 900 [9: 2700] @ heap_v2/524288" */
static bool read_heap_head(struct text line, struct reading *reading)
{
	static const struct kind *const live = heap_kinds + 2;
	uint64_t totals[MAX_KINDS];
	uint64_t period = 0;

	if (!take(&line, "heap profile:") || !take_counts(&line, totals) || !take(&line, "@"))
		return false;
	*reading = (struct reading){.form = FORM_HEAP, .kinds = live, .kind_count = 2};
	if (take(&line, "growth")) {
		reading->kinds = growth_kinds;
		return true;
	}
	if (take(&line, "fragmentation"))
		return true;
	if ((totals[2] != totals[0] && totals[2] != 0) ||
	    (totals[3] != totals[1] && totals[3] != 0)) {
		reading->kinds = heap_kinds;
		reading->kind_count = 4;
	}
	if (take(&line, "heapprofile"))
		return true;
	if (take(&line, "heapz_v2/") || take(&line, "heap_v2/")) {
		(void)take_number(&line, &period);
	} else if (take(&line, "heap/")) {
		(void)take_number(&line, &period);
		period /= 2;
	} else {
		return false;
	}
	reading->period = (double)period;
	return true;
}

static bool read_head(struct text line, struct reading *reading)
{
	uint64_t period;

	if (read_heap_head(line, reading))
		return true;
	*reading =
		(struct reading){.form = FORM_JEMALLOC, .kinds = heap_kinds + 2, .kind_count = 2};
	if (take(&line, "heap_v2/") && take_number(&line, &period)) {
		reading->period = (double)period;
		return true;
	}
	*reading = (struct reading){
		.form = FORM_CONTENTION, .kinds = contention_kinds, .kind_count = 2, .period = 1};
	return take(&line, "--- contention") || take(&line, "--- mutex");
}

/* "sampling period = 100". Returns false if the line is of another kind. */
static bool read_fact(struct reading *reading, struct text line, bool *ret_java)
{
	uint64_t number;

	if (take(&line, "cycles/second =") && take_number(&line, &number))
		reading->cycles_per_ns = (double)number / (double)NS_PER_SEC;
	else if (take(&line, "sampling period =") && take_number(&line, &number))
		reading->period = (double)(number > 0 ? number : 1);
	else if (take(&line, "ms since reset =") && take_number(&line, &number))
		reading->duration_ns = number < INT64_MAX / NS_PER_MS ? number * NS_PER_MS : 0;
	else if (take(&line, "format = java"))
		*ret_java = true;
	else
		return memchr(line.at, '=', (size_t)(line.end - line.at)) != NULL;
	return true;
}

static int read_wait(struct reading *reading, struct text line)
{
	uint64_t values[MAX_KINDS] = {0};
	uint64_t cycles;
	uint64_t times;
	double delay;

	if (!take_number(&line, &cycles) || !take_number(&line, &times) || !take(&line, "@"))
		return -EBADMSG;
	delay = (double)cycles * reading->period;
	if (reading->cycles_per_ns > 0)
		delay /= reading->cycles_per_ns;
	values[0] = (uint64_t)fmin((double)times * reading->period, (double)(INT64_MAX / 2));
	values[1] = (uint64_t)fmin(delay, (double)(INT64_MAX / 2));
	return take_stack(reading, &line, values);
}

static int read_blocks(struct reading *reading, struct text line)
{
	uint64_t values[MAX_KINDS];

	if (!take_counts(&line, values) || !take(&line, "@"))
		return -EBADMSG;
	scale(reading, &values[0], &values[1]);
	scale(reading, &values[2], &values[3]);
	return take_stack(reading, &line, values);
}

/* A stack, followed by its numbers: those of all threads are used. */
static int read_jemalloc(struct reading *reading, struct text line)
{
	uint64_t values[MAX_KINDS] = {0};

	if (take(&line, "@")) {
		reading->has_stack = true;
		return take_stack(reading, &line, values);
	}
	if (!take(&line, "t*:"))
		return 0;
	if (!take_counts(&line, values))
		return -EBADMSG;
	if (!reading->has_stack)
		return 0; /* the sums come first */
	reading->has_stack = false;
	scale(reading, &values[0], &values[1]);
	memcpy(reading->samples.items[reading->samples.count - 1].values, values, sizeof(values));
	return 0;
}

static int read_sample(struct reading *reading, struct text line, struct error *err)
{
	bool is_java = false;
	int r;

	if (reading->form == FORM_CONTENTION && read_fact(reading, line, &is_java))
		return is_java ? error_set(err, -EOPNOTSUPP,
					   "it is a Java profile in an old format")
			       : 0;
	if (reading->form == FORM_HEAP)
		r = read_blocks(reading, line);
	else
		r = reading->form == FORM_JEMALLOC ? read_jemalloc(reading, line)
						   : read_wait(reading, line);
	if (r == -ENOMEM)
		return error_set(err, r, "out of memory");
	return r < 0 ? error_set(err, r, "line %llu is not a stack of addresses with counts",
				 reading->line)
		     : 0;
}

/* Reads all stacks; the mappings remain. */
static int read_samples(struct reading *reading, struct text *all, struct error *err)
{
	int r = 0;

	while (r == 0 && all->at < all->end) {
		struct text line = next_line(all);
		struct text copy = line;

		reading->line++;
		if (line.at == line.end || *line.at == '#')
			continue;
		if (take(&copy, "MAPPED_LIBRARIES:") || take(&copy, "---"))
			break;
		r = read_sample(reading, line, err);
	}
	return r;
}

/* All samples of one kind, then all of the next: each change starts a new chunk in the file. */
static int add_samples(const struct reading *reading, struct import_builder *builder,
		       struct address_stacks *stacks, struct error *err)
{
	int r = 0;

	for (size_t k = 0; k < reading->kind_count && r == 0; k++) {
		unsigned int value = reading->kinds[k].value;

		import_choose_schema(builder, (uint32_t)k);
		for (size_t i = 0; i < reading->samples.count && r == 0; i++) {
			const struct stack_values *item = &reading->samples.items[i];
			struct address_sample sample = {
				.pcs = item->count > 0 ? reading->pcs.items + item->first : NULL,
				.count = item->count,
				.leaf_returns = true,
				.times = item->values[value & ~1u],
				.weight = item->values[value],
			};

			if (sample.weight > 0)
				r = address_stacks_add(stacks, &sample, err);
		}
	}
	return r;
}

static int add_kinds(const struct reading *reading, struct import_builder *builder)
{
	struct recording_writer *writer = import_builder_writer(builder);
	int r = 0;

	recording_writer_info(writer, "values", "complete");
	recording_writer_info(writer, "main_event", reading->kinds[reading->kind_count - 1].name);
	for (size_t k = 0; k < reading->kind_count && r == 0; k++)
		r = import_schema(builder, reading->kinds[k].name, reading->kinds[k].name,
				  reading->kinds[k].unit, 0);
	return r;
}

static bool text_recognise(const uint8_t *data, size_t size)
{
	struct text all = {(const char *)data, (const char *)data + size};
	struct reading reading;

	return read_head(next_line(&all), &reading);
}

static int text_read(const uint8_t *data, size_t size, struct import_builder *builder,
		     struct error *err)
{
	struct text all = {(const char *)data, (const char *)data + size};
	struct address_stacks *stacks = NULL;
	struct reading reading;
	int r;

	if (!read_head(next_line(&all), &reading))
		return error_set(err, -EBADMSG, "its header is invalid");
	reading.line = 1;
	if (drop_cut_line(&all))
		import_set_incomplete(builder);
	r = read_samples(&reading, &all, err);
	if (r == 0)
		r = address_stacks_new(builder, all.at, (size_t)(all.end - all.at), &stacks, err);
	if (r == 0 && add_kinds(&reading, builder) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0)
		r = add_samples(&reading, builder, stacks, err);
	address_stacks_free(stacks);
	vec_fini(&reading.pcs);
	vec_fini(&reading.samples);
	return r < 0 ? r : import_finish(builder, reading.duration_ns, err);
}

const struct importer_ops import_gperftools_text = {
	.name = "gperftools-text",
	.summary = "gperftools heap, growth and contention profiles; jemalloc heap profiles",
	.recognise = text_recognise,
	.read = text_read,
};
