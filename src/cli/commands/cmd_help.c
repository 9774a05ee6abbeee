/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/bytes.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/manpage.h"
#include "cli/text/help.h"

struct help_options {
	bool man;
	bool names;
};

static void put_names(struct bytes *out, const struct command *const *commands)
{
	for (; *commands; commands++) {
		if (!(*commands)->hidden)
			bytes_printf(out, "%s\n", (*commands)->name);
	}
}

/* Help or the manual page, of one command or of wick itself. */
static int put_page(const struct command_context *context, const struct command *command, bool man,
		    struct bytes *out, struct error *err)
{
	int width = help_width(context->out);

	if (command && man)
		return manpage_put_command(out, command, err);
	if (command)
		return help_put_command(out, command, width, err);
	if (man)
		manpage_put_overview(out, context->commands);
	else
		help_put_overview(out, context->commands, width);
	return 0;
}

static int run_help(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct help_options *options = values;
	const struct command *command = NULL;
	struct bytes text = {0};
	struct error err = {0};
	int status;

	if (argc > 0 && !(command = command_find(context->commands, argv[0])))
		return command_unknown(context, argv[0]);
	if (options->names)
		put_names(&text, context->commands);
	else if (put_page(context, command, options->man, &text, &err) < 0)
		text.failed = true;
	status = command_print(context, &text);
	bytes_fini(&text);
	return status;
}

static const struct option_spec table[] = {
	{"man", 0, OPTION_FLAG(struct help_options, man),
	 .help = "write the manual page as roff instead"},
	{"names", 0, OPTION_FLAG(struct help_options, names),
	 .help = "list the names of the commands only", .hidden = true},
	OPTION_END,
};

const struct command command_help = {
	.name = "help",
	.summary = "show the help or the manual page of a command",
	.synopsis = "[OPTIONS] [COMMAND]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct help_options),
	.defaults = &(const struct help_options){0},
	.max_arguments = 1,
	.run = run_help,
};
