/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMAND_H
#define WICK_CLI_COMMAND_H

/*
 * command: what a subcommand is, and how one is found and run.
 *
 * A subcommand is one const struct command in src/cli/commands/cmd_<name>.c and one line
 * in src/cli/table.c. Its run() gets checked values: the command line was
 * parsed, the configuration loaded, the number of arguments verified.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/config.h"
#include "cli/option.h"

struct bytes;
struct command;
struct error;
struct plugins;

enum command_status {
	COMMAND_DONE = 0,
	COMMAND_FAILED = 1,
	COMMAND_USAGE = 2,
	COMMAND_GATE = 3,         /* --fail-if, --fail-on, --max-… */
	COMMAND_BROKEN_PIPE = 141 /* 128 + SIGPIPE: the reader of stdout left */
};

/* What every command accepts. */
struct global_options {
	bool help;
	bool version;
	const char *config_path; /* --config; NULL: the usual places */
	enum config_preset preset;
};

extern const struct option_spec global_option_table[];

struct command_context {
	FILE *out;      /* results */
	FILE *err;      /* everything else */
	bool color_out; /* a terminal, and NO_COLOR is unset */
	bool color_err;
	bool progress; /* err is a terminal: a progress line may be drawn */
	const struct command *command;
	const struct command *const *commands; /* all of them, NULL last */
	const struct global_options *globals;
	const struct plugins *plugins; /* what $WICK_PLUGINS brings; NULL: nothing */
	const struct option_set *set;  /* option_source_of(context->set, &options->x) */
};

struct command_example {
	const char *line;    /* "wick record -p 1234 -d 10" */
	const char *purpose; /* "ten seconds of a running process" */
};

struct command {
	const char *name;
	const char *program;  /* a name under which wick is this command; optional */
	const char *summary;  /* one line, lower case, no full stop */
	const char *synopsis; /* without "wick NAME"; several forms on lines of their own */
	const char *const *description;         /* paragraphs, NULL last */
	const struct command_example *examples; /* {NULL} last; optional */
	const struct option_spec *options;      /* optional: no options of its own */
	size_t options_size;
	const void *defaults; /* an options struct */
	int min_arguments;
	int max_arguments;                 /* -1: no limit */
	const char *argument_help;         /* "FILE: a recording, or - for stdin"; optional */
	const char *const *argument_words; /* what completion offers, NULL last; optional */
	enum option_offer argument_offer;
	bool runs_program; /* the first argument ends the options */
	bool has_gates;    /* it may end with COMMAND_GATE */
	bool reads_config; /* by itself: a pipe that --config names can be read once */
	bool hidden;

	/* Returns an exit status. argv holds the arguments that are not options. */
	int (*run)(const struct command_context *context, void *options, int argc, char **argv);
};

/* NULL for none. */
const struct command *command_find(const struct command *const *commands, const char *name);

/* The first command whose options have the configuration key, NULL for none. */
const struct command *command_of_key(const struct command *const *commands, const char *key);

/* The key of a section that may be meant by one that there is not; NULL for none. */
const char *command_nearest_key(const struct command *const *commands, const char *section,
				const char *key);

/* The values of one command, ready to be parsed into. */
struct command_values {
	void *options;
	struct global_options globals;
	struct option_set set;
};

int command_values_init(struct command_values *values, const struct command *command,
			struct error *err);
void command_values_fini(struct command_values *values);

/* Finds the command in argv, parses, configures and runs it. Returns the exit status. */
int command_main(const struct command *const *commands, int argc, char **argv, FILE *out,
		 FILE *err);

/* Prints "wick: text" and the remedy on a line of its own. Returns COMMAND_FAILED. */
int command_failed(const struct command_context *context, const struct error *err);

/* The same for a mistake on the command line. Returns COMMAND_USAGE. */
int command_refused(const struct command_context *context, const struct error *err);

/* Prints "wick: …" and where the help is. Returns COMMAND_USAGE. */
int command_misused(const struct command_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For the name of a command that there is not: with the one that may be meant. COMMAND_USAGE. */
int command_unknown(const struct command_context *context, const char *name);

/*
 * Prints "wick: …" unless WICK_LOG=error; what follows a line break stands below, as it is. The
 * second is for a text that is complete with its "wick: ".
 */
void command_note(const struct command_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void command_note_text(const struct command_context *context, const struct bytes *text);

/* Writes a finished text to context->out. Returns COMMAND_DONE or COMMAND_FAILED. */
int command_print(const struct command_context *context, const struct bytes *text);

#endif
