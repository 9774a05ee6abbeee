/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/draw_flame.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/look.h"
#include "model/profile.h"
#include "pipeline/load.h"
#include "view/flame.h"

static void print_written(const struct command_context *context, const char *path)
{
	struct bytes line = {0};

	bytes_printf(&line, "wick: wrote ");
	text_put_terminal(&line, path);
	bytes_printf(&line, "; open it in a browser\n");
	if (!line.failed)
		(void)fwrite(line.data, 1, line.size, context->err); /* only a courtesy */
	bytes_fini(&line);
}

int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_options *view, const char *input, const char *output)
{
	struct profile *profile;
	struct bytes text = {0};
	struct error err;
	int r = look_check_output(context, input, output);

	if (r != COMMAND_DONE)
		return r;
	r = load_profile(input, load, &profile, &err);
	if (r < 0)
		return command_failed(context, &err);
	r = flame_write(profile, view, &text, &err);
	if (r == 0)
		r = outfile_write(output, text.data, text.size, &err);
	bytes_fini(&text);
	profile_free(profile);
	if (r < 0)
		return command_failed(context, &err);
	if (strcmp(output, "-") != 0)
		print_written(context, output);
	return COMMAND_DONE;
}
