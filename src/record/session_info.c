/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/session_info.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "load/names/boot_id.h"
#include "proc/process_info.h"
#include "record/record.h"
#include "recording/format.h"
#include "recording/writer.h"

static void put_number(struct recording_writer *writer, const char *key, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value);
	recording_writer_info(writer, key, text);
}

/* Arguments may contain passwords: they are kept only on request. */
static void put_command(struct recording_writer *writer, char *const *command, bool arguments)
{
	struct bytes text = {0};

	if (!arguments) {
		recording_writer_info(writer, "command", *command);
		return;
	}
	for (; *command; command++)
		bytes_printf(&text, "%s%s", text.size > 0 ? " " : "", *command);
	bytes_put_u8(&text, 0);
	if (!text.failed)
		recording_writer_info(writer, "command", (const char *)text.data);
	bytes_fini(&text);
}

static void put_host(struct recording_writer *writer)
{
	struct utsname name;

	if (uname(&name) < 0)
		return;
	recording_writer_info(writer, "host", name.nodename);
	recording_writer_info(writer, "kernel", name.release);
	recording_writer_info(writer, "machine", name.machine);
	put_number(writer, "cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* Kernel addresses are valid as long as this id does not change. */
static void put_boot(struct recording_writer *writer)
{
	char id[64];

	if (boot_id_read(id, sizeof(id)) == 0)
		recording_writer_info(writer, "boot_id", id);
}

/* The user of the program, if all recorded processes have the same one: see source_file.h. */
static void put_user(struct recording_writer *writer, const struct target *target)
{
	uid_t user = geteuid();
	uid_t other;

	if (target->kind != TARGET_COMMAND && target->kind != TARGET_PROCESSES &&
	    target->kind != TARGET_THREADS)
		return;
	if (target->kind != TARGET_COMMAND &&
	    (target->count == 0 || process_user(target->ids[0], &user) < 0))
		return;
	for (size_t i = 1; target->kind != TARGET_COMMAND && i < target->count; i++)
		if (process_user(target->ids[i], &other) < 0 || other != user)
			return;
	put_number(writer, "user_uid", user);
}

void session_info_begin(struct recording_writer *writer, const struct record_config *config,
			const char *engine, uint64_t start_ns)
{
	recording_writer_info(writer, "title", config->title);
	recording_writer_info(writer, "wick", WICK_VERSION);
	recording_writer_info(writer, "engine", engine);
	if (config->sampling.mode == ENGINE_MODE_CPU)
		recording_writer_info(writer, "event", config->sampling.event);
	else
		recording_writer_info(writer, "mode",
				      config->sampling.mode == ENGINE_MODE_WALL ? "wall"
										: "offcpu");
	if (config->sampling.mode != ENGINE_MODE_CPU && strcmp(engine, "ebpf") == 0)
		recording_writer_info(writer, RECORDING_LOCK_WAITS, RECORDING_LONGEST);
	put_number(writer, "frequency_hz", config->sampling.frequency_hz);
	put_number(writer, "start_monotonic_ns", start_ns);
	if (config->sampling.heap.on)
		recording_writer_info(writer, "heap_leaf", "call");
	if (config->sampling.heap.step_ns > 0)
		put_number(writer, "heap_step_ns", config->sampling.heap.step_ns);
	if (config->command)
		put_command(writer, config->command, config->arguments);
	put_user(writer, &config->target);
	put_host(writer);
	put_boot(writer);
}

void session_info_end(struct recording_writer *writer, uint64_t end_ns,
		      const struct record_result *result)
{
	const struct engine_stats *stats = &result->stats;

	put_number(writer, "end_monotonic_ns", end_ns);
	put_number(writer, "samples_expected", stats->samples.expected);
	put_number(writer, "samples_taken", stats->samples.count + stats->offcpu.repeated);
	if (stats->heap.events > 0)
		put_number(writer, "heap_events", stats->heap.events);
	put_number(writer, "target_run_ns", stats->run_ns);
	put_number(writer, "throttled", stats->samples.throttled);
	put_number(writer, "depth_limit", stats->granted.depth_limit);
	put_number(writer, "sample_cost_ns", stats->cost.sample_ns);
	if (stats->offcpu.on) {
		put_number(writer, "away_samples", stats->offcpu.samples + stats->offcpu.repeated);
		put_number(writer, "away_summed", stats->offcpu.summed);
		put_number(writer, "switches", stats->offcpu.switches);
		put_number(writer, "switch_cost_ns", stats->cost.switch_ns);
		put_number(writer, "other_switches", stats->offcpu.other_switches);
		put_number(writer, "other_switch_cost_ns", stats->cost.other_switch_ns);
	}
	put_number(writer, "recorder_cpu_ns", result->own_cpu_ns);
	if (stats->stacks.by_fp)
		recording_writer_info(writer, "stacks", RECORDING_FRAME_POINTERS);
	if (stats->remark[0])
		recording_writer_info(writer, "note", stats->remark);
	recording_writer_info(writer, "kernel_time",
			      stats->granted.kernel ? "sampled" : "left out");
}
