/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_MEMORY_GUARD_H
#define WICK_AGENT_MEMORY_GUARD_H

/*
 * memory_guard: decides what an agent gives up when it uses too much memory.
 *
 * First what can be found again, such as symbol tables. If that is not enough, one step after
 * another: stacks of the smaller services, then the outer frames of all stacks, then sampling. Each
 * step begins with empty memory; the last one is taken only above 125 % of the limit. When there
 * has been room for ten minutes, one step is taken back; a pause ends after a minute. It reads no
 * clock and no files.
 */

#include <stdint.h>

enum memory_step {
	MEMORY_ALL,            /* nothing is given up */
	MEMORY_FEWER_SERVICES, /* small services have no stacks */
	MEMORY_SHORTER_STACKS, /* and stacks only their innermost frames */
	MEMORY_PAUSE,          /* no samples */
	MEMORY_STEPS
};

enum memory_action {
	MEMORY_FINE,
	MEMORY_TIDY,   /* free what can be found again */
	MEMORY_CHANGE, /* start again, at the guard's new step */
};

struct memory_guard {
	uint64_t limit_bytes; /* 0: none */
	enum memory_step step;
	uint64_t tidied_ns;  /* when it last asked to tidy; 0: never */
	uint64_t changed_ns; /* when the step changed; 0: never */
	double tidy_part;    /* lowest use since tidied_ns, relative to the limit; 0: never */
};

/* Takes the memory in use. Call it every second or two. */
enum memory_action memory_guard_look(struct memory_guard *guard, uint64_t used_bytes,
				     uint64_t now_ns);

/* "all", "fewer services" … */
const char *memory_step_name(enum memory_step step);

#endif
