/* SPDX-License-Identifier: BSD-2-Clause */
#include <wick/heap_writer.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "libwick/heap_writer_handle.h"
#include "libwick/public_error.h"
#include "libwick/sized_struct.h"
#include "model/sink.h"
#include "proc/process_info.h"
#include "process_stacks/process_tracker.h"
#include "record/record.h"
#include "record/session_info.h"
#include "recording/format.h"
#include "recording/writer.h"

#define MAX_UNIT 4096u

int heap_writer_check(const struct wick_heap_writer *writer, struct error *err)
{
	int r = need(writer, "the writer", err);

	if (r < 0)
		return r;
	if (writer->pid != getpid())
		return error_advise(
			err,
			error_set(err, -ECHILD,
				  "the recording belongs to process %d, which forked this "
				  "one",
				  (int)writer->pid),
			"open a separate recording in the child");
	if (writer->is_finished)
		return error_advise(err,
				    error_set(err, -EINVAL, "the recording is already finished"),
				    "open another one");
	return 0;
}

static int check_options(const struct wick_heap_options *options, struct error *err)
{
	if (options->probability < 0 || options->probability > 1 || isnan(options->probability))
		return error_advise(err,
				    error_set(err, -ERANGE, "the probability %g is out of range",
					      options->probability),
				    "use a number above 0, up to 1, or 0 for all blocks");
	if (options->probability > 0 && options->sample_bytes > 0)
		return error_advise(err,
				    error_set(err, -EINVAL,
					      "sample_bytes %" PRIu64
					      " and probability %g cannot both be set",
					      options->sample_bytes, options->probability),
				    "set one of them to 0");
	if (options->block_unit > MAX_UNIT || options->block_unit & (options->block_unit - 1))
		return error_advise(
			err, error_set(err, -ERANGE, "invalid block_unit %u", options->block_unit),
			"use a power of two up to %u, or 0", MAX_UNIT);
	return 0;
}

/* Opens the file and the writer, which owns the descriptor. */
static int open_file(struct wick_heap_writer *writer, const char *path, bool whole,
		     struct error *err)
{
	bool created;
	int fd;
	int r;

	if (whole) {
		r = outfile_begin(&writer->file, path, NULL, err);
		if (r < 0)
			return r;
		writer->is_whole = true;
		fd = fcntl(writer->file.fd, F_DUPFD_CLOEXEC, 3);
		r = fd < 0 ? error_file(err, -errno, "cannot write %s", path) : 0;
	} else {
		fd = outfile_open_ready(path, NULL, &created, err);
		r = fd < 0 ? fd : outfile_claim(fd, path, NULL, err);
	}
	if (r == 0)
		r = recording_writer_open(fd, path, &writer->writer, err);
	if (r < 0) {
		if (fd >= 0)
			(void)close(fd); /* nothing was written */
		return r;
	}
	writer->fd = fd;
	writer->sink = recording_writer_sink(writer->writer);
	if (!whole && !outfile_is_stdout(path) && ftruncate(fd, 0) < 0)
		errno = 0; /* a pipe or device: nothing to cut */
	return 0;
}

static int add_process(struct wick_heap_writer *writer, struct process_info *info,
		       struct error *err)
{
	struct process process = {.pid = (uint32_t)writer->pid};
	struct thread thread = {.tid = (uint32_t)writer->pid};
	int r;

	if (process_info_read(0, info, NULL) < 0) /* without /proc it has no name */
		*info = (struct process_info){.comm = "program"};
	process.parent_pid = (uint32_t)info->parent_pid;
	process.start_ns = info->start_ns; /* identifies it, with the pid */
	process.comm = thread.comm = info->comm;
	process.executable = info->executable;
	r = sink_process(writer->sink, &process, &writer->process);
	thread.process = writer->process;
	if (r == 0)
		r = sink_thread(writer->sink, &thread, &writer->main_thread);
	return r < 0 ? error_errno(err, r, "cannot store the recording") : 0;
}

static void describe(const struct wick_heap_writer *writer, const struct wick_heap_options *options,
		     const char *comm)
{
	const struct record_config config = {
		.title = options->title ? options->title : comm,
		.sampling = {.mode = ENGINE_MODE_CPU, .event = "heap", .heap = {.on = true}},
		.target = {.kind = TARGET_PROCESSES, .ids = &writer->pid, .count = 1},
	};

	session_info_begin(writer->writer, &config, options->source ? options->source : "program",
			   writer->last_ns);
	recording_writer_clock(writer->writer, clock_monotonic_ns(), clock_realtime_ns());
}

/* Says which blocks are recorded; also what makes an empty recording one of a heap. */
static int add_rate(struct wick_heap_writer *writer, const struct wick_heap_options *options,
		    struct error *err)
{
	struct heap_event rate = {.time_ns = writer->last_ns,
				  .size = options->sample_bytes,
				  .slack = options->sample_extra,
				  .stack = ID_NONE,
				  .op = HEAP_RATE};
	struct heap_batch batch = {.thread = writer->main_thread, .count = 1, .events = &rate};

	if (options->probability > 0 && options->probability < 1) {
		rate.address = (uint64_t)llround(options->probability * 0x1p32);
		if (rate.address == 0)
			rate.address = 1;
		if (rate.address > UINT32_MAX)
			rate.address = UINT32_MAX;
	}
	return sink_heap(writer->sink, &batch, err);
}

static int begin(struct wick_heap_writer *writer, const char *path,
		 const struct wick_heap_options *options, struct error *err)
{
	struct process_info info;
	int r = check_options(options, err);

	if (r == 0)
		r = open_file(writer, path, options->whole, err);
	if (r < 0)
		return r;
	writer->last_ns = options->start_ns ? options->start_ns : clock_monotonic_ns();
	/* Times of events are rounded down, and none may be before the start. */
	writer->last_ns -= writer->last_ns % TIME_TICK_NS;
	writer->slack_mask = options->block_unit ? options->block_unit - 1 : 0;
	r = add_process(writer, &info, err);
	if (r < 0)
		return r;
	writer->batch_thread = writer->main_thread;
	describe(writer, options, info.comm);
	r = add_rate(writer, options, err);
	return r < 0 ? r : recording_writer_flush(writer->writer, err);
}

int wick_heap_writer_open(const char *path, const struct wick_heap_options *options,
			  struct wick_heap_writer **ret, struct wick_error *err)
{
	struct wick_heap_options asked;
	struct wick_heap_writer *writer;
	struct error inner = {0};
	int r = need(path, "the path", &inner);

	if (r == 0)
		r = need(ret, "ret", &inner);
	if (r == 0)
		r = sized_take(&asked, sizeof(asked), options, "wick_heap_options", &inner);
	if (r < 0)
		return public_error(&inner, err);
	writer = calloc(1, sizeof(*writer));
	if (!writer) {
		(void)error_set(&inner, -ENOMEM, "out of memory");
		return public_error(&inner, err);
	}
	writer->pid = getpid();
	writer->fd = -1;
	writer->mark_schema = ID_NONE;
	r = begin(writer, path, &asked, &inner);
	if (r < 0) {
		wick_heap_writer_close(writer);
		return public_error(&inner, err);
	}
	*ret = writer;
	return 0;
}

void wick_heap_writer_close(struct wick_heap_writer *writer)
{
	if (!writer)
		return;
	if (writer->pid != getpid()) {
		/* Another thread of the parent may have been changing the rest during the fork. */
		if (writer->fd >= 0)
			(void)close(writer->fd);
		if (writer->is_whole)
			(void)close(writer->file.fd);
		return;
	}
	process_tracker_free(writer->tracker);
	recording_writer_free(writer->writer);
	if (writer->is_whole)
		outfile_fini(&writer->file);
	vec_fini(&writer->sites);
	vec_fini(&writer->frames);
	vec_fini(&writer->marks);
	free(writer);
}

int wick_heap_writer_flush(struct wick_heap_writer *writer, struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = heap_writer_pass_on(writer, &inner);
	if (r == 0)
		r = sink_heap_until(writer->sink, writer->last_ns, &inner);
	if (r == 0)
		r = recording_writer_flush(writer->writer, &inner);
	return r < 0 ? public_error(&inner, err) : 0;
}

static int finish(struct wick_heap_writer *writer, struct error *err)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64, writer->last_ns);
	recording_writer_info(writer->writer, "end_monotonic_ns", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64,
		       recording_writer_heap_events(writer->writer));
	recording_writer_info(writer->writer, "heap_events", text);
	recording_writer_clock(writer->writer, clock_monotonic_ns(), clock_realtime_ns());
	return recording_writer_finish(writer->writer, err);
}

int wick_heap_writer_finish(struct wick_heap_writer *writer, struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = heap_writer_pass_on(writer, &inner);
	if (r == 0)
		r = finish(writer, &inner);
	if (r == 0 && writer->is_whole)
		r = outfile_commit(&writer->file, &inner);
	if (r < 0)
		return public_error(&inner, err);
	writer->is_finished = true;
	return 0;
}

uint64_t wick_heap_writer_bytes(const struct wick_heap_writer *writer)
{
	return writer ? recording_writer_bytes(writer->writer) : 0;
}
