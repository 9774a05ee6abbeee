/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_RECORDER_H
#define WICK_RECORD_RECORDER_H

/*
 * recorder: owns all that a recording is made of, and ends it in one order.
 *
 * Who uses another ends before it:
 *
 *	remote control	asks the pace, the leak watch, the engine and the writer
 *	leak watch	uses the engine and the writer; programs that wait for it go on
 *	engine		writes into the writer's sink, asks for kernel addresses
 *	kernel, jit, memory	what was learned while it ran
 *	flight, writer	the output
 *	-- the recording has ended; a program that was launched may still run --
 *	child, others	the target, and what the engine had left for it
 *	signals		as they were before
 *
 * The pace only borrows the engine, and is not asked after the remote control has ended.
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

	/* What it owns. A pointer is NULL before it is opened and after it has ended. */
	struct remote *remote; /* where others ask how it goes; NULL: they cannot */
	struct leak_watch leaks;
	struct engine *engine;
	struct kernel_addresses *kernel;
	struct jit_watch jit;
	struct memory_watch memory; /* of a recording of the heap */
	struct flight *flight;      /* NULL: all goes to the output */
	struct recording_writer *writer;
	struct child child;
	bool launched;
	struct target_watch others; /* processes that we did not start */
	int signal_fd;              /* -1: no signals were taken */
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
	uint64_t lonely_ns; /* since when nobody is left of those who joined; 0: some are */
	int stop_signals;   /* seen so far */
	int last_stop;      /* the last of them */
	int pause;          /* 1: somebody wants a pause, -1: its end, 0: neither */
	int suspend;        /* the signal that asks us to be stopped for a while; 0: none */
	bool write_asked;   /* the last seconds are wanted */
};

enum recorder_end {
	RECORDER_END_RECORDING, /* all that uses the engine or the output */
	RECORDER_END_ALL,       /* and the rest */
};

/*
 * Arms everything and starts the target. On failure what was opened has ended, and an output that
 * was made has gone. Borrows config and result until the end.
 */
int recorder_open(struct recorder *recorder, const struct record_config *config,
		  struct record_result *result, struct error *err);

/*
 * Ends it so far, in the order above. What has ended before, or was never opened, is left out:
 * it may be called at any time and again.
 */
void recorder_end(struct recorder *recorder, enum recorder_end until);

/* Whether a signal asks for the end of a recording. */
bool recorder_is_stop(int number);

/* Writes down how the clocks go together. */
void recorder_put_clocks(struct recorder *recorder, uint64_t now_ns);

#endif
