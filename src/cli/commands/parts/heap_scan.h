/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_HEAP_SCAN_H
#define WICK_CLI_COMMANDS_PARTS_HEAP_SCAN_H

/* heap_scan: asks the recorder of a process for a leak scan. */

#include <sys/types.h>

struct command_context;

/* Returns the exit status. */
int heap_scan_run(const struct command_context *context, pid_t pid);

#endif
