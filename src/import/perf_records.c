/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_records.h"

#include <errno.h>
#include <string.h>

#include <zstd.h>

#include "import/source.h"

/* More than perf ever compresses into one record, which is 64 KiB at most. */
#define MAX_UNPACKED_BYTES (64u << 20)

#define CUT_RECORD "it ends in the middle of a record"

void perf_records_init(struct perf_records *records, struct import_source *source, uint64_t start,
		       uint64_t end)
{
	*records = (struct perf_records){.source = source, .at = start, .end = end};
}

void perf_records_fini(struct perf_records *records)
{
	(void)ZSTD_freeDCtx(records->unpacker); /* NULL is fine, and it cannot fail */
	bytes_fini(&records->unpacked);
}

static int stop(struct perf_records *records, const char *damage)
{
	records->damage = damage;
	records->end = records->at;
	return 0;
}

/* A complete record from the decompressed data. Returns 1, or 0 if there is none. */
static int next_unpacked(struct perf_records *records, struct perf_record *ret)
{
	size_t left = records->unpacked.size - records->unpacked_at;

	if (left < sizeof(ret->header))
		return 0;
	ret->bytes = records->unpacked.data + records->unpacked_at;
	memcpy(&ret->header, ret->bytes, sizeof(ret->header));
	if (ret->header.size < sizeof(ret->header)) {
		records->unpacked.size = records->unpacked_at;
		return stop(records, "a compressed record is invalid");
	}
	if (ret->header.size > left)
		return 0; /* continues in the next compressed record */
	records->unpacked_at += ret->header.size;
	return 1;
}

/* Drops the records that were delivered; half a record stays. */
static void keep_rest(struct perf_records *records)
{
	size_t left = records->unpacked.size - records->unpacked_at;

	if (left > 0)
		memmove(records->unpacked.data, records->unpacked.data + records->unpacked_at,
			left);
	records->unpacked.size = left;
	records->unpacked_at = 0;
}

/* All compressed records form one stream. */
static int unpack(struct perf_records *records, const uint8_t *data, size_t size)
{
	ZSTD_inBuffer in = {.src = data, .size = size};
	size_t made = 1;

	if (!records->unpacker)
		records->unpacker = ZSTD_createDCtx();
	if (!records->unpacker)
		return -ENOMEM;
	keep_rest(records);
	while (in.pos < in.size || made > 0) {
		size_t room = ZSTD_DStreamOutSize();
		uint8_t *place = bytes_reserve(&records->unpacked, room);
		ZSTD_outBuffer out = {.dst = place, .size = room};
		size_t result;

		if (!place)
			return -ENOMEM;
		result = ZSTD_decompressStream(records->unpacker, &out, &in);
		if (ZSTD_isError(result))
			return stop(records, "compressed records are damaged");
		records->unpacked.size += out.pos;
		made = out.pos;
		if (records->unpacked.size > MAX_UNPACKED_BYTES)
			return stop(records, "a compressed record decompresses to more than 64 MB");
	}
	return 0;
}

static int unpack_record(struct perf_records *records, const struct perf_record *record)
{
	size_t from = sizeof(record->header);
	size_t size = record->header.size - from;
	uint64_t told;

	if (record->header.type == PERF_USER_COMPRESSED_PADDED) {
		if (size < sizeof(told))
			return stop(records, "a compressed record is invalid");
		memcpy(&told, record->bytes + from, sizeof(told));
		from += sizeof(told);
		size -= sizeof(told);
		if (told > size)
			return stop(records, "a compressed record is invalid");
		size = (size_t)told;
	}
	return unpack(records, record->bytes + from, size);
}

static int next_stored(struct perf_records *records, struct perf_record *ret)
{
	size_t n;

	if (records->at >= records->end)
		return 0;
	ret->bytes = import_source_view(records->source, records->at, sizeof(ret->header), &n);
	if (!ret->bytes)
		return -EIO;
	if (n == 0 && records->end == UINT64_MAX)
		return 0;
	if (n < sizeof(ret->header) || records->end - records->at < sizeof(ret->header))
		return stop(records, CUT_RECORD);
	memcpy(&ret->header, ret->bytes, sizeof(ret->header));
	if (ret->header.size < sizeof(ret->header))
		return stop(records, "a record is invalid");
	ret->bytes = import_source_view(records->source, records->at, ret->header.size, &n);
	if (!ret->bytes)
		return -EIO;
	if (n < ret->header.size || records->end - records->at < ret->header.size)
		return stop(records, CUT_RECORD);
	records->at += ret->header.size;
	return 1;
}

int perf_records_next(struct perf_records *records, struct perf_record *ret)
{
	int r = next_unpacked(records, ret);

	while (r == 0) {
		r = next_stored(records, ret);
		if (r == 0 && records->unpacked.size > records->unpacked_at && !records->damage)
			return stop(records, CUT_RECORD);
		if (r <= 0 || (ret->header.type != PERF_USER_COMPRESSED &&
			       ret->header.type != PERF_USER_COMPRESSED_PADDED))
			return r;
		r = unpack_record(records, ret);
		if (r == 0)
			r = next_unpacked(records, ret);
	}
	return r;
}

void perf_records_skip(struct perf_records *records, uint64_t bytes)
{
	const uint8_t *data;
	size_t n;

	if (bytes > records->end - records->at)
		records->at = records->end;
	else
		records->at += bytes;
	/* Checks for its last byte: a pipe may end right after it. */
	data = bytes > 0 ? import_source_view(records->source, records->at - 1, 1, &n) : NULL;
	if (data && n == 0)
		(void)stop(records, CUT_RECORD);
}
