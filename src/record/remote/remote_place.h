/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_REMOTE_REMOTE_PLACE_H
#define WICK_RECORD_REMOTE_REMOTE_PLACE_H

/*
 * remote_place: the folders in which recorders have their sockets, one for each recorder, named
 * by its process id.
 *
 * A folder belongs to one user, and nobody else may look into it: so nobody else can take a name
 * there. In order of preference it is
 *
 *	/run/wick			of root
 *	$XDG_RUNTIME_DIR/wick		where that is a folder of the user
 *	/run/user/UID/wick		likewise
 *	/tmp/wick-UID			or, where another user has taken that name,
 *	/tmp/wick-UID-XXXXXX		with letters that nobody can guess
 *
 * Who looks for recorders looks at all of these: the environment may have been another one.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sockaddr_un;

#define REMOTE_PLACE_PATH 256

/*
 * The folder of this user, which is made if need be: a descriptor of it, and its path for
 * remote_place_leave(). Or a negative errno.
 */
int remote_place_make(char *path, size_t size);

/* Removes the folder if nobody has a socket in it. */
void remote_place_leave(const char *path);

/* A folder that this user may look into. */
struct remote_place {
	int fd;
	uid_t owner; /* root also looks into those of others */
	const char *path;
};

/* Returns other than 0 to see no more of them. */
typedef int remote_place_fn(void *self, const struct remote_place *place);

/* Returns how many are other users', or what fn returned if that was not 0. */
int remote_place_each(remote_place_fn *fn, void *self);

/* The address of what a descriptor of a folder or socket and a name ("": none) lead to. */
void remote_place_address(int fd, const char *name, struct sockaddr_un *ret);

/*
 * Connects to a socket in a folder, without waiting. Returns the descriptor, -ENOENT when there
 * is none, -ECONNREFUSED when its recorder is gone.
 */
int remote_place_connect(int folder_fd, const char *name);

#endif
