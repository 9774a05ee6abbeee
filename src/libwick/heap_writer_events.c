/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>

#include <wick/heap_writer.h>

#include "base/error.h"
#include "base/id_index.h"
#include "libwick/heap_writer_handle.h"
#include "libwick/public_error.h"
#include "model/sink.h"
#include "recording/format.h"

_Static_assert(sizeof(struct wick_heap_event) == 32, "others write this struct as bytes");

/* The space of an address is in its highest byte, which no address of a program uses. */
#define SPACE_SHIFT 56u
#define MAX_SIZE ((UINT64_C(1) << 48) - 1)

static bool has_site(const struct wick_heap_event *event)
{
	return event->op == WICK_HEAP_ALLOC || event->op == WICK_HEAP_FREE;
}

static struct heap_writer_site *site_of(const struct wick_heap_writer *writer, uint32_t number)
{
	return &writer->sites.items[heap_writer_place_of(number)];
}

static bool is_defined(const struct wick_heap_writer *writer, uint32_t number)
{
	return heap_writer_place_of(number) < writer->sites.count &&
	       site_of(writer, number)->stack != ID_NONE;
}

/* Makes an entry for an undefined site, so that it is reported once. Returns whether it was not. */
static int report(struct wick_heap_writer *writer, uint32_t number)
{
	if (heap_writer_reserve(writer, number) < 0)
		return -ENOMEM;
	if (site_of(writer, number)->is_reported)
		return 0;
	site_of(writer, number)->is_reported = true;
	return 1;
}

int64_t wick_heap_writer_new_sites(struct wick_heap_writer *writer,
				   const struct wick_heap_event *events, size_t count,
				   uint32_t *ret, size_t max)
{
	size_t found = 0;
	int r = heap_writer_check(writer, NULL);

	if (r == 0 && ((count > 0 && !events) || (max > 0 && !ret)))
		r = -EINVAL;
	for (size_t i = 0; i < count && found < max && r >= 0; i++) {
		uint32_t site = events[i].site;

		if (!has_site(&events[i]) || is_defined(writer, site) || !heap_writer_is_site(site))
			continue;
		r = report(writer, site);
		if (r > 0)
			ret[found++] = site;
	}
	for (size_t i = 0; i < found; i++)
		site_of(writer, ret[i])->is_reported = false;
	return r < 0 ? r : (int64_t)found;
}

int heap_writer_pass_on(struct wick_heap_writer *writer, struct error *err)
{
	struct heap_batch batch = {.thread = writer->batch_thread,
				   .count = writer->batch_count,
				   .events = writer->batch};

	writer->batch_count = 0;
	return batch.count > 0 ? sink_heap(writer->sink, &batch, err) : 0;
}

static int check_events(const struct wick_heap_writer *writer, const struct wick_heap_event *events,
			size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct wick_heap_event *event = &events[i];

		if (event->op < WICK_HEAP_ALLOC || event->op > WICK_HEAP_MARK)
			return error_advise(err,
					    error_set(err, -EINVAL,
						      "event %zu has the invalid op %u", i,
						      event->op),
					    "use a value of enum wick_heap_op");
		if (!has_site(event))
			continue;
		if (!is_defined(writer, event->site))
			return error_advise(
				err, error_set(err, -ENOENT, "there is no site %u", event->site),
				"define it with wick_heap_writer_site()");
		if (event->address == 0 || event->address >> SPACE_SHIFT)
			return error_advise(err,
					    error_set(err, -EINVAL,
						      "event %zu has the invalid address 0x%llx", i,
						      (unsigned long long)event->address),
					    "use the address of the block");
	}
	return 0;
}

/*
 * Times are stored in ticks, and events of several threads are sorted by them: to be after all
 * events before it and before all that follow, this one has a tick of its own.
 */
static int add_forget(struct wick_heap_writer *writer, struct error *err)
{
	uint64_t time_ns = (writer->last_ns / TIME_TICK_NS + 1) * TIME_TICK_NS;
	int r = heap_writer_pass_on(writer, err);

	writer->batch[0] =
		(struct heap_event){.time_ns = time_ns, .stack = ID_NONE, .op = HEAP_FORGET};
	writer->batch_thread = writer->main_thread;
	writer->batch_count = 1;
	writer->last_ns = time_ns + TIME_TICK_NS;
	return r;
}

static int mark_schema(struct wick_heap_writer *writer, struct error *err)
{
	static const struct schema schema = {
		.event = "mark", .value = "mark", .unit = "count", .kind = SCHEMA_TOLD};
	int r = 0;

	if (writer->mark_schema == ID_NONE)
		r = sink_schema(writer->sink, &schema, &writer->mark_schema);
	return r < 0 ? error_errno(err, r, "cannot store the recording") : 0;
}

static int add_mark(struct wick_heap_writer *writer, uint64_t number, struct error *err)
{
	const uint32_t none = 0; /* its stack is empty, its CPU unknown */
	const uint64_t one = 1;
	uint32_t labels = number < writer->marks.count ? writer->marks.items[number] : 0;
	struct sample_batch batch = {.count = 1,
				     .stack = &none,
				     .thread = &writer->main_thread,
				     .cpu = &none,
				     .labels = &labels,
				     .time_ns = &writer->last_ns,
				     .weight = &one};
	int r = mark_schema(writer, err);

	batch.schema = writer->mark_schema;
	return r < 0 ? r : sink_batch(writer->sink, &batch, err);
}

static int add_event(struct wick_heap_writer *writer, const struct wick_heap_event *event,
		     struct error *err)
{
	const struct heap_writer_site *site = site_of(writer, event->site);
	bool is_new = event->op == WICK_HEAP_ALLOC;
	uint64_t size = is_new ? event->size : 0;
	int r = 0;

	if (site->is_hidden)
		return 0;
	if (size > MAX_SIZE)
		size = MAX_SIZE;
	if (writer->batch_count == HEAP_WRITER_BATCH || writer->batch_thread != site->thread)
		r = heap_writer_pass_on(writer, err);
	writer->batch_thread = site->thread;
	writer->batch[writer->batch_count++] = (struct heap_event){
		.address = event->address | (uint64_t)site->space << SPACE_SHIFT,
		.size = size,
		.time_ns = writer->last_ns,
		.stack = is_new ? site->stack : ID_NONE,
		.slack = (uint32_t)-size & writer->slack_mask,
		.op = is_new ? HEAP_ALLOC : HEAP_FREE,
	};
	return r;
}

int wick_heap_writer_add(struct wick_heap_writer *writer, const struct wick_heap_event *events,
			 size_t count, struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0 && count > 0)
		r = need(events, "the events", &inner);
	if (r == 0)
		r = check_events(writer, events, count, &inner);
	for (size_t i = 0; i < count && r == 0; i++) {
		const struct wick_heap_event *event = &events[i];

		if (event->time_ns > writer->last_ns)
			writer->last_ns = event->time_ns;
		if (event->op == WICK_HEAP_FORGET)
			r = add_forget(writer, &inner);
		else if (event->op == WICK_HEAP_MARK)
			r = add_mark(writer, event->size, &inner);
		else
			r = add_event(writer, event, &inner);
	}
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_heap_writer_lost(struct wick_heap_writer *writer, uint64_t count, struct wick_error *err)
{
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0) {
		r = sink_loss(writer->sink, LOSS_RING_FULL, writer->last_ns, count);
		if (r < 0)
			(void)error_errno(&inner, r, "cannot store the recording");
	}
	return r < 0 ? public_error(&inner, err) : 0;
}

int wick_heap_writer_name_mark(struct wick_heap_writer *writer, uint32_t number, const char *name,
			       struct wick_error *err)
{
	struct label label = {.key = "mark", .value = name};
	uint32_t labels = 0;
	struct error inner = {0};
	int r = heap_writer_check(writer, &inner);

	if (r == 0)
		r = need(name, "the name", &inner);
	if (r == 0 && number >= WICK_HEAP_MARKS)
		r = error_advise(&inner, error_set(&inner, -ERANGE, "invalid mark %u", number),
				 "use numbers below %u", WICK_HEAP_MARKS);
	if (r == 0) {
		r = sink_labels(writer->sink, &label, 1, &labels);
		if (r < 0)
			(void)error_errno(&inner, r, "cannot store the recording");
	}
	while (r == 0 && writer->marks.count <= number)
		if (vec_push(&writer->marks, 0) < 0)
			r = error_set(&inner, -ENOMEM, "out of memory");
	if (r < 0)
		return public_error(&inner, err);
	writer->marks.items[number] = labels;
	return 0;
}
