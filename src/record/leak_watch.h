/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_LEAK_WATCH_H
#define WICK_RECORD_LEAK_WATCH_H

/*
 * leak_watch: decides when a recorder scans for leaks: when programs exit, on a signal,
 * periodically, and on request.
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
	bool on;           /* when programs exit */
	uint64_t every_ns; /* 0: not periodically */
	int at_signal;     /* signal to the recorder that starts a scan; 0: none */
	/* Called once with the reason why a scan failed; NULL is fine. */
	void (*notice)(void *self, const char *text);
	void *self;
};

/* A process to scan. */
struct leak_due {
	pid_t pid;
	enum leak_trigger trigger;
};

/* Starts as zeros, with its config. */
struct leak_watch {
	struct leak_watch_config config;

	/* private, except for the results */
	struct leak_job job;
	uint64_t next_ns;           /* next periodic scan */
	VEC(struct leak_due) due;   /* requested scans */
	struct leak_search *search; /* the current search; NULL: none */
	struct engine_process searched;
	VEC(struct leak_copy) left; /* copies still to be removed; the next attempt is at: */
	uint64_t left_ns;
	uint32_t scans;
	uint32_t failures; /* of scans at the end of a process */
	struct leak_summary last;
	struct error why; /* why the last failed scan failed; code 0: none failed */
};

/* Must come first: until then nothing happens. */
void leak_watch_begin(struct leak_watch *watch, const struct leak_job *job);

/* Asks for a scan of all running processes, soon. Has no effect after the end. */
void leak_watch_ask(struct leak_watch *watch, enum leak_trigger trigger);

/* The latest time to call leak_watch_look(); UINT64_MAX: never. */
uint64_t leak_watch_next_ns(const struct leak_watch *watch);

/* Runs the scans that are due. */
void leak_watch_look(struct leak_watch *watch, uint64_t now_ns);

/*
 * Scans all running processes now, and drains the engine meanwhile. Returns 0, or a negative errno
 * if there was no scan.
 */
int leak_watch_scan(struct leak_watch *watch, struct error *err);

/* Completes the current scan and all pending ones, then ends. */
void leak_watch_finish(struct leak_watch *watch);

/*
 * Ends at once: drops the current scan, and lets processes that wait for a scan continue. The
 * engine and the writer are not used afterwards. May be called before leak_watch_begin(), and more
 * than once.
 */
void leak_watch_end(struct leak_watch *watch);

#endif
