/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_SYMBOLIZE_PRINT_H
#define WICK_CLI_COMMANDS_PARTS_SYMBOLIZE_PRINT_H

/* symbolize_print: prints the result for an address in addr2line's form, or as a line of JSON. */

#include <stdbool.h>
#include <stddef.h>

#include "base/file/iov_output.h"

struct resolved;
struct resolver;

enum symbolize_format { SYMBOLIZE_TEXT, SYMBOLIZE_JSON };

struct symbolize_form {
	enum symbolize_format format;
	bool addresses;
	bool functions;
	bool inlines;
	bool pretty;
	bool basenames;
};

#define SYMBOLIZE_KNOWN_FILES 1024

struct symbolize_printer {
	const struct symbolize_form *form;
	struct resolver *resolver;
	struct iov_output gather;
	/* Cache of paths, by pointer (pointers stay valid): most paths are printed many times. */
	struct symbolize_file {
		const char *text;
		const char *shown; /* the part to show; NULL: it must be escaped */
		size_t size;
	} files[SYMBOLIZE_KNOWN_FILES];
};

void symbolize_print(struct symbolize_printer *printer, const struct resolved *found);

/* Prints the result for input that is not an address. */
void symbolize_print_bad(struct symbolize_printer *printer, const char *input);

#endif
