/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/perf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/hash_seed.h"
#include "import/perf_records.h"
#include "import/source.h"

/*
 *	file:	magic size attr_size attrs{offset,size} data{…} types{…} features[4]
 *		… ids … attrs: (perf_event_attr, ids{offset,size})…
 *		data: records
 *		features: {offset,size} for each bit that is set, in order
 *	pipe:	magic size, records
 */

#define MAGIC "PERFILE2"
#define MAGIC_SWAPPED "2ELIFREP"
#define MAGIC_OLD "PERFFILE"
#define MAGIC_BYTES 8u
#define PIPE_HEADER_BYTES 16u
#define FILE_HEADER_BYTES 104u
#define SECTION_BYTES 16u
#define FEATURES 256u

/* Hard limits, far above what perf writes. */
#define MAX_EVENTS 256u
#define MAX_IDS (1u << 20)
#define MAX_BUILD_IDS (1u << 20)
#define MAX_FEATURE_BYTES (64u << 20)
#define MAX_ATTR_BYTES 4096u

enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_ARCH = 6,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CLOCK_DATA = 29,
};

struct section {
	uint64_t offset;
	uint64_t size;
};

bool perf_file_is(const uint8_t *data, size_t size)
{
	return size >= MAGIC_BYTES && (memcmp(data, MAGIC, MAGIC_BYTES) == 0 ||
				       memcmp(data, MAGIC_SWAPPED, MAGIC_BYTES) == 0 ||
				       memcmp(data, MAGIC_OLD, MAGIC_BYTES) == 0);
}

void perf_file_fini(struct perf_file *file)
{
	vec_fini(&file->events);
	vec_fini(&file->ids);
	vec_fini(&file->build_ids);
	strings_fini(&file->strings);
	id_index_fini(&file->id_index);
	id_index_fini(&file->path_index);
}

/* One event of a session requests them, and maps may be recorded under any event. */
static void expect_build_ids(struct perf_file *file)
{
	size_t i;

	for (i = 0; i < file->events.count; i++)
		file->events.items[i].layout.has_build_ids = true;
}

static int add_event(struct perf_file *file, const uint8_t *data, size_t size, struct error *err)
{
	struct perf_event event = {0};

	if (file->events.count >= MAX_EVENTS)
		return error_set(err, -E2BIG, "it has more than %u events", MAX_EVENTS);
	memcpy(&event.attr, data, size < sizeof(event.attr) ? size : sizeof(event.attr));
	perf_record_layout_init(&event.layout, &event.attr);
	if (vec_push(&file->events, event) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	if (event.attr.build_id || file->events.items[0].layout.has_build_ids)
		expect_build_ids(file);
	return 0;
}

/* The index of the event with an id, ID_NONE for none. */
static uint32_t find_id(const struct perf_file *file, uint64_t id)
{
	struct id_probe probe = id_index_probe(&file->id_index, hash_pair(id, 1));
	uint32_t i;

	while ((i = id_probe_next(&file->id_index, &probe)) != ID_NONE)
		if (file->ids.items[i].id == id)
			return file->ids.items[i].event;
	return ID_NONE;
}

/* Each id costs a lookup, so repeated ones count as well. */
static int add_id(struct perf_file *file, uint64_t id, uint32_t event, struct error *err)
{
	uint32_t known;

	if (file->ids_read >= MAX_IDS)
		return 0; /* its samples count as those of the first event */
	file->ids_read++;
	known = find_id(file, id);
	if (known == event)
		return 0;
	if (known != ID_NONE)
		return error_set(err, -EBADMSG, "two of its events have the same id %" PRIu64, id);
	if (vec_push(&file->ids, (struct perf_event_id){.id = id, .event = event}) < 0 ||
	    id_index_add(&file->id_index, hash_pair(id, 1), (uint32_t)file->ids.count - 1) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return 0;
}

static struct perf_event *find_event(struct perf_file *file, uint64_t id)
{
	uint32_t event = find_id(file, id);

	return event == ID_NONE ? NULL : &file->events.items[event];
}

const struct perf_event *perf_file_event_of(const struct perf_file *file, uint64_t id)
{
	uint32_t event = find_id(file, id);

	return event == ID_NONE ? NULL : &file->events.items[event];
}

struct perf_event *perf_file_event(struct perf_file *file, const struct perf_event_header *record)
{
	struct perf_event *event = NULL;
	uint64_t id;

	if (file->events.count == 0)
		return NULL;
	/* If several events are distinguished, ids are at the same offset in all of them. */
	if (file->events.count > 1 && perf_record_id(&file->events.items[0].layout, record, &id))
		event = find_event(file, id);
	return event ? event : &file->events.items[0];
}

static uint32_t find_path(const struct perf_file *file, const char *path, uint64_t *ret_hash)
{
	struct id_probe probe;
	uint32_t i;

	*ret_hash = XXH3_64bits_withSeed(path, strlen(path), hash_seed.first);
	probe = id_index_probe(&file->path_index, *ret_hash);
	while ((i = id_probe_next(&file->path_index, &probe)) != ID_NONE)
		if (strcmp(perf_file_text(file, file->build_ids.items[i].path), path) == 0)
			return i;
	return ID_NONE;
}

const struct build_id *perf_file_build_id(const struct perf_file *file, const char *path)
{
	uint64_t hash;
	uint32_t i = find_path(file, path, &hash);

	return i == ID_NONE ? NULL : &file->build_ids.items[i].build_id;
}

/* pid, 20 bytes of id and their number, path */
#define BUILD_ID_FIXED 28u
#define BUILD_ID_SIZED (1u << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE */

static int add_build_id(struct perf_file *file, const struct perf_event_header *header,
			const uint8_t *body, size_t size)
{
	struct perf_build_id item = {.build_id = {.size = 20}};
	const char *path = (const char *)body + BUILD_ID_FIXED;
	uint64_t hash;

	if (size <= BUILD_ID_FIXED || !memchr(path, '\0', size - BUILD_ID_FIXED) ||
	    file->build_ids.count >= MAX_BUILD_IDS)
		return 0;
	if (header->misc & BUILD_ID_SIZED)
		item.build_id.size = body[24] <= 20 ? body[24] : 20;
	memcpy(item.build_id.bytes, body + 4, item.build_id.size);
	if (find_path(file, path, &hash) != ID_NONE)
		return 0; /* the same file, of another process */
	item.path = strings_add(&file->strings, path);
	if (item.path == ID_NONE || vec_push(&file->build_ids, item) < 0)
		return -ENOMEM;
	return id_index_add(&file->path_index, hash, (uint32_t)file->build_ids.count - 1);
}

static int take_build_ids(struct perf_file *file, struct cursor in)
{
	int r = 0;

	while (r == 0 && cursor_left(&in) >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		const uint8_t *body;

		memcpy(&header, cursor_take(&in, sizeof(header)), sizeof(header));
		if (header.size < sizeof(header))
			break;
		body = cursor_take(&in, header.size - sizeof(header));
		if (!body)
			break;
		r = add_build_id(file, &header, body, header.size - sizeof(header));
	}
	return r;
}

/* A length (padded to a multiple of 64), and text that ends somewhere inside it. */
static uint32_t take_text(struct perf_file *file, struct cursor *in)
{
	uint32_t size = cursor_u32(in);
	const uint8_t *text = cursor_take(in, size);

	return text ? strings_add_n(&file->strings, (const char *)text, size) : 0;
}

/* Arguments, as one text. */
static uint32_t take_arguments(struct perf_file *file, struct cursor *in)
{
	uint32_t count = cursor_u32(in);
	struct bytes text = {0};
	uint32_t id;

	while (count-- > 0 && !in->failed) {
		uint32_t size = cursor_u32(in);
		const uint8_t *word = cursor_take(in, size);

		if (word)
			bytes_printf(&text, "%s%.*s", text.size > 0 ? " " : "", (int)size,
				     (const char *)word);
	}
	id = text.size > 0 ? strings_add_n(&file->strings, (const char *)text.data, text.size) : 0;
	bytes_fini(&text);
	return id;
}

/* For each event its attributes again, ids and its name, in the order of the events. */
static int take_event_names(struct perf_file *file, struct cursor *in)
{
	uint32_t count = cursor_u32(in);
	uint32_t attr_bytes = cursor_u32(in);
	uint32_t i;

	for (i = 0; i < count && !in->failed; i++) {
		struct perf_event *event;
		uint32_t id_count;
		uint32_t name;
		uint64_t id;

		(void)cursor_take(in, attr_bytes);
		id_count = cursor_u32(in);
		name = take_text(file, in);
		id = id_count > 0 ? cursor_u64(in) : 0;
		if (in->failed || name == ID_NONE || id_count > MAX_IDS)
			break;
		(void)cursor_take(in, id_count > 0 ? 8u * (id_count - 1) : 0);
		event = id_count > 0 ? find_event(file, id) : NULL;
		if (!event && i < file->events.count)
			event = &file->events.items[i];
		if (event)
			event->name = name;
	}
	return 0;
}

static int take_feature(struct perf_file *file, uint64_t feature, struct cursor in)
{
	uint32_t *text = NULL;

	switch (feature) {
	case FEATURE_BUILD_ID:
		return take_build_ids(file, in);
	case FEATURE_EVENT_DESC:
		return take_event_names(file, &in);
	case FEATURE_HOSTNAME:
		text = &file->host;
		break;
	case FEATURE_OSRELEASE:
		text = &file->release;
		break;
	case FEATURE_ARCH:
		text = &file->machine;
		break;
	case FEATURE_CMDLINE:
		file->command = take_arguments(file, &in);
		return file->command == ID_NONE ? -ENOMEM : 0;
	case FEATURE_CLOCK_DATA:
		(void)cursor_u64(&in); /* version, clock id */
		file->realtime_ns = cursor_u64(&in);
		file->clock_ns = cursor_u64(&in);
		return 0;
	default:
		return 0;
	}
	*text = take_text(file, &in);
	return *text == ID_NONE ? -ENOMEM : 0;
}

/* The features come after the records. A truncated one is ignored. */
static int read_features(struct perf_file *file, struct import_source *source, const uint64_t *bits,
			 struct error *err)
{
	uint64_t at = file->data_end;
	unsigned int i;
	int r = 0;

	for (i = 0; i < FEATURES && r == 0; i++) {
		struct section section;
		const uint8_t *data;
		size_t n;

		if (!(bits[i / 64] >> (i % 64) & 1))
			continue;
		data = import_source_view(source, at, SECTION_BYTES, &n);
		if (!data || n < SECTION_BYTES) {
			file->damage = "the part after its records is cut off";
			return 0;
		}
		memcpy(&section, data, sizeof(section));
		at += SECTION_BYTES;
		if (section.size > MAX_FEATURE_BYTES)
			continue;
		data = import_source_view(source, section.offset, (size_t)section.size, &n);
		if (!data || n < section.size)
			file->damage = "the part after its records is cut off";
		if (data)
			r = take_feature(file, i, cursor_of(data, n));
	}
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int read_ids(struct perf_file *file, struct import_source *source, struct section section,
		    struct error *err)
{
	uint32_t event = (uint32_t)file->events.count - 1;
	const uint8_t *data;
	struct cursor in;
	size_t n;
	int r = 0;

	if (section.size > 8ull * (MAX_IDS - file->ids_read))
		section.size = 8ull * (MAX_IDS - file->ids_read);
	data = import_source_view(source, section.offset, (size_t)section.size, &n);
	if (!data)
		return error_errno(err, -EIO, "cannot read its event ids");
	in = cursor_of(data, n);
	while (r == 0 && cursor_left(&in) >= 8)
		r = add_id(file, cursor_u64(&in), event, err);
	return r;
}

static int read_attrs(struct perf_file *file, struct import_source *source, uint64_t attr_bytes,
		      struct section attrs, struct error *err)
{
	uint64_t count;
	uint64_t i;

	if (attr_bytes < SECTION_BYTES + PERF_ATTR_SIZE_VER0 || attr_bytes > MAX_ATTR_BYTES)
		return error_set(err, -EBADMSG, "its event descriptions are invalid");
	count = attrs.size / attr_bytes;
	for (i = 0; i < count; i++) {
		struct section ids;
		size_t n;
		const uint8_t *data = import_source_view(source, attrs.offset + i * attr_bytes,
							 (size_t)attr_bytes, &n);
		int r;

		if (!data || n < attr_bytes)
			return error_set(err, -EBADMSG, "its event descriptions are cut off");
		memcpy(&ids, data + attr_bytes - SECTION_BYTES, sizeof(ids));
		r = add_event(file, data, (size_t)attr_bytes - SECTION_BYTES, err);
		if (r < 0)
			return r;
		r = read_ids(file, source, ids, err);
		if (r < 0)
			return r;
	}
	return count > 0 ? 0 : error_set(err, -EBADMSG, "it describes no event");
}

static int refuse_magic(const uint8_t *data, struct error *err)
{
	if (memcmp(data, MAGIC, MAGIC_BYTES) == 0)
		return 0;
	if (memcmp(data, MAGIC_SWAPPED, MAGIC_BYTES) == 0) {
		(void)error_set(err, -ENOTSUP,
				"it was recorded on a machine with the other byte order");
		error_remedy(err, "on that machine, run: perf script -i FILE | "
				  "stackcollapse-perf.pl, and read its output");
		return -ENOTSUP;
	}
	(void)error_set(err, -ENOTSUP, "it is in the old perf.data format PERFFILE");
	error_remedy(err, "record it again with a newer perf");
	return -ENOTSUP;
}

static int read_file_header(struct perf_file *file, struct import_source *source, struct error *err)
{
	size_t n;
	const uint8_t *data = import_source_view(source, 0, FILE_HEADER_BYTES, &n);
	struct section attrs;
	struct section records;
	uint64_t attr_bytes;
	uint64_t features[FEATURES / 64];
	int r;

	if (!data || n < FILE_HEADER_BYTES)
		return error_set(err, -EBADMSG, "its header is cut off");
	memcpy(&attr_bytes, data + 16, sizeof(attr_bytes));
	memcpy(&attrs, data + 24, sizeof(attrs));
	memcpy(&records, data + 40, sizeof(records));
	memcpy(features, data + 72, sizeof(features));
	r = read_attrs(file, source, attr_bytes, attrs, err);
	if (r < 0)
		return r;
	file->data_start = records.offset;
	/* A perf that was killed has not written the size, nor the part after the records. */
	if (records.size == 0)
		file->damage = "perf did not finish writing it";
	file->data_end = records.size == 0 || records.offset + records.size < records.offset
				 ? UINT64_MAX
				 : records.offset + records.size;
	return file->data_end == UINT64_MAX ? 0 : read_features(file, source, features, err);
}

int perf_file_open(struct perf_file *file, struct import_source *source, struct error *err)
{
	uint64_t size;
	size_t n;
	const uint8_t *data;
	int r;

	*file = (struct perf_file){0};
	if (strings_init(&file->strings) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	data = import_source_view(source, 0, PIPE_HEADER_BYTES, &n);
	if (!data || n < PIPE_HEADER_BYTES)
		return error_set(err, -EBADMSG, "its header is cut off");
	r = refuse_magic(data, err);
	if (r < 0)
		return r;
	memcpy(&size, data + MAGIC_BYTES, sizeof(size));
	if (size == PIPE_HEADER_BYTES) {
		file->data_start = PIPE_HEADER_BYTES;
		file->data_end = UINT64_MAX;
		return 0;
	}
	return read_file_header(file, source, err);
}

/* attributes, with the length that they give, and ids */
static int learn_attr(struct perf_file *file, const uint8_t *body, size_t size, struct error *err)
{
	uint32_t attr_bytes;
	struct cursor in;
	int r;

	if (size < PERF_ATTR_SIZE_VER0)
		return error_set(err, -EBADMSG, "its event descriptions are invalid");
	memcpy(&attr_bytes, body + 4, sizeof(attr_bytes));
	if (attr_bytes < PERF_ATTR_SIZE_VER0 || attr_bytes > size)
		return error_set(err, -EBADMSG, "its event descriptions are invalid");
	r = add_event(file, body, attr_bytes, err);
	in = cursor_of(body + attr_bytes, size - attr_bytes);
	while (r == 0 && cursor_left(&in) >= 8)
		r = add_id(file, cursor_u64(&in), (uint32_t)file->events.count - 1, err);
	return r;
}

#define UPDATE_NAME 2u /* after unit and scale */

/* kind, id, and for the kind of name the name */
static int learn_update(struct perf_file *file, const uint8_t *body, size_t size)
{
	struct cursor in = cursor_of(body, size);
	uint64_t kind = cursor_u64(&in);
	struct perf_event *event = find_event(file, cursor_u64(&in));

	if (in.failed || kind != UPDATE_NAME || !event)
		return 0;
	event->name = strings_add_n(&file->strings, (const char *)in.at, cursor_left(&in));
	return event->name == ID_NONE ? -ENOMEM : 0;
}

int perf_file_learn(struct perf_file *file, const struct perf_record *record, struct error *err)
{
	const uint8_t *body = record->bytes + sizeof(record->header);
	size_t size = record->header.size - sizeof(record->header);
	uint64_t feature;
	int r = 0;

	switch (record->header.type) {
	case PERF_USER_ATTR:
		return learn_attr(file, body, size, err);
	case PERF_USER_BUILD_ID:
		r = add_build_id(file, &record->header, body, size);
		break;
	case PERF_USER_EVENT_UPDATE:
		r = learn_update(file, body, size);
		break;
	case PERF_USER_FEATURE:
		if (size < sizeof(feature))
			return 0;
		memcpy(&feature, body, sizeof(feature));
		r = take_feature(file, feature, cursor_of(body + 8, size - 8));
		break;
	default:
		break;
	}
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}
