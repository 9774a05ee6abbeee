/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/perf_script_line.h"
#include "model/entity.h"
#include "model/profile.h"
#include "model/sink.h"
#include "model/strings.h"
#include "recording/format.h"
#include "recording/writer.h"

/*
 * perf script: the text form of perf.data, which people share. A sample is a line with its thread,
 * time and event, lines with its frames, leaf first, and an empty line. Lines that are neither
 * (sources of -F +srcline, comments) are skipped, and so are truncated parts: a last line without a
 * line end, and the stack that it belongs to.
 *
 * The text is read once for each event, because each change of event starts a new chunk of the
 * recording.
 */

#define MAX_FRAMES 65536u
#define MAX_EVENTS 64u
#define JIT_ARROW "->" /* "outer->inlined", as perf-map-agent writes it */

/* The functions and modules seen so far, each with its place. */
struct known_frames {
	struct strings texts;
	VEC(uint32_t) places; /* by text; ID_NONE: not created yet */
};

struct event {
	uint32_t name; /* in texts */
	bool is_clock;
	bool has_periods;
};

struct reading {
	struct import_builder *builder;
	struct known_frames known;
	struct strings texts;
	VEC(struct event) events;
	VEC(struct script_frame) lines; /* of the sample */
	VEC(struct frame) frames;
	struct bytes name; /* scratch */
	uint64_t first_ns;
	uint64_t samples;
	bool has_first;
	bool has_chains; /* samples have callers, each on a separate line */
	bool is_cut;     /* the text ends inside a line */
};

static struct script_span next_line(struct script_span *all)
{
	const char *stop = memchr(all->text, '\n', all->size);
	struct script_span line = {all->text, stop ? (size_t)(stop - all->text) : all->size};
	size_t used = line.size + (stop ? 1 : 0);

	all->text += used;
	all->size -= used;
	return line;
}

static bool is_empty(struct script_span line)
{
	for (size_t i = 0; i < line.size; i++)
		if (!strchr(" \t\r", line.text[i]) || line.text[i] == '\0')
			return false;
	return true;
}

static const char *copy_text(struct reading *reading, struct script_span span)
{
	bytes_clear(&reading->name);
	bytes_put(&reading->name, span.text,
		  span.size < RECORDING_MAX_TEXT ? span.size : RECORDING_MAX_TEXT);
	bytes_put_u8(&reading->name, '\0');
	return reading->name.failed ? NULL : (const char *)reading->name.data;
}

static bool starts_with(struct script_span span, const char *text)
{
	return span.size >= strlen(text) && memcmp(span.text, text, strlen(text)) == 0;
}

static bool equals(struct script_span span, const char *text)
{
	return span.size == strlen(text) && starts_with(span, text);
}

static bool ends_with(struct script_span span, const char *text)
{
	size_t n = strlen(text);

	return span.size >= n && memcmp(span.text + span.size - n, text, n) == 0;
}

static bool is_kernel(struct script_span module)
{
	static const char *const others[] = {"[vdso", "[vsyscall", "[heap", "[stack", "[anon"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (starts_with(module, others[i]))
			return false;
	return starts_with(module, "[") || ends_with(module, "vmlinux") || ends_with(module, ".ko");
}

static bool is_jit(struct script_span module)
{
	return (starts_with(module, "/tmp/perf-") && ends_with(module, ".map")) ||
	       memmem(module.text, module.size, "/jitted-", strlen("/jitted-"));
}

static uint32_t origin_of(struct script_span module)
{
	if (module.size == 0)
		return ORIGIN_PROGRAM;
	if (is_jit(module))
		return ORIGIN_JIT;
	if (is_kernel(module))
		return ORIGIN_KERNEL;
	return memmem(module.text, module.size, ".so", 3) ? ORIGIN_LIBRARY : ORIGIN_PROGRAM;
}

static int add_module(struct reading *reading, struct script_span path, uint32_t *ret)
{
	struct sink *sink = recording_writer_sink(import_builder_writer(reading->builder));
	struct module module = {.kind = is_kernel(path) ? MODULE_KERNEL : MODULE_FILE};

	*ret = MODULE_NONE;
	if (path.size == 0)
		return 0;
	module.path = copy_text(reading, path);
	return module.path ? sink_module(sink, &module, ret) : -ENOMEM;
}

/* "[libfoo.so]" for a frame without a name: addresses differ from run to run. */
static struct script_span file_name(struct script_span module)
{
	const char *slash = module.size > 0 ? memrchr(module.text, '/', module.size) : NULL;

	if (slash)
		return (struct script_span){slash + 1,
					    (size_t)(module.text + module.size - slash) - 1};
	return module;
}

static const char *nameless(struct reading *reading, struct script_span module)
{
	struct script_span file = file_name(module);

	bytes_clear(&reading->name);
	if (file.size == 0 || *file.text != '[')
		bytes_put_u8(&reading->name, '[');
	bytes_put(&reading->name, file.size > 0 ? file.text : "unknown",
		  file.size > 0 ? file.size : strlen("unknown"));
	if (file.size == 0 || *file.text != '[')
		bytes_put_u8(&reading->name, ']');
	bytes_put_u8(&reading->name, '\0');
	return reading->name.failed ? NULL : (const char *)reading->name.data;
}

/* The places of "a->b->c" from a JIT, each inlined into the one before it. */
static int add_places(struct reading *reading, struct script_span symbol, struct place *place,
		      uint32_t *ret)
{
	int r = 0;

	while (r == 0 && symbol.size > 0) {
		const char *arrow = place->origin == ORIGIN_JIT
					    ? memmem(symbol.text, symbol.size, JIT_ARROW, 2)
					    : NULL;
		size_t n =
			arrow && arrow > symbol.text ? (size_t)(arrow - symbol.text) : symbol.size;
		size_t used = n < symbol.size ? n + 2 : n;

		place->name = copy_text(reading, (struct script_span){symbol.text, n});
		r = place->name ? import_place(reading->builder, place, ret) : -ENOMEM;
		place->outer = *ret;
		symbol.text += used;
		symbol.size -= used;
	}
	return r;
}

static int make_place(struct reading *reading, const struct script_frame *frame, uint32_t outer,
		      uint32_t *ret)
{
	struct place place = {.file = "", .outer = outer, .origin = origin_of(frame->module)};
	int r = add_module(reading, frame->module, &place.module);

	if (r < 0 || frame->symbol.size > 0)
		return r < 0 ? r : add_places(reading, frame->symbol, &place, ret);
	if (place.origin != ORIGIN_KERNEL)
		place.origin = ORIGIN_UNKNOWN;
	place.name = nameless(reading, frame->module);
	return place.name ? import_place(reading->builder, &place, ret) : -ENOMEM;
}

/* The same, cached. Inlined ones depend on the function they are in. */
static int find_place(struct reading *reading, const struct script_frame *frame, uint32_t *ret)
{
	struct known_frames *known = &reading->known;
	uint32_t id = strings_add_n(&known->texts, frame->what.text, frame->what.size);
	int r = 0;

	if (id == ID_NONE)
		return -ENOMEM;
	while (known->places.count <= id && r == 0)
		r = vec_push(&known->places, ID_NONE);
	if (r == 0 && known->places.items[id] == ID_NONE)
		r = make_place(reading, frame, PLACE_NONE, &known->places.items[id]);
	if (r == 0)
		*ret = known->places.items[id];
	return r;
}

/* Frames come leaf first, and an inlined one before the frame it is inlined into. */
static int make_frames(struct reading *reading)
{
	uint32_t inlined = 0;
	int r = 0;

	reading->frames.count = 0;
	for (size_t i = reading->lines.count; i-- > 0 && r == 0;) {
		const struct script_frame *line = &reading->lines.items[i];
		struct frame frame = {.kind = FRAME_CUSTOM, .b = line->address};

		inlined = line->is_inlined ? inlined + 1 : 0;
		if (inlined > 0 && inlined < PLACES_MAX && reading->frames.count > 0) {
			uint32_t outer = reading->frames.items[--reading->frames.count].a;

			r = make_place(reading, line, outer, &frame.a);
		} else {
			inlined = 0;
			r = find_place(reading, line, &frame.a);
		}
		if (r == 0)
			r = vec_push(&reading->frames, frame);
	}
	return r;
}

static int add_sample(struct reading *reading, const struct script_event *head, struct error *err)
{
	struct import_sample sample = {.weight = head->has_period ? head->period : 1};
	const char *comm;
	int r = make_frames(reading);

	if (r == 0) {
		comm = copy_text(reading, head->comm);
		r = comm ? import_thread(reading->builder, head->pid, head->tid, comm, comm,
					 &sample.thread)
			 : -ENOMEM;
	}
	if (r < 0)
		return error_errno(err, r, "cannot store a stack");
	if (head->has_time && head->time_ns > reading->first_ns)
		sample.since_ns = head->time_ns - reading->first_ns;
	sample.frames = reading->frames.items;
	sample.frame_count = reading->frames.count;
	reading->samples++;
	return import_sample(reading->builder, &sample, err);
}

/* Reads the lines of a sample. Returns 1 and its header, 0 at the end, or -ENOMEM. */
static int next_sample(struct reading *reading, struct script_span *all, struct script_event *ret)
{
	struct script_frame frame;
	bool has_head = false;
	bool is_whole = false; /* a sample in one line */

	reading->lines.count = 0;
	while (all->size > 0) {
		struct script_span before = *all;
		struct script_span line = next_line(all);

		if (is_empty(line) && has_head)
			return 1;
		if (is_empty(line) || *line.text == '#')
			continue;
		if (has_head && script_frame_parse(line, &frame)) {
			reading->has_chains = true;
			if (reading->lines.count < MAX_FRAMES &&
			    vec_push(&reading->lines, frame) < 0)
				return -ENOMEM;
			continue;
		}
		if (has_head) {
			struct script_event next;

			if (!script_event_parse(line, &next))
				continue;
			*all = before; /* no empty line between them */
			return 1;
		}
		has_head = script_event_parse(line, ret);
		is_whole =
			has_head && script_frame_parse(ret->rest, &frame) && frame.module.size > 0;
		if (is_whole && vec_push(&reading->lines, frame) < 0)
			return -ENOMEM;
	}
	return has_head && (is_whole || !reading->is_cut || !reading->has_chains);
}

/* Modifiers (cycles:u, cpu-clock:pppH) say where it was counted, not what. */
static struct script_span drop_modifiers(struct script_span name)
{
	size_t at = name.size;

	while (at > 0 && name.text[at - 1] != '\0' && strchr("ukhpPHGSDWIe", name.text[at - 1]))
		at--;
	if (at > 1 && at < name.size && name.text[at - 1] == ':')
		name.size = at - 1;
	return name;
}

/* The number of an event, UINT32_MAX if out of memory or if there are too many. */
static uint32_t event_of(struct reading *reading, const struct script_event *head)
{
	struct script_span event = drop_modifiers(head->event);
	uint32_t name = strings_add_n(&reading->texts, event.text, event.size);

	for (uint32_t i = 0; i < reading->events.count; i++)
		if (reading->events.items[i].name == name)
			return i;
	if (name == ID_NONE || reading->events.count == MAX_EVENTS ||
	    vec_push(&reading->events, (struct event){.name = name,
						      .is_clock = equals(event, "cpu-clock") ||
								  equals(event, "task-clock"),
						      .has_periods = head->has_period}) < 0)
		return UINT32_MAX;
	return (uint32_t)reading->events.count - 1;
}

/* Which events there are, and when the first sample was. */
static int find_events(struct reading *reading, struct script_span all, struct error *err)
{
	struct script_event head;
	int r;

	while ((r = next_sample(reading, &all, &head)) > 0) {
		if (event_of(reading, &head) == UINT32_MAX)
			return error_set(err, -E2BIG, "it has more than %u events", MAX_EVENTS);
		if (head.has_time && (!reading->has_first || head.time_ns < reading->first_ns)) {
			reading->has_first = true;
			reading->first_ns = head.time_ns;
		}
	}
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int add_events(struct reading *reading)
{
	int r = 0;

	for (size_t i = 0; i < reading->events.count && r == 0; i++) {
		const struct event *event = &reading->events.items[i];
		const char *name = strings_get(&reading->texts, event->name);
		bool is_time = event->is_clock && event->has_periods;
		const char *value = event->has_periods ? name : "samples";

		r = import_schema(reading->builder, name, is_time ? "cpu" : value,
				  is_time ? "nanoseconds" : "count", 0);
	}
	return r;
}

static int read_all(struct reading *reading, struct script_span all, struct error *err)
{
	int r = find_events(reading, all, err);

	if (r == 0 && add_events(reading) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < reading->events.count && r == 0; i++) {
		struct script_span left = all;
		struct script_event head;

		import_choose_schema(reading->builder, i);
		while (r == 0 && (r = next_sample(reading, &left, &head)) > 0)
			r = event_of(reading, &head) == i ? add_sample(reading, &head, err) : 0;
		if (r == -ENOMEM)
			(void)error_set(err, r, "out of memory");
	}
	return r;
}

static int script_read(const uint8_t *data, size_t size, struct import_builder *builder,
		       struct error *err)
{
	struct reading reading = {.builder = builder, .is_cut = size > 0 && data[size - 1] != '\n'};
	int r = strings_init(&reading.texts);

	while (size > 0 && data[size - 1] != '\n')
		size--;
	if (reading.is_cut)
		import_set_incomplete(builder);
	if (r == 0)
		r = strings_init(&reading.known.texts);
	r = r < 0 ? error_set(err, r, "out of memory")
		  : read_all(&reading, (struct script_span){(const char *)data, size}, err);
	/* The text does not say how stacks were unwound: the functions at their roots show it. */
	if (r == 0 && reading.has_chains)
		recording_writer_info(import_builder_writer(builder), "stacks",
				      RECORDING_FRAME_POINTERS);
	strings_fini(&reading.texts);
	strings_fini(&reading.known.texts);
	vec_fini(&reading.known.places);
	vec_fini(&reading.events);
	vec_fini(&reading.lines);
	vec_fini(&reading.frames);
	bytes_fini(&reading.name);
	return r < 0 ? r : import_finish(builder, 0, err);
}

/* The first line that is not a comment begins a sample, and a frame follows or is in it. */
static bool script_recognise(const uint8_t *data, size_t size)
{
	struct script_span all = {(const char *)data, size};
	struct script_event head = {0};
	struct script_frame frame;

	while (all.size > 0) {
		struct script_span line = next_line(&all);

		if (is_empty(line) || *line.text == '#')
			continue;
		if (memchr(line.text, '\0', line.size) || !script_event_parse(line, &head))
			return false;
		if (head.has_time)
			return true;
		return script_frame_parse(next_line(&all), &frame) && frame.module.size > 0;
	}
	return false;
}

const struct importer_ops import_perf_script = {
	.name = "perf-script",
	.summary = "the output of perf script",
	.recognise = script_recognise,
	.read = script_read,
};
