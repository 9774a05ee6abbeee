/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_RUN_COMMAND_H
#define WICK_BASE_RUN_COMMAND_H

/* run_command: runs another program without a shell and collects its output, with limits. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;

/*
 * Runs argv[0], found in PATH, without input and with its messages dropped, and appends its output
 * to out. Returns its exit status (128 + signal if a signal ended it), -ETIMEDOUT or -EFBIG if it
 * ran longer than limit_ns or printed more than max_bytes (it is killed then), or another negative
 * errno if it could not be started.
 */
int run_command(const char *const *argv, uint64_t limit_ns, size_t max_bytes, struct bytes *out);

/*
 * The same, until *stop becomes true: then the program is asked to end (SIGTERM), and gets a few
 * seconds for it.
 */
int run_command_until(const char *const *argv, uint64_t limit_ns, size_t max_bytes,
		      const atomic_bool *stop, struct bytes *out);

#endif
