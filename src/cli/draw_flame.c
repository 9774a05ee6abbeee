/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/draw_flame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/look.h"
#include "model/profile.h"
#include "pipeline/load.h"
#include "view/flame_page.h"

/* The name tells the format. */
static bool is_png(const char *path)
{
	size_t n = strlen(path);

	return n > 4 && strcasecmp(path + n - 4, ".png") == 0;
}

static void print_written(const struct command_context *context, const char *path)
{
	struct bytes line = {0};

	bytes_printf(&line, "wick: wrote ");
	text_put_terminal(&line, path);
	bytes_printf(&line, is_png(path) ? "\n" : "; open it in a browser\n");
	if (!line.failed)
		(void)fwrite(line.data, 1, line.size, context->err); /* only a courtesy */
	bytes_fini(&line);
}

bool draw_flame_is_page(const char *output)
{
	const char *dot = strrchr(output, '.');

	return dot && (strcmp(dot, ".html") == 0 || strcmp(dot, ".htm") == 0);
}

int draw_flame_of(const struct command_context *context, const struct profile *profile,
		  const struct flame_page_options *view, const char *output)
{
	struct bytes text = {0};
	struct error err;
	int r;

	if (draw_flame_is_page(output))
		r = flame_page_write(profile, view, &text, &err);
	else if (is_png(output))
		r = flame_write_png(profile, &view->graph, &text, &err);
	else
		r = flame_write(profile, &view->graph, &text, &err);

	if (r == 0)
		r = outfile_write(output, text.data, text.size, &err);
	bytes_fini(&text);
	if (r == -ERANGE) /* a width that the format does not have */
		return command_refused(context, &err);
	if (r < 0)
		return command_failed(context, &err);
	if (strcmp(output, "-") != 0)
		print_written(context, output);
	return COMMAND_DONE;
}

int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_page_options *view, const char *input, const char *output)
{
	struct load_options settled = *load;
	struct profile *profile;
	struct error err;
	int status = look_check_output(context, input, output);

	if (status != COMMAND_DONE)
		return status;
	settled.slices = draw_flame_is_page(output); /* of which it has a timeline */
	if (load_profile(input, &settled, &profile, &err) < 0)
		return command_failed(context, &err);
	status = draw_flame_of(context, profile, view, output);
	profile_free(profile);
	return status;
}
