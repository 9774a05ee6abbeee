/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/options/data_folder.h"
#include "cli/text/token.h"
#include "net/token.h"

enum token_format { TOKEN_FORMAT_TEXT, TOKEN_FORMAT_JSON };

struct token_options {
	const char *data;
	const char *file;
	const char *name;
	uint64_t expires_ns;
	enum token_format format;
};

static const char reload_hint[] = "a running server reads it after: kill -HUP PID";

static int add(const struct command_context *context, const struct token_options *options,
	       const char *path, const char *word)
{
	struct token wanted = {.access = word ? token_access_of(word) : TOKEN_NONE};
	struct token made;
	char secret[TOKEN_SECRET_MAX];
	struct error err = {0};

	if (wanted.access == TOKEN_NONE)
		return command_misused(context, "wick token add needs read, write or admin");
	if (options->name && strlen(options->name) >= sizeof(wanted.name))
		return command_misused(context, "--name: at most %zu characters",
				       sizeof(wanted.name) - 1);
	(void)snprintf(wanted.name, sizeof(wanted.name), "%s",
		       options->name ? options->name : ""); /* it fits */
	if (options->expires_ns > 0)
		wanted.expires_s = (clock_realtime_ns() + options->expires_ns) / NS_PER_SEC;
	if (tokens_add(path, &wanted, &made, secret, &err) < 0)
		return command_failed(context, &err);
	(void)fprintf(context->out, "%s\n", secret);
	command_note(context,
		     "this token has the id %s and %s access; it will not be shown again\n      %s",
		     made.id, token_access_name(made.access), reload_hint);
	return COMMAND_DONE;
}

static void put_day(struct bytes *out, uint64_t time_s)
{
	time_t time = (time_t)time_s;
	struct tm day;
	char text[16] = "never";

	if (time_s > 0 && gmtime_r(&time, &day))
		(void)strftime(text, sizeof(text), "%Y-%m-%d", &day);
	bytes_printf(out, "%-12s", text);
}

static void put_json(const struct tokens *tokens, struct bytes *out)
{
	struct json json;
	size_t i;

	json_init(&json, out, true);
	json_open_array(&json, NULL);
	for (i = 0; i < tokens->count; i++) {
		json_open_object(&json, NULL);
		json_string(&json, "id", tokens->items[i].id);
		json_string(&json, "access", token_access_name(tokens->items[i].access));
		json_u64(&json, "created", tokens->items[i].created_s);
		json_u64(&json, "expires", tokens->items[i].expires_s);
		json_string(&json, "name", tokens->items[i].name);
		json_close(&json);
	}
	json_close(&json);
	bytes_put_u8(out, '\n');
}

static void put_table(const struct tokens *tokens, struct bytes *out)
{
	size_t i;

	bytes_printf(out, "%-10s%-8s%-12s%-12s%s\n", "id", "access", "created", "expires", "name");
	for (i = 0; i < tokens->count; i++) {
		const struct token *token = &tokens->items[i];

		bytes_printf(out, "%-10s%-8s", token->id, token_access_name(token->access));
		put_day(out, token->created_s);
		put_day(out, token->expires_s);
		text_put_terminal(out, token->name);
		bytes_put_u8(out, '\n');
	}
}

static int list(const struct command_context *context, const struct token_options *options,
		const char *path)
{
	struct tokens tokens;
	struct bytes text = {0};
	struct error err = {0};
	int status;

	if (tokens_load(&tokens, path, &err) < 0)
		return command_failed(context, &err);
	if (options->format == TOKEN_FORMAT_JSON)
		put_json(&tokens, &text);
	else
		put_table(&tokens, &text);
	status = command_print(context, &text);
	bytes_fini(&text);
	tokens_fini(&tokens);
	return status;
}

static int revoke(const struct command_context *context, const char *path, const char *id)
{
	struct error err = {0};

	if (!id)
		return command_misused(context, "wick token revoke needs the id of a token");
	if (tokens_revoke(path, id, &err) < 0)
		return command_failed(context, &err);
	command_note(context, "token revoked\n      %s", reload_hint);
	return COMMAND_DONE;
}

static int run_token(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct token_options *options = values;
	char folder[4000];
	char path[4096];
	struct error err = {0};

	if (!options->file && data_folder(options->data, folder, sizeof(folder), &err) < 0)
		return command_failed(context, &err);
	(void)snprintf(path, sizeof(path), "%s%s", options->file ? options->file : folder,
		       options->file ? "" : "/tokens"); /* it fits */
	if (strcmp(argv[0], "add") == 0)
		return add(context, options, path, argv[1]);
	if (strcmp(argv[0], "revoke") == 0)
		return revoke(context, path, argv[1]);
	if (strcmp(argv[0], "list") == 0 && argc == 1)
		return list(context, options, path);
	return command_misused(context, "expected: wick token add, list or revoke");
}

static const char *const words[] = {"add", "list", "revoke", "read", "write", "admin", NULL};

static const struct option_spec table[] = {
	{"data", 0, OPTION_STRING(struct token_options, data), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "server.data",
	 .help = "data directory of the server (default: /var/lib/wick for root, else "
		 "~/.local/share/wick)"},
	{"token-file", 0, OPTION_STRING(struct token_options, file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.token_file",
	 .help = "file with the hashes (default: DIR/tokens)"},
	{"name", 0, OPTION_STRING(struct token_options, name), .argument = "TEXT",
	 .help = "what the token is for: shown in lists and in the audit log"},
	{"expires", 0, OPTION_DURATION(struct token_options, expires_ns), .argument = "TIME",
	 .default_help = "never", .help = "refuse the token after this time, such as 2160h"},
	{"format", 0, OPTION_ENUM(struct token_options, format, "text", "json"),
	 .help = "output format of the list"},
	OPTION_END,
};

const struct command command_token = {
	.name = "token",
	.summary = "make, list and revoke the tokens of a server",
	.synopsis = "add read|write|admin [--name TEXT]\nlist\nrevoke ID",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct token_options),
	.defaults = &(const struct token_options){0},
	.min_arguments = 1,
	.max_arguments = 2,
	.argument_help = "add, list or revoke, and what to add or revoke",
	.argument_words = words,
	.run = run_token,
};
