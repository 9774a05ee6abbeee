/* SPDX-License-Identifier: BSD-2-Clause */
#include "pipeline/leak_watch.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "engine/engine.h"

void leak_watch_begin(struct leak_watch *watch, const struct leak_job *job)
{
	watch->job = *job;
	watch->next_ns = watch->config.every_ns > 0 ? clock_monotonic_ns() + watch->config.every_ns
						    : UINT64_MAX;
}

void leak_watch_ask(struct leak_watch *watch, enum leak_trigger trigger)
{
	watch->asked = true;
	watch->trigger = trigger;
}

uint64_t leak_watch_next_ns(const struct leak_watch *watch)
{
	return watch->config.on ? watch->next_ns : UINT64_MAX;
}

static void fail(struct leak_watch *watch, const struct error *err)
{
	char text[sizeof(err->text) + sizeof(err->remedy) + 64];
	bool is_first = !watch->why[0];

	(void)snprintf(watch->why, sizeof(watch->why), "%s", err->text);
	if (!is_first || !watch->config.notice)
		return;
	(void)snprintf(text, sizeof(text), "no leak scan: %s%s%s", err->text,
		       err->remedy[0] ? "\n      " : "", err->remedy);
	watch->config.notice(watch->config.self, text);
}

static void scan(struct leak_watch *watch, const struct engine_process *process)
{
	struct error err = {0};

	if (leak_scan_process(&watch->job, process, &watch->last, &err) < 0)
		fail(watch, &err);
	else
		watch->scans++;
	if (process->waits)
		engine_scanned(watch->job.engine, process->pid);
}

/* Those that wait are all looked at; others when it is time. */
void leak_watch_look(struct leak_watch *watch, uint64_t now_ns)
{
	bool by_clock = watch->config.on && now_ns >= watch->next_ns;
	struct engine_process process;
	size_t at = 0;

	while (watch->config.on && engine_next_process(watch->job.engine, &at, &process)) {
		if (!process.waits && !by_clock && !watch->asked)
			continue;
		watch->job.trigger = process.waits  ? LEAK_AT_EXIT
				     : watch->asked ? watch->trigger
						    : LEAK_AT_INTERVAL;
		scan(watch, &process);
	}
	watch->asked = false;
	if (by_clock)
		watch->next_ns = clock_monotonic_ns() + watch->config.every_ns;
}

int leak_watch_scan(struct leak_watch *watch, struct error *err)
{
	uint32_t before = watch->scans;

	if (!watch->config.on) {
		(void)error_set(err, -EINVAL, "this recording looks for no leaks");
		error_remedy(err, "begin it with: wick heap --leaks");
		return -EINVAL;
	}
	leak_watch_ask(watch, LEAK_ON_DEMAND);
	leak_watch_look(watch, clock_monotonic_ns());
	if (watch->scans > before)
		return 0;
	return error_set(err, -EIO, "%s", watch->why[0] ? watch->why : "nobody is there to scan");
}
