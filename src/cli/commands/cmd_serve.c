/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/commands/parts/page_url.h"
#include "cli/debuginfod.h"
#include "cli/options/data_folder.h"
#include "cli/options/listen_option.h"
#include "cli/options/load_options.h"
#include "cli/text/serve.h"
#include "load/load.h"
#include "server/files/file_server.h"

#define TIDY_EVERY_S 1

struct serve_options {
	const char *listen;
	const char *tls_cert;
	const char *tls_key;
	const char *token_file;
	struct cli_load_options look; /* only its symbols are options */
};

/* Waits for signals; SIGTERM and SIGINT end it. */
static void serve(struct file_server *server, const sigset_t *signals)
{
	const struct timespec wait = {.tv_sec = TIDY_EVERY_S};

	while (sigtimedwait(signals, NULL, &wait) < 0)
		file_server_tidy(server);
}

static int run(const struct command_context *context, const struct file_server_config *config)
{
	struct file_server *server;
	struct error err = {0};
	sigset_t signals;

	(void)sigemptyset(&signals); /* these cannot fail */
	(void)sigaddset(&signals, SIGTERM);
	(void)sigaddset(&signals, SIGINT);
	/* Before any thread starts, so that only serve() receives them. */
	(void)pthread_sigmask(SIG_BLOCK, &signals, NULL);
	(void)signal(SIGPIPE, SIG_IGN); /* a client that went away is its own affair */
	if (file_server_open(config, &server, &err) < 0)
		return command_failed(context, &err);
	if (file_server_samples(server) == 0)
		command_note(context, "there are no samples in %s",
			     config->count == 1 ? config->paths[0] : "any of the files");
	page_url_print(context->out, config->address, file_server_port(server),
		       config->tls_cert_path != NULL);
	serve(server, &signals);
	file_server_close(server);
	return COMMAND_DONE;
}

static int run_serve(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct serve_options *options = values;
	struct file_server_config config = {.paths = (const char *const *)argv,
					    .count = (size_t)argc,
					    .tls_cert_path = options->tls_cert,
					    .tls_key_path = options->tls_key};
	struct debuginfod server;
	struct load_options load;
	struct error err = {0};
	char address[128];
	char folder[4096];
	char tokens[4128] = ""; /* none */
	int status = cli_load_to_load(context, &options->look, &server, &load);

	if (status != COMMAND_DONE)
		return status;
	if (listen_option_parse_port(options->listen, address, sizeof(address), &config.port) < 0)
		return command_misused(context, "--listen %s: expected [ADDRESS:]PORT",
				       options->listen);
	if (data_folder(NULL, folder, sizeof(folder), &err) < 0)
		return command_failed(context, &err);
	/* On loopback without TLS, the tokens of a server on this machine mean nothing. */
	if (options->tls_cert)
		(void)snprintf(tokens, sizeof(tokens), "%s/tokens", folder); /* it fits */
	config.address = address;
	config.token_folder = folder;
	config.token_path = options->token_file ? options->token_file : tokens;
	config.load = &load;
	return run(context, &config);
}

static const struct option_spec table[] = {
	{"listen", 0, OPTION_STRING(struct serve_options, listen), .argument = "[ADDRESS:]PORT",
	 .default_help = "127.0.0.1 and a free port",
	 .help = "where to listen; addresses other than loopback need TLS and tokens"},
	{"tls-cert", 0, OPTION_STRING(struct serve_options, tls_cert), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "certificate chain, PEM"},
	{"tls-key", 0, OPTION_STRING(struct serve_options, tls_key), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "its private key, PEM"},
	{"token-file", 0, OPTION_STRING(struct serve_options, token_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE,
	 .help = "hashes of the tokens (default with TLS: those of wick server)"},
	{OPTION_GROUP(struct serve_options, look.symbols, symbol_option_table), .help = "Symbols"},
	OPTION_END,
};

const struct command command_serve = {
	.name = "serve",
	.summary = "show recordings in a browser",
	.synopsis = "[OPTIONS] FILE...",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct serve_options),
	.defaults = &(const struct serve_options){.listen = "0", .look = LOOK_OPTIONS_DEFAULT},
	.min_arguments = 1,
	.max_arguments = 1000,
	.argument_help = "FILE: a recording, or a profile in another format",
	.argument_offer = OPTION_OFFER_FILE,
	.run = run_serve,
};
