/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTIONS_LOAD_OPTIONS_H
#define WICK_CLI_OPTIONS_LOAD_OPTIONS_H

/*
 * load_options: options that all commands that read recordings share, and options for symbols.
 * A command includes them like this:
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

/* Where debug information comes from, and whether symbols are cached. */
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

/* Where source files are. */
struct source_options {
	struct option_list paths; /* directories */
	struct option_list maps;  /* "FROM=TO" */
};

/* The maximum of --interval. */
#define HEAP_INTERVAL_MAX_MS 3600000u

/* How functions are shown: with or without arguments and template parameters. */
enum cli_load_names { LOOK_NAMES_SHORT, LOOK_NAMES_FULL };

struct cli_load_options {
	const char *event; /* NULL: the event that was sampled */
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
	bool short_names; /* another name for the same */
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
extern const struct option_spec symbol_option_table[]; /* includes symbol_file_option_table */
extern const struct option_spec source_option_table[];
extern const struct option_spec look_option_table[]; /* includes symbol_option_table */

struct command_context;
struct debuginfod;
struct load_options;
struct recording_damage;
struct source_search;

/*
 * Where to search for source files; borrows the lists. The search counts as asked for if is_asked
 * is true or the command line gives a place. A place in a configuration file does not count: the
 * file may just be in the current directory.
 */
struct source_search cli_load_to_search(const struct command_context *context,
					const struct source_options *sources, bool is_asked);

/* Whether --source was given on the command line. */
bool cli_load_asks_source(const struct command_context *context, const bool *source);

/*
 * Converts the options to those of load.h. *ret borrows their lists and *server, which this
 * function fills. If the options are invalid, prints why and returns COMMAND_USAGE, otherwise
 * COMMAND_DONE.
 */
int cli_load_to_load(const struct command_context *context, const struct cli_load_options *look,
		     struct debuginfod *server, struct load_options *ret);

/*
 * Chooses full names unless the user chose: for output that programs read, and for comparing names
 * with names that were written down.
 */
void cli_load_prefer_full_names(const struct command_context *context,
				const struct cli_load_options *look, struct load_options *load);

/*
 * Whether a pattern contains more than a short name: arguments or template parameters. In regular
 * expressions, "\(" is a literal bracket. "a<>::b" and "a::operator()" are short.
 */
bool cli_load_pattern_is_full(const char *pattern, bool is_expression);

/* The same for the options for symbols only. If server is NULL, no server is asked. */
void cli_load_set_symbols(const struct command_context *context,
			  const struct symbol_options *symbols, struct debuginfod *server,
			  struct load_options *ret);

/* How many rows to print; 0 for all, which is the default if a program reads them. */
uint32_t cli_load_row_limit(const struct command_context *context, const uint64_t *limit,
			    bool for_program);

/* For struct load_options: self is the context. */
void cli_load_note_damage(void *self, const char *path, const struct recording_damage *damage);

/*
 * If output is the same file as input, prints an error that names the option for the output, and
 * returns COMMAND_USAGE; otherwise COMMAND_DONE.
 */
int cli_load_check_output(const struct command_context *context, const char *input,
			  const char *output, const char *option);

#endif
