/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/source.h"

#include <errno.h>
#include <unistd.h>

#include "base/error.h"
#include "import/import.h"

/* The default size of a read. */
#define WINDOW_BYTES (1u << 20)

void import_source_of_fd(struct import_source *source, int fd, uint64_t start)
{
	*source = (struct import_source){.fd = fd, .start = start};
}

void import_source_of_memory(struct import_source *source, const void *data, size_t size)
{
	*source = (struct import_source){.fd = -1, .memory = data, .size = size};
}

void import_source_fini(struct import_source *source)
{
	bytes_fini(&source->window);
}

/* Fills the window from offset on with at least n bytes, if there are that many. */
static int fill(struct import_source *source, uint64_t offset, size_t n)
{
	size_t want = n > WINDOW_BYTES ? n : WINDOW_BYTES;
	uint8_t *place;
	ssize_t got = 1;

	bytes_clear(&source->window);
	source->window_offset = offset;
	place = bytes_reserve(&source->window, want);
	if (!place)
		return -ENOMEM;
	if (offset > (uint64_t)INT64_MAX - source->start - want)
		return 0; /* past the end of any file */
	while (got != 0 && source->window.size < n) {
		got = pread(source->fd, place + source->window.size, want - source->window.size,
			    (off_t)(source->start + offset + source->window.size));
		if (got < 0 && errno != EINTR)
			return -errno;
		source->window.size += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

const uint8_t *import_source_view(struct import_source *source, uint64_t offset, size_t n,
				  size_t *ret_n)
{
	const uint8_t *base = source->memory;
	uint64_t at = offset;
	uint64_t end = source->size;

	if (source->fd >= 0) {
		uint64_t inside = offset - source->window_offset;

		if ((inside > source->window.size || source->window.size - inside < n) &&
		    fill(source, offset, n) < 0)
			return NULL;
		base = source->window.data;
		at = offset - source->window_offset;
		end = source->window.size;
	}
	if (at > end)
		at = end;
	*ret_n = end - at < n ? (size_t)(end - at) : n;
	return base ? base + at : (const uint8_t *)"";
}

int import_source_read_all(struct import_source *source, struct bytes *out, struct error *err)
{
	size_t n;

	do {
		const uint8_t *data = import_source_view(source, out->size, WINDOW_BYTES, &n);

		if (!data)
			return error_file(err, -EIO, "cannot read its data");
		bytes_put(out, data, n);
		if (out->failed)
			return error_set(err, -ENOMEM, "out of memory");
		if (out->size > IMPORT_MAX_BYTES)
			return error_set(err, -EFBIG, "it is larger than 2 GiB");
	} while (n == WINDOW_BYTES);
	bytes_fini(&source->window);
	return 0;
}
