/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/flight_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file/outfile.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "record/record.h"
#include "record/session_info.h"
#include "record/window_copy.h"
#include "record/write_trailer.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"

/* The kept time is divided into this many pieces; at most one more is held. */
#define PIECES 8

/* A piece of the recording that is self-contained. */
struct stretch {
	uint64_t offset;
	uint64_t begin_ns;  /* everything before the offset is older than this */
	uint64_t throttled; /* how often sampling was throttled up to then */
};

struct flight {
	const struct record_config *config;
	int fd; /* unnamed memory (memfd) */
	VEC(struct stretch) stretches;
	unsigned int written; /* files written so far */
	char *path;           /* path of the last one */
};

static uint64_t page_floor(uint64_t offset)
{
	return offset & ~((uint64_t)sysconf(_SC_PAGESIZE) - 1);
}

/* Whether the path exists and is not a regular file: it is written in place. */
static bool is_special(const char *path, mode_t *ret_mode)
{
	struct stat status;

	if (stat(path, &status) < 0 || S_ISREG(status.st_mode))
		return false;
	*ret_mode = status.st_mode;
	return true;
}

/* The user should not learn after hours that the output cannot be created. */
static int try_output(const char *path, struct error *err)
{
	struct outfile file;
	mode_t mode = 0;
	int r;

	if (is_special(path, &mode) && S_ISFIFO(mode))
		return 0; /* opening and closing it would end a pipe for its reader */
	r = outfile_begin(&file, path, "-o FILE", err);
	if (r == 0)
		outfile_fini(&file);
	return r;
}

int flight_open(const struct record_config *config, struct flight **ret, struct error *err)
{
	struct flight *flight;
	int r = try_output(config->output, err);

	if (r < 0)
		return r;
	flight = calloc(1, sizeof(*flight));
	if (!flight)
		return error_set(err, -ENOMEM, "out of memory");
	flight->config = config;
	flight->fd = memfd_create("wick-flight", MFD_CLOEXEC);
	if (flight->fd < 0)
		r = error_errno(err, -errno, "cannot keep the last seconds in memory");
	else if (vec_push(&flight->stretches, (struct stretch){RECORDING_HEADER_BYTES, 0, 0}) < 0)
		r = error_set(err, -ENOMEM, "out of memory");
	if (r < 0) {
		flight_close(flight);
		return r;
	}
	*ret = flight;
	return 0;
}

void flight_close(struct flight *flight)
{
	if (!flight)
		return;
	if (flight->fd >= 0)
		(void)close(flight->fd); /* it must not be left behind */
	vec_fini(&flight->stretches);
	free(flight->path);
	free(flight);
}

int flight_take_fd(struct flight *flight, struct error *err)
{
	int fd = fcntl(flight->fd, F_DUPFD_CLOEXEC, 3);

	return fd < 0 ? error_errno(err, -errno, "cannot keep the last seconds in memory") : fd;
}

/*
 * Frees the memory before the first piece. The first page stays, because it has the file header. A
 * page that an earlier call had to keep, because a piece began in it, is freed now.
 */
static int release(struct flight *flight, uint64_t old_offset, struct error *err)
{
	uint64_t page = page_floor((uint64_t)sysconf(_SC_PAGESIZE));
	uint64_t from = page_floor(old_offset - RECORDING_HEADER_BYTES);
	uint64_t end = flight->stretches.items[0].offset;

	from = from < page ? page : from;
	if (end > from && fallocate(flight->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				    (off_t)from, (off_t)(end - from)) < 0)
		return error_errno(err, -errno, "cannot free the memory of old samples");
	return 0;
}

int flight_look(struct flight *flight, struct recording_writer *writer,
		const struct engine_stats *stats, uint64_t now_ns, struct error *err)
{
	uint64_t last_ns = flight->config->last_ns;
	uint64_t old_offset = flight->stretches.items[0].offset;
	struct stretch next = {recording_writer_epoch_bytes(writer), now_ns,
			       stats->samples.throttled};
	struct stretch *newest = &flight->stretches.items[flight->stretches.count - 1];
	size_t old = 0;

	if (newest->begin_ns == 0)
		newest->begin_ns = now_ns; /* the first call */
	if (next.offset > newest->offset && vec_push(&flight->stretches, next) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	newest = &flight->stretches.items[flight->stretches.count - 1];
	if (now_ns - newest->begin_ns >= last_ns / PIECES)
		recording_writer_ask_epoch(writer);
	while (old + 1 < flight->stretches.count &&
	       flight->stretches.items[old + 1].begin_ns + last_ns < now_ns)
		old++;
	if (old == 0)
		return 0;
	flight->stretches.count -= old;
	memmove(flight->stretches.items, flight->stretches.items + old,
		flight->stretches.count * sizeof(*flight->stretches.items));
	return release(flight, old_offset, err);
}

uint64_t flight_bytes(const struct flight *flight, const struct recording_writer *writer)
{
	uint64_t end = recording_writer_bytes(writer);
	uint64_t start = flight->stretches.items[0].offset;

	return end > start ? end - start : 0;
}

/* "dir/app.wick" and 2 give "dir/app-2.wick". */
static char *numbered(const char *path, unsigned int number)
{
	const char *name = path_base_name(path);
	const char *dot = strrchr(name, '.');
	int stem = (int)(dot && dot > name ? (size_t)(dot - path) : strlen(path));
	char *made;

	return asprintf(&made, "%.*s-%u%s", stem, path, number, path + stem) < 0 ? NULL : made;
}

/* The name of the next file; NULL if out of memory. */
static char *next_path(const struct flight *flight)
{
	const char *output = flight->config->output;
	unsigned int number;
	struct stat status;
	mode_t mode;

	if (flight->written == 0 || is_special(output, &mode))
		return strdup(output);
	for (number = flight->written + 1;; number++) {
		char *path = numbered(output, number);

		if (!path || lstat(path, &status) < 0)
			return path;
		free(path);
	}
}

/*
 * A reader of the pieces in memory. The file header is written before the first piece, over data
 * that is too old.
 */
static int open_reader(struct flight *flight, uint64_t end, struct recording_reader **ret,
		       struct error *err)
{
	uint64_t start = flight->stretches.items[0].offset - RECORDING_HEADER_BYTES;
	uint64_t from = page_floor(start);
	uint8_t header[RECORDING_HEADER_BYTES];
	uint8_t *data;
	int r;

	if (pread(flight->fd, header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    pwrite(flight->fd, header, sizeof(header), (off_t)start) != (ssize_t)sizeof(header))
		return error_file(err, -EIO, "cannot read the last seconds kept in memory");
	data = mmap(NULL, end - from, PROT_READ, MAP_SHARED, flight->fd, (off_t)from);
	if (data == MAP_FAILED)
		return error_errno(err, -errno, "cannot read the last seconds kept in memory");
	r = recording_reader_open_memory(data + (start - from), end - start, "the last seconds",
					 ret, err);
	(void)munmap(data, end - from); /* it was mapped */
	return r;
}

/* The figures of the window; leaves out those known only for the whole recording. */
static void cut_stats(const struct flight *flight, const struct flight_moment *moment,
		      uint64_t from_ns, struct engine_stats *stats)
{
	if (moment->last && from_ns == moment->start_ns)
		return;
	stats->samples.expected = 0;
	stats->run_ns = 0;
	stats->samples.throttled -= flight->stretches.items[0].throttled;
}

static int copy_to(struct flight *flight, const struct flight_moment *moment,
		   struct recording_writer *copy, struct flight_written *ret, struct error *err)
{
	struct record_result result = *moment->result;
	uint64_t last_ns = flight->config->last_ns;
	uint64_t from_ns = moment->now_ns > last_ns ? moment->now_ns - last_ns : 0;
	struct window window = {
		.until_ns = moment->now_ns, .meanwhile = moment->meanwhile, .self = moment->self};
	struct recording_reader *reader;
	int r = open_reader(flight, recording_writer_bytes(moment->writer), &reader, err);

	if (r < 0)
		return r;
	window.from_ns = from_ns > moment->start_ns ? from_ns : moment->start_ns;
	session_info_begin(copy, flight->config, moment->engine, window.from_ns);
	r = window_copy(reader, copy, &window, err);
	recording_reader_free(reader);
	ret->covered_ns = window.until_ns - window.from_ns;
	ret->samples = result.stats.samples.count = recording_writer_samples(copy);
	cut_stats(flight, moment, window.from_ns, &result.stats);
	if (r == 0)
		r = write_trailer(copy, flight->config, &result, moment->jit, moment->now_ns, err);
	ret->file_bytes = recording_writer_bytes(copy);
	return r;
}

/* Where the result goes, complete or not at all. */
static int write_file(struct flight *flight, const struct flight_moment *moment, const char *path,
		      struct flight_written *ret, struct error *err)
{
	struct recording_writer *copy;
	struct outfile file;
	int fd;
	/* Signals are blocked, so a wait for a reader could not be interrupted. */
	int r = outfile_begin_ready(&file, path, "-o FILE", err);

	if (r < 0)
		return r;
	fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 3);
	r = fd < 0 ? error_file(err, -errno, "cannot write %s", path)
		   : recording_writer_open(fd, path, &copy, err);
	if (r < 0) {
		if (fd >= 0)
			(void)close(fd); /* nothing was written */
		outfile_fini(&file);
		return r;
	}
	r = copy_to(flight, moment, copy, ret, err);
	recording_writer_free(copy);
	if (r == 0)
		r = outfile_commit(&file, err);
	else
		error_remedy(err, "free some space, or choose another place with -o FILE");
	outfile_fini(&file);
	return r;
}

int flight_write(struct flight *flight, const struct flight_moment *moment,
		 struct flight_written *ret, struct error *err)
{
	/* A failed flush is reported by the recording itself; the rest is still worth writing. */
	int flushed = recording_writer_flush(moment->writer, moment->last ? NULL : err);
	SCOPED(mem) char *path = next_path(flight);
	int r;

	if (flushed < 0 && !moment->last)
		return flushed;
	if (!path)
		return error_set(err, -ENOMEM, "out of memory");
	r = write_file(flight, moment, path, ret, err);
	if (r < 0)
		return r;
	flight->written++;
	free(flight->path);
	flight->path = scope_take(&path);
	ret->path = flight->path;
	return 0;
}
