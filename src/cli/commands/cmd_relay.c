/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/options/data_folder.h"
#include "cli/options/listen_option.h"
#include "cli/options/sender.h"
#include "cli/options/service.h"
#include "cli/text/relay.h"
#include "relay/relay.h"

#define USUAL_PORT 4042

struct relay_options {
	const char *listen;
	const char *server;
	const char *tls_cert;
	const char *tls_key;
	const char *tokens;
	const char *token_file;
	const char *ca_file;
	const char *spool;
	uint64_t spool_bytes;
	uint64_t gather_ns;
	uint64_t max_connections;
	uint64_t requests_per_second;
};

/* Texts that relay_config borrows. */
struct relay_texts {
	char address[128];
	char data[PATH_MAX];
	char tokens[PATH_MAX + 8];
	char spool[PATH_MAX];
	char token[SENDER_TOKEN_MAX];
	char host[HOST_NAME_MAX + 1];
};

static void note(void *self, const char *text)
{
	command_note(self, "%s", text);
}

/* Waits for signals; SIGTERM and SIGINT end it. */
static void serve(const struct command_context *context, struct relay *relay,
		  const sigset_t *signals)
{
	const struct timespec wait = {.tv_sec = 1};
	int signal;

	do {
		struct error err = {0};

		signal = sigtimedwait(signals, NULL, &wait);
		if (signal == SIGHUP && relay_reload(relay, &err) < 0)
			command_note(context, "the old tokens are kept: %s\n      %s", err.text,
				     err.remedy);
		relay_tidy(relay);
	} while (signal != SIGTERM && signal != SIGINT);
}

static int run(const struct command_context *context, const struct relay_config *config)
{
	struct relay *relay;
	struct error err = {0};
	char url[SERVICE_URL_MAX];
	sigset_t signals;

	service_hold_signals(&signals);
	if (relay_open(config, &relay, &err) < 0)
		return command_failed(context, &err);
	service_url(config->access.tls_cert_path != NULL, config->access.address, relay_port(relay),
		    url);
	(void)fprintf(context->out, "listening on %s, sending to %s\n", url, config->url);
	(void)fflush(context->out); /* whoever started us waits for this line */
	serve(context, relay, &signals);
	relay_close(relay);
	return COMMAND_DONE;
}

static int find_texts(const struct relay_options *options, struct relay_texts *texts,
		      struct error *err)
{
	int r = data_folder(NULL, texts->data, sizeof(texts->data), err);

	if (r < 0 && !options->tokens)
		return r;
	if (options->tokens)
		(void)snprintf(texts->tokens, sizeof(texts->tokens), "%s", options->tokens);
	else
		(void)snprintf(texts->tokens, sizeof(texts->tokens), "%s/tokens", texts->data);
	if (gethostname(texts->host, sizeof(texts->host) - 1) < 0)
		(void)snprintf(texts->host, sizeof(texts->host), "unknown");
	r = sender_spool(options->spool, "relay", texts->spool, sizeof(texts->spool), err);
	return r < 0 ? r : sender_token(options->token_file, texts->token, err);
}

static int run_relay(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct relay_options *options = values;
	struct relay_texts texts = {0};
	struct relay_config config = {
		.access = {.address = texts.address,
			   .tls_cert_path = options->tls_cert,
			   .tls_key_path = options->tls_key,
			   .token_path = texts.tokens,
			   .token_folder = texts.data},
		.port = USUAL_PORT,
		.url = options->server,
		.ca_file = options->ca_file,
		.folder = texts.spool,
		.host = texts.host,
		.max_bytes = options->spool_bytes,
		.gather_ms = options->gather_ns / NS_PER_MS,
		.max_connections = (unsigned int)options->max_connections,
		.requests_per_second = (double)options->requests_per_second,
		.notice = note,
		.self = (void *)(uintptr_t)context,
	};
	struct error err = {0};

	if (!options->server)
		return command_misused(context, "where do windows go? give --server URL");
	if (listen_option_parse(options->listen, texts.address, sizeof(texts.address),
				&config.port) < 0)
		return command_misused(context, "--listen %s: expected ADDRESS:PORT",
				       options->listen);
	if (find_texts(options, &texts, &err) < 0)
		return command_failed(context, &err);
	config.token = texts.token[0] ? texts.token : NULL;
	return run(context, &config);
}

static const struct option_spec table[] = {
	{"server", 0, OPTION_STRING(struct relay_options, server), .argument = "URL",
	 .key = "relay.server", .help = "where windows are sent: a wick server, or another relay"},
	{"listen", 0, OPTION_STRING(struct relay_options, listen), .argument = "ADDRESS:PORT",
	 .key = "relay.listen",
	 .help = "where to listen; addresses other than loopback need TLS and tokens"},
	{"tls-cert", 0, OPTION_STRING(struct relay_options, tls_cert), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "relay.tls_cert", .help = "certificate chain, PEM"},
	{"tls-key", 0, OPTION_STRING(struct relay_options, tls_key), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "relay.tls_key", .help = "its private key, PEM"},
	{"tokens", 0, OPTION_STRING(struct relay_options, tokens), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "relay.tokens",
	 .help = "hashes of the tokens that agents send (default: the file that wick token uses)"},
	{"token-file", 0, OPTION_STRING(struct relay_options, token_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "relay.token_file",
	 .help = "a file whose first line is the token for the server, unless WICK_TOKEN is set"},
	{"ca", 0, OPTION_STRING(struct relay_options, ca_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "relay.ca_file",
	 .help = "certificates of authorities to trust instead of those of the system"},
	{"gather", 0, OPTION_DURATION(struct relay_options, gather_ns), .argument = "TIME",
	 .min = 100e6, .max = 600e9, .key = "relay.gather",
	 .help = "how long windows wait for others to be merged with"},
	{"spool", 0, OPTION_STRING(struct relay_options, spool), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "relay.spool",
	 .help = "where windows are kept until the server has them (default: "
		 "/var/lib/wick/relay, or ~/.local/state/wick/relay for users other than root)"},
	{"spool-size", 0, OPTION_SIZE(struct relay_options, spool_bytes), .argument = "SIZE",
	 .min = 64 << 20, .max = 1099511627776.0, .key = "relay.spool_size",
	 .help = "above this size, ask agents to keep their windows for now"},
	{"max-connections", 0, OPTION_U64(struct relay_options, max_connections), .argument = "N",
	 .min = 1, .max = 10000, .key = "relay.max_connections", .help = "connections at once"},
	{"max-rate", 0, OPTION_U64(struct relay_options, requests_per_second), .argument = "N",
	 .max = 100000, .off = "off", .key = "relay.max_rate",
	 .help = "requests of one client or token in a second"},
	OPTION_END,
};

const struct command command_relay = {
	.name = "relay",
	.summary = "merge the windows of many agents on their way to a server",
	.synopsis = "[OPTIONS] --server URL",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct relay_options),
	.is_service = true,
	.defaults = &(const struct relay_options){.listen = "127.0.0.1:4042",
						  .spool_bytes = 2ull << 30,
						  .gather_ns = 10 * NS_PER_SEC,
						  .max_connections = 4000,
						  .requests_per_second = 200},
	.run = run_relay,
};
