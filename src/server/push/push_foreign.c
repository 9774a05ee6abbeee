/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/scope.h"
#include "import/import.h"
#include "import/source.h"
#include "server/push/push.h"

/* Converts the data into a recording in memory. */
static int convert(const struct push_foreign *push, struct bytes *ret, struct error *err)
{
	struct import_source source;
	struct stat status;
	SCOPED(fd) int fd = memfd_create("wick-foreign", MFD_CLOEXEC);
	uint8_t *place;
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot hold the profile in memory");
	import_source_of_memory(&source, push->data, push->size);
	r = import_run_as(push->format, &source, fd, err);
	import_source_fini(&source);
	if (r < 0)
		return error_prefix(err, r, "the profile, read as %s", push->format);
	if (fstat(fd, &status) < 0)
		return error_errno(err, -errno, "cannot read the profile back");
	place = bytes_reserve(ret, (size_t)status.st_size);
	if (!place || pread(fd, place, (size_t)status.st_size, 0) != status.st_size)
		return error_set(err, -ENOMEM, "out of memory");
	ret->size += (size_t)status.st_size;
	return 0;
}

int push_foreign(struct server *server, struct push_foreign *push, struct error *err)
{
	struct bytes recording = {0};
	struct window window = {0};
	struct ingest_result result = {0};
	struct ingest_input input = push->input;
	int r = convert(push, &recording, err);

	/* The limit is for what was sent; a recording of it is not much larger. */
	if (r == 0)
		r = window_read(&window, recording.data, recording.size,
				4 * server->config->max_decoded_bytes, err);
	input.data = recording.data;
	input.size = recording.size;
	input.window = &window;
	input.id = input.id ? input.id : "";
	input.now_s = clock_realtime_ns() / NS_PER_SEC;
	if (r == 0)
		r = push_store(server, &input, NULL, &result, err);
	push_count(server, &result, r);
	window_fini(&window);
	bytes_fini(&recording);
	return r;
}
