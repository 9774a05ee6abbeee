/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_JIT_FILE_H
#define WICK_PROC_JIT_FILE_H

/*
 * jit_file: the files in which a runtime lists the code that it generates, found where the process
 * that wrote them sees them.
 *
 * Anybody can write to /tmp, and such a file names code for everybody who reads it: only regular
 * files of the process's own user are used, no symbolic links, up to a size limit. The user of a
 * process that has ended is unknown: its file must be our own or, if we are root, belong to the
 * user who recorded it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* The process that wrote the files. */
struct jit_process {
	pid_t pid;
	pid_t inner_pid; /* in its own namespace: the one in the file's name */
	uid_t uid;       /* effective: the owner of its new files */
	bool ended;
	/* Since 1970: a file created later belongs to another process; 0: unknown. */
	uint64_t made_before_ns;
};

/* Reads a process; start_ns (0: unknown) distinguishes it from one that reused its pid. */
void jit_process_read(struct jit_process *process, pid_t pid, uint64_t start_ns);

/* An earlier recording. */
struct jit_past {
	uint64_t written_ns; /* since 1970; 0: unknown */
	uid_t uid;           /* its owner */
};

/*
 * The same for a process in such a recording: its pid may belong to any process now. If that
 * process was already running before the recording was written, it is the same one. Only root
 * checks this, and trusts the maps of that process's user or of the recording's owner: they could
 * have written anything about it anyway.
 */
void jit_process_of_past(struct jit_process *process, pid_t pid, const struct jit_past *past);

/*
 * Reads the file that the process knows as path, which is absolute. The caller frees *ret_data.
 * -ENOENT without such a file, -EPERM if it is refused: err says why.
 */
int jit_file_read(const struct jit_process *process, const char *path, void **ret_data,
		  size_t *ret_size, struct error *err);

/* The current size of the file, under the same conditions. Returns 0 or a negative errno. */
int jit_file_size(const struct jit_process *process, const char *path, uint64_t *ret);

#endif
