/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/draw_flame.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/outfile.h"
#include "cli/command.h"
#include "model/profile.h"
#include "pipeline/load.h"
#include "view/flame.h"

int draw_flame(const struct command_context *context, const struct load_options *load,
	       const struct flame_options *view, const char *input, const char *output)
{
	struct profile *profile;
	struct bytes text = {0};
	struct error err;
	int r = load_profile(input, load, &profile, &err);

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
		(void)fprintf(context->err, "wick: wrote %s; open it in a browser\n", output);
	return COMMAND_DONE;
}
