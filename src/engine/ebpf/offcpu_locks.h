/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_EBPF_OFFCPU_LOCKS_H
#define WICK_ENGINE_EBPF_OFFCPU_LOCKS_H

/*
 * offcpu_locks: labels for the locks that threads off their CPUs wait for.
 *
 * A BPF program reports the address of a lock. What is at that address is looked up in the memory
 * map of the process when the lock is first seen, because the process may end:
 *
 *	/usr/bin/app+0x4040	data of a file: the address that the file has for it
 *	[heap] 0x55d0c0de12a0	memory that the kernel has a name for
 *	[anonymous] 0x7f00…	other memory: of an allocator, of a thread's stack …
 *	0x7f00…			unknown: the process had ended
 *
 * The symbol at an address of a file is looked up when the recording is read.
 */

#include <stdint.h>
#include <sys/types.h>

struct interpreters;
struct offcpu_locks;
struct sink;

/* Locks beyond this number share one label. */
#define AWAY_LOCKS_MAX 16384u
#define AWAY_LOCKS_OTHERS "[others]"

/* Whose lock it is: the number of the tracked process, and its id. */
struct offcpu_lock_owner {
	uint32_t number;
	pid_t pid;
};

/* Borrows both; without interpreters (NULL), their locks are like others. NULL: out of memory. */
struct offcpu_locks *offcpu_locks_new(struct sink *sink, const struct interpreters *interpreters);
void offcpu_locks_free(struct offcpu_locks *locks); /* NULL is fine */

/* The label set of a sleep for a lock; 0 on failure. */
uint32_t offcpu_locks_label(struct offcpu_locks *locks, const struct offcpu_lock_owner *owner,
			    uint64_t address, uint64_t now_ns);

#endif
