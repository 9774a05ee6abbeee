/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_LOAD_OPTIONS_H
#define WICK_CLI_OPTIONS_LOAD_OPTIONS_H

/*
 * load_options: options that all commands share which look at a recording, and those
 * that say how addresses get their names. A command splices them in:
 *
 *	struct report_options {
 *		...
 *		struct cli_load_options look;
 *	};
 *	static const struct report_options defaults = {.look = LOOK_OPTIONS_DEFAULT};
 *	...
 *		{OPTION_GROUP(struct report_options, look, look_option_table),
 *		 .help = "Filters"},
 */

#include "base/clock.h"
#include "cli/option.h"
#include "symbol/symboliser.h"

/* Where debug information comes from, and whether what it says is kept. */
struct symbol_file_options {
	struct option_list paths; /* directories with debug files */
	bool cache;
	bool debuginfod;
	uint64_t debuginfod_ns; /* for all requests together */
};

struct symbol_options {
	bool demangle;
	enum symbol_detail detail;
	struct symbol_file_options files;
};

/* Where the text of sources is. */
struct source_options {
	struct option_list paths; /* directories */
	struct option_list maps;  /* "FROM=TO" */
};

/* Of --interval. */
#define HEAP_INTERVAL_MAX_MS 3600000u

/* How functions are called: with or without arguments and parameters of templates. */
enum cli_load_names { LOOK_NAMES_SHORT, LOOK_NAMES_FULL };

struct cli_load_options {
	const char *event; /* NULL: the one that was sampled */
	struct option_numbers pids;
	struct option_numbers tids;
	struct option_list comms;
	struct option_list labels; /* "KEY=VALUE" */
	struct option_list modules;
	struct option_list only;   /* regular expressions: a stack must match one */
	struct option_list ignore; /* and none of these */
	struct option_list alloc_fns;
	uint64_t from_ns; /* since the start of the recording */
	uint64_t to_ns;   /* UINT64_MAX: to its end */
	bool inlines;
	bool kernel;
	bool collapse_recursion;
	enum cli_load_names names;
	bool short_names; /* the same by its other name */
	struct symbol_options symbols;
};

/* clang-format off */
#define SYMBOL_FILE_OPTIONS_DEFAULT {.cache = true, .debuginfod_ns = 20 * NS_PER_SEC}
#define SYMBOL_OPTIONS_DEFAULT                                                                     \
	{.demangle = true, .detail = SYMBOLS_INLINES, .files = SYMBOL_FILE_OPTIONS_DEFAULT}
#define LOOK_OPTIONS_DEFAULT                                                                       \
	{.to_ns = UINT64_MAX, .inlines = true, .kernel = true, .short_names = true,                \
	 .symbols = SYMBOL_OPTIONS_DEFAULT}
/* clang-format on */

extern const struct option_spec symbol_file_option_table[];
extern const struct option_spec symbol_option_table[]; /* with those of files */
extern const struct option_spec source_option_table[];
extern const struct option_spec look_option_table[]; /* with those of symbols */

struct command_context;
struct debuginfod;
struct load_options;
struct recording_damage;
struct source_search;

/*
 * What finds sources; borrows the lists. They are asked for when is_asked says so, or when the
 * command line tells where they are: a configuration may be of the folder that one is in.
 */
struct source_search cli_load_to_search(const struct command_context *context,
					const struct source_options *sources, bool is_asked);

/* Whether a toggle for sources was given by the person, as --source. */
bool cli_load_asks_source(const struct command_context *context, const bool *source);

/*
 * What the pipeline needs to know of the options; borrows their lists, and server, which
 * it fills, while *ret is in use. Complains of what makes no sense: returns COMMAND_USAGE
 * then, else COMMAND_DONE.
 */
int cli_load_to_load(const struct command_context *context, const struct cli_load_options *look,
		     struct debuginfod *server, struct load_options *ret);

/*
 * Takes full names where people did not choose: for programs, and for what compares names with
 * such as were written down.
 */
void cli_load_prefer_full_names(const struct command_context *context,
				const struct cli_load_options *look, struct load_options *load);

/*
 * Whether a pattern asks for more than a short name has: arguments or parameters of templates.
 * Expressions mean brackets by "\(". "a<>::b" and "a::operator()" are short.
 */
bool cli_load_pattern_is_full(const char *pattern, bool is_expression);

/* The same for what concerns symbols alone. No server is asked when it is NULL. */
void cli_load_set_symbols(const struct command_context *context,
			  const struct symbol_options *symbols, struct debuginfod *server,
			  struct load_options *ret);

/* How many rows are wanted, 0 for all: so a program that reads them, unless it says otherwise. */
uint32_t cli_load_row_limit(const struct command_context *context, const uint64_t *limit,
			    bool for_program);

/* For load_options: self is the context. */
void cli_load_note_damage(void *self, const char *path, const struct recording_damage *damage);

/*
 * Complains when output, chosen with that option, is the recording that is read: returns
 * COMMAND_USAGE, else COMMAND_DONE.
 */
int cli_load_check_output(const struct command_context *context, const char *input,
			  const char *output, const char *option);

#endif
