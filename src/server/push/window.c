/* SPDX-License-Identifier: BSD-2-Clause */
#include "server/push/window.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "recording/chunk.h"
#include "recording/format.h"
#include "recording/reader.h"

#define NAME "the window"
#define PART_PREFIX "relay."
#define OFFSET_MAX_S 1e9

int window_refuse_damaged(struct error *err)
{
	(void)error_set(err, -EBADMSG, NAME " is damaged or cut off");
	error_remedy(err, "send it again; wick info --check FILE shows what is wrong");
	return -EBADMSG;
}

/* Adds up what its chunks decompress to. */
static int check_size(const uint8_t *data, size_t size, size_t limit, struct error *err)
{
	size_t at = RECORDING_HEADER_BYTES;
	size_t raw = 0;

	if (!recording_is(data, size)) {
		(void)error_set(err, -EBADMSG, "the body is not a wick recording");
		error_remedy(err, "send a .wick file; other formats: wick import -o x.wick FILE");
		return -EBADMSG;
	}
	while (at < size) {
		struct chunk_header header;

		if (size - at < CHUNK_HEADER_BYTES || !chunk_parse_header(data + at, &header) ||
		    size - at - CHUNK_HEADER_BYTES < header.stored_bytes)
			return window_refuse_damaged(err);
		at += CHUNK_HEADER_BYTES + header.stored_bytes;
		raw += header.raw_bytes;
		if (raw > limit) {
			(void)error_set(err, -EFBIG,
					NAME " decompresses to more than the limit of %zu bytes",
					limit);
			error_remedy(err, "send shorter windows");
			return -EFBIG;
		}
	}
	return 0;
}

/* Seconds or nanoseconds since 1970. */
static uint64_t seconds_of(const char *text)
{
	double value;

	if (number_parse_double(text, &value) < 0 || value < 0)
		return 0;
	return (uint64_t)(value > 1e12 ? value / 1e9 : value);
}

static int add_gap(struct window *window, const char *text)
{
	struct window_gap gap = {0};
	char from[32];
	char to[32];
	int at = 0;

	if (window->gaps.count >= WINDOW_GAPS_MAX ||
	    sscanf(text, "%31s %31s %n", from, to, &at) != 2)
		return 0;
	gap.from_s = (uint32_t)seconds_of(from);
	gap.to_s = (uint32_t)seconds_of(to);
	(void)snprintf(gap.reason, sizeof(gap.reason), "%s", text + at); /* a cut text is fine */
	return vec_push(&window->gaps, gap);
}

static void keep(char ret[WINDOW_TEXT_MAX], const char *text)
{
	(void)snprintf(ret, WINDOW_TEXT_MAX, "%s", text); /* a cut text is fine */
}

static void take_number(struct window_numbers *numbers, const char *key, const char *value)
{
	const struct {
		const char *key;
		double *ret;
	} known[] = {
		{"rate.asked", &numbers->rate_asked},
		{"rate.achieved", &numbers->rate_achieved},
		{"agent.cpu_percent", &numbers->cpu_percent},
		{"agent.budget_percent", &numbers->budget_percent},
		{"agent.ring_percent", &numbers->ring_percent},
		{"agent.rss_bytes", &numbers->rss_bytes},
		{"agent.memory_limit_bytes", &numbers->memory_limit_bytes},
		{"agent.spool_windows", &numbers->spool_windows},
		{"agent.spool_bytes", &numbers->spool_bytes},
		{"window.samples", &numbers->samples},
		{"window.lost", &numbers->lost},
		{"window.unnamed", &numbers->unnamed},
	};
	double number;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (strcmp(key, known[i].key) == 0 && number_parse_double(value, &number) == 0 &&
		    number >= 0)
			*known[i].ret = number;
}

/* A difference of clocks; 0 if it makes no sense. */
static int64_t offset_of(const char *text)
{
	double value;

	return number_parse_double(text, &value) == 0 && value > -OFFSET_MAX_S &&
			       value < OFFSET_MAX_S
		       ? (int64_t)value
		       : 0;
}

/* The part with this number; NULL: there are too many, or no memory. */
static struct window *find_part(struct window *window, unsigned long number)
{
	struct window *more;

	if (number >= WINDOW_PARTS_MAX)
		return NULL;
	if (number >= window->part_count) {
		more = realloc(window->parts, (number + 1) * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + window->part_count, 0,
		       (number + 1 - window->part_count) * sizeof(*more));
		window->parts = more;
		window->part_count = number + 1;
	}
	return &window->parts[number];
}

static int take_fact(struct window *window, const char *key, const char *value)
{
	if (strncmp(key, "gap", 3) == 0)
		return add_gap(window, value);
	if (strcmp(key, "agent.host") == 0 || (strcmp(key, "host") == 0 && !window->host[0]))
		keep(window->host, value);
	else if (strcmp(key, "agent.version") == 0)
		keep(window->version, value);
	else if (strcmp(key, "agent.breaker") == 0)
		(void)snprintf(window->numbers.breaker, sizeof(window->numbers.breaker), "%s",
			       value); /* a cut text is fine */
	else if (strcmp(key, "window.id") == 0)
		keep(window->id, value);
	else if (strcmp(key, "window.start") == 0)
		window->start_s = seconds_of(value);
	else if (strcmp(key, "window.end") == 0)
		window->end_s = seconds_of(value);
	else if (strcmp(key, "window.bucket") == 0)
		window->bucket_s = seconds_of(value);
	else if (strcmp(key, "clock_offset_s") == 0)
		window->clock_offset_s = offset_of(value);
	else
		take_number(&window->numbers, key, value);
	return 0;
}

/* "relay.NUMBER.KEY" is a fact of a part. */
static int take_info(void *self, const char *key, const char *value)
{
	struct window *window = self;
	struct window *part;
	unsigned long number;
	char *end;

	if (strncmp(key, PART_PREFIX, sizeof(PART_PREFIX) - 1) != 0)
		return take_fact(window, key, value);
	key += sizeof(PART_PREFIX) - 1;
	number = strtoul(key, &end, 10);
	if (end == key || *end != '.')
		return 0;
	part = find_part(window, number);
	if (!part)
		return number >= WINDOW_PARTS_MAX ? -E2BIG : -ENOMEM;
	return take_fact(part, end + 1, value);
}

static int take_schema(void *self, uint32_t id, const struct schema *schema)
{
	struct window *window = self;
	size_t i;

	for (i = 0; i < window->event_count; i++)
		if (strcmp(window->events[i], schema->event) == 0)
			return 0;
	if (window->event_count >= WINDOW_EVENTS_MAX)
		return -E2BIG;
	window->events[window->event_count] = strdup(schema->event);
	if (!window->events[window->event_count])
		return -ENOMEM;
	window->event_count++;
	return 0;
}

int window_read(struct window *window, const void *data, size_t size, size_t limit,
		struct error *err)
{
	struct recording_visitor visitor = {
		.self = window, .info = take_info, .schema = take_schema};
	struct recording_reader *reader = NULL;
	struct recording_damage damage;
	int r = check_size(data, size, limit, err);

	if (r == 0)
		r = recording_reader_open_memory(data, size, NAME, &reader, err);
	if (r < 0)
		return r;
	recording_reader_skim(reader); /* the rest is read once, when it is stored */
	r = recording_reader_run(reader, &visitor, err);
	damage = recording_reader_damage(reader);
	recording_reader_free(reader);
	if (r == -E2BIG) {
		(void)error_set(err, r, NAME " has more than %d events or %d parts",
				WINDOW_EVENTS_MAX, WINDOW_PARTS_MAX);
		error_remedy(err, "send them in several windows");
	}
	if (r == -ENOMEM)
		(void)error_set(err, r, "out of memory");
	if (r < 0)
		return r;
	return damage.complete && damage.bad_chunks == 0 && damage.missing_chunks == 0
		       ? 0
		       : window_refuse_damaged(err);
}

void window_fini(struct window *window)
{
	size_t i;

	for (i = 0; i < window->event_count; i++)
		free(window->events[i]);
	vec_fini(&window->gaps);
	window->event_count = 0;
	for (i = 0; i < window->part_count; i++)
		window_fini(&window->parts[i]);
	free(window->parts);
	window->parts = NULL;
	window->part_count = 0;
}
