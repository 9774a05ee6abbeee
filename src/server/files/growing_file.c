/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/files/growing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"
#include "load/convert/id_transfer.h"
#include "load/names/boot_id.h"
#include "load/names/jit_functions.h"
#include "load/names/kernel_names.h"
#include "model/dictionary.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/sample_columns.h"
#include "recording/writer.h"
#include "server/files/file_summary.h"

#define BOOT_ID_BYTES 64
#define LOSSES_MAX 65536u

struct fact {
	char *key;
	char *value;
};

/* An event of the recording, and what it cost so far. */
struct event {
	char *name;
	char *value;
	char *unit;
	uint64_t period;
	enum schema_kind kind;
	bool is_known;
	uint64_t samples;
	int64_t weight;
};

/* Samples that are known to be missing. */
struct loss {
	enum loss_reason reason;
	uint64_t time_ns;
	uint64_t samples;
};

struct thread_cost {
	uint64_t samples;
	int64_t weight; /* of the first event */
};

struct growing_file {
	struct recording_reader *reader;
	bool is_ours;
	VEC(struct fact) facts;
	struct event events[RECORDING_MAX_SCHEMAS];
	uint32_t event_count;
	VEC(struct thread_cost) threads; /* by thread of the recording */
	VEC(struct loss) losses;
	struct sample_columns latest;
	bool has_dropped;    /* samples before those */
	uint64_t start_ns;   /* CLOCK_MONOTONIC; 0: unknown */
	uint64_t end_ns;     /* of the last sample */
	uint64_t to_real_ns; /* CLOCK_REALTIME minus CLOCK_MONOTONIC; 0: unknown */
	uint64_t samples;
};

static int take_info(void *self, const char *key, const char *value)
{
	struct growing_file *file = self;
	struct fact fact = {strdup(key), strdup(value)};
	uint64_t number;
	size_t i;

	if (strcmp(key, "start_monotonic_ns") == 0 && number_parse_u64(value, &number) == 0)
		file->start_ns = number;
	for (i = 0; i < file->facts.count; i++)
		if (fact.value && strcmp(file->facts.items[i].key, key) == 0) {
			free(file->facts.items[i].value);
			file->facts.items[i].value = fact.value;
			free(fact.key);
			return 0;
		}
	if (fact.key && fact.value && vec_push(&file->facts, fact) == 0)
		return 0;
	free(fact.key);
	free(fact.value);
	return -ENOMEM;
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct growing_file *file = self;
	struct event *event;

	if (id >= RECORDING_MAX_SCHEMAS || file->events[id].is_known)
		return 0;
	event = &file->events[id];
	event->name = strdup(schema->event);
	event->value = strdup(schema->value);
	event->unit = strdup(schema->unit);
	if (!event->name || !event->value || !event->unit)
		return -ENOMEM;
	event->period = schema->period;
	event->kind = schema->kind;
	event->is_known = true;
	if (id >= file->event_count)
		file->event_count = id + 1;
	return 0;
}

static int take_clock(void *self, uint64_t monotonic_ns, uint64_t realtime_ns)
{
	struct growing_file *file = self;

	if (file->to_real_ns == 0)
		file->to_real_ns = realtime_ns - monotonic_ns;
	return 0;
}

static int take_loss(void *self, enum loss_reason reason, uint64_t time_ns, uint64_t samples)
{
	struct growing_file *file = self;

	if (file->losses.count >= LOSSES_MAX)
		file->losses.count = 0; /* the complete file has them all */
	return vec_push(&file->losses, (struct loss){reason, time_ns, samples});
}

#define DROP(column, n, left)                                                                      \
	do {                                                                                       \
		memmove((column).items, (column).items + (n), (left) * sizeof(*(column).items));   \
		(column).count = (left);                                                           \
	} while (0)

/* A quarter at once, so that this is rare. */
static void drop_oldest(struct growing_file *file)
{
	struct sample_columns *latest = &file->latest;
	size_t n = latest->count / 4;
	size_t left = latest->count - n;

	DROP(latest->schema, n, left);
	DROP(latest->stack, n, left);
	DROP(latest->thread, n, left);
	DROP(latest->cpu, n, left);
	DROP(latest->labels, n, left);
	DROP(latest->time_ns, n, left);
	DROP(latest->weight, n, left);
	DROP(latest->times, n, left);
	latest->count = left;
	file->has_dropped = true;
}

static int count_sample(struct growing_file *file, const struct sample_batch *batch, size_t i)
{
	struct event *event = &file->events[batch->schema];
	uint64_t times = batch->times && batch->times[i] > 0 ? batch->times[i] : 1;
	uint32_t thread = batch->thread[i];

	while (file->threads.count <= thread)
		if (vec_push(&file->threads, (struct thread_cost){0}) < 0)
			return -ENOMEM;
	event->samples += times;
	event->weight += (int64_t)batch->weight[i];
	if (batch->schema == 0) {
		file->samples += times;
		file->threads.items[thread].samples += times;
		file->threads.items[thread].weight += (int64_t)batch->weight[i];
	}
	if (file->start_ns == 0)
		file->start_ns = batch->time_ns[i];
	if (batch->time_ns[i] > file->end_ns)
		file->end_ns = batch->time_ns[i];
	return 0;
}

static int take_samples(void *self, const struct sample_batch *batch)
{
	struct growing_file *file = self;
	size_t i;
	int r = 0;

	if (batch->schema >= RECORDING_MAX_SCHEMAS)
		return 0;
	for (i = 0; i < batch->count && r == 0; i++)
		r = count_sample(file, batch, i);
	if (r == 0)
		r = sample_columns_add(&file->latest, batch);
	if (file->latest.count > GROWING_SAMPLES_MAX)
		drop_oldest(file);
	return r;
}

int growing_file_open(const char *path, bool is_ours, struct growing_file **ret, struct error *err)
{
	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct growing_file *file;
	int r;

	if (fd < 0)
		return error_file(err, -errno, "cannot open %s", path);
	file = calloc(1, sizeof(*file));
	if (!file)
		return error_set(err, -ENOMEM, "out of memory");
	file->is_ours = is_ours;
	r = recording_reader_open(fd, path, &file->reader, err);
	if (r < 0) {
		growing_file_close(file);
		return r;
	}
	(void)scope_take_fd(&fd);
	*ret = file;
	return 0;
}

void growing_file_close(struct growing_file *file)
{
	size_t i;

	if (!file)
		return;
	recording_reader_free(file->reader);
	for (i = 0; i < file->facts.count; i++) {
		free(file->facts.items[i].key);
		free(file->facts.items[i].value);
	}
	for (i = 0; i < RECORDING_MAX_SCHEMAS; i++) {
		free(file->events[i].name);
		free(file->events[i].value);
		free(file->events[i].unit);
	}
	vec_fini(&file->facts);
	vec_fini(&file->threads);
	vec_fini(&file->losses);
	sample_columns_fini(&file->latest);
	free(file);
}

int growing_file_read(struct growing_file *file, struct error *err)
{
	const struct recording_visitor visitor = {.self = file,
						  .info = take_info,
						  .schema = take_schema,
						  .samples = take_samples,
						  .clock = take_clock,
						  .loss = take_loss};
	bool has_news = false;
	int r;

	while ((r = recording_reader_next(file->reader, &visitor, err)) > 0)
		has_news = true;
	return r < 0 ? r : has_news;
}

uint64_t growing_file_start(const struct growing_file *file)
{
	return file->start_ns;
}

bool growing_file_is_complete(const struct growing_file *file)
{
	return recording_reader_damage(file->reader).complete;
}

static uint64_t real_of(const struct growing_file *file, uint64_t monotonic_ns)
{
	return monotonic_ns + file->to_real_ns;
}

static int add_types(const struct growing_file *file, struct file_summary *summary)
{
	uint32_t i;

	for (i = 0; i < file->event_count; i++) {
		const struct event *event = &file->events[i];
		uint32_t value = strings_add(&summary->texts, event->value ? event->value : "");
		uint32_t unit = strings_add(&summary->texts, event->unit ? event->unit : "");
		struct file_type type = {.samples = event->samples, .value = event->weight};

		if (!event->is_known || event->kind == SCHEMA_GAUGE)
			continue;
		if (value == ID_NONE || unit == ID_NONE)
			return -ENOMEM;
		type.name = strings_get(&summary->texts, value);
		type.unit = strings_get(&summary->texts, unit);
		if (vec_push(&summary->types, type) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_threads(const struct growing_file *file, struct file_summary *summary)
{
	const struct dictionary *dictionary = recording_reader_dictionary(file->reader);
	size_t i;

	for (i = 0; i < file->threads.count && i < dictionary->threads.count; i++) {
		const struct thread *from = &dictionary->threads.items[i];
		const struct process *process = &dictionary->processes.items[from->process];
		uint32_t thread = strings_add(&summary->texts, from->comm);
		uint32_t comm = strings_add(&summary->texts, process->comm);
		struct file_thread item = {
			.pid = process->pid,
			.tid = from->tid,
			.samples = file->threads.items[i].samples,
			.value = file->threads.items[i].weight,
		};

		if (thread == ID_NONE || comm == ID_NONE)
			return -ENOMEM;
		item.thread = strings_get(&summary->texts, thread);
		item.process = strings_get(&summary->texts, comm);
		if (vec_push(&summary->threads, item) < 0)
			return -ENOMEM;
	}
	return 0;
}

int growing_file_summary(const struct growing_file *file, struct file_summary *ret)
{
	uint64_t now_ns = clock_realtime_ns();
	int r;

	*ret = (struct file_summary){.samples = file->samples};
	r = strings_init(&ret->texts);
	if (r < 0)
		return r;
	ret->start_ns = file->start_ns ? real_of(file, file->start_ns) : now_ns;
	ret->end_ns = file->end_ns ? real_of(file, file->end_ns) : ret->start_ns;
	if (file->is_ours && now_ns > ret->end_ns && !growing_file_is_complete(file))
		ret->end_ns = now_ns;
	r = add_types(file, ret);
	return r < 0 ? r : add_threads(file, ret);
}

uint64_t growing_file_samples(const struct growing_file *file, uint64_t from_ns, uint64_t to_ns,
			      uint64_t *ret_last_ns)
{
	uint64_t samples = 0;
	size_t i;

	for (i = file->latest.count; i-- > 0;) {
		uint64_t time_ns = real_of(file, file->latest.time_ns.items[i]);
		uint64_t times = file->latest.times.items[i];

		if (time_ns >= from_ns && time_ns < to_ns && file->latest.schema.items[i] == 0)
			samples += times > 0 ? times : 1;
	}
	*ret_last_ns = file->end_ns ? real_of(file, file->end_ns) : 0;
	return samples;
}

bool growing_file_has(const struct growing_file *file, uint64_t from_ns)
{
	return !file->has_dropped || file->latest.count == 0 ||
	       real_of(file, file->latest.time_ns.items[0]) <= from_ns;
}

static const char *fact_of(const struct growing_file *file, const char *key)
{
	size_t i;

	for (i = 0; i < file->facts.count; i++)
		if (strcmp(file->facts.items[i].key, key) == 0)
			return file->facts.items[i].value;
	return "";
}

/* The facts, which say how to read the samples. The end is that of the window. */
static int write_head(const struct growing_file *file, struct recording_writer *writer,
		      uint64_t end_ns, uint32_t *schemas)
{
	char text[24];
	size_t i;
	int r = 0;

	for (i = 0; i < file->facts.count; i++)
		recording_writer_info(writer, file->facts.items[i].key, file->facts.items[i].value);
	(void)snprintf(text, sizeof(text), "%" PRIu64, file->start_ns); /* it fits, like the next */
	recording_writer_info(writer, "start_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, end_ns);
	recording_writer_info(writer, "end_monotonic_ns", text);
	if (file->to_real_ns > 0)
		recording_writer_clock(writer, file->start_ns, real_of(file, file->start_ns));
	for (i = 0; i < file->event_count && r == 0; i++) {
		const struct event *event = &file->events[i];

		if (event->is_known)
			r = sink_schema(recording_writer_sink(writer),
					&(struct schema){.event = event->name,
							 .value = event->value,
							 .unit = event->unit,
							 .period = event->period,
							 .kind = event->kind},
					&schemas[i]);
	}
	return r;
}

static int write_sample(struct id_transfer *transfer, const struct sample_batch *all, size_t i,
			uint32_t schema, struct error *err)
{
	struct id_transfer_ids ids;
	struct sample_batch one = {
		.schema = schema,
		.count = 1,
		.stack = &ids.stack,
		.thread = &ids.thread,
		.cpu = &all->cpu[i],
		.labels = &ids.labels,
		.time_ns = &all->time_ns[i],
		.weight = &all->weight[i],
		.times = &all->times[i],
	};
	int r = id_transfer_sample(transfer, all, i, &ids);

	return r < 0 ? error_set(err, r, "out of memory") : sink_batch(transfer->to, &one, err);
}

static int write_samples(const struct growing_file *file, uint64_t from_ns, uint64_t to_ns,
			 struct recording_writer *writer, const uint32_t *schemas,
			 struct error *err)
{
	struct id_transfer transfer = {.from = recording_reader_dictionary(file->reader),
				       .to = recording_writer_sink(writer)};
	struct sample_batch batch;
	size_t at;
	size_t i;
	int r = 0;

	for (at = 0; at < file->latest.count && r == 0; at += batch.count) {
		batch = sample_columns_batch(&file->latest, at);
		for (i = 0; i < batch.count && r == 0; i++) {
			uint64_t time_ns = real_of(file, batch.time_ns[i]);

			if (time_ns >= from_ns && time_ns < to_ns)
				r = write_sample(&transfer, &batch, i, schemas[batch.schema], err);
		}
	}
	id_transfer_fini(&transfer);
	for (i = 0; i < file->losses.count && r == 0; i++) {
		const struct loss *loss = &file->losses.items[i];
		uint64_t time_ns = real_of(file, loss->time_ns);

		if (time_ns >= from_ns && time_ns < to_ns)
			r = sink_loss(transfer.to, loss->reason, loss->time_ns, loss->samples);
	}
	return r;
}

/* Names of the kernel and of compiled code are not in the file yet: they are as they are now. */
static void write_names(const struct growing_file *file, struct recording_writer *writer)
{
	char boot_id[BOOT_ID_BYTES];

	if (boot_id_read(boot_id, sizeof(boot_id)) < 0 ||
	    strcmp(boot_id, fact_of(file, "boot_id")) != 0)
		return;
	kernel_names_write(writer);
	jit_functions_write(writer, NULL, NULL, NULL);
}

int growing_file_write(const struct growing_file *file, uint64_t from_ns, uint64_t to_ns, int fd,
		       struct error *err)
{
	SCOPED(mem) uint32_t *schemas = calloc(RECORDING_MAX_SCHEMAS, sizeof(*schemas));
	SCOPED(fd) int owned = fd;
	struct recording_writer *writer = NULL;
	uint64_t end_ns = to_ns - file->to_real_ns;
	int r;

	if (!schemas)
		return error_set(err, -ENOMEM, "out of memory");
	if (file->end_ns > 0 && file->end_ns < end_ns)
		end_ns = file->end_ns;
	r = recording_writer_open(owned, "the window", &writer, err);
	if (r < 0)
		return r;
	(void)scope_take_fd(&owned);
	recording_writer_set_plain(writer);
	r = write_head(file, writer, end_ns, schemas);
	if (r < 0)
		r = error_set(err, r, "out of memory");
	if (r == 0)
		r = write_samples(file, from_ns, to_ns, writer, schemas, err);
	if (r == 0) {
		write_names(file, writer);
		r = recording_writer_finish(writer, err);
	}
	recording_writer_free(writer);
	return r;
}
