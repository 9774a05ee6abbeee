/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/leak_watch.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/error.h"
#include "proc/process_info.h"
#include "recording/writer.h"

/* How often to check whether a search is done. */
#define ASK_NS (5 * NS_PER_MS)
#define DRAIN_NS (50 * NS_PER_MS)
/* How often to retry the removal of a leftover copy. */
#define LEFT_NS NS_PER_SEC

void leak_watch_begin(struct leak_watch *watch, const struct leak_job *job)
{
	watch->job = *job;
	watch->config.on = watch->config.on && job->engine;
	watch->next_ns = watch->config.every_ns > 0 ? clock_monotonic_ns() + watch->config.every_ns
						    : UINT64_MAX;
}

static bool is_due(const struct leak_watch *watch, pid_t pid)
{
	for (size_t i = 0; i < watch->due.count; i++)
		if (watch->due.items[i].pid == pid)
			return true;
	return false;
}

void leak_watch_ask(struct leak_watch *watch, enum leak_trigger trigger)
{
	struct engine_process process;
	size_t at = 0;

	while (watch->config.on && engine_next_process(watch->job.engine, &at, &process))
		if (!is_due(watch, process.pid))
			(void)vec_push(&watch->due, (struct leak_due){process.pid, trigger});
}

uint64_t leak_watch_next_ns(const struct leak_watch *watch)
{
	if (!watch->config.on)
		return UINT64_MAX;
	if (watch->search || watch->due.count > 0)
		return clock_monotonic_ns() + ASK_NS;
	return watch->left.count > 0 && watch->left_ns < watch->next_ns ? watch->left_ns
									: watch->next_ns;
}

/*
 * Scans of an ended process do not count as failures. A process whose first thread has ended may
 * still have others.
 */
static bool has_ended(pid_t pid)
{
	struct process_info info;

	return process_info_read(pid, &info, NULL) < 0 ||
	       ((info.state == 'Z' || info.state == 'X') && info.thread_count <= 1);
}

static void fail(struct leak_watch *watch, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 64];
	bool is_first = watch->why.code == 0;

	if (has_ended(watch->searched.pid))
		return;
	watch->failures += watch->searched.waits;
	watch->why = *err;
	/* If nothing can be written the recording fails as well, and that is reported. */
	if (!is_first || !watch->config.notice ||
	    recording_writer_check(watch->job.writer, NULL) < 0)
		return;
	(void)snprintf(text, sizeof(text), "no leak scan: %s%s%s", err->text,
		       err->remedy[0] ? "\n      " : "", err->remedy);
	watch->config.notice(watch->config.self, text);
}

static void let_go(struct leak_watch *watch)
{
	if (watch->searched.waits)
		engine_scanned(watch->job.engine, watch->searched.pid);
}

static void keep_left(struct leak_watch *watch)
{
	if (watch->last.left.child > 0)
		(void)vec_push(&watch->left, watch->last.left); /* else it stays in the list */
}

/* Writes the result when the search is done. */
static void end_search(struct leak_watch *watch)
{
	struct error err = {0};

	if (leak_search_end(watch->search, &watch->last, &err) < 0)
		fail(watch, &err);
	else
		watch->scans++;
	keep_left(watch);
	watch->search = NULL;
	let_go(watch);
}

static void begin_search(struct leak_watch *watch, const struct engine_process *process,
			 enum leak_trigger trigger)
{
	struct error err = {0};

	watch->job.trigger = trigger;
	watch->searched = *process;
	if (leak_search_begin(&watch->job, process, &watch->search, &err) == 0)
		return;
	fail(watch, &err);
	let_go(watch);
}

/* Takes the next requested scan from the list. */
static bool take_due(struct leak_watch *watch, pid_t pid, enum leak_trigger *ret)
{
	for (size_t i = 0; i < watch->due.count; i++) {
		if (watch->due.items[i].pid != pid)
			continue;
		*ret = watch->due.items[i].trigger;
		watch->due.items[i] = watch->due.items[--watch->due.count];
		return true;
	}
	return false;
}

/* Waiting processes come first: they can do nothing else. */
static void begin_next(struct leak_watch *watch)
{
	struct engine_process process;
	enum leak_trigger trigger;
	size_t at = 0;

	while (!watch->search && engine_next_process(watch->job.engine, &at, &process))
		if (process.waits)
			begin_search(watch, &process, LEAK_AT_EXIT);
	at = 0;
	while (!watch->search && watch->due.count > 0 &&
	       engine_next_process(watch->job.engine, &at, &process))
		if (take_due(watch, process.pid, &trigger))
			begin_search(watch, &process, trigger);
	if (!watch->search)
		watch->due.count = 0; /* the others have ended */
}

static void remove_left(struct leak_watch *watch, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < watch->left.count; i++)
		if (!leak_copy_remove(&watch->left.items[i]))
			watch->left.items[kept++] = watch->left.items[i];
	watch->left.count = kept;
	watch->left_ns = now_ns + LEFT_NS;
}

void leak_watch_look(struct leak_watch *watch, uint64_t now_ns)
{
	if (!watch->config.on)
		return;
	if (watch->left.count > 0 && now_ns >= watch->left_ns)
		remove_left(watch, now_ns);
	if (now_ns >= watch->next_ns) {
		leak_watch_ask(watch, LEAK_AT_INTERVAL);
		watch->next_ns = now_ns + watch->config.every_ns;
	}
	if (watch->search && leak_search_is_done(watch->search))
		end_search(watch);
	if (!watch->search)
		begin_next(watch);
}

/* Runs until no search is active. A failure of the engine shows again at the next drain. */
static void finish_all(struct leak_watch *watch)
{
	uint64_t drained_ns = clock_monotonic_ns();

	leak_watch_look(watch, drained_ns);
	while (watch->search) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns - drained_ns > DRAIN_NS) {
			(void)engine_drain(watch->job.engine, NULL);
			drained_ns = now_ns;
		}
		(void)nanosleep(&(struct timespec){.tv_nsec = ASK_NS}, NULL);
		leak_watch_look(watch, now_ns);
	}
}

int leak_watch_scan(struct leak_watch *watch, struct error *err)
{
	uint32_t before = watch->scans;

	if (!watch->config.on) {
		(void)error_set(err, -EINVAL, "this recording was started without leak scans");
		error_remedy(
			err,
			"record with --leaks: wick heap --leaks -- PROGRAM, or -p PID; without it, "
			"wick leaks FILE shows only growth, after the recording has ended");
		return -EINVAL;
	}
	leak_watch_ask(watch, LEAK_ON_DEMAND);
	finish_all(watch);
	if (watch->scans > before)
		return 0;
	if (watch->why.code == 0)
		return error_advise(err,
				    error_set(err, -ESRCH,
					      "no process is left to scan: all processes of this "
					      "recording have ended"),
				    "scan while the program runs, or see: wick leaks FILE");
	if (err)
		*err = watch->why;
	return -EIO;
}

void leak_watch_finish(struct leak_watch *watch)
{
	watch->due.count = 0;
	watch->next_ns = UINT64_MAX;
	finish_all(watch);
	leak_watch_end(watch);
}

/* Releases processes that wait for a scan that will not happen. */
static void let_all_go(struct leak_watch *watch)
{
	struct engine_process process;
	size_t at = 0;

	while (engine_next_process(watch->job.engine, &at, &process))
		if (process.waits)
			engine_scanned(watch->job.engine, process.pid);
}

void leak_watch_end(struct leak_watch *watch)
{
	if (watch->search) {
		leak_search_drop(watch->search, &watch->last.left);
		keep_left(watch);
	}
	watch->search = NULL;
	if (watch->config.on)
		let_all_go(watch);
	remove_left(watch, 0);
	watch->config.on = false;
	watch->job.engine = NULL;
	vec_fini(&watch->due);
	vec_fini(&watch->left);
}
