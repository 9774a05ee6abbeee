/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_KERNEL_STACK_H
#define WICK_PROC_KERNEL_STACK_H

/*
 * kernel_stack: where a sleeping thread is inside the kernel, by /proc/TID/stack.
 *
 * The kernel tells names and no addresses. It shows other processes' stacks to
 * CAP_SYS_ADMIN alone, and a stack that means something only of a thread that
 * does not run. No state: any thread may call.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define KERNEL_STACK_BYTES 8192

struct kernel_stack {
	uint64_t user_pc; /* where the thread goes on in user mode; 0: not known */
	size_t size;      /* of text */
	char text[KERNEL_STACK_BYTES];
};

struct kernel_stack_entry {
	char name[256]; /* without a module: names are looked up in all */
	uint64_t offset;
};

/* Whether stacks of others can be read here: 0, or a negative errno. */
int kernel_stack_probe(void);

/* Returns 0 or a negative errno; -EAGAIN when the thread was not inside the kernel. */
int kernel_stack_read(pid_t pid, pid_t tid, struct kernel_stack *ret);

/* Takes the next line, innermost first, from *at on; lines it cannot read are skipped. */
bool kernel_stack_next(const char **at, const char *end, struct kernel_stack_entry *ret);

#endif
