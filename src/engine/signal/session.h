/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SESSION_H
#define WICK_ENGINE_SIGNAL_SESSION_H

/*
 * session: the recorder's side of what it shares with the programs that it records from inside: the
 * folder, and the recorder's files in it.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/session.h"

struct error;

struct session {
	char folder[SESSION_PATH_MAX];
	char notice[160]; /* why it is not in memory; "": it is, or it could not be */
	struct session_control *control;
	int control_fd;
	int tables_fd;
	int wake_fd;          /* readable when a program wants to be read */
	char *environment[3]; /* environment for the programs to start; NULL last */
};

/* Creates the folder and its files. On failure it leaves nothing behind. */
int session_open(struct session *session, struct error *err);

/* Removes the folder. Programs that still run notice this and continue without us. */
void session_close(struct session *session);

/* Removes leftovers of this user's ended sessions that no program needs. */
void session_tidy(void);

/* Heartbeat of the recorder: call several times a second. */
void session_beat(struct session *session);

/* Called for each process file. Returns 0, or a negative errno if it could not be opened. */
typedef int session_file_fn(void *self, const char *name);
/* Negative if it runs out of file descriptors. */
int session_each_file(const struct session *session, session_file_fn *fn, void *self,
		      struct error *err);

/* Empties the pipe by which programs ask for attention. */
void session_empty_wake(const struct session *session);

#endif
