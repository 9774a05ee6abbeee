/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_HELD_MESSAGES_H
#define WICK_CLI_HELD_MESSAGES_H

/*
 * held_messages: holds back messages to standard error while a view uses the terminal, and prints
 * them when the view is closed. Does nothing if standard error is not a terminal.
 *
 * Keeps the first HELD_MESSAGES_BYTES and drops the rest.
 */

#define HELD_MESSAGES_BYTES (64 * 1024)

struct held_messages {
	int real_fd; /* 0: nothing is held */
	int kept_fd;
};

/* held starts as zeros. If messages cannot be held back, they are printed as before. */
void held_messages_begin(struct held_messages *held);

/* Prints what was held back. May be called in a signal handler, and if nothing is held. */
void held_messages_end(struct held_messages *held);

#endif
