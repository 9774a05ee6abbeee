/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_RUN_COMMAND_H
#define WICK_BASE_RUN_COMMAND_H

/* run_command: what another program prints, within bounds and without a shell. */

#include <stddef.h>
#include <stdint.h>

struct bytes;

/*
 * Runs argv[0], found in PATH, with nothing to read and its messages dropped, and
 * appends its output to out. Returns its exit status (128 + signal when one ended it),
 * -ETIMEDOUT or -EFBIG when it took longer than limit_ns or printed more than max_bytes
 * (it is ended then), or another negative errno when it could not be run.
 */
int run_command(const char *const *argv, uint64_t limit_ns, size_t max_bytes, struct bytes *out);

#endif
