/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_TABLE_H
#define WICK_CLI_TABLE_H

/* table: the commands. Each is the only symbol that its file cmd_<name>.c exports. */

struct command;

extern const struct command command_agent;
extern const struct command command_annotate;
extern const struct command command_burst;
extern const struct command command_completion;
extern const struct command command_config;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_export;
extern const struct command command_flame;
extern const struct command command_heap;
extern const struct command command_heap_report;
extern const struct command command_help;
extern const struct command command_import;
extern const struct command command_info;
extern const struct command command_leaks;
extern const struct command command_list;
extern const struct command command_maps;
extern const struct command command_merge;
extern const struct command command_query;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_sample;
extern const struct command command_serve;
extern const struct command command_relay;
extern const struct command command_server;
extern const struct command command_status;
extern const struct command command_symbolize;
extern const struct command command_timeline;
extern const struct command command_token;
extern const struct command command_top;
extern const struct command command_trial;

/* All commands in the order of "wick --help", NULL last. */
extern const struct command *const command_table[];

#endif
