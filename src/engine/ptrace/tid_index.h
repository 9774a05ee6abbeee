/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_PTRACE_TID_INDEX_H
#define WICK_ENGINE_PTRACE_TID_INDEX_H

/*
 * tid_index: maps a thread id to its index in an array. Open addressing with linear probing;
 * removing closes the gap. Used by one thread at a time.
 */

#include <stdint.h>
#include <sys/types.h>

#define TID_NOWHERE UINT32_MAX

struct tid_slot {
	pid_t tid; /* 0: free */
	uint32_t place;
};

struct tid_index {
	struct tid_slot *slots;
	uint32_t mask; /* slots - 1; 0 if empty */
	uint32_t count;
};

void tid_index_fini(struct tid_index *index);

/* Sets or replaces the index of a thread. Returns 0; -ENOMEM is possible only for a new thread. */
int tid_index_set(struct tid_index *index, pid_t tid, uint32_t place);
/* TID_NOWHERE: none. */
uint32_t tid_index_find(const struct tid_index *index, pid_t tid);
void tid_index_remove(struct tid_index *index, pid_t tid);

#endif
