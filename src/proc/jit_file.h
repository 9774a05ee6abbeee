/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PROC_JIT_FILE_H
#define WICK_PROC_JIT_FILE_H

/*
 * jit_file: the files in which a runtime lists the code that it makes, found where
 * the process that wrote them sees them.
 *
 * Anybody may write to /tmp, and such a file names code for whoever reads it: only
 * regular files of the process's own user count, no symbolic links, no more than
 * a limit. Of a process that has ended the user is not known: its file must be
 * our own, or that of who recorded it if root asks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

/* A process as its files know it. */
struct jit_process {
	pid_t pid;
	pid_t inner_pid; /* in its own namespace: what the file's name has */
	uid_t uid;       /* effective: who its new files belong to */
	bool ended;
	/* Since 1970: a file that was made later is another process's; 0: not known. */
	uint64_t made_before_ns;
};

/* Looks at a process; start_ns (0: not known) tells it from one that has its pid now. */
void jit_process_read(struct jit_process *process, pid_t pid, uint64_t start_ns);

/* A file that was recorded before. */
struct jit_past {
	uint64_t written_ns; /* since 1970; 0: not known */
	uid_t uid;           /* who it belongs to */
};

/*
 * The same for a process of such a file: who has its pid now may be anybody. One that runs since
 * before the file was written is the same; only root looks for that, and trusts maps of
 * whom it or the file belongs to: they are the ones who could tell anything of it.
 */
void jit_process_of_past(struct jit_process *process, pid_t pid, const struct jit_past *past);

/*
 * Reads the file that the process calls path, an absolute one. The caller frees
 * *ret_data. -ENOENT when there is none, -EPERM when it is refused: err says why.
 */
int jit_file_read(const struct jit_process *process, const char *path, void **ret_data,
		  size_t *ret_size, struct error *err);

/* How long the file is now, under the same conditions. Returns 0 or a negative errno. */
int jit_file_size(const struct jit_process *process, const char *path, uint64_t *ret);

#endif
