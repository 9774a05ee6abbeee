/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROCESS_STACKS_INTERPRETERS_H
#define WICK_PROCESS_STACKS_INTERPRETERS_H

/*
 * interpreters: which of the watched processes run an interpreter whose calls can be read, and how
 * often that worked.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct interpreter;
struct interpreters;
struct map_region;
struct python_layout;

struct interpreter_counts {
	uint64_t with_calls; /* samples */
	uint64_t torn;       /* samples whose calls were changing, or could not be read */
	uint64_t unnamed;    /* samples whose calls were gone before their names were read */
	uint64_t early;      /* samples before the interpreter was found, of processes with one */
	uint64_t others;     /* samples left out, of threads without the global lock */
	uint64_t found;      /* processes */
	uint64_t refused;    /* processes with an interpreter that cannot be read: see reason */
	char reason[160];    /* the first one */
	char languages[64];  /* of those found: "Python or Ruby" */
};

struct interpreters *interpreters_new(void); /* NULL if out of memory */
void interpreters_free(struct interpreters *interpreters);

/*
 * Looks for one in a process that is new or has new mappings; NULL: there is none. The number is
 * the caller's for the process, which is another after an exec, or its pid.
 */
struct interpreter *interpreters_look(struct interpreters *interpreters, uint32_t number,
				      pid_t pid);
/*
 * The same; returns 0 or a negative errno: -ENOENT if the files that are mapped have none, so that
 * other processes with the same files have none either. *ret_program is the file that comes first,
 * zeroed if it is not known; its path is NULL.
 */
int interpreters_search(struct interpreters *interpreters, uint32_t number, pid_t pid,
			struct map_region *ret_program);
/* The same for a forked child of a process, which may have ended already. */
void interpreters_fork(struct interpreters *interpreters, uint32_t number, uint32_t parent);
/* The one that was found. */
struct interpreter *interpreters_of(const struct interpreters *interpreters, uint32_t number);
/*
 * What a walker in the kernel or in the process needs to read its calls. NULL: such walkers cannot;
 * it is counted as refused, with this as the reason.
 */
const struct python_layout *interpreters_layout(struct interpreters *interpreters, uint32_t number);
/* The process has ended, or runs another program. */
void interpreters_forget(struct interpreters *interpreters, uint32_t number);

/* None can be read, for this reason. */
void interpreters_refuse(struct interpreters *interpreters, const char *reason);
/* Counts how reading the calls of a sample ended: enum python_end, and how many there are. */
void interpreters_count(struct interpreters *interpreters, int end, uint32_t calls);
struct interpreter_counts *interpreters_counts(struct interpreters *interpreters);

#endif
