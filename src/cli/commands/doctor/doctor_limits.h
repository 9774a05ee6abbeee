/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_LIMITS_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_LIMITS_H

/* doctor_limits: rights, and limits of the kernel, that recording depends on. */

#include "cli/commands/doctor/doctor_finding.h"

extern const struct doctor_check doctor_limits[]; /* {NULL} last */
extern const struct doctor_check doctor_mounts[]; /* what all else is read from, the same */

#endif
