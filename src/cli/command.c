/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"
#include "base/vec.h"
#include "cli/config.h"
#include "cli/help.h"
#include "cli/nearest_name.h"
#include "plugin/plugins.h"

#define MAX_KEYS 512u /* of all commands */

const struct option_spec global_option_table[] = {
	{"config", 0, OPTION_STRING(struct global_options, config_path), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "read this configuration file instead of the default ones"},
	{"preset", 0,
	 OPTION_ENUM(struct global_options, preset, "none", "production", "development", "micro",
		     "heap"),
	 .help = "start from other defaults; wick config --preset NAME shows them"},
	{"help", 'h', OPTION_FLAG(struct global_options, help), .help = "show this help"},
	{"version", 0, OPTION_FLAG(struct global_options, version),
	 .help = "show the version and the optional parts that are built in"},
	OPTION_END,
};

const struct command *command_find(const struct command *const *commands, const char *name)
{
	for (; *commands; commands++) {
		if (strcmp((*commands)->name, name) == 0)
			return *commands;
	}
	return NULL;
}

static bool table_has_key(const struct option_spec *spec, const char *key)
{
	for (; spec && spec->kind != OPTION_KIND_END; spec++) {
		if (spec->kind == OPTION_KIND_GROUP && table_has_key(spec->table, key))
			return true;
		if (spec->key && strcmp(spec->key, key) == 0)
			return true;
	}
	return false;
}

const struct command *command_of_key(const struct command *const *commands, const char *key)
{
	for (; *commands; commands++) {
		if (table_has_key((*commands)->options, key))
			return *commands;
	}
	return NULL;
}

/* The keys of a section, without its name. */
static size_t gather_keys(const struct option_spec *spec, const char *section, const char **keys,
			  size_t count)
{
	size_t n = strlen(section);

	for (; spec && spec->kind != OPTION_KIND_END; spec++) {
		if (spec->kind == OPTION_KIND_GROUP)
			count = gather_keys(spec->table, section, keys, count);
		if (spec->key && count < MAX_KEYS && strncmp(spec->key, section, n) == 0 &&
		    spec->key[n] == '.')
			keys[count++] = spec->key + n + 1;
	}
	return count;
}

const char *command_nearest_key(const struct command *const *commands, const char *section,
				const char *key)
{
	const char *keys[MAX_KEYS];
	size_t count = 0;

	for (; *commands; commands++)
		count = gather_keys((*commands)->options, section, keys, count);
	return nearest_name(key, keys, count);
}

int command_values_init(struct command_values *values, const struct command *command,
			struct error *err)
{
	int r;

	*values = (struct command_values){.set.command = command->name};
	values->options = calloc(1, command->options_size + 1);
	if (!values->options)
		return error_set(err, -ENOMEM, "out of memory");
	if (command->defaults)
		memcpy(values->options, command->defaults, command->options_size);
	r = option_set_add(&values->set, command->options, values->options, NULL, err);
	if (r == 0)
		r = option_set_add(&values->set, global_option_table, &values->globals,
				   "Common options", err);
	if (r < 0)
		command_values_fini(values);
	return r;
}

void command_values_fini(struct command_values *values)
{
	option_set_fini(&values->set);
	free(values->options);
	values->options = NULL;
}

/* For when memory is out: replaces whatever could control a terminal with question marks. */
static void print_plainly(FILE *file, const char *text)
{
	for (; *text; text++)
		(void)fputc((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f ? '?'
										       : *text,
			    file);
}

/* Names in messages may come from files and other processes: they must not control a terminal. */
static void print_error(FILE *file, const struct error *err)
{
	const char *text = err->text;
	struct bytes line = {0};

	bytes_printf(&line, "wick: ");
	text_put_terminal(&line, text);
	if (err->remedy[0]) {
		bytes_printf(&line, "\n      ");
		text_put_terminal(&line, err->remedy);
	}
	bytes_put_u8(&line, '\n');
	if (!line.failed) {
		(void)fwrite(line.data, 1, line.size,
			     file); /* a failure cannot be reported anywhere */
	} else {
		(void)fputs("wick: ", file);
		print_plainly(file, text);
		(void)fputs(err->remedy[0] ? "\n      " : "", file);
		print_plainly(file, err->remedy);
		(void)fputc('\n', file);
	}
	bytes_fini(&line);
}

int command_failed(const struct command_context *context, const struct error *err)
{
	struct error unnamed = {0};

	if (err->code == -EPIPE)
		return COMMAND_BROKEN_PIPE; /* the reader of our output has seen enough */
	if (err->text[0]) {
		print_error(context->err, err);
	} else {
		(void)error_errno(&unnamed, err->code, "wick %s failed",
				  context->command ? context->command->name : "itself");
		print_error(context->err, &unnamed);
	}
	return COMMAND_FAILED;
}

int command_refused(const struct command_context *context, const struct error *err)
{
	print_error(context->err, err);
	return COMMAND_USAGE;
}

int command_misused(const struct command_context *context, const char *format, ...)
{
	struct error err = {0};
	char text[sizeof(err.text)];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)error_set(&err, -EINVAL, "%s", text);
	if (context->command)
		error_remedy(&err, "see wick %s --help", context->command->name);
	else
		error_remedy(&err, "see wick --help");
	print_error(context->err, &err);
	return COMMAND_USAGE;
}

void command_note_text(const struct command_context *context, const struct bytes *text)
{
	/* A note is not essential: a failure to print it is ignored. */
	if (!text->failed && text->size > 0 && log_wants(LOG_LEVEL_WARN))
		(void)fwrite(text->data, 1, text->size, context->err);
}

void command_note(const struct command_context *context, const char *format, ...)
{
	struct bytes text = {0};
	char *said = NULL;
	char *rest;
	char *line;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&said, format, args);
	va_end(args);
	if (n < 0)
		return;
	bytes_printf(&text, "wick: ");
	rest = said;
	while ((line = strsep(&rest, "\n"))) {
		text_put_terminal(&text, line);
		bytes_put_u8(&text, '\n');
	}
	command_note_text(context, &text);
	bytes_fini(&text);
	free(said);
}

int command_print(const struct command_context *context, const struct bytes *text)
{
	struct error err = {0};

	if (text->failed) {
		(void)error_set(&err, -ENOMEM, "out of memory");
		return command_failed(context, &err);
	}
	if (text->size > 0 && fwrite(text->data, 1, text->size, context->out) != text->size) {
		(void)outfile_stdout_failed(-errno, &err);
		return command_failed(context, &err);
	}
	return COMMAND_DONE;
}

static int print_help(const struct command_context *context)
{
	struct bytes text = {0};
	struct error err = {0};
	int status;

	if (help_put_command(&text, context->command, help_width(context->out), &err) < 0)
		status = command_failed(context, &err);
	else
		status = command_print(context, &text);
	bytes_fini(&text);
	return status;
}

static int print_version(const struct command_context *context)
{
	struct bytes text = {0};
	int status;

	help_put_version(&text);
	status = command_print(context, &text);
	bytes_fini(&text);
	return status;
}

static bool is_configurable(const struct option_set *set)
{
	size_t i;

	for (i = 0; i < set->count; i++) {
		if (set->entries[i].spec->key)
			return true;
	}
	return false;
}

static int apply_preset(const struct command_context *context, struct option_set *set,
			struct error *err)
{
	struct config preset;
	int r = config_open_preset(&preset, context->globals->preset, err);

	if (r == 0)
		r = config_apply_file(&preset, context->commands, set, err);
	config_fini(&preset);
	return r;
}

/* A broken file must not stop commands that use nothing from it. */
int command_configure(const struct command_context *context, struct option_set *set,
		      struct error *err)
{
	struct config config;
	char strange[256];
	int r;

	if (context->command->reads_config ||
	    (!context->globals->config_path && !is_configurable(set)))
		return 0;
	r = apply_preset(context, set, err);
	if (r == 0)
		r = config_open(&config, context->globals->config_path, err);
	if (r < 0)
		return r;
	if (config.note[0])
		command_note(context, "%s", config.note);
	r = config_apply_file(&config, context->commands, set, err);
	if (r == 0)
		r = config_apply_environment(set, err);
	if (r == 0 && config_find_strange_variable(context->commands, strange, sizeof(strange)))
		command_note(context, "%s; ignored: see wick config --print", strange);
	config_fini(&config);
	return r;
}

static int check_arguments(const struct command_context *context, int count)
{
	const struct command *command = context->command;
	const char *forms = command->synopsis ? command->synopsis : "";
	struct error err = {0};

	if (count >= command->min_arguments &&
	    (command->max_arguments < 0 || count <= command->max_arguments))
		return COMMAND_DONE;
	(void)error_set(&err, -EINVAL, "%s %s", command->name,
			count < command->min_arguments ? "is missing an argument"
			: command->max_arguments == 0  ? "takes no arguments"
						       : "was given too many arguments");
	error_remedy(&err, "usage: wick %s %.*s; see wick %s --help", command->name,
		     (int)strcspn(forms, "\n"), forms, command->name);
	return command_refused(context, &err);
}

static int run_values(struct command_context *context, struct command_values *values, int argc,
		      char **argv)
{
	const struct command *command = context->command;
	struct error err = {0};
	int count;
	int status;

	count = option_parse(&values->set, argc, argv, command->runs_program, &err);
	if (count < 0)
		return command_refused(context, &err);
	if (values->globals.help)
		return print_help(context);
	if (values->globals.version)
		return print_version(context);
	if (command_configure(context, &values->set, &err) < 0)
		return command_refused(context, &err);
	status = check_arguments(context, count);
	if (status != COMMAND_DONE)
		return status;
	return command->run(context, values->options, count, argv);
}

static void print_warning(void *self, const struct error *err)
{
	if (err->remedy[0])
		command_note(self, "%s\n      %s", err->text, err->remedy);
	else
		command_note(self, "%s", err->text);
}

static int run_subcommand(struct command_context *context, int argc, char **argv,
			  const char *config_path)
{
	struct command_values values;
	struct plugins *plugins;
	struct error err = {0};
	int status;

	if (command_values_init(&values, context->command, &err) < 0)
		return command_failed(context, &err);
	values.globals.config_path = config_path;
	context->globals = &values.globals;
	context->set = &values.set;
	/* Commands that record load no plug-ins, and neither do services. */
	plugins = context->command->runs_program || context->command->is_service
			  ? NULL
			  : plugins_load(getenv("WICK_PLUGINS"), print_warning, context);
	context->plugins = plugins;
	status = run_values(context, &values, argc, argv);
	plugins_free(plugins);
	command_values_fini(&values);
	return status;
}

int command_unknown(const struct command_context *context, const char *name)
{
	const char *names[64];
	const char *meant;
	struct error err = {0};
	size_t n;

	for (size_t i = n = 0; n < ARRAY_SIZE(names) && context->commands[i]; i++)
		if (!context->commands[i]->hidden)
			names[n++] = context->commands[i]->name;
	meant = nearest_name(name, names, n);
	(void)error_set(&err, -EINVAL, "unknown command %s", name);
	if (meant)
		error_remedy(&err, "did you mean wick %s? see wick --help", meant);
	else
		error_remedy(&err, "see wick --help");
	return command_refused(context, &err);
}

static int print_overview(const struct command_context *context, FILE *to)
{
	struct command_context there = *context;
	struct bytes text = {0};
	int status;

	there.out = to;
	help_put_overview(&text, context->commands, help_width(to));
	status = command_print(&there, &text);
	bytes_fini(&text);
	return status;
}

/* Options before the command: wick --config FILE record … */
static int dispatch(struct command_context *context, int argc, char **argv)
{
	struct global_options globals = {0};
	struct option_set set = {0};
	struct error err = {0};
	int count;
	int status;

	count = option_set_add(&set, global_option_table, &globals, NULL, &err);
	if (count == 0)
		count = option_parse(&set, argc, argv, true, &err);
	if (count < 0)
		status = command_refused(context, &err);
	else if (globals.help)
		status = print_overview(context, context->out);
	else if (globals.version)
		status = print_version(context);
	else if (count == 0)
		status = (print_overview(context, context->err), COMMAND_USAGE);
	else if (!(context->command = command_find(context->commands, argv[0])))
		status = command_unknown(context, argv[0]);
	else
		status = run_subcommand(context, count - 1, argv + 1, globals.config_path);
	option_set_fini(&set);
	return status;
}

/* The command that the program's own name selects; NULL if it is just wick. */
static const struct command *find_program(const struct command *const *commands, const char *path)
{
	const char *name = path_base_name(path);

	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->program && strcmp(commands[i]->program, name) == 0)
			return commands[i];
	return NULL;
}

int command_main(const struct command *const *commands, int argc, char **argv, FILE *out,
		 FILE *err_file)
{
	const char *no_color = getenv("NO_COLOR");
	bool color = !no_color || !no_color[0];
	struct command_context context = {
		.out = out,
		.err = err_file,
		.color_out = color && isatty(fileno(out)),
		.color_err = color && isatty(fileno(err_file)),
		.progress = isatty(fileno(err_file)) && log_wants(LOG_LEVEL_WARN),
		.commands = commands,
	};
	struct error err = {0};
	int status;

	if (argc == 0)
		return COMMAND_USAGE;
	if (log_check(&err) < 0) /* it is ignored */
		command_note(&context, "%s\n      %s", err.text, err.remedy);
	context.command = find_program(commands, argv[0]);
	status = context.command ? run_subcommand(&context, argc - 1, argv + 1, NULL)
				 : dispatch(&context, argc - 1, argv + 1);
	if (fflush(out) != 0 && status == COMMAND_DONE) {
		(void)outfile_stdout_failed(-errno, &err);
		status = command_failed(&context, &err);
	}
	return status;
}
