/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_PARTS_DRAW_FLAME_H
#define WICK_CLI_COMMANDS_PARTS_DRAW_FLAME_H

/*
 * draw_flame: draws a recording as a flame graph, for wick flame and wick record. The name of the
 * output file decides the format: .html for the page, .png, otherwise SVG.
 */

#include <stdbool.h>

struct command_context;
struct flame_page_options;
struct load_options;
struct profile;

/*
 * Returns an exit status, after printing any failure. "-" as output is standard output. option is
 * the option that names the output, for remedies: "-o FILE".
 */
int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_page_options *view, const char *input, const char *output,
	       const char *option);

/* Why a file of this name cannot be a flame graph: it ends like another format. NULL if it can. */
const char *draw_flame_refuses(const char *output);

/* Prints that a picture or page was written. */
void draw_flame_print_written(const struct command_context *context, const char *path);

/* Whether the name is that of a page (.html). */
bool draw_flame_is_page(const char *output);

/* Like draw_flame(), for a profile that is already loaded. */
int draw_flame_of(const struct command_context *context, const struct profile *profile,
		  const struct flame_page_options *view, const char *output, const char *option);

#endif
