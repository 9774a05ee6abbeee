/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_LEAK_WATCH_H
#define WICK_RECORD_LEAK_WATCH_H

/*
 * leak_watch: when a recorder looks for leaks: as programs end, by a signal, by the clock, and
 * when somebody asks.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "engine/engine.h"
#include "record/leak_scan.h"

struct error;

struct leak_watch_config {
	bool on;                                      /* as programs end */
	uint64_t every_ns;                            /* 0: not by the clock */
	int at_signal;                                /* that the recorder gets; 0: none */
	void (*notice)(void *self, const char *text); /* why a scan failed, once; NULL is fine */
	void *self;
};

/* A process that is to be scanned. */
struct leak_due {
	pid_t pid;
	enum leak_trigger trigger;
};

/* Starts as zeros, with its config. */
struct leak_watch {
	struct leak_watch_config config;

	/* private, but for what came of it */
	struct leak_job job;
	uint64_t next_ns;           /* of the clock */
	VEC(struct leak_due) due;   /* that were asked for */
	struct leak_search *search; /* that is under way; NULL: none */
	struct engine_process searched;
	VEC(struct leak_copy) left; /* that are tried to be taken away again, the next time: */
	uint64_t left_ns;
	uint32_t scans;
	uint32_t failures; /* of scans at the end of a process */
	struct leak_summary last;
	struct error why; /* the last one that failed did so; code 0: none */
};

/* Before it nothing happens. */
void leak_watch_begin(struct leak_watch *watch, const struct leak_job *job);

/* A scan of all that runs, soon. Nothing after the end. */
void leak_watch_ask(struct leak_watch *watch, enum leak_trigger trigger);

/* When to look at the latest; UINT64_MAX: never. */
uint64_t leak_watch_next_ns(const struct leak_watch *watch);

/* Does what is due. */
void leak_watch_look(struct leak_watch *watch, uint64_t now_ns);

/* A scan of all that runs, now. 0, or why there was none. Drains the engine meanwhile. */
int leak_watch_scan(struct leak_watch *watch, struct error *err);

/* Ends once what is under way, and what waits for it, is found and written down. */
void leak_watch_finish(struct leak_watch *watch);

/*
 * Ends at once: what is under way is dropped, and who waits goes on. After it the engine and the
 * writer are not used, and nothing happens any more. Fine before the begin, and again.
 */
void leak_watch_end(struct leak_watch *watch);

#endif
