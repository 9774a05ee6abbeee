/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "model/entity.h"
#include "model/profile.h"
#include "recording/writer.h"

/*
 * speedscope: sampled and evented profiles, each a thread. Weights in units of time advance the
 * clock, so the time order is kept. An evented profile gives the times when frames open and close:
 * the time between two events is a sample of the stack that was open then:
 *
 *	at 0 open main, at 2 open f, at 5 close f, at 6 close main
 *	main 2, main;f 3, main 1
 */

#define MAX_FRAMES 65536u
#define MAX_WEIGHT 9e18 /* limit of a recording */
/* Limit for the frames of all such samples: a small file with deep stacks must not run forever. */
#define MAX_EVENTED_FRAMES (1ull << 32)

struct unit {
	const char *name;
	const char *unit; /* of the recording */
	double factor;
	bool time;
	bool counts; /* weights are numbers of samples */
};

static const struct unit units[] = {
	{"nanoseconds", "nanoseconds", 1, true, false},
	{"microseconds", "nanoseconds", 1e3, true, false},
	{"milliseconds", "nanoseconds", 1e6, true, false},
	{"seconds", "nanoseconds", 1e9, true, false},
	{"bytes", "bytes", 1, false, false},
	{"none", "count", 1, false, true},
};

/* What distinguishes profiles: a name, or "" and only the unit. */
struct value {
	const char *name; /* of the document */
	const char *unit; /* of the recording */
};

struct scope {
	struct import_builder *builder;
	const struct unit *unit;  /* of the profile */
	VEC(struct value) values; /* the index is the schema */
	VEC(uint32_t) places;
	VEC(struct frame) frames;
	uint64_t evented_frames;
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static const struct unit *unit_of(const json_t *profile)
{
	const char *name = text_of(profile, "unit");
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(units[i].name, name) == 0)
			return &units[i];
	return NULL;
}

static int add_places(struct scope *scope, const json_t *document)
{
	const json_t *frames = json_object_get(json_object_get(document, "shared"), "frames");
	size_t i;

	for (i = 0; i < json_array_size(frames); i++) {
		const json_t *frame = json_array_get(frames, i);
		json_int_t line = json_integer_value(json_object_get(frame, "line"));
		struct place place = {
			.name = text_of(frame, "name"),
			.file = text_of(frame, "file"),
			.line = line > 0 && line < UINT32_MAX ? (uint32_t)line : 0,
			.module = MODULE_NONE,
			.origin = ORIGIN_PROGRAM,
			.outer = PLACE_NONE,
		};
		uint32_t id;
		int r;

		if (strcmp(place.name, "[truncated]") == 0)
			place.origin = ORIGIN_TRUNCATED;
		r = import_place(scope->builder, &place, &id);
		if (r == 0)
			r = vec_push(&scope->places, id);
		if (r < 0)
			return r;
	}
	return 0;
}

static int gather(struct scope *scope, const json_t *stack, struct error *err)
{
	size_t i;

	scope->frames.count = 0;
	for (i = 0; i < json_array_size(stack); i++) {
		const json_t *item = json_array_get(stack, i);
		json_int_t at = json_integer_value(item);

		if (!json_is_integer(item) || at < 0 || (size_t)at >= scope->places.count)
			return error_set(err, -EBADMSG, "it refers to a frame that does not exist");
		if (i >= MAX_FRAMES)
			return error_set(err, -EBADMSG, "it has more than %u frames", MAX_FRAMES);
		if (vec_push(&scope->frames,
			     (struct frame){FRAME_CUSTOM, scope->places.items[at], 0}) < 0)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

/* Adds a sample with the collected frames; time advances by its weight. */
static int add_gathered(struct scope *scope, double value, struct import_sample *sample,
			struct error *err)
{
	int r;

	if (!(value >= 0))
		return error_set(err, -EBADMSG, "its weight is negative");
	if (!(value < MAX_WEIGHT))
		return error_set(err, -EBADMSG, "its weight is too large");
	sample->weight = (uint64_t)(value + 0.5);
	if (scope->unit->counts && sample->weight == 0)
		return 0; /* none of them */
	sample->times = scope->unit->counts ? sample->weight : 1;
	sample->frames = scope->frames.items;
	sample->frame_count = scope->frames.count;
	r = import_sample(scope->builder, sample, err);
	if (scope->unit->time && sample->since_ns + sample->weight < INT64_MAX)
		sample->since_ns += sample->weight;
	return r;
}

/* Without weights each sample has weight 1. */
static int add_stack(struct scope *scope, const json_t *stack, const json_t *weight,
		     struct import_sample *sample, struct error *err)
{
	double value = weight ? json_number_value(weight) * scope->unit->factor : 1;
	int r = gather(scope, stack, err);

	if (r == 0 && weight && !json_is_number(weight))
		return error_set(err, -EBADMSG, "its weight is not a number");
	return r < 0 ? r : add_gathered(scope, value, sample, err);
}

static int add_stacks(struct scope *scope, const json_t *profile, struct import_sample *sample,
		      struct error *err)
{
	const json_t *samples = json_object_get(profile, "samples");
	const json_t *weights = json_object_get(profile, "weights");
	size_t count = json_array_size(samples);
	size_t i;

	if (weights && json_array_size(weights) != count)
		return error_set(err, -EBADMSG, "it has %zu weights for %zu samples",
				 json_array_size(weights), count);
	for (i = 0; i < count; i++) {
		int r = add_stack(scope, json_array_get(samples, i), json_array_get(weights, i),
				  sample, err);

		if (r < 0)
			return error_prefix(err, r, "sample %zu", i + 1);
	}
	return 0;
}

/* Opens or closes a frame. Frames close in reverse order of opening. */
static int take_event(struct scope *scope, const json_t *event, struct error *err)
{
	json_int_t at = json_integer_value(json_object_get(event, "frame"));
	const char *type = text_of(event, "type");
	struct frame frame = {.kind = FRAME_CUSTOM};
	size_t open = scope->frames.count;

	if (at < 0 || (size_t)at >= scope->places.count)
		return error_set(err, -EBADMSG, "it refers to a frame that does not exist");
	frame.a = scope->places.items[at];
	if (strcmp(type, "O") == 0) {
		if (open >= MAX_FRAMES)
			return error_set(err, -EBADMSG, "more than %u frames are open", MAX_FRAMES);
		return vec_push(&scope->frames, frame) < 0
			       ? error_set(err, -ENOMEM, "out of memory")
			       : 0;
	}
	if (strcmp(type, "C") != 0)
		return error_set(err, -EBADMSG, "it neither opens nor closes a frame");
	if (open == 0 || scope->frames.items[open - 1].a != frame.a)
		return error_set(err, -EBADMSG, "it closes a frame other than the last one opened");
	scope->frames.count--;
	return 0;
}

/* The time before an event, or before the end; nothing if no frame is open. */
static int add_stretch(struct scope *scope, double since, double length,
		       struct import_sample *sample, struct error *err)
{
	double since_ns = since * scope->unit->factor;

	if (scope->unit->time && since_ns >= 0 && since_ns < MAX_WEIGHT)
		sample->since_ns = (uint64_t)since_ns;
	scope->evented_frames += scope->frames.count;
	if (scope->evented_frames > MAX_EVENTED_FRAMES)
		return error_set(err, -EFBIG, "its stacks have too many frames");
	if (!(length > 0) || scope->frames.count == 0)
		return 0;
	return add_gathered(scope, length * scope->unit->factor, sample, err);
}

/* Frames still open after the last event stay open until the end of the profile. */
static int add_events(struct scope *scope, const json_t *profile, struct import_sample *sample,
		      struct error *err)
{
	const json_t *events = json_object_get(profile, "events");
	double start = json_number_value(json_object_get(profile, "startValue"));
	double end = json_number_value(json_object_get(profile, "endValue"));
	double before = start;
	size_t i;

	scope->frames.count = 0;
	for (i = 0; i < json_array_size(events); i++) {
		const json_t *event = json_array_get(events, i);
		double at = json_number_value(json_object_get(event, "at"));
		int r;

		if (i > 0 && at < before)
			return error_set(err, -EBADMSG, "events are not in time order");
		r = add_stretch(scope, before - start, at - before, sample, err);
		if (r == 0)
			r = take_event(scope, event, err);
		if (r < 0)
			return error_prefix(err, r, "event %zu", i + 1);
		before = at;
	}
	return add_stretch(scope, before - start, end - before, sample, err);
}

/* The value at the end of one of our own names: "comm (process 1, thread 2): value". "": none. */
static const char *value_of(const char *name)
{
	const char *thread = strstr(name, ", thread ");
	const char *next;

	while (thread && (next = strstr(thread + 1, ", thread ")))
		thread = next;
	if (!thread)
		return "";
	thread += strlen(", thread ");
	thread += strspn(thread, "0123456789");
	return strncmp(thread, "): ", 3) == 0 ? thread + 3 : "";
}

/* The schema of a profile, ID_NONE if there is none yet. There are few values. */
static uint32_t find_value(const struct scope *scope, const char *name, const struct unit *unit)
{
	uint32_t i;

	for (i = 0; i < scope->values.count; i++)
		if (strcmp(scope->values.items[i].name, name) == 0 &&
		    strcmp(scope->values.items[i].unit, unit->unit) == 0)
			return i;
	return ID_NONE;
}

/* What profiles measure that do not say it: "samples" is what every recording counts. */
static const char *name_of(const struct unit *unit, bool is_first)
{
	if (unit->time)
		return "time";
	return !unit->counts ? "bytes" : is_first ? "samples" : "weight";
}

static int add_value(struct scope *scope, const char *name, const struct unit *unit)
{
	bool is_first = scope->values.count == 0;
	const char *value = *name ? name : name_of(unit, is_first);
	int r;

	if (find_value(scope, name, unit) != ID_NONE)
		return 0;
	r = import_schema(scope->builder, is_first ? "speedscope" : value, value, unit->unit, 0);
	return r < 0 ? r : vec_push(&scope->values, ((struct value){name, unit->unit}));
}

/* Creates the schemas; that of the first profile comes first, whatever its name is. */
static int add_values(struct scope *scope, const json_t *profiles)
{
	const struct unit *unit = unit_of(json_array_get(profiles, 0));
	size_t i;
	int r = add_value(scope, "", unit ? unit : &units[ARRAY_SIZE(units) - 1]);

	for (i = 0; i < json_array_size(profiles) && r == 0; i++) {
		const json_t *profile = json_array_get(profiles, i);

		unit = unit_of(profile);
		if (unit)
			r = add_value(scope, value_of(text_of(profile, "name")), unit);
	}
	return r;
}

/* The thread of a profile. Our own names are parsed: "comm (process 1, thread 2)". */
static int thread_of(struct scope *scope, const char *name, unsigned int number, uint32_t *ret)
{
	const char *bracket = strrchr(name, '(');
	const char *thread = bracket ? strstr(bracket, ", thread ") : NULL;
	char comm[256];
	char process[256];
	unsigned int pid;
	unsigned int tid;
	const char *space = thread;

	if (thread && sscanf(thread, ", thread %u)", &tid) == 1 && bracket > name) {
		while (space > bracket && *space != ' ')
			space--;
		if (sscanf(space, " %u,", &pid) == 1 && space > bracket) {
			(void)snprintf(comm, sizeof(comm), "%.*s", (int)(bracket - name - 1), name);
			(void)snprintf(process, sizeof(process), "%.*s", (int)(space - bracket - 1),
				       bracket + 1); /* cut is fine */
			return import_thread(scope->builder, pid, tid, comm, process, ret);
		}
	}
	return import_thread(scope->builder, 0, number, name, name, ret);
}

static int add_profile(struct scope *scope, const json_t *profile, unsigned int number,
		       struct error *err)
{
	const char *name = text_of(profile, "name");
	bool evented = strcmp(text_of(profile, "type"), "evented") == 0;
	struct import_sample sample = {0};
	int r;

	if (!evented && strcmp(text_of(profile, "type"), "sampled") != 0)
		return error_set(err, -EOPNOTSUPP, "profile %u is neither sampled nor evented",
				 number);
	scope->unit = unit_of(profile);
	if (!scope->unit)
		return error_set(err, -EBADMSG, "profile %u has an unknown unit", number);
	r = thread_of(scope, name, number, &sample.thread);
	if (r < 0)
		return error_errno(err, r, "cannot store a thread");
	import_choose_schema(scope->builder, find_value(scope, value_of(name), scope->unit));
	r = evented ? add_events(scope, profile, &sample, err)
		    : add_stacks(scope, profile, &sample, err);
	return r < 0 ? error_prefix(err, r, "profile %u", number) : 0;
}

static int add_document(struct scope *scope, const json_t *document, struct error *err)
{
	const json_t *profiles = json_object_get(document, "profiles");
	size_t i;
	int r;

	recording_writer_info(import_builder_writer(scope->builder), "title",
			      text_of(document, "name"));
	r = add_values(scope, profiles);
	if (r == 0)
		r = add_places(scope, document);
	if (r < 0)
		return error_errno(err, r, "cannot store its frames");
	for (i = 0; i < json_array_size(profiles) && r == 0; i++)
		r = add_profile(scope, json_array_get(profiles, i), (unsigned int)i + 1, err);
	return r < 0 ? r : import_finish(scope->builder, 0, err);
}

static bool speedscope_recognise(const uint8_t *data, size_t size)
{
	static const char word[] = "speedscope.app/file-format-schema";
	size_t at = 0;

	while (at < size && strchr(" \t\r\n", data[at]) && data[at])
		at++;
	if (at == size || data[at] != '{')
		return false;
	return memmem(data, size, word, sizeof(word) - 1) != NULL;
}

static int speedscope_read(const uint8_t *data, size_t size, struct import_builder *builder,
			   struct error *err)
{
	struct scope scope = {.builder = builder};
	json_error_t problem;
	json_t *document = json_loadb((const char *)data, size, 0, &problem);
	int r;

	if (!document)
		return error_set(err, -EBADMSG, "line %d: %s", problem.line, problem.text);
	r = add_document(&scope, document, err);
	json_decref(document);
	vec_fini(&scope.values);
	vec_fini(&scope.places);
	vec_fini(&scope.frames);
	return r;
}

const struct importer_ops import_speedscope = {
	.name = "speedscope",
	.summary = "the files of www.speedscope.app, sampled or evented",
	.recognise = speedscope_recognise,
	.read = speedscope_read,
};
