/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_LEAK_OPTIONS_H
#define WICK_CLI_OPTIONS_LEAK_OPTIONS_H

/*
 * leak_options: options that wick leaks and wick heap --leaks share: suppression rules, the least
 * confidence and age of leaks to report, and gates. A command includes them like cli_load_options:
 *
 *	leak_options_read()    before it runs or reads anything
 *	leak_options_print()   prints the report; its status says whether a gate tripped
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

/* Whether an option is given that needs a leak report. */
bool leak_options_ask(const struct leak_options *options);

/* Whether an option is given that needs a leak scan. */
bool leak_options_need_scan(const struct leak_options *options);

/* Whether suppression rules are read or written. */
bool leak_options_have_rules(const struct leak_options *options);

/* Why a gate cannot be judged. */
enum leak_unknown {
	LEAK_UNKNOWN_NO_SCAN,
	LEAK_UNKNOWN_KILLED, /* the program was killed before a scan */
	LEAK_UNKNOWN_FAILED, /* a scan failed, and the failure was printed */
	LEAK_UNKNOWN_PART,   /* some processes were not scanned */
};

/* Prints why a gate cannot be judged. Returns an exit status. */
int leak_options_unknown(const struct command_context *context, enum leak_unknown why);

/* Reads the rules of all files. The caller releases *ret in any case. Returns an exit status. */
int leak_options_read(const struct command_context *context, const struct leak_options *options,
		      struct suppressions *ret);

/*
 * Prints the leak report of a heap to file, in the form that view gives; rules may be NULL. Returns
 * COMMAND_GATE if a gate tripped and COMMAND_FAILED if it cannot be judged, after printing why.
 */
int leak_options_print(const struct command_context *context, const struct leak_options *options,
		       const struct suppressions *rules, const struct heap_profile *heap,
		       struct leak_report_options view, FILE *file);

#endif
