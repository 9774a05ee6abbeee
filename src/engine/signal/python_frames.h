/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PYTHON_FRAMES_H
#define WICK_ENGINE_SIGNAL_PYTHON_FRAMES_H

/*
 * python_frames: Python calls of programs that record themselves: finds their interpreters, tells
 * the programs how to read their calls, and keeps what they copied of code.
 */

#include <stdbool.h>

struct copied_parts;
struct engine_config;
struct interpreters;
struct process_file;
struct process_sample;
struct process_tracker;
struct raw_stack;

struct python_frames {
	struct process_tracker *tracker;
	struct interpreters *interpreters; /* NULL: calls are not read */
	bool only;                         /* leave out native frames */
};

/* Borrows the tracker. Without memory no calls are read. */
void python_frames_init(struct python_frames *frames, const struct engine_config *config,
			struct process_tracker *tracker);
void python_frames_fini(struct python_frames *frames);

/* Looks for an interpreter in a program whose modules are new. */
void python_frames_look(const struct python_frames *frames, struct process_file *file);
/* The program is over. */
void python_frames_forget(const struct python_frames *frames, const struct process_file *file);
/* A program has copied a code object. */
void python_frames_learn(const struct python_frames *frames, const struct process_file *file,
			 struct copied_parts *parts);
/* Separates the calls of a stack from its addresses. */
void python_frames_split(const struct python_frames *frames, struct raw_stack *stack);

#endif
