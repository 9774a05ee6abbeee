/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/completion.h"
#include "cli/text/completion.h"

static int run_completion(const struct command_context *context, void *values, int argc,
			  char **argv)
{
	struct bytes text = {0};
	struct error err = {0};
	int status;
	int r;

	r = completion_put(&text, argv[0], context->commands, &err);
	if (r == -EINVAL)
		status = command_refused(context, &err);
	else if (r < 0)
		status = command_failed(context, &err);
	else
		status = command_print(context, &text);
	bytes_fini(&text);
	return status;
}

const struct command command_completion = {
	.name = "completion",
	.summary = "print a completion script for a shell",
	.synopsis = "bash|zsh|fish",
	.description = help_description,
	.examples = help_examples,
	.min_arguments = 1,
	.max_arguments = 1,
	.argument_words = completion_shells,
	.run = run_completion,
};
