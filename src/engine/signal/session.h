/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_ENGINE_SIGNAL_SESSION_H
#define WICK_ENGINE_SIGNAL_SESSION_H

/*
 * session: the recorder's side of what it shares with the programs that it
 * watches from inside: the folder, and the files in it that are the recorder's.
 */

#include <stddef.h>
#include <stdint.h>

#include "wire/session.h"

struct error;

struct session {
	char folder[SESSION_PATH_MAX];
	char notice[120]; /* why it is not in memory; "": it is, or never could be */
	struct session_control *control;
	int control_fd;
	int tables_fd;
	int wake_fd;          /* readable when a program asks to be looked at */
	char *environment[3]; /* what programs must be started with; NULL last */
};

/* Makes the folder and what belongs in it. On failure nothing is left. */
int session_open(struct session *session, struct error *err);

/* Takes it away. Programs that still run notice, and go on without us. */
void session_close(struct session *session);

/* Removes what is left of sessions of this user that have ended, and that no program needs. */
void session_tidy(void);

/* The recorder lives: to be called several times a second. */
void session_beat(struct session *session);

/* Called for each process file; others are left out. Returns 0, or why it could not be opened. */
typedef int session_file_fn(void *self, const char *name);
/* Negative when there are no descriptors to look at all of them. */
int session_each_file(const struct session *session, session_file_fn *fn, void *self,
		      struct error *err);

#endif
