/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/services.h"
#include "base/clock.h"
#include "base/error.h"
#include "live/live_profile.h"
#include "load/convert/id_transfer.h"
#include "load/names/boot_id.h"
#include "load/names/jit_functions.h"
#include "load/names/kernel_names.h"
#include "model/dictionary.h"
#include "model/profile.h"
#include "model/sink.h"
#include "recording/writer.h"

struct window_writer {
	const struct window *window;
	struct live_profile *live;
	const struct services *services;
	const struct dictionary *dictionary;
	struct recording_writer *writer;
	struct sink *sink;
	struct id_transfer transfer;
	uint32_t schema;
	uint64_t time_ns; /* of the current bucket */
	/* By id of the dictionary or of the names, and ID_NONE where it is not known yet: */
	VEC(uint32_t) threads; /* by process */
	VEC(uint32_t) labels;  /* by process */
	VEC(uint32_t) places;  /* by location */
	VEC(uint32_t) modules; /* by string of the names */
	VEC(uint32_t) told;    /* by module: 0 if window->module was called */
	VEC(struct frame) frames;
	bool has_addresses; /* some names were not there in time */
	struct window_totals totals;
};

/* The slot of an id, NULL if out of memory. */
#define slot(list, id)                                                                             \
	(vec_reserve(list, (size_t)(id) + 1) < 0 ? NULL                                            \
						 : slot_of((list)->items, &(list)->count, id))

static uint32_t *slot_of(uint32_t *items, size_t *count, uint32_t id)
{
	while (*count <= id)
		items[(*count)++] = ID_NONE;
	return &items[id];
}

/* The module of a function; the names know its path and build id. */
static int put_module(struct window_writer *self, const struct profile *names, uint32_t path,
		      uint32_t *ret)
{
	const struct profile_module *known = profile_find_module(names, path);
	const char *text = profile_text(names, path);
	struct module module = {.kind = text[0] == '[' ? MODULE_KERNEL_MODULE : MODULE_FILE,
				.path = text};
	uint32_t *made = slot(&self->modules, path);
	int r = 0;

	*ret = MODULE_NONE;
	if (!made)
		return -ENOMEM;
	if (!text[0])
		return 0;
	if (known)
		module.build_id = known->build_id;
	if (*made == ID_NONE)
		r = sink_module(self->sink, &module, made);
	*ret = *made;
	return r;
}

/* The functions at a location, each inlined into the one before it. */
static int put_place(struct window_writer *self, const struct profile *names, uint32_t id,
		     uint32_t *ret)
{
	const struct profile_location *location = &names->locations.items[id];
	uint32_t *known = slot(&self->places, id);
	uint32_t outer = PLACE_NONE;
	int r = known ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && *known == ID_NONE && i < location->line_count; i++) {
		struct profile_line line = names->lines.items[location->first_line + i];
		const struct profile_function *function = &names->functions.items[line.function];
		struct place place = {
			.name = profile_text(names, function->name),
			.file = profile_text(names, profile_line_file(names, line)),
			.line = line.line,
			.origin = function->origin,
			.outer = outer,
		};

		r = put_module(self, names, location->module, &place.module);
		if (r == 0)
			r = sink_place(self->sink, &place, &outer);
	}
	if (r == 0 && *known == ID_NONE)
		*known = outer;
	if (r == 0)
		*ret = *known;
	return r;
}

static bool is_named(const struct profile *names, uint32_t location)
{
	const struct profile_location *at = &names->locations.items[location];
	uint32_t function;

	if (at->line_count == 0)
		return false;
	function = names->lines.items[at->first_line + at->line_count - 1].function;
	return names->functions.items[function].origin != ORIGIN_UNKNOWN;
}

/* A stack of a profile, and the number of its samples. */
static int put_profile_stack(struct window_writer *self, const struct profile *names, uint32_t node,
			     uint64_t samples, uint32_t *ret)
{
	size_t depth = stack_tree_depth(&names->stacks, node);
	int r = 0;

	if (vec_reserve(&self->frames, depth) < 0)
		return -ENOMEM;
	self->frames.count = depth;
	if (depth > 0 && !is_named(names, names->stacks.nodes.items[node].frame))
		self->totals.unnamed += samples;
	for (; depth-- > 0 && r == 0; node = names->stacks.nodes.items[node].parent) {
		uint32_t location = names->stacks.nodes.items[node].frame;
		struct frame *frame = &self->frames.items[depth];

		*frame = (struct frame){.kind = FRAME_CUSTOM,
					.b = names->locations.items[location].vaddr};
		if (profile_is_truncated(names, location))
			*frame = (struct frame){.kind = FRAME_TRUNCATED};
		else
			r = put_place(self, names, location, &frame->a);
	}
	return r < 0 ? r : sink_stack(self->sink, self->frames.items, self->frames.count, ret);
}

static int put_named_stack(struct window_writer *self, const struct live_row *row, uint32_t *ret)
{
	const struct profile *names;
	uint32_t node;
	int r = live_profile_stack(self->live, row->stack, self->window->names_deadline_ns, &names,
				   &node);

	if (r == -EAGAIN) {
		self->totals.unnamed += row->samples;
		self->has_addresses = true;
		return id_transfer_stack(&self->transfer, row->stack, ret);
	}
	return r < 0 ? r : put_profile_stack(self, names, node, row->samples, ret);
}

/* A process has one thread here: its samples were added up. */
static int put_process(struct window_writer *self, uint32_t id, uint32_t *ret_thread,
		       uint32_t *ret_labels)
{
	const struct process *process = &self->dictionary->processes.items[id];
	struct thread thread = {.tid = process->pid, .comm = process->comm};
	struct label labels[LABELS_MAX];
	uint32_t *known = slot(&self->threads, id);
	uint32_t *set = slot(&self->labels, id);
	int r = known && set ? 0 : -ENOMEM;

	if (r == 0 && *known == ID_NONE) {
		r = id_transfer_process(&self->transfer, id, &thread.process);
		if (r == 0)
			r = sink_thread(self->sink, &thread, known);
		if (r == 0)
			r = sink_labels(self->sink, labels,
					services_labels(self->services, id, labels), set);
	}
	if (r == 0) {
		*ret_thread = *known;
		*ret_labels = *set;
	}
	return r;
}

/* Tells about the files of a stack that this window did not have before. */
static int tell_modules(struct window_writer *self, const struct live_row *row)
{
	const struct dictionary *dictionary = self->dictionary;
	const struct stack_node *nodes = dictionary->stacks.nodes.items;
	uint32_t at;

	for (at = row->stack; at != 0; at = nodes[at].parent) {
		const struct frame *frame = &dictionary->frames.items[nodes[at].frame];
		const struct module *module;
		uint32_t *told;

		if (frame->kind != FRAME_NATIVE || frame->a >= dictionary->modules.count)
			continue;
		told = slot(&self->told, frame->a);
		if (!told)
			return -ENOMEM;
		module = &dictionary->modules.items[frame->a];
		if (*told != 0 && module->kind == MODULE_FILE && module->build_id.size > 0)
			self->window->module(self->window->module_self, module,
					     dictionary->processes.items[row->process].pid);
		*told = 0;
	}
	return 0;
}

/* A sample of the window, which stands for several. */
struct summed_sample {
	uint32_t stack;
	uint32_t thread;
	uint32_t labels;
	uint64_t time_ns;
	uint64_t weight;
	uint64_t times;
};

static int put_sample(struct window_writer *self, const struct summed_sample *sample)
{
	const uint32_t cpu = 0; /* not kept apart */
	struct sample_batch batch = {
		.schema = self->schema,
		.count = 1,
		.stack = &sample->stack,
		.thread = &sample->thread,
		.cpu = &cpu,
		.labels = &sample->labels,
		.time_ns = &sample->time_ns,
		.weight = &sample->weight,
		.times = &sample->times,
	};

	self->totals.rows++;
	self->totals.samples += sample->times;
	return sink_batch(self->sink, &batch, NULL);
}

static int put_row(void *data, const struct live_row *row)
{
	struct window_writer *self = data;
	struct summed_sample sample = {
		.time_ns = self->time_ns, .weight = row->weight, .times = row->samples};
	int r = self->window->by_address
			? id_transfer_stack(&self->transfer, row->stack, &sample.stack)
			: put_named_stack(self, row, &sample.stack);

	if (r == 0 && self->window->by_address && self->window->module)
		r = tell_modules(self, row);
	if (r == 0)
		r = put_process(self, row->process, &sample.thread, &sample.labels);
	if (r < 0)
		return r;
	self->totals.weight += row->weight;
	return put_sample(self, &sample);
}

static void put_number(struct window_writer *self, const char *key, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value); /* it fits */
	recording_writer_info(self->writer, key, text);
}

static void put_gaps(struct window_writer *self)
{
	const struct window *window = self->window;
	char text[160];

	for (size_t i = 0; i < window->gap_count; i++) {
		const struct window_gap *gap = &window->gaps[i];
		uint64_t start_ns =
			gap->start_ns > window->start_ns ? gap->start_ns : window->start_ns;
		uint64_t end_ns = gap->end_ns < window->end_ns ? gap->end_ns : window->end_ns;

		if (start_ns >= end_ns)
			continue;
		(void)snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " %s",
			       start_ns + window->to_real_ns, end_ns + window->to_real_ns,
			       gap->reason);
		recording_writer_info(self->writer, "gap", text);
	}
}

static void put_host(struct window_writer *self)
{
	struct utsname name;
	char boot[64];

	recording_writer_info(self->writer, "host", self->window->host);
	if (uname(&name) == 0) {
		recording_writer_info(self->writer, "kernel", name.release);
		recording_writer_info(self->writer, "machine", name.machine);
	}
	if (boot_id_read(boot, sizeof(boot)) == 0)
		recording_writer_info(self->writer, "boot_id", boot);
	put_number(self, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_facts(struct window_writer *self)
{
	const struct window *window = self->window;
	char text[64];

	(void)snprintf(text, sizeof(text), "host %.50s", window->host);
	recording_writer_info(self->writer, "title", text);
	recording_writer_info(self->writer, "wick", WICK_VERSION);
	recording_writer_info(self->writer, "engine", window->engine);
	if (self->live)
		recording_writer_info(self->writer, "event", "cpu-clock");
	put_host(self);
	recording_writer_info(self->writer, "agent.host", window->host);
	recording_writer_info(self->writer, "agent.version", WICK_VERSION);
	recording_writer_info(self->writer, "window.id", window->id);
	put_number(self, "window.start", window->start_ns + window->to_real_ns);
	put_number(self, "window.end", window->end_ns + window->to_real_ns);
	(void)snprintf(text, sizeof(text), "%g", (double)window->bucket_ns / 1e9);
	recording_writer_info(self->writer, "window.bucket", text);
	if (window->asked_hz > 0) {
		put_number(self, "rate.asked", window->asked_hz);
		(void)snprintf(text, sizeof(text), "%.2f", window->achieved_hz);
		recording_writer_info(self->writer, "rate.achieved", text);
	}
	put_gaps(self);
	for (size_t i = 0; i < window->fact_count; i++)
		recording_writer_info(self->writer, window->facts[i].key, window->facts[i].value);
	put_number(self, "start_monotonic_ns", window->start_ns);
	put_number(self, "end_monotonic_ns", window->end_ns);
	recording_writer_clock(self->writer, window->start_ns,
			       window->start_ns + window->to_real_ns);
}

static int put_buckets(struct window_writer *self, struct error *err)
{
	const struct window *window = self->window;
	struct schema schema = {
		.event = "cpu-clock",
		.value = "cpu",
		.unit = "nanoseconds",
		.period = window->asked_hz > 0 ? NS_PER_SEC / window->asked_hz : 0,
	};
	int r = sink_schema(self->sink, &schema, &self->schema);

	for (uint64_t at = window->start_ns; at < window->end_ns && r == 0;
	     at += window->bucket_ns) {
		uint64_t lost = live_profile_lost(self->live, at);

		self->time_ns = at;
		r = live_profile_visit(self->live, at, put_row, self);
		if (r == 0 && lost > 0)
			r = sink_loss(self->sink, LOSS_RING_FULL, at, lost);
		self->totals.lost += lost;
	}
	return r < 0 ? error_errno(err, r, "cannot store window %s", window->id) : 0;
}

static int put_all(struct window_writer *self, struct error *err)
{
	int r = 0;

	put_facts(self);
	if (!self->window->by_address)
		r = live_profile_name(self->live, clock_monotonic_ns(), 0);
	if (r < 0)
		return error_set(err, r, "out of memory");
	r = put_buckets(self, err);
	if (r < 0)
		return r;
	put_number(self, "window.samples", self->totals.samples);
	put_number(self, "window.lost", self->totals.lost);
	put_number(self, "window.unnamed", self->totals.unnamed);
	if (self->window->by_address || self->has_addresses) {
		kernel_names_write(self->writer);
		jit_functions_write(self->writer, NULL, NULL, NULL);
	}
	return recording_writer_finish(self->writer, err);
}

static int open_writer(struct window_writer *self, int fd, struct error *err)
{
	int r = recording_writer_open(fd, "a window", &self->writer, err);

	if (r < 0) {
		(void)close(fd); /* nothing was written */
		return r;
	}
	self->sink = recording_writer_sink(self->writer);
	return 0;
}

static void close_writer(struct window_writer *self, int r, struct window_totals *ret)
{
	self->totals.bytes = recording_writer_bytes(self->writer);
	if (r == 0 && ret)
		*ret = self->totals;
	id_transfer_fini(&self->transfer);
	vec_fini(&self->threads);
	vec_fini(&self->labels);
	vec_fini(&self->places);
	vec_fini(&self->modules);
	vec_fini(&self->told);
	vec_fini(&self->frames);
	recording_writer_free(self->writer);
}

int window_write(const struct window *window, struct live_profile *live,
		 const struct services *services, int fd, struct window_totals *ret,
		 struct error *err)
{
	struct window_writer self = {.window = window,
				     .live = live,
				     .services = services,
				     .dictionary = live_profile_dictionary(live)};
	int r = open_writer(&self, fd, err);

	if (r < 0)
		return r;
	self.transfer = (struct id_transfer){.from = self.dictionary, .to = self.sink};
	r = put_all(&self, err);
	close_writer(&self, r, ret);
	return r;
}

/* The process of a thread of the profile, with its labels. */
static int put_profile_thread(struct window_writer *self, const struct window_profile *from,
			      uint32_t id, uint32_t *ret_thread, uint32_t *ret_labels)
{
	const struct profile_thread *known = &from->profile->threads.items[id];
	const char *comm = profile_text(from->profile, known->process_comm);
	struct process process = {.pid = known->pid, .comm = comm, .executable = ""};
	struct thread thread = {.tid = known->pid, .comm = comm};
	struct label labels[LABELS_MAX];
	uint32_t *made = slot(&self->threads, id);
	uint32_t *set = slot(&self->labels, id);
	int r = made && set ? 0 : -ENOMEM;

	if (r == 0 && *made == ID_NONE) {
		r = sink_process(self->sink, &process, &thread.process);
		if (r == 0)
			r = sink_thread(self->sink, &thread, made);
		if (r == 0)
			r = sink_labels(self->sink, labels,
					from->labels(from->self, (pid_t)known->pid, labels), set);
	}
	if (r == 0) {
		*ret_thread = *made;
		*ret_labels = *set;
	}
	return r;
}

static int put_entry(struct window_writer *self, const struct window_profile *from, size_t at,
		     uint32_t value)
{
	const struct profile_entry *entry = &from->profile->entries.items[at];
	const int64_t *values = profile_entry_values(from->profile, at);
	bool is_counted = strcmp(from->profile->value_types[0].name, "samples") == 0;
	struct summed_sample sample = {
		.time_ns = self->window->start_ns,
		.weight = values[value] > 0 ? (uint64_t)values[value] : 0,
		.times = is_counted && values[0] > 0 ? (uint64_t)values[0] : 1,
	};
	int r;

	if (sample.weight == 0)
		return 0;
	r = put_profile_stack(self, from->profile, entry->stack, sample.times, &sample.stack);
	if (r == 0)
		r = put_profile_thread(self, from, entry->thread, &sample.thread, &sample.labels);
	return r < 0 ? r : put_sample(self, &sample);
}

/* One type after the other: each change starts a new chunk in the file. */
static int put_values(struct window_writer *self, const struct window_profile *from)
{
	const struct profile *profile = from->profile;
	int r = 0;

	for (uint32_t value = 0; value < profile->value_count && r == 0; value++) {
		const struct value_type *type = &profile->value_types[value];
		struct schema schema = {
			.event = type->name, .value = type->name, .unit = type->unit};

		if (!from->wants(type->name))
			continue;
		r = sink_schema(self->sink, &schema, &self->schema);
		for (size_t i = 0; i < profile->entries.count && r == 0; i++)
			r = put_entry(self, from, i, value);
	}
	return r;
}

int window_write_profile(const struct window *window, const struct window_profile *from, int fd,
			 struct window_totals *ret, struct error *err)
{
	struct window_writer self = {.window = window};
	int r = open_writer(&self, fd, err);

	if (r < 0)
		return r;
	put_facts(&self);
	r = put_values(&self, from);
	r = r < 0 ? error_errno(err, r, "cannot store window %s", window->id)
		  : recording_writer_finish(self.writer, err);
	close_writer(&self, r, ret);
	return r;
}
