/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"

const struct command *const command_table[] = {
	&command_doctor, &command_config, &command_completion, &command_help, NULL,
};
