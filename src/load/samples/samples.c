/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/samples/samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "heap/analysis.h"
#include "heap/report.h"
#include "heap/values.h"
#include "load/load.h"
#include "load/names/boot_id.h"
#include "load/pipe_copy.h"
#include "load/samples/sample_copies.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "model/memory_reading.h"
#include "recording/format.h"
#include "symbol/jit/jit_symbols.h"
#include "symbol/kernel_symbols.h"

/*
 * The length of a recording is known only at its end: slices start short, and whenever there would
 * be too many, each pair is merged into one. So there are 256 to 512 of them, unless the recording
 * is too short for that.
 */
#define SHORTEST_SLICE_NS 10000000u
#define MAX_SLICES 512u

static int replace_text(char **place, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*place);
	*place = copy;
	return 0;
}

const char *const samples_fact_keys[SAMPLES_FACTS] = {
	"command", "engine", "mode", "event", "frequency_hz", "wick", "kernel", "machine",
};

static int take_info(void *self, const char *key, const char *value)
{
	struct samples *samples = self;
	uint64_t number;
	size_t i;

	for (i = 0; i < SAMPLES_FACTS; i++)
		if (strcmp(key, samples_fact_keys[i]) == 0)
			return replace_text(&samples->facts[i], value);

	if (strcmp(key, "values") == 0)
		samples->events.complete = strcmp(value, "complete") == 0;
	if (strcmp(key, "main_event") == 0 && samples->sums.count == 0)
		return sample_events_tell(&samples->events, value, samples->options->event);
	if (strcmp(key, "stacks") == 0)
		samples->by_frame_pointers = strcmp(value, RECORDING_FRAME_POINTERS) == 0;
	if (strcmp(key, "title") == 0)
		return replace_text(&samples->title, value);
	if (strcmp(key, "boot_id") == 0)
		return replace_text(&samples->boot_id, value);
	if (strcmp(key, RECORDING_JIT_REFUSED) == 0)
		return replace_text(&samples->jit_refused, value);
	if (strcmp(key, "start_monotonic_ns") == 0 && number_parse_u64(value, &number) == 0)
		samples->start_ns = number;
	if (strcmp(key, "end_monotonic_ns") == 0 && number_parse_u64(value, &number) == 0)
		samples->end_ns = number;
	if (strcmp(key, "recorded_ns") == 0 && number_parse_u64(value, &number) == 0)
		samples->recorded_ns = number;
	if (strcmp(key, "user_uid") == 0 && number_parse_u64(value, &number) == 0 &&
	    number < UINT32_MAX) {
		samples->user_uid = (uint32_t)number;
		samples->has_user = true;
	}
	if (strcmp(key, "heap_leaf") == 0)
		samples->heap_leaf_told = true;
	if (strcmp(key, RECORDING_LOCK_WAITS) == 0)
		samples->longest_told = strcmp(value, RECORDING_LONGEST) == 0;
	if (strcmp(key, "heap_step_ns") == 0 && number_parse_u64(value, &number) == 0 &&
	    number <= HEAP_STEP_MAX_NS)
		samples->heap_step_ns = number;
	return 0;
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct samples *samples = self;

	return sample_events_add(&samples->events, id, schema, samples->options->event);
}

/* Whether a frame is in memory that held different functions over time. */
static bool is_timed_frame(const struct samples *samples, const struct frame *frame)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	const struct jit_symbols *jit = samples->known_jit ? samples->known_jit : samples->jit;
	const struct module *module;

	if (frame->kind != FRAME_NATIVE || frame->a >= dictionary->modules.count)
		return false;
	module = &dictionary->modules.items[frame->a];
	return module->kind == MODULE_ANONYMOUS &&
	       (jit_symbols_is_shared(jit, module->owner, frame->b) ||
		jit_symbols_is_shared(jit, module->owner, frame->b - 1));
}

int samples_is_timed(struct samples *samples, uint32_t stack)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	const struct stack_node *nodes = dictionary->stacks.nodes.items;
	int8_t answer = -1;

	if (!jit_symbols_have_shared(samples->known_jit ? samples->known_jit : samples->jit))
		return 0;
	while (samples->stack_timed.count <= stack)
		if (vec_push(&samples->stack_timed, 0) < 0)
			return -ENOMEM;
	if (samples->stack_timed.items[stack] == 0) {
		for (uint32_t at = stack; at != 0 && answer < 0; at = nodes[at].parent)
			if (is_timed_frame(samples, &dictionary->frames.items[nodes[at].frame]))
				answer = 1;
		samples->stack_timed.items[stack] = answer;
	}
	return samples->stack_timed.items[stack] > 0;
}

/* What distinguishes sums of one stack by time; 0: nothing. */
static uint64_t period_of(const struct samples *samples, const struct sample_sum *sum)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);

	return sum->time_ns == 0
		       ? 0
		       : jit_symbols_last_change(samples->known_jit,
						 dictionary->threads.items[sum->thread].process,
						 sum->time_ns);
}

/*
 * Finds the sum that a sample belongs to, or starts one with it. *ret_new says that it is new and
 * already contains the sample.
 */
static int find_sum(struct samples *samples, const struct sample_sum *added, uint32_t *ret,
		    bool *ret_new)
{
	uint64_t period_ns = period_of(samples, added);
	uint64_t hash = hash_pair(hash_pair(added->stack, added->thread),
				  ((uint64_t)added->slice << 32 | added->labels) ^ period_ns);
	struct id_probe probe = id_index_probe(&samples->index, hash);
	const struct sample_sum *sum;

	*ret_new = false;
	while ((*ret = id_probe_next(&samples->index, &probe)) != ID_NONE) {
		sum = &samples->sums.items[*ret];
		if (sum->stack == added->stack && sum->thread == added->thread &&
		    sum->labels == added->labels && sum->slice == added->slice &&
		    period_of(samples, sum) == period_ns)
			return 0;
	}
	*ret = (uint32_t)samples->sums.count;
	*ret_new = true;
	if (id_index_add(&samples->index, hash, *ret) < 0)
		return -ENOMEM;
	return vec_push(&samples->sums, *added);
}

/* Adds one sample with its own count and weight. *ret is the sum it was added to. */
static int add_sum(struct samples *samples, const struct sample_sum *added, uint32_t *ret,
		   bool *ret_new)
{
	int r = find_sum(samples, added, ret, ret_new);

	if (r == 0 && !*ret_new) {
		samples->sums.items[*ret].count += added->count;
		samples->sums.items[*ret].going_on += added->going_on;
		samples->sums.items[*ret].weight += added->weight;
		if (added->longest > samples->sums.items[*ret].longest)
			samples->sums.items[*ret].longest = added->longest;
	}
	return r;
}

/* Moves the weights of the other events along with their sum. */
static int move_events(struct samples *samples, size_t from, uint32_t to, bool is_new)
{
	size_t i;
	int r = 0;

	for (i = 0; i < samples->events.items.count && r == 0; i++) {
		struct sample_event *event = &samples->events.items.items[i];
		uint64_t weight = sample_event_weight(event, from);

		if (from != to && event->weights.count > 0)
			r = sample_event_set(
				event, to, weight + (is_new ? 0 : sample_event_weight(event, to)));
	}
	return r;
}

/* Merges each pair of slices and adds up equal sums. */
static int double_slices(struct samples *samples)
{
	size_t count = samples->sums.count;
	size_t i;

	samples->slice_ns *= 2;
	samples->sums.count = 0;
	id_index_clear(&samples->index);
	for (i = 0; i < count; i++) { /* entries never move to a later position */
		struct sample_sum sum = samples->sums.items[i];
		uint32_t at;
		bool is_new;

		sum.slice /= 2;
		if (add_sum(samples, &sum, &at, &is_new) < 0 ||
		    move_events(samples, i, at, is_new) < 0)
			return -ENOMEM;
	}
	for (i = 0; i < samples->events.items.count; i++) {
		struct sample_event *event = &samples->events.items.items[i];

		if (event->weights.count > samples->sums.count)
			event->weights.count = samples->sums.count;
	}
	return 0;
}

/* The slice of a time since the start; 0 if slices are not requested. Returns 0 or -ENOMEM. */
static int find_slice(struct samples *samples, uint64_t since_ns, uint32_t *ret)
{
	uint64_t from_ns = samples->options->from_ns;
	uint64_t after_ns = since_ns > from_ns ? since_ns - from_ns : 0;

	*ret = 0;
	if (!samples->options->slices)
		return 0;
	while (after_ns / samples->slice_ns >= MAX_SLICES)
		if (double_slices(samples) < 0)
			return -ENOMEM;
	*ret = (uint32_t)(after_ns / samples->slice_ns);
	return 0;
}

/*
 * How much of a weight or count may be added, so that any later sum, in any order, is at most
 * INT64_MAX. Only forged files come near it.
 */
static uint64_t take_room(uint64_t *sum, uint64_t value)
{
	uint64_t room = (uint64_t)INT64_MAX - *sum;

	if (value > room)
		value = room;
	*sum += value;
	return value;
}

/* Adds the part of a sample in the slice of `sum` to the sum of its event. */
static int take_part(struct samples *samples, const struct sample_sum *sum, uint32_t event,
		     uint64_t since_ns)
{
	struct sample_event *beside =
		event == samples->events.main ? NULL : &samples->events.items.items[event];
	struct sample_sum part = *sum;
	uint32_t at;
	bool is_new;

	part.count = beside ? 0 : take_room(&samples->count, sum->count);
	part.going_on = beside ? 0 : sum->going_on;
	part.weight = beside ? 0 : take_room(&samples->weight, sum->weight);
	part.longest = sum->count == 1 ? part.weight : 0;
	if (add_sum(samples, &part, &at, &is_new) < 0)
		return -ENOMEM;
	if (samples->options->order &&
	    vec_push(&samples->order,
		     (struct sample_in_order){since_ns, part.count, sum->weight, at, event}) < 0)
		return -ENOMEM;
	return beside ? sample_event_set(beside, at,
					 sample_event_weight(beside, at) +
						 take_room(&beside->sum, sum->weight))
		      : 0;
}

/* Adds a sample to the slices that it covers. It is counted in the last of them. */
static int take_sample(struct samples *samples, const struct sample_batch *batch, size_t i,
		       uint32_t event)
{
	const struct load_options *options = samples->options;
	struct sample_cover whole = samples_cover(samples, batch, i);
	struct sample_cover cover = sample_cover_cut(&whole, options->from_ns, options->to_ns);
	struct sample_sum sum = {
		.stack = batch->stack[i],
		.thread = batch->thread[i],
		.labels = batch->labels[i],
	};
	int timed = samples->known_jit ? samples_is_timed(samples, sum.stack) : 0;
	bool is_moment = cover.begin_ns == cover.end_ns;
	uint32_t last;
	int r;

	if (timed < 0 || find_slice(samples, cover.end_ns - !is_moment, &last) < 0 ||
	    find_slice(samples, cover.begin_ns, &sum.slice) < 0)
		return -ENOMEM;
	sum.time_ns = timed ? batch->time_ns[i] : 0;
	sum.going_on = batch->times[i];
	for (r = 0; sum.slice < last && r == 0; sum.slice++) {
		uint64_t end_ns = options->from_ns + (sum.slice + 1) * samples->slice_ns;
		struct sample_cover part = sample_cover_cut(&cover, cover.begin_ns, end_ns);

		sum.weight = part.weight;
		r = take_part(samples, &sum, event, cover.begin_ns);
		cover.weight -= part.weight;
		cover.begin_ns = part.end_ns;
	}
	sum.going_on = 0;
	sum.count = batch->times[i];
	sum.weight = cover.weight;
	return r < 0 ? r : take_part(samples, &sum, event, cover.begin_ns);
}

/* Keeps a level in the selected time range, if requested. Returns 0 or -ENOMEM. */
static int take_level(struct samples *samples, enum level_kind kind, uint32_t event,
		      uint32_t process, uint64_t time_ns, int64_t level)
{
	const struct load_options *options = samples->options;
	uint64_t since_ns = time_ns > samples->start_ns ? time_ns - samples->start_ns : 0;

	if (!options->tracks || since_ns < options->from_ns || since_ns >= options->to_ns)
		return 0;
	return sample_levels_add(&samples->levels, kind, event, process,
				 (struct level_point){since_ns - options->from_ns, level, level});
}

static int take_gauge(struct samples *samples, const struct sample_batch *batch, size_t i,
		      uint32_t event)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	uint32_t process = dictionary->threads.items[batch->thread[i]].process;
	int64_t level = (int64_t)batch->weight[i];

	if (take_level(samples, LEVEL_GAUGE, event, process, batch->time_ns[i], level) < 0)
		return -ENOMEM;
	return sample_gauges_add(&samples->gauges,
				 &(struct sample_gauge){.event = event,
							.process = process,
							.last = level,
							.last_ns = batch->time_ns[i]});
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct samples *samples = self;
	uint32_t event = sample_events_find(&samples->events, batch->schema);
	bool kept = event != ID_NONE && sample_events_is_kept(&samples->events, event);
	bool is_gauge = event != ID_NONE && samples->events.items.items[event].kind == SCHEMA_GAUGE;
	size_t i;

	if (sample_copies_add(&samples->copies, batch) < 0)
		return -ENOMEM;
	samples->interrupted = samples->interrupted || event == ID_NONE ||
			       samples->events.items.items[event].kind == SCHEMA_SAMPLED;
	for (i = 0; i < batch->count; i++) {
		uint64_t time_ns = batch->time_ns[i];
		bool wanted;

		if (samples->start_ns == 0)
			samples->start_ns = time_ns;
		if (time_ns > samples->end_ns)
			samples->end_ns = time_ns;
		if (!kept && !is_gauge) {
			samples->unwanted++;
			continue;
		}
		if (samples_want_any(samples, batch, i, &wanted) < 0)
			return -ENOMEM;
		samples->unwanted += !wanted || is_gauge;
		if (wanted && is_gauge && take_gauge(samples, batch, i, event) < 0)
			return -ENOMEM;
		if (wanted && !is_gauge && take_sample(samples, batch, i, event) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Heap events have no labels: a label filter excludes them. */
static bool wants_blocks(void *self, uint32_t thread)
{
	struct samples *samples = self;
	bool wanted;

	return samples->options->label_count == 0 &&
	       samples_want_thread(samples, thread, &wanted) == 0 && wanted;
}

/* The requested value comes first, then that of the recording. */
static uint64_t heap_step_of(const struct samples *samples)
{
	if (samples->options->heap_step_ns > 0)
		return samples->options->heap_step_ns;
	return samples->heap_step_ns > 0 ? samples->heap_step_ns
					 : samples->options->heap_usual_step_ns;
}

static int begin_heap(struct samples *samples)
{
	const struct load_options *options = samples->options;
	uint64_t from_ns = samples->start_ns + options->from_ns;
	struct heap_config config = {
		.dictionary = recording_reader_dictionary(samples->reader),
		.step_ns = heap_step_of(samples),
		.slice_ns = options->tracks && options->slices ? SHORTEST_SLICE_NS : 0,
		.addresses = options->heap_addresses,
		.begin_ns = from_ns,
		.from_ns = from_ns,
		.to_ns = options->to_ns < UINT64_MAX - samples->start_ns
				 ? samples->start_ns + options->to_ns
				 : UINT64_MAX,
		.wants = wants_blocks,
		.self = samples,
	};

	return heap_analysis_new(&config, &samples->heap);
}

static int take_heap(void *self, const struct heap_batch *batch)
{
	struct samples *samples = self;

	if (batch->count == 0)
		return 0;
	if (samples->start_ns == 0)
		samples->start_ns = batch->events[0].time_ns;
	if (batch->events[batch->count - 1].time_ns > samples->end_ns)
		samples->end_ns = batch->events[batch->count - 1].time_ns;
	if (!samples->heap && begin_heap(samples) < 0)
		return -ENOMEM;
	return heap_analysis_batch(samples->heap, batch);
}

/* The process of a reading; ID_NONE: unknown, or not selected. */
static uint32_t read_process(const struct samples *samples, const struct memory_reading *reading)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	bool wanted = samples_want_pid(samples, reading->pid);

	for (size_t i = dictionary->processes.count; wanted && i-- > 0;) {
		const struct process *process = &dictionary->processes.items[i];

		if (process->pid == reading->pid && process->start_ns == reading->start_ns &&
		    process->exec_count == reading->exec_count)
			return (uint32_t)i;
	}
	return ID_NONE;
}

static int take_memory(void *self, const struct memory_reading *reading)
{
	struct samples *samples = self;
	uint32_t process = read_process(samples, reading);
	int64_t resident = 0;

	if (process == ID_NONE || samples->start_ns == 0)
		return 0;
	if (reading->kind != MEMORY_GONE && reading->resident_bytes < INT64_MAX)
		resident = (int64_t)reading->resident_bytes;
	if (take_level(samples, LEVEL_RESIDENT, 0, process, reading->time_ns, resident) < 0)
		return -ENOMEM;
	if (!samples->options->heap_addresses)
		return 0;
	if (!samples->heap && begin_heap(samples) < 0)
		return -ENOMEM;
	return heap_analysis_memory(samples->heap, process, reading);
}

static int take_heap_until(void *self, uint64_t time_ns)
{
	struct samples *samples = self;

	return samples->heap ? heap_analysis_until(samples->heap, time_ns) : 0;
}

/* Leaves out readings of processes and times that are not selected. */
static int take_leaks(void *self, const struct leak_scan *scan)
{
	struct samples *samples = self;
	const struct load_options *options = samples->options;
	const struct process *process =
		&recording_reader_dictionary(samples->reader)->processes.items[scan->process];
	uint64_t since_ns =
		scan->time_ns > samples->start_ns ? scan->time_ns - samples->start_ns : 0;

	if (since_ns < options->from_ns || since_ns >= options->to_ns ||
	    !samples_want_pid(samples, process->pid))
		return 0;
	/* A program that allocates nothing has no other data. */
	if (samples->start_ns == 0)
		samples->start_ns = scan->time_ns;
	if (scan->time_ns > samples->end_ns)
		samples->end_ns = scan->time_ns;
	if (!samples->heap && begin_heap(samples) < 0)
		return -ENOMEM;
	return leak_scans_add(&samples->leaks, scan);
}

/* Whether the requested event is a heap value, and not an event. */
static bool wants_heap_value(const struct samples *samples)
{
	return samples->heap && samples->events.main == ID_NONE &&
	       heap_value_find(samples->options->event) <
		       heap_value_count(heap_analysis_report(samples->heap));
}

bool samples_are_heap(const struct samples *samples)
{
	if (!samples->heap || samples->options->heap)
		return samples->heap;
	return samples->options->event ? wants_heap_value(samples) : !samples->interrupted;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t lost)
{
	struct samples *samples = self;

	(void)time_ns;
	samples->lost += lost;
	samples->lost_by[reason] += lost;
	return 0;
}

static int take_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct samples *samples = self;

	if (samples->clock_monotonic_ns == 0) {
		samples->clock_monotonic_ns = monotonic_ns;
		samples->clock_realtime_ns = realtime_ns;
	}
	return 0;
}

static int take_kernel_symbol(void *self, uint64_t start, uint64_t size, const char *name,
			      const char *module)
{
	struct samples *samples = self;

	return kernel_symbols_add(samples->kernel, start, size, name, module);
}

static uint64_t hash_process(uint32_t pid, uint64_t start_ns, uint32_t exec_count)
{
	return hash_pair(hash_pair(pid, start_ns), exec_count);
}

/* The process that generated the code, ID_NONE if the file no longer has it. */
static uint32_t find_maker(struct samples *samples, const struct recording_jit_symbol *symbol)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	const struct process *processes = dictionary->processes.items;
	struct id_probe probe;
	uint32_t id;

	for (id = samples->makers.count; id < dictionary->processes.count; id++)
		if (id_index_add(&samples->makers,
				 hash_process(processes[id].pid, processes[id].start_ns,
					      processes[id].exec_count),
				 id) < 0)
			return ID_NONE;
	probe = id_index_probe(&samples->makers,
			       hash_process(symbol->pid, symbol->start_ns, symbol->exec_count));
	while ((id = id_probe_next(&samples->makers, &probe)) != ID_NONE)
		if (processes[id].pid == symbol->pid &&
		    processes[id].start_ns == symbol->start_ns &&
		    processes[id].exec_count == symbol->exec_count)
			return id;
	return ID_NONE;
}

static int take_jit_symbol(void *self, const struct recording_jit_symbol *symbol)
{
	struct samples *samples = self;
	uint32_t process = find_maker(samples, symbol);

	if (process == ID_NONE)
		return 0;
	return jit_symbols_add(samples->jit, process,
			       &(struct jit_symbol){.start = symbol->start,
						    .size = symbol->size,
						    .name = symbol->name,
						    .file = symbol->file,
						    .line = symbol->line,
						    .from_ns = symbol->from_ns});
}

/*
 * A recording that was cut off or is still running has no names of kernel functions yet. On the
 * machine that makes it, until the next reboot, we can look them up.
 */
static void borrow_kernel_symbols(struct samples *samples)
{
	struct kernel_symbols *local;
	char id[64];

	if (kernel_symbols_count(samples->kernel) > 0 || !samples->boot_id ||
	    boot_id_read(id, sizeof(id)) < 0 || strcmp(id, samples->boot_id) != 0 ||
	    kernel_symbols_read("/proc/kallsyms", &local, NULL) < 0)
		return;
	kernel_symbols_free(samples->kernel);
	samples->kernel = local;
}

static bool has_kernel_frames(const struct samples *samples)
{
	const struct dictionary *dictionary = recording_reader_dictionary(samples->reader);
	size_t i;

	for (i = 0; i < dictionary->modules.count; i++)
		if (dictionary->modules.items[i].kind == MODULE_KERNEL)
			return true;
	return false;
}

static int no_such_event(struct samples *samples, const char *name, struct error *err)
{
	uint32_t values = samples->heap ? heap_value_count(heap_analysis_report(samples->heap)) : 0;
	struct bytes names = {0};

	sample_events_put_names(&samples->events, false, &names);
	for (uint32_t i = 0; i < values; i++)
		bytes_printf(&names, "%s%s", names.size > 0 ? ", " : "", heap_value_types[i].name);
	bytes_put_u8(&names, 0);
	(void)error_set(err, -EINVAL, "%s has no event %s", name, samples->options->event);
	if (names.failed || !names.data[0])
		error_remedy(err, "record it with -e %s", samples->options->event);
	else
		error_remedy(err, "it has: %s", (const char *)names.data);
	bytes_fini(&names);
	return -EINVAL;
}

/* Makes slices of samples and blocks equally long, for the whole time. Returns 0 or -ENOMEM. */
static int align_slices(struct samples *samples)
{
	const struct load_options *options = samples->options;
	uint64_t end_ns =
		samples->end_ns > samples->start_ns ? samples->end_ns - samples->start_ns : 0;
	const struct heap_spans *spans;
	uint32_t ignored;

	if (end_ns > options->to_ns)
		end_ns = options->to_ns;
	if (find_slice(samples, end_ns - (end_ns > 0), &ignored) < 0)
		return -ENOMEM;
	if (!samples->heap)
		return 0;
	spans = &heap_analysis_report(samples->heap)->spans;
	if (heap_analysis_lengthen_slices(samples->heap, samples->slice_ns) < 0)
		return -ENOMEM;
	while (samples->slice_ns < spans->slice_ns)
		if (double_slices(samples) < 0)
			return -ENOMEM;
	return 0;
}

/* Reads everything. Takes over the reader, which may read a file or kept data. */
static int read_all(struct samples *samples, struct recording_reader *reader, const char *name,
		    const struct load_options *options, struct error *err)
{
	struct recording_visitor visitor = {
		.self = samples,
		.info = take_info,
		.schema = take_schema,
		.samples = take_samples,
		.heap = take_heap,
		.heap_until = take_heap_until,
		.memory = take_memory,
		.leaks = take_leaks,
		.clock = take_clock,
		.loss = take_loss,
		.kernel_symbol = take_kernel_symbol,
		.jit_symbol = take_jit_symbol,
	};
	int r;

	*samples = (struct samples){
		.options = options,
		.reader = reader,
		.known_jit = samples->known_jit,
		.copies = samples->copies,
		.events = {.main = ID_NONE},
		.labels = {.pairs = options->labels, .count = options->label_count},
		.slice_ns = SHORTEST_SLICE_NS};
	samples->kernel = kernel_symbols_new();
	samples->jit = jit_symbols_new();
	if (!samples->kernel || !samples->jit)
		return error_set(err, -ENOMEM, "out of memory");
	r = recording_reader_run(samples->reader, &visitor, err);
	if (r == 0 && samples->heap && heap_analysis_finish(samples->heap) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && recording_reader_damage(reader).heap_events == 0 &&
	    samples->leaks.items.count == 0) {
		heap_analysis_free(samples->heap); /* memory readings alone are not a heap */
		samples->heap = NULL;
	}
	if (r == 0 && align_slices(samples) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r == 0 && options->event && samples->events.main == ID_NONE &&
	    !wants_heap_value(samples))
		r = no_such_event(samples, name, err);
	if (r == 0 && kernel_symbols_finish(samples->kernel) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	jit_symbols_finish(samples->jit);
	if (r == 0 && has_kernel_frames(samples))
		borrow_kernel_symbols(samples);
	if (r == 0)
		samples->damage = recording_reader_damage(samples->reader);
	if (samples->end_ns < samples->start_ns)
		samples->end_ns = samples->start_ns; /* cut off before its first sample */
	return r;
}

static int read_once(struct samples *samples, int fd, const char *name,
		     const struct load_options *options, struct error *err)
{
	struct recording_reader *reader;
	int r = recording_reader_open(fd, name, &reader, err);

	if (r < 0) {
		(void)close(fd); /* only read from */
		return r;
	}
	return read_all(samples, reader, name, options, err);
}

int samples_read_kept(struct samples *samples, struct recording_reader *kept, const char *name,
		      const struct load_options *options, struct error *err)
{
	*samples = (struct samples){0};
	return read_all(samples, kept, name, options, err);
}

int samples_read(struct samples *samples, int fd, const char *name,
		 const struct load_options *options, struct sample_columns *copies,
		 struct error *err)
{
	struct samples second = {.copies = copies};
	int again = -1;
	int r;

	*samples = (struct samples){.copies = copies};
	fd = pipe_copy(fd, &again, err);
	if (fd < 0)
		return fd;
	r = read_once(samples, fd, name, options, err);
	if (r < 0 || !jit_symbols_have_shared(samples->jit)) {
		(void)close(again); /* only opened */
	} else {
		second.known_jit = samples->jit;
		sample_copies_clear(copies);
		r = read_once(&second, again, name, options, err);
		samples_fini(samples);
		*samples = second;
		samples->known_jit = NULL; /* it has its own now */
	}
	if (r == 0)
		load_tell_damage(options, name, &samples->damage);
	return r;
}

void samples_fini(struct samples *samples)
{
	recording_reader_free(samples->reader);
	sample_events_fini(&samples->events);
	sample_gauges_fini(&samples->gauges);
	sample_levels_fini(&samples->levels);
	heap_analysis_free(samples->heap);
	leak_scans_fini(&samples->leaks);
	kernel_symbols_free(samples->kernel);
	jit_symbols_free(samples->jit);
	id_index_fini(&samples->makers);
	vec_fini(&samples->sums);
	vec_fini(&samples->order);
	vec_fini(&samples->thread_wanted);
	label_filter_fini(&samples->labels);
	vec_fini(&samples->stack_timed);
	vec_fini(&samples->labels_away);
	id_index_fini(&samples->index);
	free(samples->title);
	for (size_t i = 0; i < SAMPLES_FACTS; i++)
		free(samples->facts[i]);
	free(samples->boot_id);
	free(samples->jit_refused);
}
