/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_RECORD_REMOTE_REMOTE_PLACE_H
#define WICK_RECORD_REMOTE_REMOTE_PLACE_H

/*
 * remote_place: the folders for the sockets of recorders. Each recorder has one socket, named after
 * its process id.
 *
 * A folder belongs to one user and only that user can enter it, so no other user can occupy a name
 * there. In order of preference it is
 *
 *	/run/wick			for root
 *	$XDG_RUNTIME_DIR/wick		if that is a folder of the user
 *	/run/user/UID/wick		likewise
 *	/tmp/wick-UID			or, if another user has taken that name,
 *	/tmp/wick-UID-XXXXXX		with random letters
 *
 * A client searches all of these, because the recorder may have had a different environment.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sockaddr_un;

#define REMOTE_PLACE_PATH 256

/*
 * Returns a descriptor of this user's folder, which is created if necessary, and its path for
 * remote_place_leave(); or a negative errno.
 */
int remote_place_make(char *path, size_t size);

/* Removes the folder if it has no sockets. */
void remote_place_leave(const char *path);

/* A folder that this user may read. */
struct remote_place {
	int fd;
	uid_t owner; /* root also reads those of others */
	const char *path;
};

/* Returns non-zero to stop the iteration. */
typedef int remote_place_fn(void *self, const struct remote_place *place);

/* Returns how many folders belong to other users, or the non-zero result of fn. */
int remote_place_each(remote_place_fn *fn, void *self);

/*
 * The address of a socket: by a descriptor of its folder and its name, or of the socket itself and
 * "".
 */
void remote_place_address(int fd, const char *name, struct sockaddr_un *ret);

/*
 * Connects to a socket in a folder, without waiting. Returns the descriptor, -ENOENT if there is no
 * such socket, or -ECONNREFUSED if its recorder has ended.
 */
int remote_place_connect(int folder_fd, const char *name);

#endif
