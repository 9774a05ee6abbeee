/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "model/entity.h"
#include "model/profile.h"

/*
 * folded: "process;main;parse 42". The first name is taken for the process, as
 * stackcollapse-perf.pl and wick itself write it. Marks at the end of a name (_[k]
 * kernel, _[i] inlined, _[j] JIT) tell its kind and are taken off. Counts may be
 * fractions; they are rounded.
 */

#define MAX_FRAMES 65536u

struct unfolder {
	struct import_builder *builder;
	VEC(struct frame) frames;
	uint32_t inlined;  /* marked frames in a row, up to the last one */
	struct bytes name; /* scratch: a NUL-terminated copy */
};

/* The line from at on, without its end. */
static size_t line_size(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));

	return (size_t)((stop ? stop : end) - at);
}

/*
 * Finds the count at the end of a line. Returns the size of what stands before it,
 * 0 when there is none.
 */
static size_t split_line(const uint8_t *line, size_t size, uint64_t *ret_count)
{
	char digits[32];
	size_t at = size;
	double count;
	char *end;

	while (at > 0 && (line[at - 1] == '\r' || line[at - 1] == ' ' || line[at - 1] == '\t'))
		at--;
	size = at;
	while (at > 0 && ((line[at - 1] >= '0' && line[at - 1] <= '9') || line[at - 1] == '.'))
		at--;
	if (at < 2 || at == size || size - at >= sizeof(digits) || line[at - 1] != ' ')
		return 0;
	memcpy(digits, line + at, size - at);
	digits[size - at] = '\0';
	*ret_count = strtoull(digits, &end, 10); /* stops at its largest number */
	if (*end == '.') {
		count = strtod(digits, &end) + 0.5;
		*ret_count = count < (double)INT64_MAX ? (uint64_t)count : INT64_MAX;
	}
	return *end == '\0' ? at - 1 : 0;
}

/* The first lines must be stacks: nothing else about the format is certain. */
static bool folded_recognise(const uint8_t *data, size_t size)
{
	const uint8_t *at = data;
	const uint8_t *end = data + size;
	uint64_t count;
	int lines = 0;

	if (size == 0 || !memchr(data, ';', size)) /* many a text has lines that end in a number */
		return false;
	while (at < end && lines < 3) {
		size_t n = line_size(at, end);
		bool blank = n == 0 || *at == '#' || *at == '\r';

		if (!blank && (memchr(at, '\0', n) || split_line(at, n, &count) == 0))
			return lines > 0 && at + n == end; /* the last line may be cut */
		lines += !blank;
		at += n + 1;
	}
	return lines > 0;
}

/* Takes a mark off a name and tells what it means. */
static size_t take_mark(const char *name, size_t n, char *ret_mark)
{
	*ret_mark = '\0';
	if (n <= 4 || name[n - 1] != ']' || name[n - 3] != '[' || name[n - 4] != '_' ||
	    !strchr("kij", name[n - 2]))
		return n;
	*ret_mark = name[n - 2];
	return n - 4;
}

static const char *copy_name(struct unfolder *unfolder, const uint8_t *text, size_t n)
{
	bytes_clear(&unfolder->name);
	bytes_put(&unfolder->name, text, n);
	bytes_put_u8(&unfolder->name, '\0');
	return unfolder->name.failed ? NULL : (const char *)unfolder->name.data;
}

static int add_frame(struct unfolder *unfolder, const uint8_t *text, size_t n)
{
	struct place place = {
		.file = "", .module = MODULE_NONE, .outer = PLACE_NONE, .origin = ORIGIN_PROGRAM};
	struct frame frame = {.kind = FRAME_CUSTOM};
	size_t count = unfolder->frames.count;
	char mark;
	int r;

	n = take_mark((const char *)text, n, &mark);
	place.name = copy_name(unfolder, text, n);
	if (!place.name)
		return -ENOMEM;
	if (strcmp(place.name, "[truncated]") == 0)
		place.origin = ORIGIN_TRUNCATED;
	else if (mark == 'k')
		place.origin = ORIGIN_KERNEL;
	else if (mark == 'j')
		place.origin = ORIGIN_JIT;
	unfolder->inlined = mark == 'i' ? unfolder->inlined + 1 : 0;
	if (unfolder->inlined >= PLACES_MAX)
		unfolder->inlined = 0; /* no chain is that long: it begins anew */
	if (unfolder->inlined > 0 &&
	    count > 0) /* takes the place of the frame that it is inlined into */
		place.outer = unfolder->frames.items[--unfolder->frames.count].a;
	r = import_place(unfolder->builder, &place, &frame.a);
	return r < 0 ? r : vec_push(&unfolder->frames, frame);
}

static int add_line(struct unfolder *unfolder, const uint8_t *line, size_t n, uint64_t count,
		    struct error *err)
{
	const uint8_t *end = line + n;
	const uint8_t *stop = memchr(line, ';', n);
	struct import_sample sample = {.times = count, .weight = count};
	const char *process = copy_name(unfolder, line, stop ? (size_t)(stop - line) : n);
	int r = process ? import_thread(unfolder->builder, 0, 0, process, process, &sample.thread)
			: -ENOMEM;

	unfolder->frames.count = 0;
	unfolder->inlined = 0;
	while (r == 0 && stop && unfolder->frames.count < MAX_FRAMES) {
		const uint8_t *at = stop + 1;

		stop = memchr(at, ';', (size_t)(end - at));
		r = add_frame(unfolder, at, (size_t)((stop ? stop : end) - at));
	}
	if (r < 0)
		return error_errno(err, r, "cannot keep a stack");
	sample.frames = unfolder->frames.items;
	sample.frame_count = unfolder->frames.count;
	return import_sample(unfolder->builder, &sample, err);
}

static int folded_read(const uint8_t *data, size_t size, struct import_builder *builder,
		       struct error *err)
{
	struct unfolder unfolder = {.builder = builder};
	const uint8_t *at = data;
	const uint8_t *end = data + size;
	unsigned long long number = 0;
	int r = import_schema(builder, "folded", "samples", "count", 1);

	while (r == 0 && at < end) {
		size_t n = line_size(at, end);
		uint64_t count;
		size_t stack = split_line(at, n, &count);

		number++;
		if (stack > 0 && count > 0)
			r = add_line(&unfolder, at, stack, count, err);
		else if (stack == 0 && n > 0 && *at != '#' && at + n < end)
			r = error_set(err, -EBADMSG, "line %llu does not end in a count", number);
		at += n + 1;
	}
	vec_fini(&unfolder.frames);
	bytes_fini(&unfolder.name);
	return r < 0 ? r : import_finish(builder, 0, err);
}

const struct importer_ops import_folded = {
	.name = "folded",
	.summary = "one line a stack and its count, as flamegraph.pl reads it",
	.recognise = folded_recognise,
	.read = folded_read,
};
