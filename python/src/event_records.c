/* SPDX-License-Identifier: BSD-2-Clause */
#include "event_records.h"

#include <errno.h>
#include <time.h>

#include "tracer.h"

/* Converts ticks by the moment of the start and now. */
struct tick_scale {
	uint64_t ticks;
	uint64_t ns;
	double ns_for_tick;
};

static struct tick_scale scale_now(void)
{
	struct timespec now;
	uint64_t ticks = safe_ticks();
	uint64_t ns;
	struct tick_scale scale = {tracer.start_ticks, tracer.start_ns, 0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (ticks > scale.ticks)
		scale.ns_for_tick = (double)(ns - scale.ns) / (double)(ticks - scale.ticks);
	return scale;
}

static uint64_t scale_ns(const struct tick_scale *scale, uint64_t ticks)
{
	return scale->ns + (uint64_t)((double)(ticks - scale->ticks) * scale->ns_for_tick);
}

/* The oldest event that is still there. */
static uint64_t oldest(uint64_t next)
{
	uint64_t first = tracer.events.first;

	return next - first > tracer.events.capacity ? next - tracer.events.capacity : first;
}

/* Copies events from *first on; stops at `end`, or at one that is being written. */
static size_t copy_events(uint64_t *first, uint64_t end, struct event_record *ret, uint64_t *lost)
{
	struct tick_scale scale = scale_now();
	size_t count = 0;

	for (; *first < end; (*first)++) {
		struct trace_event event;
		int r = trace_events_get(&tracer.events, *first, &event);

		if (r == 0)
			break; /* a thread is writing it: next time */
		if (r < 0) {
			(*lost)++;
			continue;
		}
		ret[count++] = (struct event_record){.time_ns = scale_ns(&scale, event.ticks),
						     .address = event.address_kind >> 8,
						     .size = event.size,
						     .site = event.site,
						     .kind = (uint8_t)event.address_kind};
	}
	return count;
}

PyObject *event_records_read(uint64_t position, size_t events_max)
{
	uint64_t end = atomic_load_explicit(&tracer.events.next, memory_order_acquire);
	uint64_t first = position > oldest(end) ? position : oldest(end);
	uint64_t lost = first - position;
	bool is_locked = tracer.events.is_kept;
	size_t count;
	uint32_t outer;
	PyObject *bytes;

	if (!tracer.events.slots || position >= end)
		return Py_BuildValue("(yKK)", "", (unsigned long long)position, 0ull);
	if (end - first > events_max)
		end = first + events_max;
	outer = tracer_thread_enter(THREAD_OWN);
	bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((end - first) * EVENT_RECORD_BYTES));
	tracer_thread.state = outer;
	if (!bytes)
		return NULL;
	if (is_locked) /* the buffer may move */
		tracer_lock_events();
	count = copy_events(&first, end, (struct event_record *)(void *)PyBytes_AS_STRING(bytes),
			    &lost);
	if (is_locked)
		tracer_unlock_events();
	if (_PyBytes_Resize(&bytes, (Py_ssize_t)(count * EVENT_RECORD_BYTES)) < 0)
		return NULL;
	return Py_BuildValue("(NKK)", bytes, (unsigned long long)first, (unsigned long long)lost);
}

uint64_t event_records_hook_ns(void)
{
	struct tick_scale scale = scale_now();

	return (uint64_t)((double)tracer.hook_ticks * HOOK_TIMED * scale.ns_for_tick);
}
