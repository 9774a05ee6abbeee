/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_MISSING_PRELOAD_H
#define WICK_ENGINE_SIGNAL_MISSING_PRELOAD_H

/*
 * missing_preload: why programs that were to be recorded from inside are not. The library cannot
 * tell of those that it did not get into; what can be seen from here is kept.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct missing_preload {
	uint64_t joined;      /* programs that the library got into */
	uint64_t silent_ends; /* of these: they are gone, and did not say that they end */
	pid_t pid;            /* the process that was launched; 0: none yet */
	dev_t device;         /* of the program that it was when it joined last */
	ino_t inode;          /* likewise; 0: it never did */
	bool heap;            /* it is the heap that was to be recorded */
	bool sampled;         /* and of that some blocks alone, with --sample */
	bool became_other;    /* it is another one now, and has not joined as that */
};

/* The library is in the program of a process. */
void missing_preload_join(struct missing_preload *absence, pid_t pid);

/* Looks at what the process that was launched is by now. */
void missing_preload_look(struct missing_preload *absence);

/*
 * What is known of programs that are not recorded, for a person; NULL: nothing. With `none`
 * there is not one sample or event: then what may be the reason is said as well. The folder is the
 * session's.
 */
const char *missing_preload_tell(const struct missing_preload *absence, const char *folder,
				 bool none);

#endif
