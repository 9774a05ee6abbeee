/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMPLETION_H
#define WICK_CLI_COMPLETION_H

/* completion: makes scripts for shells that complete wick's command line, from the tables. */

struct bytes;
struct command;
struct error;

/* "bash", "zsh", "fish", NULL last. */
extern const char *const completion_shells[];

/* Appends the script for a shell; -EINVAL if it is not one of completion_shells. */
int completion_put(struct bytes *out, const char *shell, const struct command *const *commands,
		   struct error *err);

#endif
