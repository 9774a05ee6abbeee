/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/commands/parts/draw_flame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options/load_options.h"
#include "load/load.h"
#include "model/profile.h"
#include "view/page/flame_page.h"
#include "view/source_file.h"

/* The ending of the name selects the format; case does not matter. */
static bool ends_in(const char *path, const char *extension)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash : path, '.');

	return dot && strcasecmp(dot + 1, extension) == 0;
}

static bool is_png(const char *path)
{
	return ends_in(path, "png");
}

const char *draw_flame_refuses(const char *output)
{
	/* No program would open an SVG file with another ending. */
	static const char *const known[] = {"svg", "html", "htm", "png"};
	const char *slash = strrchr(output, '/');
	const char *name = slash ? slash + 1 : output;
	size_t i;

	if (!name[0] || !strchr(name + 1, '.'))
		return NULL; /* the name has no ending */
	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (ends_in(output, known[i]))
			return NULL;
	return "a flame graph is .svg, .html or .png; for other formats, use wick export";
}

void draw_flame_print_written(const struct command_context *context, const char *path)
{
	struct bytes line = {0};

	bytes_printf(&line, "wick: wrote ");
	text_put_terminal(&line, path);
	bytes_printf(&line, is_png(path) ? "\n" : "; open it in a browser\n");
	command_note_text(context, &line);
	bytes_fini(&line);
}

bool draw_flame_is_page(const char *output)
{
	return ends_in(output, "html") || ends_in(output, "htm");
}

int draw_flame_of(const struct command_context *context, const struct profile *profile,
		  const struct flame_page_options *view, const char *output, const char *option)
{
	struct flame_page_options page = *view;
	struct bytes text = {0};
	struct error err;
	uint32_t lack = SOURCE_LACK_NONE;
	int r;

	page.ret_lack = &lack;
	if (draw_flame_is_page(output))
		r = flame_page_write(profile, &page, &text, &err);
	else if (is_png(output))
		r = flame_write_png(profile, &view->graph, &text, &err);
	else
		r = flame_write(profile, &view->graph, &text, &err);

	if (r == 0)
		r = outfile_write(output, option, text.data, text.size, &err);
	bytes_fini(&text);
	if (r == -ERANGE) /* a width that the format does not support */
		return command_refused(context, &err);
	if (r < 0)
		return command_failed(context, &err);
	if (strcmp(output, "-") != 0)
		draw_flame_print_written(context, output);
	if (source_lack_text((enum source_lack)lack))
		command_note(context, "%s", source_lack_text((enum source_lack)lack));
	return COMMAND_DONE;
}

static void print_empty(const struct command_context *context, const struct profile *profile)
{
	struct bytes line = {0};

	bytes_printf(&line, "wick: the graph is empty: ");
	text_put_terminal(&line, profile->why_empty
					 ? profile->why_empty
					 : "no samples, or the filters removed everything");
	bytes_put_u8(&line, '\n');
	command_note_text(context, &line);
	bytes_fini(&line);
}

int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_page_options *view, const char *input, const char *output,
	       const char *option)
{
	struct load_options settled = *load;
	struct profile *profile;
	struct error err;
	int status = cli_load_check_output(context, input, output, option);

	if (status == COMMAND_DONE && draw_flame_refuses(output))
		status = command_misused(context, "%s: %s", output, draw_flame_refuses(output));
	if (status != COMMAND_DONE)
		return status;
	settled.slices = draw_flame_is_page(output); /* for its timeline */
	settled.tracks = settled.slices;
	settled.heap_usual_step_ns = LOAD_PAGE_HEAP_STEP_NS;
	if (load_profile(input, &settled, &profile, &err) < 0)
		return command_failed(context, &err);
	status = draw_flame_of(context, profile, view, output, option);
	if (status == COMMAND_DONE && profile->entries.count == 0)
		print_empty(context, profile);
	profile_free(profile);
	return status;
}
