/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_REMOTE_MEMORY_H
#define WICK_PROC_REMOTE_MEMORY_H

/*
 * remote_memory: words of another process, read with few system calls.
 *
 * A stack is read in one large piece from its top, and in larger ones if a walk continues further.
 * Other words are read in small blocks, the last of which is kept. The data is considered valid
 * until the next window: the threads that may write there are stopped, or a wrong word is
 * acceptable.
 *
 * An object is used by one thread at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_BLOCK 256

struct remote_memory {
	pid_t pid;
	uint64_t start; /* of the window */
	uint64_t high;  /* end of the window */
	size_t size;    /* bytes read of it */
	size_t capacity;
	unsigned char *bytes;
	uint64_t block_start; /* UINT64_MAX: none */
	unsigned char block[REMOTE_BLOCK];
	uint64_t calls; /* system calls made */
};

/* Starts without a window. Nothing is opened. */
void remote_memory_init(struct remote_memory *memory, pid_t pid);
void remote_memory_fini(struct remote_memory *memory);

/*
 * Puts the window over [start, high), a stack from sp to its end; forgets all data read before.
 * Unreadable memory is detected when words are read.
 */
void remote_memory_window(struct remote_memory *memory, uint64_t start, uint64_t high);

/* Eight bytes at any address. memory is a struct remote_memory: fits struct unwind_reader. */
bool remote_memory_read(void *memory, uint64_t address, uint64_t *ret);

/*
 * Copies what can be read from start on, page by page, without an object. Returns the number of
 * bytes.
 */
size_t remote_memory_copy(pid_t pid, uint64_t start, void *buffer, size_t size);

#endif
