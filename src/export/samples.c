/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/bytes.h"
#include "base/json.h"
#include "export/export.h"
#include "export/formats.h"
#include "model/entity.h"
#include "model/profile.h"

/*
 * samples: one line of JSON for each sample, in the order of the recording. docs/reference/json.md
 * has the keys. Frames go from the root to the leaf; each inlined function is a separate frame
 * after the one it was inlined into.
 */

#define NS_PER_S 1000000000u

static const char *const kinds[] = {
	[ORIGIN_PROGRAM] = "program",         [ORIGIN_LIBRARY] = "library",
	[ORIGIN_KERNEL] = "kernel",           [ORIGIN_JIT] = "jit",
	[ORIGIN_UNKNOWN] = "unknown",         [ORIGIN_TRUNCATED] = "truncated",
	[ORIGIN_INTERPRETED] = "interpreted",
};

static void put_build_id(struct json *json, const struct profile *profile, uint32_t module)
{
	const struct profile_module *known = profile_find_module(profile, module);
	char text[2 * BUILD_ID_MAX + 1];

	if (!known || known->build_id.size == 0) {
		json_string(json, "build_id", NULL);
		return;
	}
	build_id_format(&known->build_id, text);
	json_string(json, "build_id", text);
}

static void put_frame(struct json *json, const struct profile *profile,
		      const struct profile_location *location, uint32_t at)
{
	const struct profile_line *line = &profile->lines.items[location->first_line + at];
	const struct profile_function *function = &profile->functions.items[line->function];
	const char *file = profile_text(profile, profile_line_file(profile, *line));
	const char *module = profile_text(profile, location->module);
	char address[24];

	(void)snprintf(address, sizeof(address), "0x%" PRIx64, location->vaddr); /* it fits */
	json_open_object(json, NULL);
	json_string(json, "function", profile_text(profile, function->name));
	json_string(json, "module", *module ? module : NULL);
	put_build_id(json, profile, location->module);
	json_string(json, "address", address);
	json_string(json, "file", *file ? file : NULL);
	json_u64(json, "line", line->line);
	json_bool(json, "inlined", at > 0);
	json_string(json, "kind", kinds[function->origin]);
	json_close(json);
}

/* Frames from the root: up the tree first, then down again. */
static void put_stack(struct json *json, const struct profile *profile, uint32_t stack)
{
	const struct stack_node *nodes = profile->stacks.nodes.items;
	VEC(uint32_t) path = {0};
	size_t i;
	uint32_t at;

	json_open_array(json, "stack");
	for (; stack != 0; stack = nodes[stack].parent)
		if (vec_push(&path, nodes[stack].frame) < 0)
			json->out->failed = true;
	for (i = path.count; i-- > 0;) {
		const struct profile_location *location = &profile->locations.items[path.items[i]];

		for (at = 0; at < location->line_count; at++)
			put_frame(json, profile, location, at);
	}
	json_close(json);
	vec_fini(&path);
}

static void put_wall_clock(struct json *json, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / NS_PER_S);
	char text[80];
	char day[48];
	struct tm tm;

	if (realtime_ns == 0 || !gmtime_r(&seconds, &tm) ||
	    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		json_string(json, "wall_clock", NULL);
		return;
	}
	(void)snprintf(text, sizeof(text), "%s.%09uZ", day,
		       (unsigned int)(realtime_ns % NS_PER_S)); /* it fits */
	json_string(json, "wall_clock", text);
}

static void put_thread(struct json *json, const struct profile *profile, uint32_t id)
{
	const struct profile_thread *thread = &profile->threads.items[id];

	json_u64(json, "pid", thread->pid);
	json_u64(json, "tid", thread->tid);
	json_string(json, "comm", profile_text(profile, thread->comm));
	json_string(json, "process", profile_text(profile, thread->process_comm));
}

static int samples_sample(void *self, const struct profile *profile,
			  const struct export_sample *sample, struct bytes *out)
{
	struct json json;
	size_t i;

	(void)self; /* nothing to remember */
	json_init(&json, out, false);
	json_open_object(&json, NULL);
	json_u64(&json, "time_ns", sample->time_ns);
	json_u64(&json, "since_start_ns", sample->since_ns);
	put_wall_clock(&json, sample->realtime_ns);
	put_thread(&json, profile, sample->thread);
	json_u64(&json, "cpu", sample->cpu);
	json_string(&json, "event", sample->event);
	json_string(&json, "value", sample->value);
	json_string(&json, "unit", sample->unit);
	if (sample->kind == SCHEMA_GAUGE)
		json_i64(&json, "weight", (int64_t)sample->weight);
	else
		json_u64(&json, "weight", sample->weight);
	if (sample->kind != SCHEMA_SAMPLED)
		json_string(&json, "told", sample->kind == SCHEMA_GAUGE ? "gauge" : "event");
	json_open_object(&json, "labels");
	for (i = 0; i < sample->label_count; i++)
		json_string(&json, sample->labels[i].key, sample->labels[i].value);
	json_close(&json);
	put_stack(&json, profile, sample->stack);
	json_close(&json);
	bytes_put_u8(out, '\n');
	return 0;
}

const struct exporter_ops export_samples = {
	.name = "samples",
	.summary = "one line of JSON per sample, with everything known about it",
	.extension = "jsonl",
	.sample = samples_sample,
};
