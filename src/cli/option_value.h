/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_OPTION_VALUE_H
#define WICK_CLI_OPTION_VALUE_H

/*
 * option_value: converts text to the value of an option and back. The source of the text (command
 * line, file, environment) is given in the assignment, so that an error names what the user wrote.
 */

#include <stdbool.h>

#include "cli/option.h"

struct bytes;

struct option_assignment {
	enum option_source source;
	const char *subject; /* what an error calls the option: "--frequency" */
	const char *origin;  /* is copied; may be NULL */
};

/* Checks text against the spec, and stores it unless a stronger source has set the value. */
int option_assign(struct option_set *set, struct option_entry *entry, const char *text,
		  const struct option_assignment *how, struct error *err);

#define OPTION_SHOWN_BYTES 100

/*
 * Shortens a value for a message, with … at the end if something is cut off, so that there is room
 * for what is allowed. Returns ret.
 */
const char *option_shorten(const char *text, char ret[OPTION_SHOWN_BYTES]);

/* Whether the option needs a value. */
bool option_takes_value(const struct option_spec *spec);

/* Whether the option may be given several times, adding to its value each time. */
bool option_is_repeatable(const struct option_spec *spec);

/* Appends "10 to 10000", "at least 1" or nothing. Returns whether there is a range. */
bool option_put_range(struct bytes *out, const struct option_spec *spec);

/* Appends the words of an enum with a separator between them. */
void option_put_words(struct bytes *out, const struct option_spec *spec, const char *separator);

/* Appends a value as a user would type it; nothing if it is unset. */
void option_put_value(struct bytes *out, const struct option_entry *entry);

#endif
