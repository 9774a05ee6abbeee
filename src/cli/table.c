/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "cli/command.h"

/* One on each line. */
/* clang-format off */
const struct command *const command_table[] = {
	&command_record,
	&command_heap,
	&command_status,
	&command_sample,
	&command_top,
	&command_agent,
	&command_report,
	&command_annotate,
	&command_flame,
	&command_diff,
	&command_leaks,
	&command_heap_report,
	&command_timeline,
	&command_info,
	&command_export,
	&command_import,
	&command_merge,
	&command_symbolize,
	&command_serve,
	&command_server,
	&command_relay,
	&command_query,
	&command_burst,
	&command_token,
	&command_maps,
	&command_list,
	&command_doctor,
	&command_config,
	&command_completion,
	&command_help,
	&command_trial,
	NULL,
};
/* clang-format on */
