/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_SYMBOLS_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_SYMBOLS_H

/* doctor_symbols: where symbol names come from, and which optional parts are built in. */

#include <stddef.h>

#include "cli/commands/doctor/doctor_finding.h"

extern const struct doctor_check doctor_symbols[]; /* {NULL} last */

/*
 * Writes the command that installs the debug symbols of the C library. os_release is the text of
 * /etc/os-release.
 */
void doctor_symbol_remedy(const char *os_release, char *ret, size_t size);

#endif
