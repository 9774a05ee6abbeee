/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/completion.h"

#include <errno.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/option_value.h"

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

/* Escapes text for '…' in a shell; brackets and colons of zsh and fish are escaped elsewhere. */
static void put_quoted(struct bytes *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			bytes_printf(out, "'\\''");
		else if (strchr(special, *text))
			bytes_printf(out, "\\%c", *text);
		else
			bytes_put_u8(out, (uint8_t)*text);
	}
}

static void put_words(struct bytes *out, const char *const *words, const char *separator)
{
	size_t i;

	for (i = 0; words && words[i]; i++)
		bytes_printf(out, "%s%s", i > 0 ? separator : "", words[i]);
}

static void put_command_names(struct bytes *out, const struct command *const *commands)
{
	size_t i;

	for (i = 0; commands[i]; i++) {
		if (!commands[i]->hidden)
			bytes_printf(out, "%s%s", i > 0 ? " " : "", commands[i]->name);
	}
}

/* The help command's arguments are commands. */
static bool takes_commands(const struct command *command)
{
	return strcmp(command->name, "help") == 0;
}

/* bash */

static const char *bash_offer(enum option_offer offer)
{
	static const char *const actions[] = {
		[OPTION_OFFER_NONE] = ":",
		[OPTION_OFFER_FILE] = "_wick_reply -f",
		[OPTION_OFFER_DIRECTORY] = "_wick_reply -d",
		[OPTION_OFFER_PID] = "_wick_reply -W \"$(ps -eo pid= 2>/dev/null)\"",
		[OPTION_OFFER_PROGRAM] = "_wick_reply -c",
	};

	return actions[offer];
}

static void bash_option_names(struct bytes *out, const struct option_spec *spec)
{
	if (spec->letter)
		bytes_printf(out, " -%c", spec->letter);
	if (spec->name)
		bytes_printf(out, " --%s", spec->name);
	if (spec->name && spec->kind == OPTION_KIND_TOGGLE)
		bytes_printf(out, " --no-%s", spec->name);
}

/* Writes the patterns of a case that match the names of an option. */
static void bash_value_case(struct bytes *out, const struct option_spec *spec)
{
	bytes_printf(out, "\t\t");
	if (spec->letter)
		bytes_printf(out, "-%c%s", spec->letter, spec->name ? " | " : "");
	if (spec->name)
		bytes_printf(out, "--%s", spec->name);
	if (spec->words) {
		bytes_printf(out, ") _wick_reply -W '");
		option_put_words(out, spec, " ");
		bytes_printf(out, "' ;;\n");
	} else {
		bytes_printf(out, ") %s ;;\n", bash_offer(spec->offer));
	}
}

static void bash_command(struct bytes *out, const struct command *const *commands,
			 const struct command *command, const struct option_set *set)
{
	size_t i;

	bytes_printf(out, "\t%s)\n\t\tcase $prev in\n", command->name);
	for (i = 0; i < set->count; i++) {
		const struct option_spec *spec = set->entries[i].spec;

		if (!spec->hidden && option_takes_value(spec))
			bash_value_case(out, spec);
	}
	bytes_printf(out, "\t\t*)\n\t\t\tif [[ $cur == -* ]]; then\n\t\t\t\t_wick_reply -W '");
	for (i = 0; i < set->count; i++) {
		if (!set->entries[i].spec->hidden)
			bash_option_names(out, set->entries[i].spec);
	}
	bytes_printf(out, "'\n\t\t\telse\n\t\t\t\t");
	if (takes_commands(command)) {
		bytes_printf(out, "_wick_reply -W '");
		put_command_names(out, commands);
		bytes_printf(out, "'");
	} else if (command->argument_words) {
		bytes_printf(out, "_wick_reply -W '");
		put_words(out, command->argument_words, " ");
		bytes_printf(out, "'");
	} else {
		bytes_printf(out, "%s",
			     bash_offer(command->runs_program ? OPTION_OFFER_PROGRAM
							      : command->argument_offer));
	}
	bytes_printf(out, "\n\t\t\tfi\n\t\t\t;;\n\t\tesac\n\t\t;;\n");
}

static void bash_begin(struct bytes *out, const struct command *const *commands)
{
	bytes_printf(out, "# bash completion for wick\n"
			  "_wick_reply() {\n"
			  "\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
			  "}\n\n"
			  "_wick() {\n"
			  "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev= command= i\n"
			  "\t((COMP_CWORD > 0)) && prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
			  "\t# bash splits --option=value into three words\n"
			  "\tif [[ $cur == '=' ]]; then\n"
			  "\t\tcur=\n"
			  "\telif [[ $prev == '=' ]]; then\n"
			  "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
			  "\tfi\n"
			  "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			  "\t\tcase ${COMP_WORDS[i]} in\n"
			  "\t\t--config) ((i++)) ;;\n"
			  "\t\t-*) ;;\n"
			  "\t\t*) command=${COMP_WORDS[i]}; break ;;\n"
			  "\t\tesac\n"
			  "\tdone\n"
			  "\tCOMPREPLY=()\n"
			  "\tcase $command in\n"
			  "\t'')\n"
			  "\t\tcase $prev in\n"
			  "\t\t--config) _wick_reply -f ;;\n"
			  "\t\t*) _wick_reply -W '--config --help --version ");
	put_command_names(out, commands);
	bytes_printf(out, "' ;;\n\t\tesac\n\t\t;;\n");
}

static void bash_end(struct bytes *out, const struct command *const *commands)
{
	(void)commands;
	bytes_printf(out, "\tesac\n}\ncomplete -o filenames -o bashdefault -F _wick wick\n");
}

/* zsh */

static const char *zsh_offer(enum option_offer offer)
{
	static const char *const actions[] = {
		[OPTION_OFFER_NONE] = " ",
		[OPTION_OFFER_FILE] = "_files",
		[OPTION_OFFER_DIRECTORY] = "_files -/",
		[OPTION_OFFER_PID] = "_pids",
		[OPTION_OFFER_PROGRAM] = "_normal",
	};

	return actions[offer];
}

/* '--engine=[help]:value:(a b)', each name on its own line */
static void zsh_spec(struct bytes *out, const struct option_spec *spec, const char *dashes,
		     const char *name)
{
	bool takes = option_takes_value(spec);

	bytes_printf(out, "\t\t\t'%s%s%s%s[", option_is_repeatable(spec) ? "*" : "", dashes, name,
		     takes ? (strlen(dashes) == 1 ? "+" : "=") : "");
	put_quoted(out, spec->help, "[]:\\");
	bytes_put_u8(out, ']');
	if (takes) {
		bytes_printf(out, ":");
		put_quoted(out, spec->argument ? spec->argument : "value", "[]:\\");
		bytes_printf(out, ":");
		if (spec->words) {
			bytes_put_u8(out, '(');
			option_put_words(out, spec, " ");
			bytes_put_u8(out, ')');
		} else {
			bytes_printf(out, "%s", zsh_offer(spec->offer));
		}
	}
	bytes_printf(out, "' \\\n");
}

static void zsh_option(struct bytes *out, const struct option_spec *spec)
{
	const char letter[2] = {spec->letter, '\0'};

	if (spec->letter)
		zsh_spec(out, spec, "-", letter);
	if (spec->name)
		zsh_spec(out, spec, "--", spec->name);
	if (spec->name && spec->kind == OPTION_KIND_TOGGLE)
		zsh_spec(out, spec, "--no-", spec->name);
}

static void zsh_command(struct bytes *out, const struct command *const *commands,
			const struct command *command, const struct option_set *set)
{
	size_t i;

	bytes_printf(out, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", command->name);
	for (i = 0; i < set->count; i++) {
		if (!set->entries[i].spec->hidden)
			zsh_option(out, set->entries[i].spec);
	}
	if (takes_commands(command)) {
		bytes_printf(out, "\t\t\t'*:command:(");
		put_command_names(out, commands);
		bytes_printf(out, ")'\n");
	} else if (command->argument_words) {
		bytes_printf(out, "\t\t\t'*:word:(");
		put_words(out, command->argument_words, " ");
		bytes_printf(out, ")'\n");
	} else if (command->runs_program) {
		bytes_printf(out, "\t\t\t'*::program:_normal'\n");
	} else {
		bytes_printf(out, "\t\t\t'*:argument:%s'\n", zsh_offer(command->argument_offer));
	}
	bytes_printf(out, "\t\t\t;;\n");
}

static void zsh_begin(struct bytes *out, const struct command *const *commands)
{
	size_t i;

	bytes_printf(out, "#compdef wick\n\n_wick() {\n\tlocal context state state_descr line\n"
			  "\ttypeset -A opt_args\n\tlocal -a commands\n\tcommands=(\n");
	for (i = 0; commands[i]; i++) {
		if (commands[i]->hidden)
			continue;
		bytes_printf(out, "\t\t'%s:", commands[i]->name);
		put_quoted(out, commands[i]->summary, ":\\");
		bytes_printf(out, "'\n");
	}
	bytes_printf(out,
		     "\t)\n"
		     "\t_arguments -C '--config=[configuration file]:file:_files' '--help[help]' "
		     "'--version[version]' \\\n"
		     "\t\t'1:command:->command' '*::argument:->argument'\n"
		     "\tcase $state in\n"
		     "\tcommand) _describe command commands ;;\n"
		     "\targument)\n"
		     "\t\tcase $line[1] in\n");
}

static void zsh_end(struct bytes *out, const struct command *const *commands)
{
	(void)commands;
	/* The file may be autoloaded from fpath or sourced. */
	bytes_printf(out, "\t\tesac\n\t\t;;\n\tesac\n}\n\n"
			  "if [[ $funcstack[1] == _wick ]]; then\n\t_wick \"$@\"\nelse\n"
			  "\tcompdef _wick wick\nfi\n");
}

/* fish */

static const char *fish_offer(enum option_offer offer)
{
	static const char *const actions[] = {
		[OPTION_OFFER_NONE] = "-x",
		[OPTION_OFFER_FILE] = "-r -F",
		[OPTION_OFFER_DIRECTORY] = "-x -a '(__fish_complete_directories)'",
		[OPTION_OFFER_PID] = "-x -a '(__fish_complete_pids)'",
		[OPTION_OFFER_PROGRAM] = "-x -a '(__fish_complete_subcommand)'",
	};

	return actions[offer];
}

static void fish_option(struct bytes *out, const char *condition, const struct option_spec *spec,
			const char *prefix)
{
	bytes_printf(out, "complete -c wick -n '%s'", condition);
	if (spec->letter && !prefix[0])
		bytes_printf(out, " -s %c", spec->letter);
	if (spec->name)
		bytes_printf(out, " -l %s%s", prefix, spec->name);
	if (spec->words) {
		bytes_printf(out, " -x -a '");
		option_put_words(out, spec, " ");
		bytes_printf(out, "'");
	} else if (option_takes_value(spec)) {
		bytes_printf(out, " %s", fish_offer(spec->offer));
	}
	bytes_printf(out, " -d '");
	put_quoted(out, spec->help, "\\");
	bytes_printf(out, "'\n");
}

static void fish_arguments(struct bytes *out, const char *condition,
			   const struct command *const *commands, const struct command *command)
{
	if (command->argument_offer == OPTION_OFFER_FILE)
		return; /* fish offers files unless told otherwise */
	bytes_printf(out, "complete -c wick -n '%s' -f", condition);
	if (takes_commands(command)) {
		bytes_printf(out, " -a '");
		put_command_names(out, commands);
		bytes_printf(out, "'");
	} else if (command->argument_words) {
		bytes_printf(out, " -a '");
		put_words(out, command->argument_words, " ");
		bytes_printf(out, "'");
	} else if (command->runs_program) {
		bytes_printf(out, " -a '(__fish_complete_subcommand)'");
	}
	bytes_put_u8(out, '\n');
}

static void fish_command(struct bytes *out, const struct command *const *commands,
			 const struct command *command, const struct option_set *set)
{
	char condition[96];
	size_t i;

	bytes_printf(out, "complete -c wick -n __fish_use_subcommand -f -a %s -d '", command->name);
	put_quoted(out, command->summary, "\\");
	bytes_printf(out, "'\n");
	(void)snprintf(condition, sizeof(condition), "__fish_seen_subcommand_from %s",
		       command->name);
	fish_arguments(out, condition, commands, command);
	for (i = 0; i < set->count; i++) {
		const struct option_spec *spec = set->entries[i].spec;

		if (spec->hidden)
			continue;
		fish_option(out, condition, spec, "");
		if (spec->name && spec->kind == OPTION_KIND_TOGGLE)
			fish_option(out, condition, spec, "no-");
	}
}

static void fish_begin(struct bytes *out, const struct command *const *commands)
{
	(void)commands;
	bytes_printf(out, "# fish completion for wick\n"
			  "complete -c wick -n __fish_use_subcommand -l config -r -F\n"
			  "complete -c wick -n __fish_use_subcommand -f -s h -l help\n"
			  "complete -c wick -n __fish_use_subcommand -f -l version\n");
}

static void fish_end(struct bytes *out, const struct command *const *commands)
{
	(void)out;
	(void)commands;
}

static const struct dialect {
	void (*begin)(struct bytes *out, const struct command *const *commands);
	void (*command)(struct bytes *out, const struct command *const *commands,
			const struct command *command, const struct option_set *set);
	void (*end)(struct bytes *out, const struct command *const *commands);
} dialects[] = {
	/* in the order of completion_shells */
	{bash_begin, bash_command, bash_end},
	{zsh_begin, zsh_command, zsh_end},
	{fish_begin, fish_command, fish_end},
};

int completion_put(struct bytes *out, const char *shell, const struct command *const *commands,
		   struct error *err)
{
	size_t which = 0;
	size_t i;
	int r;

	while (completion_shells[which] && strcmp(completion_shells[which], shell) != 0)
		which++;
	if (which >= ARRAY_SIZE(dialects))
		return error_advise(
			err, error_set(err, -EINVAL, "%s is not one of bash, zsh, fish", shell),
			"see wick completion --help");
	dialects[which].begin(out, commands);
	for (i = 0; commands[i]; i++) {
		struct command_values values;

		if (commands[i]->hidden)
			continue;
		r = command_values_init(&values, commands[i], err);
		if (r < 0)
			return r;
		dialects[which].command(out, commands, commands[i], &values.set);
		command_values_fini(&values);
	}
	dialects[which].end(out, commands);
	return 0;
}
