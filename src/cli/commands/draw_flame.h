/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_CLI_COMMANDS_DRAW_FLAME_H
#define WICK_CLI_COMMANDS_DRAW_FLAME_H

/*
 * draw_flame: from a recording to a flame graph in a file, as wick flame and wick record do it: the
 * page of the profiler when the file is called x.html, else SVG.
 */

#include <stdbool.h>

struct command_context;
struct flame_page_options;
struct load_options;
struct profile;

/*
 * Returns an exit status; failures have been printed. "-" writes to standard output. The option is
 * what a user chooses the output with, for remedies: "-o FILE".
 */
int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_page_options *view, const char *input, const char *output,
	       const char *option);

/* Why a graph cannot be written to a file of this name, which promises another format; else NULL.
 */
const char *draw_flame_refuses(const char *output);

/* Says that a picture or page was written. */
void draw_flame_tell(const struct command_context *context, const char *path);

/* Whether a file of this name is a page. */
bool draw_flame_is_page(const char *output);

/* The same for a profile that is at hand. */
int draw_flame_of(const struct command_context *context, const struct profile *profile,
		  const struct flame_page_options *view, const char *output, const char *option);

#endif
