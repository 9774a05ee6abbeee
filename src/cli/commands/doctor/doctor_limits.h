/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DOCTOR_DOCTOR_LIMITS_H
#define WICK_CLI_COMMANDS_DOCTOR_DOCTOR_LIMITS_H

/* doctor_limits: privileges and kernel limits that recording depends on. */

#include "cli/commands/doctor/doctor_finding.h"

extern const struct doctor_check doctor_limits[]; /* {NULL} last */
extern const struct doctor_check
	doctor_mounts[]; /* /proc and /sys, which all other checks read; {NULL} last */

#endif
