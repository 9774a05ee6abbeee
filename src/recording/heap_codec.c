/* SPDX-License-Identifier: BSD-2-Clause */
#include "recording/heap_codec.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>

#include "recording/dictionary_decoder.h"
#include "recording/format.h"
#include "recording/heap_model.h"

/* With all of these in one loop, its pointers stay in registers: 7 % faster. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Codes of sites; from SITE_FIRST on, the first sites of a chunk have codes of their own. */
enum { SITE_EXPECTED = 0, SITE_NEW = 1, SITE_FIRST = 2, SITE_FAR = 255 };

/* Codes of addresses; from 1 on: how many events ago it occurred. */
enum {
	ADDRESS_EXPECTED = 0,
	ADDRESS_PAGED = 192, /* an additional byte */
	ADDRESS_LONG = 253,  /* an additional varint */
	ADDRESS_UNALIGNED = 254,
	ADDRESS_FAR = 255, /* units of 16 bytes from the last far address */
};
#define PAGED_END (ADDRESS_PAGED + (ADDRESS_LONG - ADDRESS_PAGED) * 256u)

/* Codes of times: how far to advance, and how many events are at that time. */
#define TIME_ADVANCE_SHIFT 4u
#define TIME_FAR 15u
#define TIME_MORE 15u

/* Longest entries of the columns, by their order. */
static const uint8_t longest[HEAP_COLUMNS] = {
	[HEAP_COLUMN_THREADS - 1] = 20,     [HEAP_COLUMN_NEW_SITE - 1] = 1,
	[HEAP_COLUMN_NEW_STACK - 1] = 5,    [HEAP_COLUMN_SITE - 1] = 1,
	[HEAP_COLUMN_FAR_SITE - 1] = 3,     [HEAP_COLUMN_SIZE - 1] = 10,
	[HEAP_COLUMN_SLACK - 1] = 5,        [HEAP_COLUMN_ADDRESS - 1] = 1,
	[HEAP_COLUMN_FAR_ADDRESS - 1] = 10, [HEAP_COLUMN_TIME - 1] = 1,
	[HEAP_COLUMN_FAR_TIME - 1] = 10,    [HEAP_COLUMN_CPU - 1] = 6,
};

/*
 * Where an address and a site occurred last. Entries can evict each other: then an address is
 * written in full, and a site is defined again.
 */
#define ADDRESS_SLOTS 8192u
#define SITE_SLOTS 1024u
#define SITE_WAYS 2u

struct known_site {
	uint64_t size; /* of its last event */
	uint32_t stack;
	uint16_t kind;
	uint16_t number;
};

struct heap_addresses {
	struct {
		uint64_t address;
		uint32_t event;
		uint32_t units; /* size of the block in units of 16 bytes, + 1; 0: not a block */
	} slots[ADDRESS_SLOTS];
	struct known_site sites[SITE_SLOTS][SITE_WAYS];
	uint64_t seen[CHUNK_MAX_HEAP_EVENTS]; /* by event */
};

void heap_encoder_fini(struct heap_encoder *encoder)
{
	int i;

	for (i = 0; i < HEAP_COLUMNS; i++)
		bytes_fini(&encoder->columns[i]);
	free(encoder->model);
	free(encoder->addresses);
}

int heap_encoder_begin(struct heap_encoder *encoder, uint64_t first_event)
{
	int i;

	/* Room for the longest entries and a byte now, so that adding an event needs no checks. */
	for (i = 0; i < HEAP_COLUMNS; i++) {
		bytes_clear(&encoder->columns[i]);
		if (!bytes_reserve(&encoder->columns[i],
				   (size_t)CHUNK_MAX_HEAP_EVENTS * longest[i] + 1))
			return -ENOMEM;
		encoder->end[i] = encoder->columns[i].data;
	}
	if (!encoder->model)
		encoder->model = malloc(sizeof(*encoder->model));
	if (!encoder->addresses)
		encoder->addresses = malloc(sizeof(*encoder->addresses));
	if (!encoder->model || !encoder->addresses)
		return -ENOMEM;
	heap_model_begin(encoder->model);
	memset(encoder->addresses->slots, 0xff, sizeof(encoder->addresses->slots));
	memset(encoder->addresses->sites, 0xff, sizeof(encoder->addresses->sites));
	encoder->count = 0;
	encoder->first_event = first_event;
	encoder->thread_count = 0;
	encoder->last_start_ticks = 0;
	encoder->cpu = 0;
	encoder->cpu_since = 0;
	return 0;
}

/* Appends to a column that has room, see heap_encoder_begin(). */
static ALWAYS_INLINE void put_byte(struct heap_encoder *encoder, enum heap_column id, uint32_t code)
{
	*encoder->end[id - 1]++ = (uint8_t)code;
}

static ALWAYS_INLINE void put_code(struct heap_encoder *encoder, enum heap_column id, uint64_t code)
{
	encoder->end[id - 1] = varint_write(encoder->end[id - 1], code);
}

/* Like put_code(), for codes of one or two bytes at random. May also write the byte after it. */
static ALWAYS_INLINE void put_any(struct heap_encoder *encoder, enum heap_column id, uint64_t code)
{
	encoder->end[id - 1] = varint_write_any(encoder->end[id - 1], code);
}

static void end_thread(struct heap_encoder *encoder)
{
	if (encoder->thread_count == 0)
		return;
	put_code(encoder, HEAP_COLUMN_THREADS, encoder->thread);
	put_code(encoder, HEAP_COLUMN_THREADS, encoder->thread_count);
	put_code(encoder, HEAP_COLUMN_THREADS,
		 zigzag_encode((int64_t)(encoder->start_ticks - encoder->last_start_ticks)));
	encoder->last_start_ticks = encoder->start_ticks;
	encoder->thread_count = 0;
}

void heap_encoder_thread(struct heap_encoder *encoder, uint32_t thread)
{
	if (thread != encoder->thread)
		end_thread(encoder);
	encoder->thread = thread;
}

static ALWAYS_INLINE uint32_t kind_of(const struct heap_event *event)
{
	bool is_sized = event->op == HEAP_ALLOC || (event->size | event->slack) != 0;

	return event->op | (uint32_t)event->call << HEAP_KIND_CALL_SHIFT |
	       (is_sized ? HEAP_KIND_SIZED : 0) | (event->stack != ID_NONE ? HEAP_KIND_STACKED : 0);
}

/* Where the site may be. */
static ALWAYS_INLINE struct known_site *sites_of(struct heap_encoder *encoder, uint32_t kind,
						 uint32_t stack)
{
	uint32_t hash = (stack * 0x9e3779b1u) ^ (kind * 0x85ebca77u);

	return encoder->addresses->sites[hash >> 22];
}

/* The site; if it was unknown, the last one defined. */
static ALWAYS_INLINE struct known_site *find_site(struct heap_encoder *encoder, uint32_t kind,
						  uint32_t stack)
{
	struct known_site *sites = sites_of(encoder, kind, stack);
	struct known_site site;

	if (sites[0].stack == stack && sites[0].kind == kind)
		return &sites[0];
	site = sites[1];
	if (site.stack == stack && site.kind == kind) { /* frequent sites stay */
		sites[1] = sites[0];
		sites[0] = site;
		return &sites[0];
	}
	sites[1] = (struct known_site){.stack = stack,
				       .kind = (uint16_t)kind,
				       .number = (uint16_t)encoder->model->site_count++};
	put_byte(encoder, HEAP_COLUMN_NEW_SITE, kind);
	if (kind & HEAP_KIND_STACKED)
		put_code(encoder, HEAP_COLUMN_NEW_STACK, stack);
	return &sites[1];
}

static ALWAYS_INLINE struct known_site *put_site(struct heap_encoder *encoder, uint32_t kind,
						 uint32_t stack)
{
	struct heap_model *model = encoder->model;
	uint32_t context = heap_model_context(model);
	uint32_t count = model->site_count;
	struct known_site *site = find_site(encoder, kind, stack);

	if (count < model->site_count) {
		put_byte(encoder, HEAP_COLUMN_SITE, SITE_NEW);
	} else if (site->number == model->next_site[context]) {
		put_byte(encoder, HEAP_COLUMN_SITE, SITE_EXPECTED);
	} else if (site->number < SITE_FAR - SITE_FIRST) {
		put_byte(encoder, HEAP_COLUMN_SITE, SITE_FIRST + site->number);
	} else {
		put_byte(encoder, HEAP_COLUMN_SITE, SITE_FAR);
		put_code(encoder, HEAP_COLUMN_FAR_SITE, site->number);
	}
	heap_model_site(model, context, site->number);
	return site;
}

static ALWAYS_INLINE void put_size(struct heap_encoder *encoder, struct known_site *site,
				   const struct heap_event *event)
{
	uint32_t *extra = heap_model_slack(encoder->model, event->size);
	uint32_t slack = event->slack - heap_usual_slack(event->size);

	put_any(encoder, HEAP_COLUMN_SIZE, event->size == site->size ? 0 : event->size + 1);
	put_code(encoder, HEAP_COLUMN_SLACK,
		 (uint32_t)zigzag_encode((int64_t)(int32_t)(slack - *extra)));
	site->size = event->size;
	*extra = slack;
}

static ALWAYS_INLINE void put_far_address(struct heap_encoder *encoder, uint64_t address)
{
	struct heap_model *model = encoder->model;
	int64_t delta = (int64_t)(address - model->last_far_address);

	model->last_far_address = address;
	if (delta & 15) {
		put_byte(encoder, HEAP_COLUMN_ADDRESS, ADDRESS_UNALIGNED);
		put_code(encoder, HEAP_COLUMN_FAR_ADDRESS, zigzag_encode(delta));
	} else {
		put_byte(encoder, HEAP_COLUMN_ADDRESS, ADDRESS_FAR);
		put_code(encoder, HEAP_COLUMN_FAR_ADDRESS, zigzag_encode(delta >> 4));
	}
}

static ALWAYS_INLINE void put_distance(struct heap_encoder *encoder, uint32_t distance)
{
	uint8_t **far = &encoder->end[HEAP_COLUMN_FAR_ADDRESS - 1];
	bool is_paged = distance >= ADDRESS_PAGED;

	if (distance < PAGED_END) { /* no branch on is_paged: it is unpredictable */
		put_byte(encoder, HEAP_COLUMN_ADDRESS,
			 is_paged ? ADDRESS_PAGED + (distance - ADDRESS_PAGED) / 256 : distance);
		**far = (uint8_t)(distance - ADDRESS_PAGED);
		*far += is_paged;
	} else {
		put_byte(encoder, HEAP_COLUMN_ADDRESS, ADDRESS_LONG);
		put_code(encoder, HEAP_COLUMN_FAR_ADDRESS, distance);
	}
}

static ALWAYS_INLINE uint32_t slot_of(uint64_t address)
{
	return (uint32_t)((address >> 4) * 0x9e3779b97f4a7c15u >> 51);
}

/* The address of an event that is not a new block: usually that of an existing one. */
static ALWAYS_INLINE void put_old_address(struct heap_encoder *encoder,
					  const struct heap_event *event)
{
	struct heap_model *model = encoder->model;
	uint32_t at = (uint32_t)encoder->count;
	uint32_t slot = slot_of(event->address);
	uint16_t *likely = &model->distance[heap_model_context(model)];
	uint32_t units = encoder->addresses->slots[slot].units;
	uint32_t distance = at - encoder->addresses->slots[slot].event;

	if (encoder->addresses->slots[slot].address == event->address && distance <= at &&
	    distance > 0) {
		if (distance == *likely)
			put_byte(encoder, HEAP_COLUMN_ADDRESS, ADDRESS_EXPECTED);
		else
			put_distance(encoder, distance);
		*likely = (uint16_t)distance;
		if (event->op == HEAP_FREE && units > 0)
			heap_model_free(model, heap_class(units - 1, encoder->thread), at);
	} else {
		put_far_address(encoder, event->address);
	}
	encoder->addresses->slots[slot].address = event->address;
	encoder->addresses->slots[slot].event = at;
	encoder->addresses->slots[slot].units = 0;
}

static ALWAYS_INLINE void put_new_address(struct heap_encoder *encoder,
					  const struct heap_event *event)
{
	struct heap_model *model = encoder->model;
	uint32_t at = (uint32_t)encoder->count;
	uint32_t slot = slot_of(event->address);
	uint32_t units = heap_units(event->size, event->slack);
	uint32_t freed = heap_model_reuse(model, heap_class(units, encoder->thread));
	uint32_t distance = at - encoder->addresses->slots[slot].event;

	if (freed > 0 && encoder->addresses->seen[freed - 1] == event->address)
		put_byte(encoder, HEAP_COLUMN_ADDRESS, ADDRESS_EXPECTED);
	else if (encoder->addresses->slots[slot].address == event->address && distance <= at &&
		 distance > 0)
		put_distance(encoder, distance);
	else
		put_far_address(encoder, event->address);
	encoder->addresses->slots[slot].address = event->address;
	encoder->addresses->slots[slot].event = at;
	encoder->addresses->slots[slot].units = units + 1;
}

/*
 * Whether the clock has advanced since the last event is unpredictable, so there is no branch for
 * it.
 */
static ALWAYS_INLINE void put_time(struct heap_encoder *encoder, uint64_t ticks)
{
	uint8_t **end = &encoder->end[HEAP_COLUMN_TIME - 1];
	uint64_t advance = ticks - encoder->ticks;
	bool is_same = advance == 0;

	if (__builtin_expect(encoder->thread_count == 0, 0)) {
		encoder->start_ticks = ticks;
		advance = 0;
		is_same = false;
	} else {
		is_same &= ((*end)[-1] & TIME_MORE) < TIME_MORE;
		(*end)[-1] += is_same;
	}
	encoder->ticks = ticks;
	if (__builtin_expect(advance >= TIME_FAR, 0)) {
		put_byte(encoder, HEAP_COLUMN_TIME, TIME_FAR << TIME_ADVANCE_SHIFT);
		put_code(encoder, HEAP_COLUMN_FAR_TIME, zigzag_encode((int64_t)advance));
		return;
	}
	**end = (uint8_t)(advance << TIME_ADVANCE_SHIFT);
	*end += !is_same;
}

static ALWAYS_INLINE void put_cpu(struct heap_encoder *encoder, uint16_t cpu)
{
	put_code(encoder, HEAP_COLUMN_CPU, encoder->count - encoder->cpu_since);
	put_code(encoder, HEAP_COLUMN_CPU, cpu);
	encoder->cpu_since = (uint32_t)encoder->count;
	encoder->cpu = cpu;
}

static ALWAYS_INLINE void add_event(struct heap_encoder *encoder, const struct heap_event *event,
				    uint32_t stack)
{
	uint32_t kind = kind_of(event);
	struct known_site *site = put_site(encoder, kind, stack);

	if (kind & HEAP_KIND_SIZED)
		put_size(encoder, site, event);
	if (event->op == HEAP_ALLOC)
		put_new_address(encoder, event);
	else
		put_old_address(encoder, event);
	encoder->addresses->seen[encoder->count] = event->address;
	put_time(encoder, event->time_ns / TIME_TICK_NS);
	if (event->cpu != encoder->cpu)
		put_cpu(encoder, event->cpu);
	encoder->thread_count++;
	encoder->count++;
}

void heap_encoder_add(struct heap_encoder *encoder, const struct heap_event *events,
		      const uint32_t *stacks, size_t n)
{
	struct heap_encoder local = *encoder;
	size_t i;

	/* Prefetches what is looked up below. */
	for (i = 0; i < n; i++) {
		__builtin_prefetch(&encoder->addresses->slots[slot_of(events[i].address)]);
		if (stacks[i] != ID_NONE)
			__builtin_prefetch(sites_of(encoder, kind_of(&events[i]), stacks[i]));
	}
	for (i = 0; i < n; i++)
		add_event(&local, &events[i], stacks[i]);
	*encoder = local;
}

int heap_encoder_finish(struct heap_encoder *encoder, uint64_t until_ticks, struct bytes *out)
{
	int i;

	end_thread(encoder);
	bytes_put_varint(out, encoder->count);
	bytes_put_varint(out, encoder->first_event);
	bytes_put_varint(out, TIME_TICK_NS);
	bytes_put_varint(out, until_ticks);
	for (i = 0; i < HEAP_COLUMNS; i++) {
		const uint8_t *data = encoder->columns[i].data;
		size_t size = (size_t)(encoder->end[i] - data);

		if (size == 0)
			continue;
		bytes_put_u8(out, (uint8_t)(i + 1));
		bytes_put_varint(out, size);
		bytes_put(out, data, size);
	}
	return out->failed ? -ENOMEM : 0;
}

/* The state of reading a chunk. */
struct heap_input {
	struct cursor columns[HEAP_COLUMNS];
	const struct number_map *stacks;
	uint64_t tick_ns;
	uint64_t time_ns; /* of the next event, while there are some at this time */
	uint32_t at_this_time;
	uint64_t cpu_since; /* the event with which the next CPU begins */
	uint32_t thread;
	uint16_t cpu;
};

/* Like cursor_varint(), without branches on the length for two to four bytes. */
static inline uint64_t read_varint(struct cursor *in)
{
	uint32_t word;
	uint32_t ends;

	if (in->at < in->end && *in->at < 0x80)
		return *in->at++;
	if (cursor_left(in) < sizeof(word))
		return cursor_varint_slow(in);
	memcpy(&word, in->at, sizeof(word));
	word = le32toh(word);
	ends = ~word & 0x80808080u;
	if (ends == 0)
		return cursor_varint_slow(in);
	in->at += (uint32_t)__builtin_ctz(ends) / 8 + 1;
	word &= ends ^ (ends - 1);
	return (word & 0x7f) | (word >> 1 & 0x3f80) | (word >> 2 & 0x1fc000) |
	       (word >> 3 & 0xfe00000);
}

static inline uint64_t next_code(struct heap_input *in, enum heap_column id)
{
	return read_varint(&in->columns[id - 1]);
}

/* For columns with a byte per event; their length was checked. */
static inline uint32_t next_byte(struct heap_input *in, enum heap_column id)
{
	return *in->columns[id - 1].at++;
}

void heap_decoder_fini(struct heap_decoder *decoder)
{
	free(decoder->model);
	vec_fini(&decoder->runs);
	vec_fini(&decoder->events);
}

/* Finds the columns; missing ones are empty, unknown ones are skipped. */
static int find_columns(struct cursor *in, struct heap_input *ret, size_t count)
{
	while (cursor_left(in) > 0 && !in->failed) {
		uint8_t id = cursor_u8(in);
		size_t n = cursor_varint_max(in, CHUNK_MAX_BYTES);
		const uint8_t *data = cursor_take(in, n);

		if (data && id > 0 && id <= HEAP_COLUMNS)
			ret->columns[id - 1] = cursor_of(data, n);
	}
	if (in->failed || cursor_left(&ret->columns[HEAP_COLUMN_SITE - 1]) != count ||
	    cursor_left(&ret->columns[HEAP_COLUMN_ADDRESS - 1]) != count)
		return -EBADMSG;
	return 0;
}

static bool read_new_site(struct heap_decoder *decoder, struct heap_input *in)
{
	struct heap_model *model = decoder->model;
	struct cursor *kinds = &in->columns[HEAP_COLUMN_NEW_SITE - 1];
	struct cursor *stacks = &in->columns[HEAP_COLUMN_NEW_STACK - 1];
	struct heap_site site = {.kind = cursor_u8(kinds), .stack = ID_NONE};

	if (site.kind & HEAP_KIND_STACKED) {
		uint64_t stack = read_varint(stacks);

		if (stack >= ID_NONE)
			return false;
		site.stack = in->stacks ? number_map_get(in->stacks, stack) : (uint32_t)stack;
		site.is_hole = site.stack == ID_NONE;
		decoder->has_holes |= site.is_hole;
	}
	/* There are no more sites than events. */
	model->sites[model->site_count++] = site;
	return !kinds->failed && !stacks->failed && (site.kind & HEAP_KIND_OP) < HEAP_OPS;
}

static inline struct heap_site *read_site(struct heap_decoder *decoder, struct heap_input *in)
{
	struct heap_model *model = decoder->model;
	uint32_t context = heap_model_context(model);
	uint32_t code = next_byte(in, HEAP_COLUMN_SITE);
	uint64_t site = code - SITE_FIRST;

	if (code == SITE_EXPECTED) {
		site = model->next_site[context];
	} else if (code == SITE_NEW) {
		site = model->site_count;
		if (!read_new_site(decoder, in))
			return NULL;
	} else if (code == SITE_FAR) {
		site = next_code(in, HEAP_COLUMN_FAR_SITE);
	}
	if (site >= model->site_count)
		return NULL;
	heap_model_site(model, context, (uint32_t)site);
	return &model->sites[site];
}

static inline void read_size(struct heap_decoder *decoder, struct heap_input *in,
			     struct heap_site *site, struct heap_event *event)
{
	uint64_t code = next_code(in, HEAP_COLUMN_SIZE);
	uint64_t slack = next_code(in, HEAP_COLUMN_SLACK);
	uint32_t *extra;

	if (code > 0)
		site->size = code - 1;
	extra = heap_model_slack(decoder->model, site->size);
	*extra += (uint32_t)zigzag_decode(slack);
	event->size = site->size;
	event->slack = *extra + heap_usual_slack(site->size);
}

/* How many events ago the address occurred; 0: never. */
static inline uint32_t read_distance(struct heap_input *in, uint32_t code)
{
	if (code < ADDRESS_PAGED)
		return code;
	if (code < ADDRESS_LONG)
		return ADDRESS_PAGED + (code - ADDRESS_PAGED) * 256 +
		       cursor_u8(&in->columns[HEAP_COLUMN_FAR_ADDRESS - 1]);
	if (code == ADDRESS_LONG)
		return (uint32_t)cursor_varint_max(&in->columns[HEAP_COLUMN_FAR_ADDRESS - 1],
						   CHUNK_MAX_HEAP_EVENTS);
	return 0;
}

static uint64_t read_far_address(struct heap_decoder *decoder, struct heap_input *in, uint32_t code)
{
	int64_t delta = zigzag_decode(next_code(in, HEAP_COLUMN_FAR_ADDRESS));

	if (code == ADDRESS_FAR)
		delta = (int64_t)((uint64_t)delta << 4);
	decoder->model->last_far_address += (uint64_t)delta;
	return decoder->model->last_far_address;
}

/* Returns false if the address is invalid. */
static inline bool read_address(struct heap_decoder *decoder, struct heap_input *in, uint32_t at,
				struct heap_event *event)
{
	struct heap_model *model = decoder->model;
	uint32_t code = next_byte(in, HEAP_COLUMN_ADDRESS);
	uint16_t *likely = &model->distance[heap_model_context(model)];
	const struct heap_event *before;
	uint32_t distance;

	if (event->op == HEAP_ALLOC) {
		uint32_t units = heap_units(event->size, event->slack);
		uint32_t freed = heap_model_reuse(model, heap_class(units, in->thread));

		distance = code == ADDRESS_EXPECTED ? (freed > 0 ? at + 1 - freed : 0)
						    : read_distance(in, code);
	} else {
		distance = code == ADDRESS_EXPECTED ? *likely : read_distance(in, code);
	}
	if (code >= ADDRESS_UNALIGNED) {
		event->address = read_far_address(decoder, in, code);
		return true;
	}
	if (distance == 0 || distance > at)
		return false;
	before = event - distance;
	event->address = before->address;
	if (event->op == HEAP_ALLOC)
		return true;
	*likely = (uint16_t)distance;
	if (event->op == HEAP_FREE && before->op == HEAP_ALLOC)
		heap_model_free(
			model, heap_class(heap_units(before->size, before->slack), in->thread), at);
	return true;
}

static inline void read_time(struct heap_input *in)
{
	struct cursor *column = &in->columns[HEAP_COLUMN_TIME - 1];
	uint32_t code = cursor_u8(column);
	uint64_t advance = code >> TIME_ADVANCE_SHIFT;

	if (advance == TIME_FAR)
		advance = (uint64_t)zigzag_decode(next_code(in, HEAP_COLUMN_FAR_TIME));
	in->time_ns += advance * in->tick_ns;
	in->at_this_time = (code & TIME_MORE) + 1;
}

static void read_cpu(struct heap_input *in)
{
	struct cursor *column = &in->columns[HEAP_COLUMN_CPU - 1];

	in->cpu = (uint16_t)cursor_varint_max(column, UINT16_MAX);
	in->cpu_since =
		cursor_left(column) > 0 ? in->cpu_since + cursor_varint(column) : UINT64_MAX;
}

/* Reads the events of a thread, from `at` to `end`. */
static int read_events(struct heap_decoder *decoder, struct heap_input *in, uint32_t at,
		       uint32_t end)
{
	in->at_this_time = 0;
	for (; at < end; at++) {
		struct heap_event *event = &decoder->events.items[at];
		struct heap_site *site = read_site(decoder, in);

		if (!site)
			return -EBADMSG;
		*event = (struct heap_event){
			.stack = site->stack,
			.op = site->kind & HEAP_KIND_OP,
			.call = site->kind >> HEAP_KIND_CALL_SHIFT & HEAP_KIND_OP,
			.zero = site->is_hole,
		};
		if (site->kind & HEAP_KIND_SIZED)
			read_size(decoder, in, site, event);
		if (!read_address(decoder, in, at, event))
			return -EBADMSG;
		if (in->at_this_time == 0)
			read_time(in);
		in->at_this_time--;
		if (at == in->cpu_since)
			read_cpu(in);
		event->time_ns = in->time_ns;
		event->cpu = in->cpu;
	}
	return in->at_this_time > 0 ? -EBADMSG : 0;
}

static int read_runs(struct heap_decoder *decoder, struct heap_input *in, uint32_t count)
{
	struct cursor *column = &in->columns[HEAP_COLUMN_THREADS - 1];
	uint64_t start_ticks = 0;
	uint32_t at = 0;
	int r = 0;

	while (r == 0 && at < count) {
		struct heap_run run = {
			.thread = (uint32_t)cursor_varint_max(column, UINT32_MAX - 1),
			.count = (uint32_t)cursor_varint_max(column, count - at),
		};

		start_ticks += (uint64_t)zigzag_decode(cursor_varint(column));
		if (column->failed || run.count == 0)
			return -EBADMSG;
		if (vec_push(&decoder->runs, run) < 0)
			return -ENOMEM;
		in->thread = run.thread;
		in->time_ns = start_ticks * in->tick_ns;
		r = read_events(decoder, in, at, at + run.count);
		at += run.count;
	}
	return r;
}

int heap_decoder_run(struct heap_decoder *decoder, const uint8_t *data, size_t size,
		     const struct number_map *stacks)
{
	struct cursor in = cursor_of(data, size);
	struct heap_input input = {.stacks = stacks, .cpu_since = UINT64_MAX};
	uint32_t count = (uint32_t)cursor_varint_max(&in, CHUNK_MAX_HEAP_EVENTS);
	struct cursor *cpus = &input.columns[HEAP_COLUMN_CPU - 1];
	int r;
	int i;

	decoder->runs.count = 0;
	decoder->events.count = 0;
	decoder->has_holes = false;
	decoder->first_event = cursor_varint(&in);
	input.tick_ns = cursor_varint(&in);
	decoder->until_ns = cursor_varint(&in) * input.tick_ns;
	r = in.failed ? -EBADMSG : find_columns(&in, &input, count);
	if (r < 0)
		return r;
	if (!decoder->model)
		decoder->model = malloc(sizeof(*decoder->model));
	if (!decoder->model || vec_reserve(&decoder->events, count) < 0)
		return -ENOMEM;
	heap_model_begin(decoder->model);
	if (cursor_left(cpus) > 0)
		input.cpu_since = cursor_varint(cpus);
	r = read_runs(decoder, &input, count);
	for (i = 0; i < HEAP_COLUMNS && r == 0; i++)
		if (input.columns[i].failed)
			r = -EBADMSG;
	decoder->events.count = r == 0 ? count : 0;
	return r;
}
