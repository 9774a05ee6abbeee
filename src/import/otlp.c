/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/path.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/otlp_dictionary.h"
#include "import/protobuf_reader.h"
#include "model/profile.h"
#include "model/sink.h"
#include "recording/writer.h"

/*
 * otlp: OpenTelemetry ProfilesData and ExportProfilesServiceRequest, of the package
 * profiles.v1development:
 *
 *	data ── resource_profiles ── scope_profiles ── profile ── sample
 *	  └─ dictionary
 *
 * The dictionary may come last, so the message is read twice. Each sample type becomes an event.
 * Counts of samples are turned into the time that each stands for, unless the file has that time
 * too. Attributes become labels, with our names for service, host and release.
 */

#define MAX_FRAMES 65536u
/* Of all samples: a few bytes can name a stack of MAX_FRAMES again. */
#define MAX_ALL_FRAMES (64u << 20)
#define MAX_KINDS 16u

struct kind {
	uint64_t type; /* numbers of strings */
	uint64_t unit;
	bool timed; /* it counts samples, each of which stands for a known time */
};

struct reading {
	struct import_builder *builder;
	struct otlp_dictionary dictionary;
	struct kind kinds[MAX_KINDS];
	size_t kind_count;
	bool has_amounts;  /* some kind is not a count of samples */
	uint64_t first_ns; /* the earliest time; UINT64_MAX: none is known */
	uint64_t end_ns;
	uint64_t frame_count; /* of all samples so far */
	VEC(struct frame) frames;
	VEC(uint64_t) values;
	VEC(uint64_t) times;
};

/* What holds for all samples of a profile. */
struct profile_head {
	struct kind type;
	struct kind period_type;
	uint64_t time_ns;
	uint64_t duration_ns;
	uint64_t period;
};

static struct kind read_kind(struct cursor body)
{
	struct kind kind = {0};
	struct protobuf_field field;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			kind.type = field.value;
		if (field.number == 2)
			kind.unit = field.value;
	}
	return kind;
}

static struct profile_head read_head(struct cursor body)
{
	struct profile_head head = {0};
	struct protobuf_field field;

	while (protobuf_next(&body, &field)) {
		if (field.number == 1)
			head.type = read_kind(field.body);
		else if (field.number == 3)
			head.time_ns = field.value;
		else if (field.number == 4)
			head.duration_ns = field.value;
		else if (field.number == 5)
			head.period_type = read_kind(field.body);
		else if (field.number == 6)
			head.period = field.value;
	}
	return head;
}

static bool is_text(const struct reading *reading, uint64_t string, const char *text)
{
	return strcmp(otlp_text(&reading->dictionary, string), text) == 0;
}

static bool counts_samples(const struct reading *reading, struct kind kind)
{
	return is_text(reading, kind.unit, "count") &&
	       (is_text(reading, kind.type, "samples") || is_text(reading, kind.type, "sample"));
}

static bool is_timed(const struct reading *reading, const struct profile_head *head)
{
	return counts_samples(reading, head->type) && head->period > 0 &&
	       is_text(reading, head->period_type.unit, "nanoseconds");
}

/* Calls fn for each profile, with the attributes of its resource. */
typedef int profile_fn(struct reading *reading, struct cursor resource, struct cursor profile,
		       struct error *err);

static int each_in_scope(struct reading *reading, struct cursor resource, struct cursor scope,
			 profile_fn *fn, struct error *err)
{
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&scope, &field))
		if (field.number == 2)
			r = fn(reading, resource, field.body, err);
	return scope.failed && r == 0 ? -EBADMSG : r;
}

static int each_in_resource(struct reading *reading, struct cursor body, profile_fn *fn,
			    struct error *err)
{
	struct cursor resource = {0};
	struct cursor at = body;
	struct protobuf_field field;
	int r = 0;

	while (protobuf_next(&at, &field))
		if (field.number == 1)
			resource = field.body;
	while (r == 0 && protobuf_next(&body, &field))
		if (field.number == 2)
			r = each_in_scope(reading, resource, field.body, fn, err);
	return body.failed && r == 0 ? -EBADMSG : r;
}

static int each_profile(struct reading *reading, struct cursor in, profile_fn *fn,
			struct error *err)
{
	struct protobuf_field field;
	int r = 0;

	while (r == 0 && protobuf_next(&in, &field))
		if (field.number == 1)
			r = each_in_resource(reading, field.body, fn, err);
	if (r == -EBADMSG || (in.failed && r == 0))
		return error_set(err, -EBADMSG, "it is cut off or damaged");
	return r;
}

static size_t find_kind(const struct reading *reading, struct kind kind)
{
	size_t i;

	for (i = 0; i < reading->kind_count; i++)
		if (reading->kinds[i].type == kind.type && reading->kinds[i].unit == kind.unit)
			return i;
	return i;
}

/* A profile_fn: which sample types there are, and when the first begins. */
static int note_profile(struct reading *reading, struct cursor resource, struct cursor profile,
			struct error *err)
{
	struct profile_head head = read_head(profile);

	if (find_kind(reading, head.type) == reading->kind_count) {
		if (reading->kind_count == MAX_KINDS)
			return error_set(err, -EOPNOTSUPP, "it has more than %u sample types",
					 MAX_KINDS);
		reading->kinds[reading->kind_count++] = head.type;
	}
	if (is_timed(reading, &head))
		reading->kinds[find_kind(reading, head.type)].timed = true;
	reading->has_amounts |= !counts_samples(reading, head.type);
	if (head.time_ns > 0 && head.time_ns < reading->first_ns)
		reading->first_ns = head.time_ns;
	return 0;
}

/* The event of a sample type: what is counted becomes time, if the file says how much. */
static int add_kinds(struct reading *reading)
{
	size_t i;
	int r = 0;

	for (i = 0; i < reading->kind_count && r == 0; i++) {
		const char *type = otlp_text(&reading->dictionary, reading->kinds[i].type);
		const char *unit = otlp_text(&reading->dictionary, reading->kinds[i].unit);

		if (reading->kinds[i].timed)
			r = import_schema(reading->builder, "cpu", "cpu", "nanoseconds", 0);
		else
			r = import_schema(reading->builder, *type ? type : "samples",
					  *type ? type : "samples", *unit ? unit : "count", 0);
	}
	return r;
}

static int push_numbers(struct reading *reading, struct protobuf_field *field)
{
	uint64_t number;
	int r = 0;

	if (field->number == 4)
		while (r == 0 && protobuf_number(field, &number))
			r = vec_push(&reading->values, number);
	/* Times are fixed64: packed, or one by one. */
	if (field->number == 5 && !field->packed)
		r = vec_push(&reading->times, field->value);
	while (r == 0 && field->number == 5 && field->packed && cursor_left(&field->body) >= 8)
		r = vec_push(&reading->times, cursor_u64(&field->body));
	return r;
}

/* Frames of a stack, root first; the file has the leaf first. */
static int take_frames(struct reading *reading, uint64_t stack)
{
	struct cursor body = otlp_stack(&reading->dictionary, stack);
	struct protobuf_field field;
	uint64_t number;
	size_t i;
	int r = 0;

	reading->frames.count = 0;
	while (r == 0 && protobuf_next(&body, &field))
		while (r == 0 && field.number == 1 && protobuf_number(&field, &number)) {
			struct frame frame;

			if (reading->frames.count >= MAX_FRAMES)
				return -EBADMSG;
			r = otlp_frame(&reading->dictionary, number, &frame);
			if (r == 0)
				r = vec_push(&reading->frames, frame);
		}
	reading->frame_count += reading->frames.count;
	if (r == 0 && reading->frame_count > MAX_ALL_FRAMES)
		return -E2BIG;
	for (i = 0; i < reading->frames.count / 2; i++) {
		struct frame *last = &reading->frames.items[reading->frames.count - 1 - i];
		struct frame frame = reading->frames.items[i];

		reading->frames.items[i] = *last;
		*last = frame;
	}
	return r;
}

/* Sets what one value stands for. */
static void set_weight(const struct reading *reading, const struct profile_head *head,
		       struct import_sample *sample, uint64_t value)
{
	uint64_t each_ns = head->period > 0 ? head->period : 1;

	if (counts_samples(reading, head->type))
		sample->times = value;
	else
		sample->times = head->period > 0 ? (value + each_ns / 2) / each_ns : 1;
	sample->weight = value;
	if (is_timed(reading, head) && value < UINT64_MAX / each_ns)
		sample->weight = value * each_ns;
}

/* Writes the values of a sample: one for each time, or their sum. */
static int put_values(struct reading *reading, const struct profile_head *head,
		      struct import_sample *sample, struct error *err)
{
	size_t values = reading->values.count;
	size_t times = reading->times.count;
	size_t n = times > 0 && (values == times || values == 0) ? times : 1;
	size_t i;
	size_t k;
	int r = 0;

	for (i = 0; i < n && r == 0; i++) {
		uint64_t value = values == 0 ? 1 : reading->values.items[i < values ? i : 0];
		uint64_t time_ns = times > 0 ? reading->times.items[i] : head->time_ns;

		for (k = 1; n == 1 && k < values; k++)
			value += reading->values.items[k];
		if (value == 0 || value > INT64_MAX)
			continue; /* a decrease is not a cost */
		sample->since_ns = time_ns > reading->first_ns ? time_ns - reading->first_ns : 0;
		set_weight(reading, head, sample, value);
		r = import_sample(reading->builder, sample, err);
	}
	return r;
}

static int add_sample(struct reading *reading, const struct profile_head *head,
		      struct cursor resource, struct cursor body, struct error *err)
{
	struct otlp_labels labels = {.process = ""};
	struct import_sample sample = {0};
	struct protobuf_field field;
	uint64_t stack = 0;
	uint64_t number;
	int r = 0;

	reading->values.count = 0;
	reading->times.count = 0;
	otlp_resource_labels(&reading->dictionary, resource, &labels);
	while (r == 0 && protobuf_next(&body, &field)) {
		if (field.number == 1)
			stack = field.value;
		while (field.number == 2 && protobuf_number(&field, &number))
			otlp_attribute_label(&reading->dictionary, number, &labels);
		r = push_numbers(reading, &field);
	}
	if (r == 0)
		r = body.failed ? -EBADMSG : take_frames(reading, stack);
	if (r < 0)
		return error_set(err, r,
				 r == -ENOMEM  ? "out of memory"
				 : r == -E2BIG ? "its samples have too many frames"
					       : "a sample is invalid");
	r = import_thread(reading->builder, labels.pid, labels.tid,
			  labels.thread ? labels.thread : labels.process, labels.process,
			  &sample.thread);
	if (r < 0)
		return error_errno(err, r, "cannot store a thread");
	sample.frames = reading->frames.items;
	sample.frame_count = reading->frames.count;
	sample.labels = labels.items;
	sample.label_count = labels.count;
	return put_values(reading, head, &sample, err);
}

/* A profile_fn. */
static int add_profile(struct reading *reading, struct cursor resource, struct cursor profile,
		       struct error *err)
{
	struct profile_head head = read_head(profile);
	struct protobuf_field field;
	int r = 0;

	/* The times that these count are in another profile of the file. */
	if (counts_samples(reading, head.type) && reading->has_amounts)
		return 0;
	import_choose_schema(reading->builder, (uint32_t)find_kind(reading, head.type));
	if (head.time_ns + head.duration_ns > reading->end_ns)
		reading->end_ns = head.time_ns + head.duration_ns;
	while (r == 0 && protobuf_next(&profile, &field))
		if (field.number == 2)
			r = add_sample(reading, &head, resource, field.body, err);
	return profile.failed && r == 0 ? -EBADMSG : r;
}

/* Begins with a resource or the dictionary, and has bytes that no text has. */
static bool otlp_recognise(const uint8_t *data, size_t size)
{
	struct cursor in = cursor_of(data, size);
	size_t i;

	if (size < 8 || (data[0] != 0x0a && data[0] != 0x12))
		return false;
	(void)cursor_u8(&in);
	(void)cursor_varint(&in); /* the first megabyte may be less than the message */
	if (in.failed || cursor_left(&in) == 0 || *in.at == '\0' ||
	    !strchr("\x0a\x12\x1a\x22\x2a", *in.at))
		return false;
	for (i = 0; i < size && i < 512; i++)
		if (data[i] < 0x08)
			return true;
	return false;
}

static int read_all(struct reading *reading, struct cursor in, struct error *err)
{
	int r = otlp_dictionary_read(&reading->dictionary, in);

	if (r < 0)
		return error_set(err, r,
				 r == -ENOMEM ? "out of memory" : "its dictionary is damaged");
	r = each_profile(reading, in, note_profile, err);
	if (r == 0 && reading->kind_count == 0)
		return error_set(err, -EBADMSG, "it has no profiles");
	if (r == 0 && add_kinds(reading) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && reading->first_ns < UINT64_MAX)
		recording_writer_clock(import_builder_writer(reading->builder), IMPORT_START_NS,
				       reading->first_ns);
	return r < 0 ? r : each_profile(reading, in, add_profile, err);
}

static int otlp_read(const uint8_t *data, size_t size, struct import_builder *builder,
		     struct error *err)
{
	struct reading reading = {.builder = builder, .first_ns = UINT64_MAX};
	uint64_t duration_ns;
	int r = otlp_dictionary_init(&reading.dictionary, builder);

	r = r < 0 ? error_set(err, r, "out of memory")
		  : read_all(&reading, cursor_of(data, size), err);
	duration_ns = reading.end_ns > reading.first_ns ? reading.end_ns - reading.first_ns : 0;
	if (r == 0)
		r = import_finish(builder, duration_ns < INT64_MAX ? duration_ns : 0, err);
	otlp_dictionary_fini(&reading.dictionary);
	vec_fini(&reading.frames);
	vec_fini(&reading.values);
	vec_fini(&reading.times);
	return r;
}

const struct importer_ops import_otlp = {
	.name = "otlp",
	.summary = "OpenTelemetry ProfilesData (profiles v1development)",
	.recognise = otlp_recognise,
	.read = otlp_read,
};
