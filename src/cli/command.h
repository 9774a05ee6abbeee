/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMAND_H
#define WICK_CLI_COMMAND_H

/*
 * command: describes a command, and finds and runs the one that the user names.
 *
 * A command is one const struct command in src/cli/commands/cmd_<name>.c, one line in
 * src/cli/table.c and a help text in src/cli/text/<name>.txt. When its run() is called, the command
 * line was parsed, the configuration loaded and the number of arguments checked.
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
	COMMAND_BROKEN_PIPE = 141 /* 128 + SIGPIPE: the reader of stdout closed it */
};

/* Options that every command accepts. */
struct global_options {
	bool help;
	bool version;
	const char *config_path; /* --config; NULL: the default places */
	enum config_preset preset;
};

extern const struct option_spec global_option_table[];

struct command_context {
	FILE *out;      /* results */
	FILE *err;      /* everything else */
	bool color_out; /* out is a terminal, and NO_COLOR is unset */
	bool color_err;
	bool progress; /* err is a terminal: a progress line may be drawn */
	const struct command *command;
	const struct command *const *commands; /* all of them, NULL last */
	const struct global_options *globals;
	const struct plugins *plugins; /* from $WICK_PLUGINS; NULL: none */
	const struct option_set *set;  /* option_source_of(context->set, &options->x) */
};

struct command_example {
	const char *line;    /* "wick record -p 1234 -d 10" */
	const char *purpose; /* "ten seconds of a running process" */
};

struct command {
	const char *name;
	const char *program;  /* if wick is run under this name, it runs this command; optional */
	const char *summary;  /* one line, lower case, no full stop */
	const char *synopsis; /* without "wick NAME"; one line for each form */
	const char *const *description;         /* paragraphs of its help text, NULL last */
	const struct command_example *examples; /* {NULL} last; optional */
	const struct option_spec *options;      /* NULL if it has no options of its own */
	size_t options_size;
	const void *defaults; /* an options struct */
	int min_arguments;
	int max_arguments;                 /* -1: no limit */
	const char *argument_help;         /* "FILE: a recording, or - for stdin"; optional */
	const char *const *argument_words; /* for completion, NULL last; optional */
	enum option_offer argument_offer;
	bool runs_program; /* the first argument ends the options */
	/* A service, which often is root's: its environment must not make it load code. */
	bool is_service;
	bool has_gates;    /* it may return COMMAND_GATE */
	bool reads_config; /* itself, because a pipe given with --config can be read only once */
	bool hidden;

	/* Returns the exit status. argv has the arguments that are not options. */
	int (*run)(const struct command_context *context, void *options, int argc, char **argv);
};

/* NULL if there is no such command. */
const struct command *command_find(const struct command *const *commands, const char *name);

/* The first command that has an option with this configuration key, or NULL. */
const struct command *command_of_key(const struct command *const *commands, const char *key);

/* The key of a section that the user probably meant by an unknown key, or NULL. */
const char *command_nearest_key(const struct command *const *commands, const char *section,
				const char *key);

/* The option values of one command, ready for parsing. */
struct command_values {
	void *options;
	struct global_options globals;
	struct option_set set;
};

int command_values_init(struct command_values *values, const struct command *command,
			struct error *err);
void command_values_fini(struct command_values *values);

/* Assigns the values of the preset, the configuration file and the environment. */
int command_configure(const struct command_context *context, struct option_set *set,
		      struct error *err);

/* Finds the command in argv, parses its options and runs it. Returns the exit status. */
int command_main(const struct command *const *commands, int argc, char **argv, FILE *out,
		 FILE *err);

/* Prints "wick: text", and the remedy on the next line. Returns COMMAND_FAILED. */
int command_failed(const struct command_context *context, const struct error *err);

/* The same for a mistake on the command line. Returns COMMAND_USAGE. */
int command_refused(const struct command_context *context, const struct error *err);

/* Prints "wick: …" and which help to read. Returns COMMAND_USAGE. */
int command_misused(const struct command_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints that a command is unknown, and which one was probably meant. Returns COMMAND_USAGE. */
int command_unknown(const struct command_context *context, const char *name);

/*
 * Prints "wick: …" unless WICK_LOG=error. Lines after the first are printed without "wick: ".
 * command_note_text() prints a text that already has its "wick: ".
 */
void command_note(const struct command_context *context, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void command_note_text(const struct command_context *context, const struct bytes *text);

/* Writes a text to context->out. Returns COMMAND_DONE or COMMAND_FAILED. */
int command_print(const struct command_context *context, const struct bytes *text);

#endif
