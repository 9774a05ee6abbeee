/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/file_summary.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "model/call_tree.h"
#include "model/profile.h"

static const char *keep(struct file_summary *summary, const char *text)
{
	uint32_t id = strings_add(&summary->texts, text);

	return id == ID_NONE ? NULL : strings_get(&summary->texts, id);
}

/* The number of samples is a type only where nothing else was measured. */
static bool is_type(const struct profile *profile, uint32_t value)
{
	return value == profile->main_value ||
	       strcmp(profile->value_types[value].name, "samples") != 0;
}

static int add_types(struct file_summary *summary, const struct profile *profile)
{
	uint32_t samples = call_tree_samples_value(profile);
	uint32_t value;
	size_t i;

	for (value = 0; value < profile->value_count; value++) {
		struct file_type type = {
			.name = keep(summary, profile->value_types[value].name),
			.unit = keep(summary, profile->value_types[value].unit),
			.is_heap =
				profile->time.heap_value != 0 && value >= profile->time.heap_value,
		};

		if (!is_type(profile, value))
			continue;
		for (i = 0; i < profile->entries.count; i++) {
			const int64_t *values = profile_entry_values(profile, i);

			type.value += values[value];
			if (values[value] != 0)
				type.samples += samples == ID_NONE ? 1 : (uint64_t)values[samples];
		}
		if (value == profile->main_value)
			summary->main_type = (uint32_t)summary->types.count;
		if (!type.name || !type.unit || vec_push(&summary->types, type) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_threads(struct file_summary *summary, const struct profile *profile)
{
	uint32_t samples = call_tree_samples_value(profile);
	size_t i;

	for (i = 0; i < profile->threads.count; i++) {
		const struct profile_thread *from = &profile->threads.items[i];
		struct file_thread thread = {
			.pid = from->pid,
			.tid = from->tid,
			.process = keep(summary, profile_text(profile, from->process_comm)),
			.thread = keep(summary, profile_text(profile, from->comm)),
		};

		if (!thread.process || !thread.thread || vec_push(&summary->threads, thread) < 0)
			return -ENOMEM;
	}
	for (i = 0; i < profile->entries.count; i++) {
		const int64_t *values = profile_entry_values(profile, i);
		uint32_t id = profile->entries.items[i].thread;

		if (id >= summary->threads.count)
			continue;
		summary->threads.items[id].samples +=
			samples == ID_NONE ? 1 : (uint64_t)values[samples];
		summary->threads.items[id].value += values[profile->main_value];
	}
	return 0;
}

int file_summary_init(struct file_summary *summary, const struct profile *profile,
		      uint64_t usual_end_ns)
{
	int r;

	*summary = (struct file_summary){.samples = profile->quality.samples};
	r = strings_init(&summary->texts);
	if (r < 0)
		return r;
	summary->start_ns = profile->start_realtime_ns;
	if (summary->start_ns == 0)
		summary->start_ns = usual_end_ns > profile->duration_ns
					    ? usual_end_ns - profile->duration_ns
					    : 0;
	summary->end_ns = summary->start_ns + profile->duration_ns;
	r = add_types(summary, profile);
	return r < 0 ? r : add_threads(summary, profile);
}

void file_summary_fini(struct file_summary *summary)
{
	vec_fini(&summary->types);
	vec_fini(&summary->threads);
	strings_fini(&summary->texts);
	*summary = (struct file_summary){0};
}

uint64_t file_summary_from_s(const struct file_summary *summary)
{
	return summary->start_ns / NS_PER_SEC;
}

uint64_t file_summary_to_s(const struct file_summary *summary)
{
	return summary->end_ns / NS_PER_SEC + 1;
}

const struct file_type *file_summary_type(const struct file_summary *summary, const char *name)
{
	size_t i;

	if (!name || !*name)
		return summary->types.count > 0 ? &summary->types.items[summary->main_type] : NULL;
	for (i = 0; i < summary->types.count; i++)
		if (strcmp(summary->types.items[i].name, name) == 0)
			return &summary->types.items[i];
	return NULL;
}
