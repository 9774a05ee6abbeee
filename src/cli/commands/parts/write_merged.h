/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_WRITE_MERGED_H
#define WICK_CLI_COMMANDS_PARTS_WRITE_MERGED_H

/* write_merged: reads files and writes one recording, for wick import and wick merge. */

#include <stddef.h>

struct command_context;

/* Returns the exit status. */
int write_merged(const struct command_context *context, char **inputs, size_t count,
		 const char *output);

#endif
