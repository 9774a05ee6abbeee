/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_KERNEL_STACK_H
#define WICK_PROC_KERNEL_STACK_H

/*
 * kernel_stack: where a sleeping thread is inside the kernel, from /proc/TID/stack.
 *
 * The kernel shows names but no addresses. It shows the stacks of other processes only to
 * CAP_SYS_ADMIN, and a stack is meaningful only if the thread is not running. No state: any thread
 * may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KERNEL_STACK_BYTES 8192

struct kernel_stack {
	uint64_t user_pc; /* where the thread continues in user mode; 0: unknown */
	size_t size;      /* of text */
	char text[KERNEL_STACK_BYTES];
};

struct kernel_stack_entry {
	char name[256]; /* without a module: names are looked up in all modules */
	uint64_t offset;
};

/* Whether stacks of other processes can be read: 0, or a negative errno. */
int kernel_stack_probe(void);

/* Returns 0 or a negative errno; -EAGAIN if the thread was not inside the kernel. */
int kernel_stack_read(pid_t pid, pid_t tid, struct kernel_stack *ret);

/* Takes the next line, innermost first, from *at on; invalid lines are skipped. */
bool kernel_stack_next(const char **at, const char *end, struct kernel_stack_entry *ret);

#endif
