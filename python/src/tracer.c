/* SPDX-License-Identifier: BSD-2-Clause */
#include "tracer.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "c_blocks.h"
#include "codes.h"
#include "hold.h"
#include "modules.h"
#include "patch.h"
#include "record.h"
#include "stacks.h"

struct tracer tracer;

/* Takes all locks, so that the child has none that another thread held. */
static void before_fork(void)
{
	for (int id = 0; id < TABLE_COUNT; id++)
		tracer_lock(&tracer.tables[id]);
	codes_lock();
	modules_lock();
	tracer_lock_events();
}

static void after_fork(void)
{
	tracer_unlock_events();
	modules_unlock();
	codes_unlock();
	for (int id = TABLE_COUNT; id-- > 0;)
		tracer_unlock(&tracer.tables[id]);
}

static void after_fork_in_child(void)
{
	after_fork();
	tracer_thread.id = 0;
}

/*
 * A second interpreter may have a GIL of its own. The caller holds the GIL of the first one, and
 * nobody else can be inside its table: from here on it is used with its lock.
 */
static int on_audit(const char *event, PyObject *arguments, void *data)
{
	(void)arguments;
	(void)data;
	if (strcmp(event, "cpython.PyInterpreterState_New") == 0) {
		tracer.tables[TABLE_GIL].has_lock = true;
		tracer_choose_way();
	}
	return 0;
}

static int prepare_once(void)
{
	static bool is_prepared;

	if (is_prepared)
		return 0;
	for (int id = 0; id < TABLE_COUNT; id++) {
		struct tracer_table *table = &tracer.tables[id];

		trace_sites_init(&table->sites, &tracer.memory);
		trace_blocks_init(&table->blocks, &tracer.memory);
		pthread_mutex_init(&table->lock, NULL);
	}
	pthread_mutex_init(&tracer.events_lock, NULL);
	tracer.tracked.memory = &tracer.memory;
	tracer.tables[TABLE_LOCKED].has_lock = true;
	tracer.main_interpreter = PyInterpreterState_Main();
	/* Interpreters that exist already may have GILs of their own too. */
	if (PyInterpreterState_Next(PyInterpreterState_Head()))
		tracer.tables[TABLE_GIL].has_lock = true;
	if (pthread_atfork(before_fork, after_fork, after_fork_in_child) != 0)
		return -ENOMEM;
	if (PySys_AddAuditHook(on_audit, NULL) < 0) {
		PyErr_Clear();
		tracer.tables[TABLE_GIL].has_lock = true;
	}
	is_prepared = true;
	return 0;
}

/* Stacks that were still needed when the tracer stopped are kept, and do not count. */
static void limit_stacks(struct tracer_table *table, uint32_t stacks_max)
{
	table->sites.stacks_max = stacks_max > 0 ? table->sites.stack_count + stacks_max : 0;
}

static void forget_memos(struct tracer_table *table)
{
	memset(table->depths, 0, sizeof(table->depths));
	memset(table->sites_of_frames, 0, sizeof(table->sites_of_frames));
}

/* The table is locked: a thread without the GIL may have begun a record before the last stop. */
static int prepare_locked(struct tracer_table *table, const struct tracer_settings *settings)
{
	/* A thread may still be adding the addresses that the last start() asked for. */
	size_t words = (size_t)settings->calls_max + NATIVE_WALK_MAX;

	if (words > table->words_max) {
		uint64_t *room = trace_memory_map(&tracer.memory, words * sizeof(*room));

		if (!room)
			return -ENOMEM;
		trace_memory_unmap(&tracer.memory, table->words, table->words_max * sizeof(*room));
		table->words = room;
		table->words_max = words;
	}
	limit_stacks(table, settings->stacks_max);
	forget_memos(table);
	return record_begin(table);
}

static int prepare_table(struct tracer_table *table, const struct tracer_settings *settings)
{
	int r;

	tracer_lock(table);
	r = prepare_locked(table, settings);
	tracer_unlock(table);
	return r;
}

static void note_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	tracer.start_ticks = safe_ticks();
	tracer.start_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int prepare(const struct tracer_settings *settings)
{
	if (prepare_once() < 0 || prepare_table(&tracer.tables[TABLE_GIL], settings) < 0 ||
	    prepare_table(&tracer.tables[TABLE_LOCKED], settings) < 0 || hold_begin() < 0)
		return -ENOMEM;
	tracer.settings = *settings;
	tracer.is_sampled = settings->sampling_bytes > 0 || settings->probability > 0;
	if (settings->events_bytes > 0 &&
	    trace_events_open(&tracer.events, &tracer.memory, settings->events_bytes) < 0) {
		hold_end();
		return -ENOMEM;
	}
	return 0;
}

/* Hooks everything. On failure, sets *ret_problem. */
static int begin(const struct tracer_settings *settings, const char **ret_problem)
{
	atomic_store(&tracer.is_tracing, true);
	tracer_choose_way();
	if (hooks_install() < 0) {
		*ret_problem = "another module has put its allocator hooks over those of "
			       "wick.tracemalloc, which are of another kind: start in the same way "
			       "as before, or stop that module first";
		return -EBUSY;
	}
	patch_install(!tracer.is_sampled);
	if (settings->native_max > 0 && c_blocks_begin() < 0) {
		*ret_problem = "the allocations of C code cannot be hooked in this process: run it "
			       "with python3 -m wick.tracemalloc --native";
		return -ENOSYS;
	}
	return 0;
}

int tracer_start(const struct tracer_settings *settings, const char **ret_problem)
{
	uint32_t outer;
	int r;

	*ret_problem = "libgcc_s.so.1, which walks the frames of C code, cannot be loaded: install "
		       "libgcc, or start without native=True";
	if (settings->native_max > 0 && native_walk_begin(settings->native_max) < 0)
		return -ENOSYS;
	*ret_problem = "there is not enough memory to trace";
	if (prepare(settings) < 0)
		return -ENOMEM;
	note_time();
	tracer_clear(); /* a thread may have recorded a block during the last stop */
	if (tracer.is_sampled)
		sampled_hooks_begin();
	outer = tracer_thread_enter(THREAD_OWN); /* what hooking allocates is not the program's */
	r = begin(settings, ret_problem);
	tracer_thread.state = outer;
	if (r < 0)
		tracer_stop();
	return r;
}

void tracer_stop(void)
{
	atomic_store(&tracer.is_tracing, false);
	tracer_choose_way();
	c_blocks_end();
	patch_remove();
	hooks_remove();
	tracer_clear();
	tracer_lock(&tracer.tables[TABLE_LOCKED]);
	if (tracer.events.slots)
		trace_events_close(&tracer.events, &tracer.memory);
	tracer_unlock(&tracer.tables[TABLE_LOCKED]);
	hold_end();
}

/* Nobody can be putting an event while both tables are locked and we hold the GIL. */
static void lock_tables(void)
{
	for (int id = 0; id < TABLE_COUNT; id++)
		tracer_lock(&tracer.tables[id]);
}

static void unlock_tables(void)
{
	for (int id = TABLE_COUNT; id-- > 0;)
		tracer_unlock(&tracer.tables[id]);
}

int tracer_keep_events(size_t bytes)
{
	int r = 0;

	lock_tables();
	if (!tracer.events.slots)
		r = trace_events_open(&tracer.events, &tracer.memory, bytes);
	tracer_choose_way();
	unlock_tables();
	return r;
}

void tracer_hold_events(uint64_t number)
{
	lock_tables();
	if (tracer.events.slots)
		trace_events_keep(&tracer.events, number);
	unlock_tables();
}

void tracer_hold_no_events(void)
{
	lock_tables();
	trace_events_keep_none(&tracer.events);
	unlock_tables();
}

static void clear_blocks(struct tracer_table *table)
{
	trace_blocks_clear(&table->blocks);
	for (uint32_t site = 0; site < table->sites.site_count; site++) {
		trace_site(&table->sites, site)->count = 0;
		trace_site(&table->sites, site)->size = 0;
	}
	if (table == &tracer.tables[TABLE_LOCKED])
		tracked_blocks_clear(&tracer.tracked);
	atomic_store_explicit(&table->bytes, 0, memory_order_relaxed);
}

static void clear_stacks(struct tracer_table *table)
{
	trace_sites_clear(&table->sites);
	limit_stacks(table, tracer.settings.stacks_max);
	forget_memos(table);
	table->stacks_named = 0;
	table->frames_named = 0;
	table->clears++;
}

/* Blocks refer to stacks, and stacks to code objects: all locks are held at once. */
static void drop(bool with_stacks)
{
	struct codes_dropped dropped = {0};

	lock_tables();
	for (int id = 0; id < TABLE_COUNT; id++) {
		clear_blocks(&tracer.tables[id]);
		if (with_stacks)
			clear_stacks(&tracer.tables[id]);
	}
	if (with_stacks)
		codes_drop(&dropped);
	unlock_tables();
	if (!with_stacks)
		return;
	/* This may run code of the program. */
	codes_free(&dropped);
	stacks_forget();
	hold_forget();
}

void tracer_drop_stacks(void)
{
	if (!atomic_load(&tracer.is_tracing))
		drop(true);
}

void tracer_clear(void)
{
	drop(!hold_is_shared() && !tracer.events.slots);
	if (tracer.is_sampled)
		sampled_hooks_end();
	atomic_store_explicit(&tracer.peak_bytes, 0, memory_order_relaxed);
	if (tracer.events.slots)
		tracer_put_event(TRACE_CLEAR, 0, 0, 0);
}

int64_t tracer_live_bytes(void)
{
	return atomic_load_explicit(&tracer.tables[TABLE_GIL].bytes, memory_order_relaxed) +
	       atomic_load_explicit(&tracer.tables[TABLE_LOCKED].bytes, memory_order_relaxed);
}

void tracer_choose_way(void)
{
	tracer.is_simple = atomic_load(&tracer.is_tracing) && !tracer.is_sampled &&
			   tracer.settings.native_max == 0 && !tracer.events.slots &&
			   !tracer.tables[TABLE_GIL].has_lock;
}
