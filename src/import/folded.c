/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash_seed.h"
#include "base/id_index.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/source.h"
#include "model/entity.h"
#include "model/profile.h"
#include "recording/format.h"
#include "recording/writer.h"

/*
 * folded: "process;main;parse 42". The first name is the process, as stackcollapse-perf.pl and wick
 * itself write it. Marks at the end of a name (_[k] kernel, _[i] inlined, _[j] JIT) give its kind
 * and are removed. Counts may be decimals; they are rounded so that the sum of all lines is right.
 */

#define MAX_FRAMES 65536u
#define READ_BYTES (1u << 20)
#define MAX_LINE_BYTES (1u << 30)
#define MAX_NUMBER_BYTES 64u

/*
 * A known name. The text is copied here, next to the other data for the comparison: most of the
 * time is spent waiting for memory.
 */
struct known_name {
	uint32_t size;
	uint32_t origin;
	uint32_t place;
	char text[];
};

#define NAME_STEP_BYTES 8u /* ids of known names are indices into this */

/* A name of a line. */
struct segment {
	const uint8_t *text;
	size_t size; /* without its mark */
	char mark;
	uint64_t hash;
	uint32_t known; /* the most likely known name; ID_NONE: a new one */
};

/* The number at the end of a line. */
struct count {
	uint64_t whole;
	double fraction; /* below 1 */
	bool is_too_large;
};

struct unfolder {
	struct import_builder *builder;
	unsigned long long line; /* its number */
	double excess;           /* total rounding error so far */
	bool has_fractions;
	double sum; /* of the counts */
	unsigned long long stacks;
	VEC(struct segment) segments; /* names of the line that the last one does not have */
	VEC(struct frame) frames;
	uint32_t inlined;   /* consecutive marked frames, up to the last one */
	struct bytes name;  /* scratch: a NUL-terminated copy */
	struct bytes names; /* indexed by id */
	struct id_index name_index;
	/*
	 * The previous line: consecutive lines usually have the same beginning, and the common part
	 * is not looked up again.
	 */
	const uint8_t *last;
	size_t last_size;
	struct bytes last_copy; /* copy, for when the input buffer is gone */
	VEC(uint32_t) ends; /* where its names end: one for each frame and one for the process */
	uint32_t thread;
	bool reusable; /* not with inlined frames, which replace the frames before them */
};

/* The line that begins at `at`, without its line end. */
static size_t line_size(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));

	return (size_t)((stop ? stop : end) - at);
}

/* The line without trailing blanks. */
static size_t trim_line(const uint8_t *line, size_t size)
{
	while (size > 0 &&
	       (line[size - 1] == '\r' || line[size - 1] == ' ' || line[size - 1] == '\t'))
		size--;
	return size;
}

/* Parses digits with a decimal point; false for more than one point, or no digits. */
static bool read_count(const uint8_t *text, size_t n, struct count *ret)
{
	bool has_point = false;
	double place = 1;
	size_t i;

	*ret = (struct count){0};
	for (i = 0; i < n; i++) {
		unsigned int digit = text[i] - (unsigned int)'0';

		if (text[i] == '.' && has_point)
			return false;
		if (text[i] == '.') {
			has_point = true;
		} else if (has_point) {
			place /= 10;
			ret->fraction += digit * place;
		} else if (ret->whole > ((uint64_t)INT64_MAX - digit) / 10) {
			ret->is_too_large = true;
		} else {
			ret->whole = 10 * ret->whole + digit;
		}
	}
	return n > (has_point ? 1u : 0u);
}

/*
 * Finds the count at the end of a line. Returns the size of the text before it, 0 if there is none.
 */
static size_t split_line(const uint8_t *line, size_t size, struct count *ret_count)
{
	size_t at;

	size = trim_line(line, size);
	at = size;
	while (at > 0 && ((line[at - 1] >= '0' && line[at - 1] <= '9') || line[at - 1] == '.'))
		at--;
	if (at < 2 || at == size || line[at - 1] != ' ')
		return 0;
	return read_count(line + at, size - at, ret_count) ? at - 1 : 0;
}

/* Whether a line ends with any kind of number, even one that is not a count: -3, 1e3, 0x10. */
static bool ends_in_number(const uint8_t *line, size_t size, double *ret)
{
	char number[MAX_NUMBER_BYTES];
	const uint8_t *space;
	char *end;
	size_t n;

	size = trim_line(line, size);
	space = size > 0 ? memrchr(line, ' ', size) : NULL;
	n = space ? (size_t)(line + size - space) - 1 : 0;
	if (n == 0 || n >= sizeof(number) || space == line)
		return false;
	memcpy(number, space + 1, n);
	number[n] = '\0';
	*ret = strtod(number, &end);
	return end == number + n && strpbrk(number, "0123456789");
}

/* The only certain thing about the format is that the first line is text and ends with a number. */
static bool folded_recognise(const uint8_t *data, size_t size)
{
	const uint8_t *at = data;
	const uint8_t *end = data + size;
	struct count count;
	double number;

	if (size >= 2 && memcmp(data, "#!", 2) == 0) /* a script */
		return false;
	while (at < end) {
		size_t n = line_size(at, end);

		if (trim_line(at, n) > 0 && *at != '#')
			return !memchr(at, '\0', n) &&
			       (split_line(at, n, &count) > 0 || ends_in_number(at, n, &number));
		at += n + 1;
	}
	return false;
}

/* Removes the mark from a name and returns its meaning. */
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

static const struct known_name *name_of(const struct unfolder *unfolder, uint32_t id)
{
	return (const struct known_name *)(const void *)(unfolder->names.data +
							 (size_t)id * NAME_STEP_BYTES);
}

static bool is_name(const struct known_name *known, const struct segment *segment, uint32_t origin)
{
	return known->size == segment->size && known->origin == origin &&
	       memcmp(known->text, segment->text, segment->size) == 0;
}

/* The place of a name by itself, ID_NONE if it is new. */
static uint32_t find_name(const struct unfolder *unfolder, const struct segment *segment,
			  uint32_t origin)
{
	struct id_probe probe = id_index_probe(&unfolder->name_index, segment->hash);
	uint32_t id;

	if (segment->known != ID_NONE &&
	    is_name(name_of(unfolder, segment->known), segment, origin))
		return name_of(unfolder, segment->known)->place;
	while ((id = id_probe_next(&unfolder->name_index, &probe)) != ID_NONE)
		if (is_name(name_of(unfolder, id), segment, origin))
			return name_of(unfolder, id)->place;
	return ID_NONE;
}

static int add_name(struct unfolder *unfolder, const struct segment *segment, uint32_t origin,
		    uint32_t place)
{
	struct known_name known = {
		.size = (uint32_t)segment->size, .origin = origin, .place = place};
	size_t id = (unfolder->names.size + NAME_STEP_BYTES - 1) / NAME_STEP_BYTES;

	if (id >= ID_NONE)
		return -ENOMEM;
	while (unfolder->names.size < id * NAME_STEP_BYTES && !unfolder->names.failed)
		bytes_put_u8(&unfolder->names, 0);
	bytes_put(&unfolder->names, &known, sizeof(known));
	bytes_put(&unfolder->names, segment->text, segment->size);
	if (unfolder->names.failed)
		return -ENOMEM;
	return id_index_add(&unfolder->name_index, segment->hash, (uint32_t)id);
}

static uint32_t origin_of(const uint8_t *text, size_t n, char mark)
{
	static const char truncated[] = "[truncated]";

	if (n == sizeof(truncated) - 1 && memcmp(text, truncated, n) == 0)
		return ORIGIN_TRUNCATED;
	return mark == 'k' ? ORIGIN_KERNEL : mark == 'j' ? ORIGIN_JIT : ORIGIN_PROGRAM;
}

static int add_inlined(struct unfolder *unfolder, struct place *place)
{
	struct frame frame = {.kind = FRAME_CUSTOM};
	int r;

	unfolder->reusable = false;
	if (++unfolder->inlined >= PLACES_MAX)
		unfolder->inlined = 0; /* no chain is this long: restart it */
	if (unfolder->inlined > 0 && unfolder->frames.count > 0)
		/* replaces the frame that it is inlined into */
		place->outer = unfolder->frames.items[--unfolder->frames.count].a;
	r = import_place(unfolder->builder, place, &frame.a);
	return r < 0 ? r : vec_push(&unfolder->frames, frame);
}

static int add_frame(struct unfolder *unfolder, const struct segment *segment)
{
	struct place place = {.file = "", .module = MODULE_NONE, .outer = PLACE_NONE};
	struct frame frame = {.kind = FRAME_CUSTOM, .a = ID_NONE};
	int r = 0;

	place.origin = origin_of(segment->text, segment->size, segment->mark);
	if (segment->mark != 'i')
		frame.a = find_name(unfolder, segment, place.origin);
	if (frame.a == ID_NONE) {
		place.name = copy_name(unfolder, segment->text, segment->size);
		if (!place.name)
			return -ENOMEM;
		if (segment->mark == 'i')
			return add_inlined(unfolder, &place);
		r = import_place(unfolder->builder, &place, &frame.a);
		if (r == 0)
			r = add_name(unfolder, segment, place.origin, frame.a);
	}
	unfolder->inlined = 0;
	return r < 0 ? r : vec_push(&unfolder->frames, frame);
}

/* Splits a line into names, starting at a separator. */
static int split_names(struct unfolder *unfolder, const uint8_t *line, size_t n, size_t at)
{
	int r = 0;

	unfolder->segments.count = 0;
	while (r == 0 && at < n && unfolder->ends.count <= MAX_FRAMES) {
		struct segment segment = {.text = line + at + 1};
		const uint8_t *stop = memchr(segment.text, ';', n - at - 1);
		size_t size = stop ? (size_t)(stop - segment.text) : n - at - 1;

		segment.size = take_mark((const char *)segment.text, size, &segment.mark);
		if (segment.size > RECORDING_MAX_TEXT)
			segment.size = RECORDING_MAX_TEXT;
		segment.hash = XXH3_64bits_withSeed(segment.text, segment.size, hash_seed.first);
		id_index_prefetch(&unfolder->name_index, segment.hash);
		at += 1 + size;
		r = vec_push(&unfolder->segments, segment);
		if (r == 0)
			r = vec_push(&unfolder->ends, (uint32_t)at);
	}
	return r;
}

/* Prefetches the memory of all names at once. */
static void prefetch_names(struct unfolder *unfolder)
{
	size_t i;

	for (i = 0; i < unfolder->segments.count; i++) {
		struct segment *segment = &unfolder->segments.items[i];
		struct id_probe probe = id_index_probe(&unfolder->name_index, segment->hash);
		const char *known;

		segment->known = id_probe_next(&unfolder->name_index, &probe);
		if (segment->known == ID_NONE)
			continue;
		known = (const char *)name_of(unfolder, segment->known);
		__builtin_prefetch(known);
		__builtin_prefetch(known + 64);
	}
}

/* How many names at the start are the same as in the last line. */
static size_t count_common(const struct unfolder *unfolder, const uint8_t *line, size_t n)
{
	const uint8_t *last = unfolder->last;
	size_t most = unfolder->last_size < n ? unfolder->last_size : n;
	size_t same = 0;
	size_t count = 0;

	if (!unfolder->reusable)
		return 0;
	while (same + 32 <= most && memcmp(last + same, line + same, 32) == 0)
		same += 32;
	while (same + 8 <= most && memcmp(last + same, line + same, 8) == 0)
		same += 8;
	while (same < most && last[same] == line[same])
		same++;
	/* A name is the same only if the separator after it matches too. */
	while (count < unfolder->ends.count && unfolder->ends.items[count] < same)
		count++;
	return count;
}

/* Keeps a copy of the last line when the input buffer is released. */
static void keep_line(struct unfolder *unfolder)
{
	if (unfolder->last == unfolder->last_copy.data)
		return;
	bytes_clear(&unfolder->last_copy);
	bytes_put(&unfolder->last_copy, unfolder->last, unfolder->last_size);
	unfolder->last = unfolder->last_copy.data;
	if (unfolder->last_copy.failed) /* the only effect is that it is not remembered */
		unfolder->reusable = false;
}

/* The process, whose name comes first. */
static int begin_line(struct unfolder *unfolder, const uint8_t *line, size_t n)
{
	const uint8_t *stop = memchr(line, ';', n);
	size_t size = stop ? (size_t)(stop - line) : n;
	const char *process =
		copy_name(unfolder, line, size < RECORDING_MAX_TEXT ? size : RECORDING_MAX_TEXT);
	int r = process ? import_thread(unfolder->builder, 0, 0, process, process,
					&unfolder->thread)
			: -ENOMEM;

	unfolder->reusable = true;
	unfolder->ends.count = 0;
	return r < 0 ? r : vec_push(&unfolder->ends, (uint32_t)size);
}

static int add_line(struct unfolder *unfolder, const uint8_t *line, size_t n, uint64_t count,
		    struct error *err)
{
	size_t common = count_common(unfolder, line, n);
	struct import_sample sample = {.times = count, .weight = count};
	size_t i;
	int r = 0;

	unfolder->inlined = 0;
	unfolder->ends.count = common;
	unfolder->frames.count = common > 0 ? common - 1 : 0;
	if (common == 0)
		r = begin_line(unfolder, line, n);
	if (r == 0)
		r = split_names(unfolder, line, n, unfolder->ends.items[unfolder->ends.count - 1]);
	prefetch_names(unfolder);
	for (i = 0; i < unfolder->segments.count && r == 0; i++)
		r = add_frame(unfolder, &unfolder->segments.items[i]);
	if (r < 0)
		return error_errno(err, r, "cannot store a stack");
	unfolder->last = line;
	unfolder->last_size = n;
	sample.thread = unfolder->thread;
	sample.frames = unfolder->frames.items;
	sample.frame_count = unfolder->frames.count;
	return import_sample(unfolder->builder, &sample, err);
}

/* Rounds so that the sum is right: the error of one stack is carried over to the next. */
static uint64_t round_count(struct unfolder *unfolder, const struct count *count)
{
	unfolder->stacks++;
	unfolder->sum += (double)count->whole + count->fraction;
	if (count->fraction > 0)
		unfolder->has_fractions = true;
	unfolder->excess += count->fraction;
	if (unfolder->excess < 0.5)
		return count->whole;
	unfolder->excess -= 1;
	return count->whole + 1;
}

static int refuse_line(const struct unfolder *unfolder, const uint8_t *line, size_t n,
		       struct error *err)
{
	double number;

	if (ends_in_number(line, n, &number) && number < 0)
		(void)error_set(err, -EBADMSG, "line %llu: the count is negative", unfolder->line);
	else
		(void)error_set(err, -EBADMSG, "line %llu does not end with a count",
				unfolder->line);
	error_remedy(err, "a line is a stack and a count, like: app;main;parse 42");
	return -EBADMSG;
}

/* Ignores the last line, and notes it. */
static int leave_out(struct unfolder *unfolder)
{
	char text[96];

	(void)snprintf(text, sizeof(text), "line %llu, the last one, has no count and is ignored",
		       unfolder->line); /* it fits */
	recording_writer_info(import_builder_writer(unfolder->builder), RECORDING_DAMAGE, text);
	import_set_incomplete(unfolder->builder);
	return 0;
}

/*
 * Whether a line without a count is the last line of a file that was cut off: it has no line end,
 * or one that was added later. A file with only this line is not folded stacks at all. `end` is the
 * end of the file, NULL if it is not near.
 */
static bool is_cut(const struct unfolder *unfolder, const uint8_t *line, size_t n,
		   const uint8_t *end)
{
	static const uint8_t blanks[] = {'\n', '\r', '\t', ' '};
	const uint8_t *stop = line + n;
	double number;

	if (!end || unfolder->stacks == 0 || ends_in_number(line, n, &number))
		return false;
	if (stop == end)
		return true;
	while (stop < end && memchr(blanks, *stop, sizeof(blanks)))
		stop++;
	return stop == end && memchr(line, ';', n);
}

static int take_line(struct unfolder *unfolder, const uint8_t *line, size_t n,
		     const uint8_t *file_end, struct error *err)
{
	struct count count;
	size_t stack = split_line(line, n, &count);
	uint64_t rounded;

	unfolder->line++;
	if (stack == 0 && (trim_line(line, n) == 0 || *line == '#'))
		return 0;
	if (stack == 0 && is_cut(unfolder, line, n, file_end))
		return leave_out(unfolder);
	if (stack == 0)
		return refuse_line(unfolder, line, n, err);
	if (count.is_too_large)
		return error_set(err, -ERANGE, "line %llu: the count is above %lld", unfolder->line,
				 (long long)INT64_MAX);
	if (count.whole == 0 && count.fraction == 0)
		return 0;
	rounded = round_count(unfolder, &count);
	return rounded > 0 ? add_line(unfolder, line, stack, rounded, err) : 0;
}

/* Complete lines, and the last one of the file. */
static int add_lines(struct unfolder *unfolder, const uint8_t *at, const uint8_t *end, bool is_last,
		     struct error *err)
{
	int r = 0;

	while (r == 0 && at < end) {
		size_t n = line_size(at, end);

		r = take_line(unfolder, at, n, is_last ? end : NULL, err);
		at += n + 1;
	}
	keep_line(unfolder);
	return r;
}

static int read_lines(struct unfolder *unfolder, struct import_source *source, struct error *err)
{
	uint64_t offset = 0;
	size_t want = READ_BYTES;
	int r = 0;

	for (;;) {
		size_t n;
		const uint8_t *data = import_source_view(source, offset, want, &n);
		/* One line is left for the next call: it may be the last one. */
		const uint8_t *end = data && n > 1 ? memrchr(data, '\n', n - 1) : NULL;

		if (!data)
			return error_file(err, -EIO, "cannot read its data");
		if (n < want)
			return add_lines(unfolder, data, data + n, true, err);
		if (!end) { /* a very long line */
			want *= 2;
			if (want > MAX_LINE_BYTES)
				return error_set(err, -EFBIG, "line %llu is too long",
						 unfolder->line + 1);
			continue;
		}
		r = add_lines(unfolder, data, end + 1, false, err);
		if (r < 0)
			return r;
		offset += (uint64_t)(end + 1 - data);
	}
}

/* The counts may be fractions or seconds: rounded, most stacks would have 0. */
static int refuse_small(const struct unfolder *unfolder, struct error *err)
{
	if (!unfolder->has_fractions || unfolder->sum >= (double)unfolder->stacks)
		return 0;
	(void)error_set(
		err, -EBADMSG,
		"most of its %llu counts are below 1 (their sum is %g) and would be rounded to 0",
		unfolder->stacks, unfolder->sum);
	error_remedy(err, "multiply all counts by 1000 or 1000000");
	return -EBADMSG;
}

static int folded_read(struct import_source *source, struct import_builder *builder,
		       struct error *err)
{
	struct unfolder unfolder = {.builder = builder};
	int r = import_schema(builder, "folded", "samples", "count", 1);

	if (r == 0)
		r = read_lines(&unfolder, source, err);
	if (r == 0)
		r = refuse_small(&unfolder, err);
	vec_fini(&unfolder.frames);
	vec_fini(&unfolder.segments);
	bytes_fini(&unfolder.names);
	vec_fini(&unfolder.ends);
	id_index_fini(&unfolder.name_index);
	bytes_fini(&unfolder.last_copy);
	bytes_fini(&unfolder.name);
	return r < 0 ? r : import_finish(builder, 0, err);
}

const struct importer_ops import_folded = {
	.name = "folded",
	.summary = "one line per stack with its count, as flamegraph.pl reads it",
	.recognise = folded_recognise,
	.read_source = folded_read,
	.is_kept = true,
};
