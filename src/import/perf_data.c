/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "import/builder.h"
#include "import/formats.h"
#include "import/import.h"
#include "import/perf_file.h"
#include "import/perf_records.h"
#include "import/perf_samples.h"
#include "import/record_queue.h"
#include "import/source.h"
#include "model/sink.h"
#include "perf_records/perf_record.h"
#include "process_stacks/process_tracker.h"
#include "recording/format.h"
#include "recording/writer.h"

/*
 * perf.data: records are read from the file, sorted by time, and then processed as the perf engine
 * processes those of its rings.
 *
 * With one exception: time in which the kernel throttled an event is not added to the next sample.
 * Weights are the periods in the file, so sums are those that perf shows. How often it happened is
 * kept as the fact "throttled", which wick info shows.
 */

/* Counts that are reported at the end. */
struct counts {
	uint64_t samples;
	uint64_t damaged;   /* invalid records */
	uint64_t told_lost; /* by LOST */
	uint64_t all_lost;  /* from LOST_SAMPLES, if they report the same losses */
	uint64_t throttled; /* how often the kernel throttled an event */
	uint64_t aux;       /* records of hardware traces, which are skipped */
};

struct perf_import {
	struct import_source *source;
	struct import_builder *builder;
	struct sink *sink;
	struct perf_file file;
	struct perf_records records;
	struct record_queue queue;
	struct process_tracker *tracker;
	struct perf_samples *samples;
	struct import_kernel kernel;
	struct counts counts;
	bool has_schemas;
	uint64_t first_ns; /* on the file's clock: the recording's starts there */
	uint64_t last_ns;
	struct error *err;
	_Alignas(8) uint8_t record[UINT16_MAX + 1]; /* of one without a time */
};

/* The time of a record on the recording's clock; 0 stays 0: from the start. */
static uint64_t time_of(const struct perf_import *import, const struct perf_event *event,
			const struct perf_event_header *record)
{
	uint64_t time_ns = perf_record_time_ns(&event->layout, record);

	if (time_ns == 0)
		return 0;
	return IMPORT_START_NS + (time_ns > import->first_ns ? time_ns - import->first_ns : 0);
}

static bool is_kernel_map(const struct perf_event_header *record, const struct map_record *map)
{
	return map->pid < 0 ||
	       (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* "[kernel.kallsyms]_text": its offset is the address of that symbol. */
static void heed_kernel_map(struct perf_import *import, const struct map_record *map)
{
	static const char prefix[] = "[kernel.kallsyms]";
	size_t n = sizeof(prefix) - 1;

	if (strncmp(map->name, prefix, n) != 0 || strlen(map->name + n) == 0)
		return;
	import->kernel.address = map->region.file_offset;
	(void)snprintf(import->kernel.symbol, sizeof(import->kernel.symbol), "%.60s",
		       map->name + n);
}

/* Whether a file cannot be the recorded one, because it is newer than perf.data. */
static bool is_newer(const struct perf_import *import, const char *path)
{
	struct stat mapped;
	struct stat recorded;

	if (import->source->fd < 0 || fstat(import->source->fd, &recorded) < 0 ||
	    stat(path, &mapped) < 0)
		return false;
	return mapped.st_mtim.tv_sec > recorded.st_mtim.tv_sec;
}

/*
 * A file is identified by the build id of the record or of perf's list, or by its inode. Old
 * records (MMAP) have only a name; like perf, we use the file that has this name now, unless it
 * turns out to be another one.
 */
static void heed_map(struct perf_import *import, const struct perf_event *event,
		     const struct perf_event_header *record)
{
	const struct build_id *told;
	struct map_record map;

	if (!perf_record_map(&event->layout, record, &map))
		return;
	if (is_kernel_map(record, &map)) {
		heed_kernel_map(import, &map);
		return;
	}
	told = perf_file_build_id(&import->file, map.name);
	if (map.build_id.size == 0 && told)
		map.build_id = *told;
	if (map.build_id.size > 0)
		map.region.inode = 0;
	else if (map.region.inode == 0 && map.region.kind == REGION_FILE &&
		 is_newer(import, map.name))
		map.region.inode = UINT64_MAX; /* of no file */
	(void)process_tracker_map(import->tracker, time_of(import, event, record), map.pid,
				  &map.region, &map.build_id);
}

static void heed_task(struct perf_import *import, const struct perf_event *event,
		      const struct perf_event_header *record)
{
	struct task_record task;

	if (!perf_record_task(&event->layout, record, &task))
		return;
	if (record->type == PERF_RECORD_FORK)
		process_tracker_fork(import->tracker, time_of(import, event, record), task.pid,
				     task.tid, task.parent_pid, task.parent_tid);
	else
		process_tracker_exit(import->tracker, task.pid, task.tid);
}

static void heed_comm(struct perf_import *import, const struct perf_event *event,
		      const struct perf_event_header *record)
{
	struct comm_record comm;

	if (perf_record_comm(&event->layout, record, &comm))
		process_tracker_comm(import->tracker, time_of(import, event, record), comm.pid,
				     comm.tid, comm.comm, comm.exec);
}

static int lose(struct perf_import *import, enum loss_reason reason, uint64_t time_ns, uint64_t n)
{
	return n > 0 ? sink_loss(import->sink, reason, time_ns, n) : 0;
}

/* The file format cannot store the largest possible loss. */
static uint64_t add_lost(uint64_t sum, uint64_t lost)
{
	return lost < INT64_MAX - sum ? sum + lost : INT64_MAX;
}

/* Whether the kernel counts losses for each event; perf writes the counts at the end. */
static bool counts_lost(const struct perf_file *file)
{
	size_t i;

	for (i = 0; i < file->events.count; i++)
		if (file->events.items[i].attr.read_format & PERF_FORMAT_LOST)
			return true;
	return false;
}

#define LOST_SAMPLES_FILTERED (1u << 15) /* PERF_RECORD_MISC_LOST_SAMPLES_BPF */

/*
 * LOST (id, number) is written where a ring was full. LOST_SAMPLES (only the number) comes from
 * hardware; but if the kernel counts losses, perf reports all of them again with it.
 */
static int heed_lost(struct perf_import *import, const struct perf_event *event,
		     const struct perf_event_header *record)
{
	uint64_t lost = 0;

	if (record->type == PERF_RECORD_LOST) {
		lost = add_lost(0, perf_record_lost(record));
		import->counts.told_lost = add_lost(import->counts.told_lost, lost);
	} else if (record->size >= sizeof(*record) + sizeof(lost) &&
		   !(record->misc & LOST_SAMPLES_FILTERED)) {
		memcpy(&lost, record + 1, sizeof(lost));
		lost = add_lost(0, lost);
		if (counts_lost(&import->file)) {
			import->counts.all_lost = add_lost(import->counts.all_lost, lost);
			return 0;
		}
	}
	return lose(import, LOSS_RING_FULL, time_of(import, event, record), lost);
}

static int heed_sample(struct perf_import *import, const struct perf_event *event,
		       const struct perf_event_header *record)
{
	uint64_t time_ns = time_of(import, event, record);
	int r = perf_samples_put(import->samples, event, record,
				 time_ns > 0 ? time_ns : IMPORT_START_NS, import->err);

	import->counts.samples += r > 0;
	import->counts.damaged += r == 0;
	return r < 0 ? r : 0;
}

/* The names and values of events. */
static void describe_event(const struct perf_import *import, const struct perf_event *event,
			   char *name, size_t size, struct schema *ret)
{
	const char *told = perf_file_text(&import->file, event->name);
	bool is_software = event->attr.type == PERF_TYPE_SOFTWARE;
	bool is_clock = is_software && (event->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
					event->attr.config == PERF_COUNT_SW_TASK_CLOCK);
	const char *colon = strrchr(told, ':');
	uint64_t rate = event->attr.sample_freq;
	size_t n = strlen(told);

	/* Modifiers (cycles:u, cpu-clock:pppH) say where it was counted, not what. */
	if (colon && strspn(colon + 1, "ukhpPHGSDWIe") == strlen(colon + 1))
		n = (size_t)(colon - told);
	if (n > 0)
		(void)snprintf(name, size, "%.*s", n < size ? (int)n : (int)size - 1, told);
	else if (is_clock)
		(void)snprintf(name, size, "%s",
			       event->attr.config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock"
									     : "task-clock");
	else
		(void)snprintf(name, size, "event %u:%" PRIu64, event->attr.type,
			       (uint64_t)event->attr.config);
	*ret = (struct schema){.event = name,
			       .value = is_clock ? "cpu" : name,
			       .unit = is_clock ? "nanoseconds" : "count",
			       .period = event->attr.freq ? 0 : event->attr.sample_period};
	if (is_clock && event->attr.freq && rate > 0)
		ret->period = UINT64_C(1000000000) / rate;
}

/* An event that only reports processes and mappings. */
static bool is_dummy(const struct perf_event *event)
{
	return event->attr.type == PERF_TYPE_SOFTWARE && event->attr.config == PERF_COUNT_SW_DUMMY;
}

/* Whether the file comes from another CPU architecture. */
static bool is_foreign(const struct perf_file *file)
{
	const char *machine = perf_file_text(file, file->machine);
	struct utsname name;

	return *machine && uname(&name) == 0 && strcmp(name.machine, machine) != 0;
}

/* Call it when all events are known, before the first sample. */
static int add_schemas(struct perf_import *import)
{
	bool only_dummies = true;
	size_t i;
	int r = 0;

	import->has_schemas = true;
	perf_samples_set_foreign(import->samples, is_foreign(&import->file));
	for (i = 0; i < import->file.events.count; i++)
		only_dummies = only_dummies && is_dummy(&import->file.events.items[i]);
	for (i = 0; i < import->file.events.count && r == 0; i++) {
		struct perf_event *event = &import->file.events.items[i];
		struct schema schema;
		char name[256];

		if (is_dummy(event) && !only_dummies)
			continue;
		describe_event(import, event, name, sizeof(name), &schema);
		r = sink_schema(import->sink, &schema, &event->schema);
	}
	return r < 0 ? error_errno(import->err, r, "cannot store its events") : 0;
}

/* Processes a record when it is due. */
static int heed(void *self, const struct perf_event_header *record)
{
	struct perf_import *import = self;
	const struct perf_event *event = perf_file_event(&import->file, record);
	uint64_t time_ns = event ? perf_record_time_ns(&event->layout, record) : 0;

	if (!event)
		return 0;
	/* The first record with a time starts the clock of the recording. */
	if (import->first_ns == 0)
		import->first_ns = import->last_ns = time_ns;
	if (time_ns > import->last_ns)
		import->last_ns = time_ns;
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return heed_sample(import, event, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		heed_map(import, event, record);
		return 0;
	case PERF_RECORD_COMM:
		heed_comm(import, event, record);
		return 0;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		heed_task(import, event, record);
		return 0;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return heed_lost(import, event, record);
	case PERF_RECORD_THROTTLE:
		import->counts.throttled++;
		return 0;
	case PERF_RECORD_AUX:
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		import->counts.aux++;
		return 0;
	default:
		return 0; /* namespaces, switches, names of BPF programs …: of no use here */
	}
}

/* A record that perf itself wrote. */
static int take_user_record(struct perf_import *import, const struct perf_record *record)
{
	size_t size = record->header.size - sizeof(record->header);
	const uint8_t *body = record->bytes + sizeof(record->header);
	struct cursor in = cursor_of(body, size);

	switch (record->header.type) {
	case PERF_USER_FINISHED_ROUND:
		return record_queue_round(&import->queue);
	case PERF_USER_TRACING_DATA:
		perf_records_skip(&import->records, ((uint64_t)cursor_u32(&in) + 7) / 8 * 8);
		return 0;
	case PERF_USER_AUXTRACE:
		import->counts.aux++;
		perf_records_skip(&import->records, cursor_u64(&in));
		return 0;
	case PERF_USER_AUXTRACE_INFO:
	case PERF_USER_AUXTRACE_ERROR:
		import->counts.aux++;
		return 0;
	default:
		return perf_file_learn(&import->file, record, import->err);
	}
}

static int take_record(struct perf_import *import, const struct perf_record *record)
{
	const struct perf_event *first = import->file.events.items;
	const struct perf_event_header *aligned = (const void *)import->record;
	uint64_t time_ns;
	int r = 0;

	if (record->header.type >= PERF_USER_FIRST)
		return take_user_record(import, record);
	if (import->file.events.count == 0)
		return error_set(import->err, -EBADMSG, "it describes no event before its records");
	memcpy(import->record, record->bytes, record->header.size);
	if (record->header.type == PERF_RECORD_SAMPLE)
		first = perf_file_event(&import->file, aligned);
	time_ns = perf_record_time_ns(&first->layout, aligned);
	if (!import->has_schemas)
		r = add_schemas(import);
	if (r < 0)
		return r;
	/* What perf found at its start has no time: it is valid from the beginning. */
	if (time_ns == 0)
		return heed(import, aligned);
	return record_queue_put(&import->queue, time_ns, import->record, record->header.size);
}

static void put_count(struct perf_import *import, const char *key, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, value); /* it fits */
	if (value > 0)
		recording_writer_info(import_builder_writer(import->builder), key, text);
}

static void put_text(struct perf_import *import, const char *key, uint32_t text)
{
	if (text != 0)
		recording_writer_info(import_builder_writer(import->builder), key,
				      perf_file_text(&import->file, text));
}

static void describe(struct perf_import *import)
{
	struct recording_writer *writer = import_builder_writer(import->builder);
	const struct perf_file *file = &import->file;
	const char *damage = import->records.damage ? import->records.damage : file->damage;

	put_text(import, "title", file->command);
	put_text(import, "command", file->command);
	put_text(import, "host", file->host);
	put_text(import, "kernel", file->release);
	put_text(import, "machine", file->machine);
	if (perf_samples_by_frame_pointers(import->samples))
		recording_writer_info(writer, "stacks", RECORDING_FRAME_POINTERS);
	put_count(import, "throttled", import->counts.throttled);
	put_count(import, "aux_skipped", import->counts.aux);
	if (damage) {
		recording_writer_info(writer, RECORDING_DAMAGE, damage);
		import_set_incomplete(import->builder);
	}
	if (file->realtime_ns > 0 && file->clock_ns >= import->first_ns)
		recording_writer_clock(writer, IMPORT_START_NS + file->clock_ns - import->first_ns,
				       file->realtime_ns);
	else if (file->realtime_ns > import->first_ns - file->clock_ns)
		recording_writer_clock(writer, IMPORT_START_NS,
				       file->realtime_ns + import->first_ns - file->clock_ns);
}

/* What is known only at the end: invalid records, and losses that no LOST record reported. */
static int count_losses(struct perf_import *import)
{
	const struct counts *counts = &import->counts;
	uint64_t end_ns = IMPORT_START_NS + import->last_ns - import->first_ns;
	uint64_t more =
		counts->all_lost > counts->told_lost ? counts->all_lost - counts->told_lost : 0;
	int r = lose(import, LOSS_RING_FULL, end_ns, more);

	return r < 0 ? r : lose(import, LOSS_UNREADABLE, end_ns, counts->damaged);
}

static int read_records(struct perf_import *import)
{
	struct perf_record record;
	int r;

	/* No record describes the idle task. */
	process_tracker_comm(import->tracker, 0, 0, 0, "swapper", false);
	/* An exiting thread no longer has ids. */
	process_tracker_comm(import->tracker, 0, -1, -1, "[unknown]", false);
	while ((r = perf_records_next(&import->records, &record)) > 0) {
		r = take_record(import, &record);
		if (r < 0)
			break;
	}
	if (r == 0)
		r = record_queue_end(&import->queue);
	if (r == -EIO)
		return error_file(import->err, r, "cannot read its data");
	if (r == -ENOMEM)
		return error_set(import->err, r, "out of memory");
	if (r < 0)
		return r;
	r = perf_samples_flush(import->samples, import->err);
	if (r == 0 && !import->has_schemas)
		r = add_schemas(import);
	return r < 0 ? r : count_losses(import);
}

/* The modification time and owner of the file. */
static void find_origin(const struct import_source *source, struct import_origin *ret)
{
	struct stat status;

	ret->uid = geteuid();
	if (source->fd < 0 || fstat(source->fd, &status) < 0)
		return;
	ret->written_ns =
		(uint64_t)status.st_mtim.tv_sec * NS_PER_SEC + (uint64_t)status.st_mtim.tv_nsec;
	ret->uid = status.st_uid;
}

static int finish(struct perf_import *import)
{
	struct import_origin origin = {0};
	const struct build_id *kernel = perf_file_build_id(&import->file, "[kernel.kallsyms]");

	describe(import);
	find_origin(import->source, &origin);
	if (kernel)
		import->kernel.build_id = *kernel;
	import->kernel.release = perf_file_text(&import->file, import->file.release);
	import_kernel_names(import->builder, &import->kernel);
	origin.host = perf_file_text(&import->file, import->file.host);
	import_jit_names(import->builder, &origin);
	return import_finish(import->builder, import->last_ns - import->first_ns, import->err);
}

static int perf_data_read(struct import_source *source, struct import_builder *builder,
			  struct error *err)
{
	struct perf_import *import = calloc(1, sizeof(*import));
	int r;

	if (!import)
		return error_set(err, -ENOMEM, "out of memory");
	import->source = source;
	import->builder = builder;
	import->err = err;
	import->sink = recording_writer_sink(import_builder_writer(builder));
	import->tracker = process_tracker_new(import->sink);
	import->samples = import->tracker
				  ? perf_samples_new(import->sink, import->tracker, &import->file)
				  : NULL;
	record_queue_init(&import->queue, heed, import);
	r = import->samples ? perf_file_open(&import->file, source, err)
			    : error_set(err, -ENOMEM, "out of memory");
	if (r == 0) {
		process_tracker_set_offline(import->tracker);
		perf_records_init(&import->records, source, import->file.data_start,
				  import->file.data_end);
		r = read_records(import);
	}
	if (r == 0)
		r = finish(import);
	perf_samples_free(import->samples);
	process_tracker_free(import->tracker);
	record_queue_fini(&import->queue);
	perf_records_fini(&import->records);
	perf_file_fini(&import->file);
	free(import);
	return r;
}

const struct importer_ops import_perf_data = {
	.name = "perf.data",
	.summary = "the output of perf record, in a file or a pipe",
	.recognise = perf_file_is,
	.read_source = perf_data_read,
};
