/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_SCOPE_H
#define WICK_BASE_SCOPE_H

/*
 * scope: locals that own something release it when they leave their block.
 *
 *	SCOPED(mem) char *copy = strdup(text);
 *	SCOPED(fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
 *	...
 *	*ret = scope_take(&copy);	ownership passes to the caller
 *
 * A module adds its own kind by defining scope_release_<kind>(T **).
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCOPED(kind) __attribute__((cleanup(scope_release_##kind)))

/* Returns the pointer and leaves NULL behind. */
#define scope_take(place)                                                                          \
	__extension__({                                                                            \
		__typeof__(*(place)) taken_ = *(place);                                            \
		*(place) = NULL;                                                                   \
		taken_;                                                                            \
	})

static inline void scope_release_mem(void *place)
{
	void *memory;

	memcpy(&memory, place, sizeof(memory)); /* regardless of the type it points to */
	free(memory);
}

static inline void scope_release_fd(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* nothing to do about a failed close of a read-only fd */
}

static inline void scope_release_file(FILE **file)
{
	if (*file)
		(void)fclose(*file); /* writers check fflush() themselves */
}

/* Returns a descriptor and leaves -1 behind. */
static inline int scope_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
