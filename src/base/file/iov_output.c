/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/file/iov_output.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define MAX_PIECES 1024 /* most that the kernel accepts in one call */
#define FULL_BYTES (256u << 10)
#define CACHE_LINE 64
#define CALLED_IN_BYTES 1024
#define AHEAD 8

/* The pieces of one call. */
struct call {
	int fd;
	bool is_joined;
	struct bytes *copy;
	size_t count;
	struct iovec pieces[MAX_PIECES];
};

void iov_output_fini(struct iov_output *gather)
{
	bytes_fini(&gather->bytes);
	bytes_fini(&gather->copy);
	vec_fini(&gather->parts);
	vec_fini(&gather->slices);
}

/* Turns bytes that are in no part yet into one. */
static void cut(struct iov_output *gather)
{
	size_t size = gather->bytes.size - gather->cut;

	if (size == 0)
		return;
	gather->cut = gather->bytes.size;
	if (vec_push(&gather->parts, (struct iovec){.iov_len = size}) < 0)
		gather->bytes.failed = true;
}

void iov_output_lend(struct iov_output *gather, const void *data, size_t size)
{
	struct iovec part = {(void *)(uintptr_t)data, size};

	cut(gather);
	if (vec_push(&gather->parts, part) < 0)
		gather->bytes.failed = true;
}

size_t iov_output_open(struct iov_output *gather, size_t count)
{
	size_t first = gather->slices.count;

	if (vec_reserve(&gather->slices, first + count) < 0) {
		gather->bytes.failed = true;
		return first;
	}
	memset(gather->slices.items + first, 0, count * sizeof(*gather->slices.items));
	gather->slices.count += count;
	return first;
}

void iov_output_close(struct iov_output *gather, size_t i)
{
	cut(gather);
	if (i < gather->slices.count)
		gather->slices.items[i] = (struct iov_output_slice){
			(uint32_t)gather->closed, (uint32_t)(gather->parts.count - gather->closed)};
	gather->closed = gather->parts.count;
}

bool iov_output_is_full(const struct iov_output *gather)
{
	return gather->bytes.size >= FULL_BYTES || gather->parts.count >= MAX_PIECES;
}

/* Writes all pieces, resuming after short writes. */
static int write_pieces(int fd, struct iovec *pieces, size_t count)
{
	while (count > 0) {
		ssize_t n = writev(fd, pieces, (int)count);
		size_t left = n > 0 ? (size_t)n : 0;

		if (n < 0 && errno != EINTR)
			return -errno;
		while (count > 0 && left >= pieces->iov_len) {
			left -= pieces->iov_len;
			pieces++;
			count--;
		}
		if (count > 0) {
			pieces->iov_base = (uint8_t *)pieces->iov_base + left;
			pieces->iov_len -= left;
		}
	}
	return 0;
}

/* Joins the pieces. They are scattered in memory: the next ones are prefetched. */
static int join(struct call *call)
{
	bytes_clear(call->copy);
	for (size_t i = 0; i < call->count; i++) {
		if (i + AHEAD < call->count) {
			const char *data = call->pieces[i + AHEAD].iov_base;
			size_t size = call->pieces[i + AHEAD].iov_len;

			for (size_t at = 0; at < size && at < CALLED_IN_BYTES; at += CACHE_LINE)
				__builtin_prefetch(data + at);
		}
		bytes_put(call->copy, call->pieces[i].iov_base, call->pieces[i].iov_len);
	}
	if (call->copy->failed)
		return -ENOMEM;
	call->pieces[0] = (struct iovec){call->copy->data, call->copy->size};
	call->count = 1;
	return 0;
}

static int write_call(struct call *call)
{
	int r = call->is_joined && call->count > 0 ? join(call) : 0;

	if (r == 0)
		r = write_pieces(call->fd, call->pieces, call->count);
	call->count = 0;
	return r;
}

static int write_slice(const struct iov_output *gather, size_t i, struct call *call)
{
	const struct iovec *parts = gather->parts.items + gather->slices.items[i].first;
	size_t left = gather->slices.items[i].count;

	while (left > 0) {
		size_t room = MAX_PIECES - call->count;
		size_t n = left < room ? left : room;
		int r;

		memcpy(call->pieces + call->count, parts, n * sizeof(*parts));
		call->count += n;
		parts += n;
		left -= n;
		r = call->count == MAX_PIECES ? write_call(call) : 0;
		if (r < 0)
			return r;
	}
	return 0;
}

/* Sets the addresses of parts in the bytes, which no longer move. */
static void set_places(struct iov_output *gather)
{
	uint8_t *at = gather->bytes.data;

	for (size_t i = 0; i < gather->parts.count; i++) {
		struct iovec *part = &gather->parts.items[i];

		if (!part->iov_base) {
			part->iov_base = at;
			at += part->iov_len;
		}
	}
}

/* The processor cannot predict the order of slices: their parts are prefetched. */
static void call_in(const struct iov_output *gather, size_t i)
{
	const struct iov_output_slice *slice = &gather->slices.items[i];
	const char *parts = (const char *)(gather->parts.items + slice->first);

	for (size_t at = 0; at < slice->count * sizeof(struct iovec); at += CACHE_LINE)
		__builtin_prefetch(parts + at);
}

/*
 * Pipes and files copy their input: they do so faster from one large piece that was just written
 * than from many.
 */
static bool does_copy(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && !S_ISCHR(status.st_mode);
}

int iov_output_write(struct iov_output *gather, int fd)
{
	int r = gather->bytes.failed ? -ENOMEM : 0;
	struct call call;

	if (r == 0)
		set_places(gather);
	call.fd = fd;
	call.is_joined = does_copy(fd);
	call.copy = &gather->copy;
	call.count = 0;
	for (size_t i = 0; r == 0 && i < gather->slices.count; i++) {
		if (i + AHEAD < gather->slices.count)
			call_in(gather, i + AHEAD);
		r = write_slice(gather, i, &call);
	}
	if (r == 0)
		r = write_call(&call);
	bytes_clear(&gather->bytes);
	gather->parts.count = gather->slices.count = 0;
	gather->cut = gather->closed = 0;
	return r;
}
