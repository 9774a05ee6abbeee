/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_PIPE_COPY_H
#define WICK_LOAD_PIPE_COPY_H

/*
 * pipe_copy: saves input from a pipe in an unnamed file, so that it can be read again. If the
 * temporary directory does not support that, it uses memory.
 */

struct error;

/* Creates an empty unnamed file, close-on-exec. Returns the descriptor. */
int pipe_copy_open(struct error *err);

/*
 * Takes over fd and returns a descriptor that reads from the current position of fd; *ret_again
 * reads the same data again, with its own offset. On failure fd is closed.
 */
int pipe_copy(int fd, int *ret_again, struct error *err);

#endif
