/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_HELD_MESSAGES_H
#define WICK_CLI_HELD_MESSAGES_H

/*
 * held_messages: keeps what is written to standard error while a view has the terminal, and
 * writes it when the view is gone. Standard error that is no terminal is left as it is.
 *
 * Bounded: of more than HELD_MESSAGES_BYTES the first are kept.
 */

#define HELD_MESSAGES_BYTES (64 * 1024)

struct held_messages {
	int real_fd; /* 0: nothing is held */
	int kept_fd;
};

/* Starts as zeros. Where nothing can be held, messages go where they went. */
void held_messages_begin(struct held_messages *held);

/* Writes what was held. May be called in a signal handler, and when nothing is held. */
void held_messages_end(struct held_messages *held);

#endif
