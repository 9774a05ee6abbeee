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
#include "view/flame.h"

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

int draw_flame_of(const struct command_context *context, const struct profile *profile,
		  const struct flame_options *view, const char *output)
{
	struct bytes text = {0};
	struct error err;
	int r = is_png(output) ? flame_write_png(profile, view, &text, &err)
			       : flame_write(profile, view, &text, &err);

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
	       const struct flame_options *view, const char *input, const char *output)
{
	struct profile *profile;
	struct error err;
	int status = look_check_output(context, input, output);

	if (status != COMMAND_DONE)
		return status;
	if (load_profile(input, load, &profile, &err) < 0)
		return command_failed(context, &err);
	status = draw_flame_of(context, profile, view, output);
	profile_free(profile);
	return status;
}
