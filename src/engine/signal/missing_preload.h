/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MISSING_PRELOAD_H
#define WICK_ENGINE_SIGNAL_MISSING_PRELOAD_H

/*
 * missing_preload: why programs that should be recorded from inside are not. A library that was not
 * loaded cannot report anything, so this collects what the recorder can see.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct missing_preload {
	uint64_t joined;      /* programs that loaded the library */
	uint64_t silent_ends; /* part of these: ended without reporting their end */
	pid_t pid;            /* the launched process; 0: none yet */
	dev_t device;         /* of its program when it last joined */
	ino_t inode;          /* likewise; 0: it never joined */
	bool heap;            /* the heap was to be recorded */
	bool sampled;         /* only some blocks, with --sample */
	bool became_other;    /* it has executed another program, which has not joined */
};

/* Reports that the program of a process loaded the library. */
void missing_preload_join(struct missing_preload *absence, pid_t pid);

/* Checks which program the launched process runs now. */
void missing_preload_look(struct missing_preload *absence);

/*
 * A message about programs that are not recorded; NULL: none. With `none` there is not a single
 * sample or event: then likely reasons are given too. folder is the session's.
 */
const char *missing_preload_tell(const struct missing_preload *absence, const char *folder,
				 bool none);

#endif
