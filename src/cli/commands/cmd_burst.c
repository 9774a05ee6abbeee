/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/commands/parts/server_request.h"
#include "cli/text/burst.h"

struct burst_options {
	const char *server;
	const char *ca_file;
	const char *service;
	uint64_t rate_hz;
	uint64_t duration_ns;
	uint64_t hosts;
};

static void put_order(const struct burst_options *options, struct bytes *out)
{
	struct json json;

	json_init(&json, out, false);
	json_open_object(&json, NULL);
	json_string(&json, "service", options->service);
	json_u64(&json, "rate", options->rate_hz);
	json_u64(&json, "seconds", options->duration_ns / NS_PER_SEC);
	json_u64(&json, "hosts", options->hosts);
	json_close(&json);
}

static int run_burst(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct burst_options *options = values;
	struct bytes order = {0};
	struct bytes answer = {0};
	struct server_request request = {
		.server = options->server, .ca_file = options->ca_file, .body = &order};
	struct error err = {0};
	int status = COMMAND_DONE;

	if (!options->service)
		return command_misused(context, "name the service with --service NAME");
	put_order(options, &order);
	server_request_path(&request, "/api/burst");
	if (server_request_send(&request, &answer, &err) < 0)
		status = command_failed(context, &err);
	else
		command_note(context,
			     "agents on hosts that run %s start the burst after sending their next "
			     "window",
			     options->service);
	bytes_fini(&order);
	bytes_fini(&answer);
	server_request_fini(&request);
	return status;
}

static const struct option_spec table[] = {
	{"service", 0, OPTION_STRING(struct burst_options, service), .argument = "NAME",
	 .help = "the service to look at closely"},
	{"frequency", 'F', OPTION_U64(struct burst_options, rate_hz), .argument = "HZ", .min = 1,
	 .max = 1000, .help = "samples per second"},
	{"duration", 'd', OPTION_DURATION(struct burst_options, duration_ns), .argument = "TIME",
	 .min = 1e9, .max = 600e9, .help = "how long"},
	{"hosts", 0, OPTION_U64(struct burst_options, hosts), .argument = "N", .min = 1, .max = 64,
	 .help = "how many hosts; the server has a limit for all bursts together"},
	{"server", 0, OPTION_STRING(struct burst_options, server), .argument = "URL",
	 .key = "server.url", .help = "the server to ask"},
	{"ca", 0, OPTION_STRING(struct burst_options, ca_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.ca",
	 .help = "certificates to trust instead of the system's, PEM"},
	OPTION_END,
};

const struct command command_burst = {
	.name = "burst",
	.summary = "let agents sample a service faster for a short time",
	.synopsis = "--service NAME [-F HZ] [-d TIME]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct burst_options),
	.defaults = &(const struct burst_options){.server = SERVER_REQUEST_URL,
						  .rate_hz = 1000,
						  .duration_ns = 60 * NS_PER_SEC,
						  .hosts = 5},
	.run = run_burst,
};
