/* SPDX-License-Identifier: BSD-2-Clause */
#include "load/inspect.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "load/load.h"
#include "model/dictionary.h"
#include "model/heap_event.h"
#include "model/profile.h"
#include "recording/format.h"

#define POOR_PERCENT 25

static struct inspect_fact *find_fact(const struct inspection *inspection, const char *key)
{
	size_t i;

	for (i = 0; i < inspection->facts.count; i++)
		if (strcmp(inspection->facts.items[i].key, key) == 0)
			return &inspection->facts.items[i];
	return NULL;
}

const char *inspection_fact(const struct inspection *inspection, const char *key)
{
	const struct inspect_fact *fact = find_fact(inspection, key);

	return fact ? fact->value : "";
}

uint64_t inspection_number(const struct inspection *inspection, const char *key)
{
	uint64_t number = 0;

	if (number_parse_u64(inspection_fact(inspection, key), &number) < 0)
		return 0;
	return number;
}

double inspection_overhead_percent(const struct inspection *inspection)
{
	uint64_t run_ns = inspection_number(inspection, "target_run_ns");
	uint64_t samples = inspection_number(inspection, "samples_taken");
	uint64_t away = inspection_number(inspection, "away_samples");
	uint64_t on_cpu = samples > away ? samples - away : 0;
	uint64_t cost_ns = inspection_number(inspection, "sample_cost_ns") * on_cpu +
			   inspection_number(inspection, "switch_cost_ns");

	return run_ns > cost_ns ? 100.0 * (double)cost_ns / (double)(run_ns - cost_ns) : 0;
}

static int take_info(void *self, const char *key, const char *value)
{
	struct inspection *inspection = self;
	struct inspect_fact *known = find_fact(inspection, key);
	struct inspect_fact fact = {.key = NULL, .value = strdup(value)};

	if (!fact.value)
		return -ENOMEM;
	if (known) {
		free(known->value);
		known->value = fact.value;
		return 0;
	}
	fact.key = strdup(key);
	if (!fact.key || vec_push(&inspection->facts, fact) < 0) {
		free(fact.key);
		free(fact.value);
		return -ENOMEM;
	}
	return 0;
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct inspection *inspection = self;

	if (id == 0) {
		inspection->period = schema->period;
		inspection->weighs_time = strcmp(schema->unit, "nanoseconds") == 0;
	}
	return 0;
}

static int count_module(struct inspection *inspection, uint32_t module, uint64_t times)
{
	if (module >= inspection->module_count) {
		uint64_t count = (uint64_t)module + 16;
		uint64_t *grown = reallocarray(inspection->module_samples, count, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		memset(grown + inspection->module_count, 0,
		       (count - inspection->module_count) * sizeof(*grown));
		inspection->module_samples = grown;
		inspection->module_count = count;
	}
	inspection->module_samples[module] += times;
	return 0;
}

static void note_time(struct inspection *inspection, uint64_t time_ns)
{
	if (inspection->first_ns == 0 || time_ns < inspection->first_ns)
		inspection->first_ns = time_ns;
	if (time_ns > inspection->last_ns)
		inspection->last_ns = time_ns;
}

static int check_time(struct inspection *inspection, uint32_t cpu, uint64_t time_ns)
{
	while (inspection->cpu_last_ns.count <= cpu)
		if (vec_push(&inspection->cpu_last_ns, 0) < 0)
			return -ENOMEM;
	if (time_ns < inspection->cpu_last_ns.items[cpu])
		inspection->out_of_order++;
	inspection->cpu_last_ns.items[cpu] = time_ns;
	return 0;
}

static int count_stack(struct inspection *inspection, uint32_t stack)
{
	while (inspection->stack_seen.count <= stack)
		if (vec_push(&inspection->stack_seen, 0) < 0)
			return -ENOMEM;
	inspection->unique_stacks += !inspection->stack_seen.items[stack];
	inspection->stack_seen.items[stack] = 1;
	return 0;
}

/* Examines the stack of some samples: where it ends and whether it was unwound. */
static int check_stack(struct inspection *inspection, uint32_t stack, uint64_t times)
{
	const struct dictionary *dictionary = recording_reader_dictionary(inspection->reader);
	const struct stack_node *nodes = dictionary->stacks.nodes.items;
	const struct frame *leaf;
	uint32_t root = stack;

	if (stack == 0) {
		inspection->shallow_samples += times;
		return 0;
	}
	leaf = &dictionary->frames.items[nodes[stack].frame];
	while (nodes[root].parent != 0)
		root = nodes[root].parent;
	if (dictionary->frames.items[nodes[root].frame].kind == FRAME_TRUNCATED)
		inspection->truncated_samples += times;
	if (root == stack && leaf->kind == FRAME_NATIVE)
		inspection->shallow_samples += times;
	if (leaf->kind != FRAME_NATIVE && leaf->kind != FRAME_KERNEL)
		return 0; /* a is not a module id */
	if (leaf->a >= dictionary->modules.count) {
		inspection->unmapped_samples += times;
		return 0;
	}
	return count_module(inspection, leaf->a, times);
}

/* Adds the total weight of some samples. */
static void add_weight(struct inspection *inspection, uint64_t weight, uint64_t times)
{
	uint64_t room = (uint64_t)INT64_MAX - inspection->weight;
	uint64_t of_one = weight / (times > 0 ? times : 1);

	if (inspection->weighs_time && of_one > inspection->max_weight_ns)
		inspection->max_weight_ns = of_one;
	inspection->excess_weights += weight > room;
	inspection->weight += weight > room ? room : weight;
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct inspection *inspection = self;
	size_t i;

	for (i = 0; i < batch->count; i++)
		note_time(inspection, batch->time_ns[i]);
	/*
	 * Values counted beside an event come after the samples of that event, with the same times.
	 */
	if (batch->schema != 0)
		return 0;
	for (i = 0; i < batch->count; i++) {
		uint64_t room = (uint64_t)INT64_MAX - inspection->samples;
		uint64_t times = batch->times[i] < room ? batch->times[i] : room;
		int r = check_time(inspection, batch->cpu[i], batch->time_ns[i]);

		inspection->samples += times;
		if (r == 0)
			r = count_stack(inspection, batch->stack[i]);
		if (r == 0)
			r = check_stack(inspection, batch->stack[i], times);
		if (r < 0)
			return r;
		add_weight(inspection, batch->weight[i], times);
	}
	return 0;
}

static int take_heap(void *self, const struct heap_batch *batch)
{
	struct inspection *inspection = self;
	int r = 0;
	size_t i;

	for (i = 0; i < batch->count && r == 0; i++) {
		note_time(inspection, batch->events[i].time_ns);
		if (batch->events[i].stack != ID_NONE)
			r = count_stack(inspection, batch->events[i].stack);
	}
	return r;
}

static int take_map(void *self, const struct map_event *event)
{
	struct inspection *inspection = self;

	inspection->maps++;
	inspection->bad_maps += event->end <= event->start;
	return 0;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct inspection *inspection = self;

	(void)time_ns;
	inspection->lost_by[reason] += samples;
	return 0;
}

static int take_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct inspection *inspection = self;

	if (inspection->start_realtime_ns == 0)
		inspection->start_realtime_ns = realtime_ns - monotonic_ns;
	return 0;
}

static int take_kernel_symbol(void *self, uint64_t start, uint64_t size, const char *name,
			      const char *module)
{
	struct inspection *inspection = self;

	(void)start, (void)size, (void)name, (void)module;
	inspection->kernel_symbols++;
	return 0;
}

/* The time that the recording covers; one that is cut off ends with its last sample. */
static void settle_times(struct inspection *inspection)
{
	inspection->start_ns = inspection_number(inspection, "start_monotonic_ns");
	inspection->end_ns = inspection_number(inspection, "end_monotonic_ns");
	if (inspection->start_ns == 0)
		inspection->start_ns = inspection->first_ns;
	if (inspection->end_ns == 0)
		inspection->end_ns = inspection->last_ns;
	if (inspection->end_ns < inspection->start_ns)
		inspection->end_ns = inspection->start_ns; /* cut off before its first sample */
	if (inspection->start_realtime_ns > 0)
		inspection->start_realtime_ns += inspection->start_ns;
	if (inspection->first_ns > 0 && inspection->first_ns < inspection->start_ns)
		inspection->outside++;
	if (inspection->last_ns > inspection->end_ns)
		inspection->outside++;
}

int inspection_read(struct inspection *inspection, int fd, const char *name, struct error *err)
{
	struct recording_visitor visitor = {
		.self = inspection,
		.info = take_info,
		.schema = take_schema,
		.samples = take_samples,
		.heap = take_heap,
		.map = take_map,
		.clock = take_clock,
		.loss = take_loss,
		.kernel_symbol = take_kernel_symbol,
	};
	int r;

	*inspection = (struct inspection){0};
	r = recording_reader_open(fd, name, &inspection->reader, err);
	if (r < 0) {
		(void)close(fd); /* only read from */
		return r;
	}
	r = recording_reader_run(inspection->reader, &visitor, err);
	inspection->damage = recording_reader_damage(inspection->reader);
	recording_reader_version(inspection->reader, &inspection->major, &inspection->minor);
	settle_times(inspection);
	return r;
}

void inspection_find_roots(struct inspection *inspection, int fd, int64_t start)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;
	struct profile *profile;

	if (strcmp(inspection_fact(inspection, "stacks"), RECORDING_FRAME_POINTERS) != 0 ||
	    lseek(fd, start, SEEK_SET) < 0)
		return;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0 || load_profile_fd(fd, "recording", &options, &profile, NULL) < 0)
		return;
	if (profile->quality.truncated > inspection->truncated_samples)
		inspection->truncated_samples = profile->quality.truncated;
	profile_free(profile);
}

void inspection_fini(struct inspection *inspection)
{
	size_t i;

	for (i = 0; i < inspection->facts.count; i++) {
		free(inspection->facts.items[i].key);
		free(inspection->facts.items[i].value);
	}
	vec_fini(&inspection->facts);
	vec_fini(&inspection->cpu_last_ns);
	vec_fini(&inspection->stack_seen);
	free(inspection->module_samples);
	recording_reader_free(inspection->reader);
}

struct judge {
	struct inspect_problem *problems;
	size_t count;
	enum inspect_verdict worst;
};

static void __attribute__((format(printf, 3, 4)))
object(struct judge *judge, enum inspect_verdict weight, const char *format, ...)
{
	struct inspect_problem *problem;
	va_list args;

	if (weight > judge->worst)
		judge->worst = weight;
	if (judge->count == INSPECT_MAX_PROBLEMS)
		return;
	problem = &judge->problems[judge->count++];
	problem->weight = weight;
	va_start(args, format);
	(void)vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* If most samples lack it, totals or names are worthless. */
static enum inspect_verdict by_share(uint64_t part, uint64_t whole)
{
	return percent(part, whole) > POOR_PERCENT ? VERDICT_POOR : VERDICT_FAIR;
}

static void judge_file(const struct inspection *inspection, struct judge *judge)
{
	const struct recording_damage *damage = &inspection->damage;

	if (damage->bad_chunks > 0)
		object(judge, VERDICT_DAMAGED,
		       "%" PRIu64 " damaged parts, %" PRIu64 " bytes skipped", damage->bad_chunks,
		       damage->skipped_bytes);
	if (damage->missing_samples > 0)
		object(judge, VERDICT_DAMAGED, "%" PRIu64 " samples in the file could not be read",
		       damage->missing_samples);
	if (damage->missing_heap_events > 0)
		object(judge, VERDICT_DAMAGED,
		       "%" PRIu64 " heap events in the file could not be read",
		       damage->missing_heap_events);
	if (!damage->complete)
		object(judge, VERDICT_FAIR,
		       "no end mark: the recording was cut off or is still being written (%" PRIu64
		       " bytes unfinished)",
		       damage->cut_bytes);
	if (inspection->bad_maps > 0)
		object(judge, VERDICT_POOR, "%" PRIu64 " mappings are invalid",
		       inspection->bad_maps);
	if (inspection->outside > 0)
		object(judge, VERDICT_FAIR, "some samples are outside the time of the recording");
	if (inspection->out_of_order > 0)
		object(judge, VERDICT_FAIR,
		       "%" PRIu64 " samples are earlier than the sample before them",
		       inspection->out_of_order);
}

/*
 * A sample represents a part of the recording; the extra second allows for rounding and late
 * timers.
 */
static void judge_weights(const struct inspection *inspection, struct judge *judge)
{
	uint64_t duration_ns = inspection->end_ns - inspection->start_ns;
	uint64_t max_ns = inspection->max_weight_ns;

	if (inspection->excess_weights > 0)
		object(judge, VERDICT_POOR,
		       "%" PRIu64 " samples have impossibly large weights: sums are capped",
		       inspection->excess_weights);
	else if (max_ns > NS_PER_SEC && max_ns - NS_PER_SEC > duration_ns)
		object(judge, VERDICT_POOR,
		       "one sample represents %.1f s, longer than the recording of %.1f s",
		       (double)max_ns / NS_PER_SEC, (double)duration_ns / NS_PER_SEC);
}

static void judge_samples(const struct inspection *inspection, struct judge *judge)
{
	uint64_t samples = inspection->samples;
	uint64_t expected = inspection_number(inspection, "samples_expected");
	uint64_t lost = 0;
	size_t i;

	for (i = 0; i < LOSS_REASONS; i++)
		lost += inspection->lost_by[i];
	if (samples == 0 && inspection->damage.heap_events == 0)
		object(judge, VERDICT_POOR, "there are no samples");
	else if (samples > 0 && samples < 100)
		object(judge, VERDICT_FAIR, "only %" PRIu64 " sample%s: percentages are rough",
		       samples, samples == 1 ? "" : "s");
	if (lost > 0)
		object(judge, percent(lost, samples + lost) > 1 ? VERDICT_POOR : VERDICT_FAIR,
		       "%" PRIu64 " %s lost while recording (%.2f %%)", lost,
		       lost == 1 ? "sample was" : "samples were", percent(lost, samples + lost));
	if (inspection_number(inspection, "throttled") > 0)
		object(judge, VERDICT_FAIR, "the kernel throttled sampling %" PRIu64 " times",
		       inspection_number(inspection, "throttled"));
	if (expected > 100 && samples < expected - expected / 10)
		object(judge, samples < expected / 2 ? VERDICT_POOR : VERDICT_FAIR,
		       "%.1f %% of the expected samples were taken", percent(samples, expected));
	if (percent(inspection->truncated_samples, samples) > 1)
		object(judge, by_share(inspection->truncated_samples, samples),
		       "%.1f %% of stacks were cut before their root",
		       percent(inspection->truncated_samples, samples));
	if (percent(inspection->shallow_samples, samples) > 10)
		object(judge, by_share(inspection->shallow_samples, samples),
		       "%.1f %% of stacks have a single frame: code without frame pointers",
		       percent(inspection->shallow_samples, samples));
	if (percent(inspection->unmapped_samples, samples) > 1)
		object(judge, by_share(inspection->unmapped_samples, samples),
		       "%.1f %% of samples are in no known module",
		       percent(inspection->unmapped_samples, samples));
}

enum inspect_verdict inspection_judge(const struct inspection *inspection,
				      struct inspect_problem *problems, size_t *ret_count)
{
	struct judge judge = {.problems = problems, .worst = VERDICT_GOOD};

	judge_file(inspection, &judge);
	judge_weights(inspection, &judge);
	judge_samples(inspection, &judge);
	*ret_count = judge.count;
	return judge.worst;
}

const char *inspect_verdict_name(enum inspect_verdict verdict)
{
	static const char *const names[] = {"good", "fair", "poor", "damaged"};

	return names[verdict];
}
