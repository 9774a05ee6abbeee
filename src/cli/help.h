/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_HELP_H
#define WICK_CLI_HELP_H

/* help: makes the output of --help and --version from the command and option tables. */

#include <stdbool.h>
#include <stdio.h>

struct bytes;
struct command;
struct error;
struct option_entry;

#define HELP_MAX_WIDTH 100

/* The width to fill: that of the terminal, at most HELP_MAX_WIDTH; 80 without a terminal. */
int help_width(FILE *file);

void help_put_overview(struct bytes *out, const struct command *const *commands, int width);
int help_put_command(struct bytes *out, const struct command *command, int width,
		     struct error *err);
void help_put_version(struct bytes *out);

/* Whether a paragraph of a help text is an item of a list: it then begins with a tab. */
bool help_is_item(const char *paragraph);

/*
 * Appends the names of an option with its argument, as a user types them: "-F, --frequency=HZ". A
 * toggle shows both forms in one: "--[no-]kernel".
 */
void help_put_names(struct bytes *out, const struct option_entry *entry);

/* Appends the summary with range and default: "samples per second (10 to 10000, default 997)". */
void help_put_text(struct bytes *out, const struct option_entry *entry);

/* Environment variables that are not part of the configuration; {NULL} last. */
struct help_variable {
	const char *name;
	const char *meaning;
};

extern const struct help_variable help_variables[];

/* Optional parts of the build; {.name = NULL} last. */
struct help_part {
	const char *name;
	bool built;
	const char *gives; /* what does not work without it */
	const char *needs; /* packages that the build needs for it */
};

extern const struct help_part help_parts[];

/* Exit statuses, as manual pages list them; {NULL} last. */
struct help_status {
	const char *status;
	const char *meaning;
};

extern const struct help_status help_statuses[];
extern const struct help_status help_gate_statuses[];    /* of commands with gates */
extern const struct help_status help_program_statuses[]; /* of commands that run a program */

#endif
