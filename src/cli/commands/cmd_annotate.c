/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/debuginfod.h"
#include "cli/options/load_options.h"
#include "cli/text/annotate.h"
#include "load/load.h"
#include "model/profile.h"
#include "view/annotate/annotate.h"
#include "view/function_match.h"

#define MAX_LISTED 20u

enum annotate_format { ANNOTATE_FORMAT_TEXT, ANNOTATE_FORMAT_JSON };

struct annotate_command_options {
	bool assembly;
	enum annotate_format format;
	struct source_options sources;
	struct cli_load_options look;
};

static int several_match(const struct command_context *context, const char *pattern,
			 const struct function_matches *found)
{
	struct bytes text = {0};
	size_t i;

	bytes_printf(&text, "wick: %s matches %zu functions (largest first); name one of them:\n",
		     pattern, found->count);
	for (i = 0; i < found->count && i < MAX_LISTED; i++) {
		bytes_printf(&text, "      ");
		text_put_terminal(&text, found->items[i].name);
		bytes_put_u8(&text, '\n');
	}
	if (i < found->count)
		bytes_printf(&text, "      … and %zu more\n", found->count - i);
	if (!text.failed)
		(void)fwrite(text.data, 1, text.size, context->err);
	bytes_fini(&text);
	return COMMAND_USAGE;
}

static int annotate(const struct command_context *context,
		    const struct annotate_command_options *options, const struct profile *profile,
		    char **argv)
{
	const struct annotate_options view = {
		.json = options->format == ANNOTATE_FORMAT_JSON,
		.color = context->color_out,
		.assembly = options->assembly,
		.sources = cli_load_to_search(context, &options->sources, true),
	};
	struct function_matches found = {0};
	struct bytes text = {0};
	struct error err;
	int status;
	int r = function_matches_find(profile, profile->main_value, argv[1], &found, &err);

	if (r < 0)
		return r == -EINVAL ? command_refused(context, &err)
				    : command_failed(context, &err);
	if (found.count == 0) {
		(void)function_matches_none(argv[0], argv[1], &err);
		status = command_failed(context, &err);
	} else if (found.count > 1) {
		status = several_match(context, argv[1], &found);
	} else if (annotate_write(profile, found.wanted, found.items[0].name, &view, &text, &err) <
		   0) {
		status = command_failed(context, &err);
	} else {
		status = command_print(context, &text);
	}
	function_matches_fini(&found);
	bytes_fini(&text);
	return status;
}

static int run_annotate(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct annotate_command_options *options = values;
	struct debuginfod server;
	struct load_options load;
	struct profile *profile;
	struct error err;
	int status = cli_load_to_load(context, &options->look, &server, &load);

	if (status != COMMAND_DONE)
		return status;
	if (options->format == ANNOTATE_FORMAT_JSON ||
	    cli_load_pattern_is_full(argv[1], argv[1][0] == '/'))
		cli_load_prefer_full_names(context, &options->look, &load);
	if (load_profile(argv[0], &load, &profile, &err) < 0)
		return command_failed(context, &err);
	status = annotate(context, options, profile, argv);
	profile_free(profile);
	return status;
}

static const struct option_spec table[] = {
	{"asm", 0, OPTION_FLAG(struct annotate_command_options, assembly),
	 .help = "show instructions instead of source lines; needs objdump or llvm-objdump"},
	{OPTION_GROUP(struct annotate_command_options, sources, source_option_table)},
	{"format", 0, OPTION_ENUM(struct annotate_command_options, format, "text", "json"),
	 .help = "output format"},
	{OPTION_GROUP(struct annotate_command_options, look, look_option_table), .help = "Filters"},
	OPTION_END,
};

const struct command command_annotate = {
	.name = "annotate",
	.summary = "show what each line or instruction of a function costs",
	.synopsis = "[OPTIONS] FILE FUNCTION",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct annotate_command_options),
	.defaults = &(const struct annotate_command_options){.look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 2,
	.max_arguments = 2,
	.argument_help = "FILE: a recording, or - for standard input; FUNCTION: a name or /RE/",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_annotate,
};
