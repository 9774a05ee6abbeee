/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_RECORDER_H
#define WICK_RECORD_RECORDER_H

/*
 * recorder: owns all parts of a recording and shuts them down in a fixed order.
 *
 * A part ends before the parts that it uses:
 *
 *	remote control	uses the pace, the leak watch, the engine and the writer
 *	leak watch	uses the engine and the writer; programs that wait for it continue
 *	engine		writes into the writer's sink, looks up kernel addresses
 *	kernel, jit, memory	what was collected during the recording
 *	flight, writer	the output
 *	-- the recording has ended; a launched program may still run --
 *	child, others	the target, and what the engine left in place for it
 *	signals		restored
 *
 * The pace only borrows the engine, and is not used after the remote control has ended.
 */

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "load/names/jit_watch.h"
#include "record/launch.h"
#include "record/leak_watch.h"
#include "record/memory_watch.h"
#include "record/pace.h"
#include "record/target_watch.h"

struct engine;
struct error;
struct flight;
struct kernel_addresses;
struct record_config;
struct record_result;
struct recording_writer;
struct remote;

struct recorder {
	const struct record_config *config;
	struct record_result *result;

	/* Owned parts. A pointer is NULL before the part is opened and after it has ended. */
	struct remote *remote; /* answers requests of other processes; NULL: not available */
	struct leak_watch leaks;
	struct engine *engine;
	struct kernel_addresses *kernel;
	struct jit_watch jit;
	struct memory_watch memory; /* for heap recordings */
	struct flight *flight;      /* NULL: everything goes to the output */
	struct recording_writer *writer;
	struct child child;
	bool launched;
	struct target_watch others; /* target processes that we did not start */
	int signal_fd;              /* -1: we handle no signals */
	bool mask_changed;
	sigset_t old_mask;
	sigset_t taken;

	bool created;  /* the output did not exist before */
	int output_fd; /* of the writer */
	struct pace pace;
	uint64_t start_ns;
	uint64_t flushed_ns;
	uint64_t clock_ns;
	uint64_t drained_ns;
	uint64_t lonely_ns; /* since when no joined process is left; 0: there are some */
	int stop_signals;   /* number received so far */
	int last_stop;      /* the last one received */
	int pause;          /* 1: pause requested, -1: resume requested, 0: neither */
	int suspend;        /* the signal that asks us to suspend (Ctrl-Z); 0: none */
	bool write_asked;   /* writing the last seconds was requested */
};

enum recorder_end {
	RECORDER_END_RECORDING, /* everything that uses the engine or the output */
	RECORDER_END_ALL,       /* and the rest */
};

/*
 * Prepares everything and starts the target. On failure all opened parts have ended, and an output
 * file that was created is removed. Borrows config and result until the end.
 */
int recorder_open(struct recorder *recorder, const struct record_config *config,
		  struct record_result *result, struct error *err);

/*
 * Ends the parts up to `until`, in the order above. Skips parts that have ended or were never
 * opened: it may be called at any time, and more than once.
 */
void recorder_end(struct recorder *recorder, enum recorder_end until);

/* Whether this signal ends a recording. */
bool recorder_is_stop(int number);

/* Writes the current readings of the clocks, so that times can be converted. */
void recorder_put_clocks(struct recorder *recorder, uint64_t now_ns);

#endif
