/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_LEAK_OPTIONS_H
#define WICK_CLI_OPTIONS_LEAK_OPTIONS_H

/*
 * leak_options: what wick leaks and wick heap --leaks share: rules that suppress, what is certain
 * and old enough to be told, and gates. A command splices them in as it does cli_load_options:
 *
 *	leak_options_read()    before anything is run or read
 *	leak_options_print()   the report; says by its status whether a gate has tripped
 */

#include <stdio.h>

#include "cli/option.h"
#include "heap/leak/suppressions.h"
#include "view/heap/leak_report.h"

struct command_context;
struct heap_profile;

enum leak_fail_on {
	LEAK_FAIL_OFF,
	LEAK_FAIL_DEFINITE,
	LEAK_FAIL_PROBABLE,
	LEAK_FAIL_POSSIBLE,
	LEAK_FAIL_GROWTH
};

struct leak_options {
	double min_confidence;
	uint64_t min_age_ns;
	struct option_list suppressions; /* files */
	bool gen_suppressions;
	enum { LEAK_SYNTAX_OWN, LEAK_SYNTAX_VALGRIND } syntax;
	enum leak_fail_on fail_on;
	uint64_t max_leak_bytes; /* 0: no limit */
};

extern const struct option_spec leak_option_table[];

/* Whether it was asked for something that needs a report. */
bool leak_options_ask(const struct leak_options *options);

/* Whether that can only be answered by a scan. */
bool leak_options_need_scan(const struct leak_options *options);

/* Whether rules of suppression are read or written. */
bool leak_options_have_rules(const struct leak_options *options);

/* Why a gate cannot be judged. */
enum leak_unknown {
	LEAK_UNKNOWN_NO_SCAN,
	LEAK_UNKNOWN_KILLED, /* the program was, before there was one */
	LEAK_UNKNOWN_FAILED, /* a scan has, and that was said */
	LEAK_UNKNOWN_PART,   /* some processes were not scanned */
};

/* Says so. Returns a status. */
int leak_options_unknown(const struct command_context *context, enum leak_unknown why);

/* The rules of all files. The caller releases *ret, in any case. Returns a status. */
int leak_options_read(const struct command_context *context, const struct leak_options *options,
		      struct suppressions *ret);

/*
 * Prints the report of a heap to file, form and limits as view has them; rules may be NULL. Returns
 * COMMAND_GATE with words when a gate has tripped, COMMAND_FAILED when it cannot be judged.
 */
int leak_options_print(const struct command_context *context, const struct leak_options *options,
		       const struct suppressions *rules, const struct heap_profile *heap,
		       struct leak_report_options view, FILE *file);

#endif
