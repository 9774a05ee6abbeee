/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_PYTHON_FRAMES_H
#define WICK_ENGINE_SIGNAL_PYTHON_FRAMES_H

/*
 * python_frames: Python calls of programs that record themselves: finds their interpreters, tells
 * the programs how to read their calls, and keeps what they copied of code.
 */

#include <stdbool.h>
#include <sys/types.h>

struct copied_parts;
struct engine_config;
struct interpreters;
struct process_file;
struct process_sample;
struct process_tracker;
struct raw_stack;
struct thread_names;

struct python_frames {
	struct process_tracker *tracker;
	struct interpreters *interpreters; /* NULL: calls are not read */
	struct thread_names *names;
	bool only;         /* leave out native frames */
	bool holders_only; /* leave out threads without the global lock */
	bool overwritten;  /* full rings drop their oldest records */
};

/* Borrows the tracker. Without memory no calls are read. */
void python_frames_init(struct python_frames *frames, const struct engine_config *config,
			struct process_tracker *tracker);
void python_frames_fini(struct python_frames *frames);

/* Looks for an interpreter in a program whose modules are new. */
void python_frames_look(const struct python_frames *frames, struct process_file *file);
/* A program is a forked child of another. */
void python_frames_fork(const struct python_frames *frames, pid_t pid, pid_t parent);
/* The program is over. */
void python_frames_forget(const struct python_frames *frames, const struct process_file *file);
/* A program has copied a code object. */
void python_frames_learn(const struct python_frames *frames, const struct process_file *file,
			 struct copied_parts *parts);

enum python_split {
	PYTHON_SPLIT_NONE,    /* the stack has no calls */
	PYTHON_SPLIT_CALLS,   /* its calls have names */
	PYTHON_SPLIT_UNNAMED, /* its calls were dropped, because some have no names */
};

/* Separates the calls of a stack from its addresses. */
enum python_split python_frames_split(const struct python_frames *frames, struct raw_stack *stack);
/* The same for the stack of a sample, which is counted. False: it is to be left out. */
bool python_frames_take(const struct python_frames *frames, struct raw_stack *stack);

#endif
