/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/ingest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/id_index.h"
#include "base/number.h"
#include "base/scope.h"
#include "base/vec.h"
#include "export/export.h"
#include "load/load.h"
#include "model/profile.h"
#include "server/push/window.h"
#include "store/store.h"

/* Labels that have columns of their own, or are not labels of a series. */
static const char *const special_labels[] = {"service",       "service_name",   "host",
					     "release",       "state",          "type",
					     "unit_of_value", WINDOW_PART_LABEL};

/* What the series of a sample follows from, and the series. Texts are compared by address. */
struct origin {
	uint32_t thread;
	uint32_t label_set;
	const char *type;
	const char *unit;
	enum schema_kind kind;
	uint32_t series;
	uint32_t part;
};

/* What is stored as one batch: a window, or one of those of which a relay made it. */
struct part {
	const struct window *window;
	const char *id;
	int64_t clock_offset_s;
	VEC(struct store_row) rows;
	VEC(struct store_gap) gaps;
};

/* One event of a recording on its way into the store. */
struct collector {
	const struct ingest_input *input;
	struct store *store;
	const char *event;
	struct ingest_result *result;
	struct strings keys; /* each series as text; ids are indices into series */
	struct arena texts;
	VEC(struct store_series) series;
	VEC(struct part) parts;
	size_t row_count;           /* of all parts */
	VEC(struct origin) origins; /* many rows have the same */
	struct id_index origin_index;
	VEC(struct store_label) labels; /* of one series, scratch */
	struct bytes key;               /* scratch */
};

static void collector_fini(struct collector *collector)
{
	strings_fini(&collector->keys);
	arena_fini(&collector->texts);
	vec_fini(&collector->series);
	for (size_t i = 0; i < collector->parts.count; i++) {
		vec_fini(&collector->parts.items[i].rows);
		vec_fini(&collector->parts.items[i].gaps);
	}
	vec_fini(&collector->parts);
	vec_fini(&collector->origins);
	id_index_fini(&collector->origin_index);
	vec_fini(&collector->labels);
	bytes_fini(&collector->key);
}

static bool is_special(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(special_labels); i++)
		if (strcmp(name, special_labels[i]) == 0)
			return true;
	return strncmp(name, "__", 2) == 0;
}

static const char *label_of(const struct export_sample *sample, const char *name)
{
	size_t i;

	for (i = 0; i < sample->label_count; i++)
		if (strcmp(sample->labels[i].key, name) == 0)
			return sample->labels[i].value;
	return NULL;
}

/* Which part a sample belongs to; the number of parts: none. */
static uint32_t part_of(const struct collector *collector, const struct export_sample *sample)
{
	const char *number;
	uint64_t value;

	if (collector->input->window->part_count == 0)
		return 0;
	number = label_of(sample, WINDOW_PART_LABEL);
	if (!number || number_parse_u64(number, &value) < 0 || value >= collector->parts.count)
		return (uint32_t)collector->parts.count;
	return (uint32_t)value;
}

static const char *first_of(const char *a, const char *b, const char *c)
{
	return a && *a ? a : b && *b ? b : c ? c : "";
}

/* Levels are merged by their mean: what is in use now, not what was used. */
static bool is_level(const char *type, enum schema_kind kind)
{
	return kind == SCHEMA_GAUGE || strncmp(type, "inuse_", 6) == 0 ||
	       strcmp(type, "live") == 0 || strcmp(type, "goroutine") == 0;
}

static int gather_labels(struct collector *collector, const struct profile *profile,
			 const struct export_sample *sample)
{
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	const char *process = profile_text(profile, thread->process_comm);
	size_t i;
	int r = 0;

	collector->labels.count = 0;
	for (i = 0; i < collector->input->label_count && r == 0; i++)
		if (!is_special(collector->input->labels[i].name))
			r = vec_push(&collector->labels, collector->input->labels[i]);
	for (i = 0; i < sample->label_count && r == 0; i++)
		if (!is_special(sample->labels[i].key))
			r = vec_push(&collector->labels,
				     (struct store_label){sample->labels[i].key,
							  sample->labels[i].value});
	if (r == 0 && *process && !label_of(sample, "process"))
		r = vec_push(&collector->labels, (struct store_label){"process", process});
	return r;
}

static int by_name(const void *a, const void *b)
{
	const struct store_label *x = a;
	const struct store_label *y = b;

	return strcmp(x->name, y->name);
}

/* Sorts them; of equal names the first counts. */
static void sort_labels(struct collector *collector)
{
	struct store_label *items = collector->labels.items;
	size_t kept = 0;
	size_t i;

	if (collector->labels.count > 1)
		qsort(items, collector->labels.count, sizeof(*items), by_name);
	for (i = 0; i < collector->labels.count; i++)
		if (kept == 0 || strcmp(items[kept - 1].name, items[i].name) != 0)
			items[kept++] = items[i];
	collector->labels.count = kept;
}

static void put_key(struct bytes *key, const char *text)
{
	bytes_printf(key, "%zu:%s", strlen(text), text);
}

static void make_key(struct collector *collector, const struct store_series *series)
{
	size_t i;

	bytes_clear(&collector->key);
	put_key(&collector->key, series->service);
	put_key(&collector->key, series->type);
	put_key(&collector->key, series->unit);
	put_key(&collector->key, series->host);
	put_key(&collector->key, series->release);
	for (i = 0; i < collector->labels.count; i++) {
		put_key(&collector->key, collector->labels.items[i].name);
		put_key(&collector->key, collector->labels.items[i].value);
	}
}

static const char *keep(struct collector *collector, const char *text, bool *failed)
{
	const char *copy = arena_strndup(&collector->texts, text, strnlen(text, INGEST_VALUE_MAX));

	*failed = *failed || !copy;
	return copy ? copy : "";
}

/* Adds a series, with copies of its texts. */
static int add_series(struct collector *collector, const struct store_series *told)
{
	struct store_series series = *told;
	size_t n = collector->labels.count;
	struct store_label *labels =
		arena_alloc(&collector->texts, (n > 0 ? n : 1) * sizeof(*labels));
	bool failed = !labels;
	size_t i;

	series.service = keep(collector, told->service, &failed);
	series.type = keep(collector, told->type, &failed);
	series.unit = keep(collector, told->unit, &failed);
	series.host = keep(collector, told->host, &failed);
	series.release = keep(collector, told->release, &failed);
	for (i = 0; i < n && !failed; i++) {
		labels[i].name = keep(collector, collector->labels.items[i].name, &failed);
		labels[i].value = keep(collector, collector->labels.items[i].value, &failed);
	}
	series.labels = labels;
	series.label_count = n;
	if (!failed && collector->input->service_seen)
		collector->input->service_seen(collector->input->service_self, series.host,
					       series.service);
	return failed ? -ENOMEM : vec_push(&collector->series, series);
}

static int make_series(struct collector *collector, const struct profile *profile,
		       const struct export_sample *sample, uint32_t part, uint32_t *ret)
{
	const struct window *window = collector->parts.items[part].window;
	const struct ingest_input *input = collector->input;
	const struct profile_thread *thread = &profile->threads.items[sample->thread];
	const char *process = profile_text(profile, thread->process_comm);
	const char *service = first_of(label_of(sample, "service"),
				       label_of(sample, "service_name"), input->service);
	struct store_series series = {
		.service = first_of(service, process, "unknown"),
		.type = input->type ? input->type : sample->value,
		.unit = input->type ? input->unit : sample->unit,
		.host = first_of(label_of(sample, "host"), window->host, input->host),
		.release = first_of(label_of(sample, "release"), input->release, ""),
	};
	size_t known;
	uint32_t id;

	series.is_gauge = is_level(series.type, sample->kind);
	if (gather_labels(collector, profile, sample) < 0)
		return -ENOMEM;
	sort_labels(collector);
	make_key(collector, &series);
	known = collector->keys.entries.count;
	id = collector->key.failed ? ID_NONE
				   : strings_add_n(&collector->keys, (char *)collector->key.data,
						   collector->key.size);
	if (id == ID_NONE)
		return -ENOMEM;
	*ret = id - 1; /* 0 is the empty text */
	if (id < known)
		return 0;
	return collector->series.count >= INGEST_SERIES_MAX ? -E2BIG
							    : add_series(collector, &series);
}

static bool is_of(const struct origin *origin, const struct export_sample *sample)
{
	return origin->thread == sample->thread && origin->label_set == sample->label_set &&
	       origin->type == sample->value && origin->unit == sample->unit &&
	       origin->kind == sample->kind;
}

/* The series of a sample. Its key is long, so it is made once for each origin. */
static int find_series(struct collector *collector, const struct profile *profile,
		       const struct export_sample *sample, struct origin *ret)
{
	uint64_t hash = hash_pair(sample->thread, sample->label_set);
	struct id_probe probe = id_index_probe(&collector->origin_index, hash);
	uint32_t id;
	int r;

	while ((id = id_probe_next(&collector->origin_index, &probe)) != ID_NONE) {
		*ret = collector->origins.items[id];
		if (is_of(ret, sample))
			return 0;
	}
	id = (uint32_t)collector->origins.count;
	*ret = (struct origin){sample->thread,
			       sample->label_set,
			       sample->value,
			       sample->unit,
			       sample->kind,
			       0,
			       part_of(collector, sample)};
	if (ret->part >= collector->parts.count)
		return -EBADMSG;
	r = make_series(collector, profile, sample, ret->part, &ret->series);
	if (r == 0)
		r = vec_push(&collector->origins, *ret);
	if (r == 0)
		r = id_index_add(&collector->origin_index, hash, id);
	return r;
}

static uint32_t time_of(struct collector *collector, const struct part *part,
			const struct export_sample *sample)
{
	const struct ingest_input *input = collector->input;
	uint64_t bucket_s = part->window->bucket_s > 0 ? part->window->bucket_s : INGEST_BUCKET_S;
	uint64_t time_s = sample->realtime_ns / NS_PER_SEC;

	if (time_s == 0) {
		time_s = input->time_s > 0 ? input->time_s : input->now_s;
	} else if (llabs(part->clock_offset_s) > INGEST_CLOCK_TOLERANCE_S) {
		time_s = (uint64_t)((int64_t)time_s + part->clock_offset_s);
		collector->result->shifted = true;
	}
	if (time_s > input->now_s) /* also of what was before 1970 */
		time_s = input->now_s;
	return (uint32_t)(time_s - time_s % bucket_s);
}

static int64_t value_of(const struct collector *collector, const struct export_sample *sample)
{
	double scaled;

	if (collector->input->scale <= 0)
		return sample->weight <= INT64_MAX ? (int64_t)sample->weight : INT64_MAX;
	scaled = (double)sample->weight * collector->input->scale;
	return scaled < (double)INT64_MAX ? (int64_t)scaled : INT64_MAX;
}

/* Gaps belong to the window, not to an event: they go with the first one. */
static int add_gaps(const struct collector *collector, struct part *part)
{
	const struct window *window = part->window;
	size_t i;
	int r = 0;

	for (i = 0; i < window->gaps.count && r == 0; i++) {
		const struct window_gap *gap = &window->gaps.items[i];

		r = vec_push(&part->gaps,
			     (struct store_gap){first_of(window->host, collector->input->host, ""),
						gap->from_s, gap->to_s, gap->reason});
	}
	return r;
}

static int add_part(struct collector *collector, struct part part, bool with_gaps)
{
	int r = with_gaps ? add_gaps(collector, &part) : 0;

	if (r == 0)
		r = vec_push(&collector->parts, part);
	if (r < 0)
		vec_fini(&part.gaps);
	return r;
}

static int add_parts(struct collector *collector, bool with_gaps)
{
	const struct ingest_input *input = collector->input;
	const struct window *window = input->window;
	size_t i;
	int r = 0;

	if (window->part_count == 0)
		return add_part(collector,
				(struct part){.window = window,
					      .id = input->id,
					      .clock_offset_s = input->clock_offset_s},
				with_gaps);
	for (i = 0; i < window->part_count && r == 0; i++) {
		const struct window *each = &window->parts[i];
		int64_t offset_s = each->clock_offset_s + input->clock_offset_s;

		r = *each->id ? add_part(collector,
					 (struct part){.window = each,
						       .id = each->id,
						       .clock_offset_s = offset_s},
					 with_gaps)
			      : -EBADMSG;
	}
	return r;
}

/* Whole texts: what is cut off would make two batches one, and the second a duplicate. */
static const char *make_id(const struct collector *collector, const struct part *part,
			   struct bytes *ret)
{
	const struct ingest_input *input = collector->input;
	XXH128_hash_t hash = XXH3_128bits(input->data, input->size);

	size_t i;

	if (*part->id) {
		bytes_printf(ret, "%s/%s", part->id, collector->event);
	} else {
		bytes_printf(ret, "%016" PRIx64 "%016" PRIx64 "/%s/%s/%" PRIu64 "/%s/%s",
			     hash.high64, hash.low64, collector->event,
			     first_of(input->service, NULL, ""), input->time_s,
			     first_of(input->host, NULL, ""), first_of(input->release, NULL, ""));
		/* Two idle hosts may well send the same samples in the same second. */
		for (i = 0; i < input->label_count; i++)
			bytes_printf(ret, "/%s=%s", input->labels[i].name, input->labels[i].value);
	}
	bytes_put_u8(ret, '\0');
	return (const char *)ret->data;
}

/*
 * Agents number their windows, "SENDER-NUMBER", and send them in order. Other ids say nothing about
 * what may come again. Each event of a window is a batch, so each counts for itself.
 */
static const char *make_sender(const struct collector *collector, const struct part *part,
			       struct bytes *ret)
{
	const char *id = part->id;
	const char *number = strrchr(id, '-');

	if (!number || number == id || !number[1] ||
	    strspn(number + 1, "0123456789") != strlen(number + 1))
		return NULL;
	bytes_put(ret, id, (size_t)(number - id));
	bytes_printf(ret, "/%s", collector->event);
	bytes_put_u8(ret, '\0');
	return (const char *)ret->data;
}

static void tell_build_ids(const struct ingest_input *input, const struct profile *profile)
{
	size_t i;

	for (i = 0; input->build_id_seen && i < profile->modules.count; i++)
		if (profile->modules.items[i].build_id.size > 0)
			input->build_id_seen(input->service_self,
					     &profile->modules.items[i].build_id);
}

static int store_part(struct collector *collector, const struct part *part,
		      const struct profile *profile, struct error *err)
{
	struct bytes id = {0};
	struct bytes sender = {0};
	struct store_batch batch = {
		.id = make_id(collector, part, &id),
		.sender = make_sender(collector, part, &sender),
		.profile = profile,
		.series = collector->series.items,
		.series_count = collector->series.count,
		.rows = part->rows.items,
		.row_count = part->rows.count,
		.gaps = part->gaps.items,
		.gap_count = part->gaps.count,
	};
	int r;

	if (id.failed || sender.failed)
		r = error_set(err, -ENOMEM, "out of memory");
	else
		r = store_append(collector->store, &batch, err);
	bytes_fini(&id);
	bytes_fini(&sender);
	if (r < 0)
		return r;
	collector->result->batches++;
	if (r > 0)
		collector->result->duplicates++;
	else
		collector->result->rows += batch.row_count;
	return 0;
}

/* If one fails, those before it are stored: they are duplicates when the window comes again. */
static int store_all(struct collector *collector, const struct profile *profile, struct error *err)
{
	bool is_merged = collector->input->window->part_count > 0;
	size_t i;
	int r = 0;

	tell_build_ids(collector->input, profile);
	for (i = 0; i < collector->parts.count && r == 0; i++) {
		const struct part *part = &collector->parts.items[i];

		if (!is_merged || part->rows.count > 0 || part->gaps.count > 0)
			r = store_part(collector, part, profile, err);
	}
	return r;
}

static int refuse_many(struct error *err)
{
	(void)error_set(err, -E2BIG, "the window has too many samples or sets of labels");
	error_remedy(err, "send shorter windows, and labels with fewer values");
	return -E2BIG;
}

static int add_row(struct collector *collector, const struct origin *origin,
		   const struct export_sample *sample)
{
	struct part *part = &collector->parts.items[origin->part];
	struct store_row row = {
		.series = origin->series,
		.time_s = time_of(collector, part, sample),
		.stack = sample->stack,
		.samples = sample->times > 0 ? sample->times : 1,
		.value = value_of(collector, sample),
	};

	return vec_push(&part->rows, row);
}

/* A load_sample_fn. */
static int take_sample(void *self, const struct profile *profile,
		       const struct export_sample *sample, struct error *err)
{
	struct collector *collector = self;
	struct origin origin;
	int r;

	if (!sample)
		return profile->quality.damaged_chunks > 0 ? window_refuse_damaged(err)
							   : store_all(collector, profile, err);
	r = find_series(collector, profile, sample, &origin);
	if (r == 0)
		r = collector->row_count++ >= INGEST_ROWS_MAX ? -E2BIG
							      : add_row(collector, &origin, sample);
	if (r == -E2BIG)
		return refuse_many(err);
	if (r == -EBADMSG)
		return window_refuse_damaged(err);
	return r < 0 ? error_set(err, r, "out of memory") : 0;
}

static int ingest_event(struct collector *collector, int fd, struct error *err)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;

	options.event = collector->event;
	options.symbols = SYMBOLS_NAMES;
	options.inlines = false;
	options.by_build_id = true;
	options.no_files = true; /* its paths are those of the sender's host */
	return load_samples_fd(fd, "the window", &options, take_sample, collector, err);
}

/* Returns a descriptor of its own, at its start, for each event. */
static int open_copy(const struct ingest_input *input, struct error *err)
{
	SCOPED(fd) int fd = memfd_create("wick-window", MFD_CLOEXEC);
	int r;

	if (fd < 0)
		return error_errno(err, -errno, "cannot hold the window in memory");
	r = outfile_write_all(fd, input->data, input->size);
	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? error_errno(err, r, "cannot hold the window in memory") : scope_take_fd(&fd);
}

/* A window without events still has its gaps. */
static int ingest_gaps(struct collector *collector, struct error *err)
{
	static const struct value_type none = {"samples", "count"};
	SCOPED(profile) struct profile *profile = NULL;

	if (profile_new(&none, 1, &profile) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	return store_all(collector, profile, err);
}

static bool has_gaps(const struct collector *collector)
{
	size_t i;

	for (i = 0; i < collector->parts.count; i++)
		if (collector->parts.items[i].gaps.count > 0)
			return true;
	return false;
}

static int ingest_one(struct collector *collector, bool first, struct error *err)
{
	int r = strings_init(&collector->keys);
	int fd;

	if (r == 0)
		r = add_parts(collector, first);
	if (r == -EBADMSG)
		return window_refuse_damaged(err);
	if (r < 0)
		return error_set(err, r, "out of memory");
	if (!*collector->event)
		return has_gaps(collector) ? ingest_gaps(collector, err) : 0;
	fd = open_copy(collector->input, err);
	return fd < 0 ? fd : ingest_event(collector, fd, err);
}

int ingest(struct store *store, const struct ingest_input *input, struct ingest_result *ret,
	   struct error *err)
{
	size_t i = 0;
	int r;

	*ret = (struct ingest_result){0};
	do {
		struct collector collector = {
			.input = input,
			.store = store,
			.event = i < input->window->event_count ? input->window->events[i] : "",
			.result = ret,
		};

		r = ingest_one(&collector, i == 0, err);
		collector_fini(&collector);
	} while (r == 0 && ++i < input->window->event_count);
	return r;
}
