/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/chunk_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/format.h"

#define READ_BYTES (256u << 10)

/*
 * A damaged chunk is checksummed once and then skipped, so accidental damage wastes about as many
 * bytes as it skips. Fake, overlapping chunk starts would cost a checksum of megabytes every few
 * bytes; beyond this limit they are skipped without a checksum.
 */
#define WASTE_FACTOR 16u
#define WASTE_BYTES (256ull << 20)

void chunk_source_fini(struct chunk_source *source)
{
	if (source->fd >= 0)
		(void)close(source->fd); /* only read from */
	free(source->buffer);
	*source = (struct chunk_source){.fd = -1};
}

static int make_room(struct chunk_source *source, size_t n)
{
	size_t left = chunk_source_left(source);
	uint8_t *grown;

	if (source->start > 0) {
		memmove(source->buffer, source->buffer + source->start, left);
		source->start = 0;
		source->end = left;
	}
	if (left + n <= source->capacity)
		return 0;
	grown = realloc(source->buffer, left + n);
	if (!grown)
		return -ENOMEM;
	source->buffer = grown;
	source->capacity = left + n;
	return 0;
}

int chunk_source_need(struct chunk_source *source, size_t n)
{
	while (chunk_source_left(source) < n) {
		size_t missing = n - chunk_source_left(source);
		size_t want = missing < READ_BYTES ? READ_BYTES : missing;
		ssize_t got;

		if (source->fd < 0)
			return 0;
		if (make_room(source, want) < 0)
			return -ENOMEM;
		if (source->is_limited && want > source->limit_bytes)
			want = (size_t)source->limit_bytes;
		got = read(source->fd, source->buffer + source->end, want);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (got == 0)
			return 0;
		source->end += (size_t)got;
		if (source->is_limited)
			source->limit_bytes -= (uint64_t)got;
	}
	return 1;
}

void chunk_source_skip(struct chunk_source *source, size_t n)
{
	source->start += n;
	source->used_bytes += n;
}

/* Skips one byte of damage. */
static void skip_damage(struct chunk_source *source)
{
	if (!source->hunting)
		source->bad_runs++;
	source->hunting = true;
	source->skipped_bytes++;
	chunk_source_skip(source, 1);
}

static bool verify(struct chunk_source *source, const uint8_t *place,
		   const struct chunk_header *header)
{
	if (source->wasted_bytes > source->skipped_bytes * WASTE_FACTOR + WASTE_BYTES)
		return false;
	if (chunk_verify(place, header))
		return true;
	source->wasted_bytes += header->stored_bytes;
	return false;
}

int chunk_source_find(struct chunk_source *source, struct chunk_header *ret_header,
		      const uint8_t **ret_place)
{
	for (;;) {
		int r = chunk_source_need(source, CHUNK_HEADER_BYTES);

		if (r <= 0)
			return r;
		if (!chunk_parse_header(source->buffer + source->start, ret_header)) {
			skip_damage(source);
			continue;
		}
		/*
		 * The header's check covers the length, so a chunk without its end is still being
		 * written.
		 */
		r = chunk_source_need(source,
				      CHUNK_HEADER_BYTES + (size_t)ret_header->stored_bytes);
		if (r <= 0)
			return r;
		if (verify(source, source->buffer + source->start, ret_header)) {
			source->hunting = false;
			*ret_place = source->buffer + source->start;
			return 1;
		}
		skip_damage(source);
	}
}
