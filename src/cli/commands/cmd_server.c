/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/options/data_folder.h"
#include "cli/options/listen_option.h"
#include "cli/options/service.h"
#include "cli/text/server.h"
#include "server/server.h"

#define TIDY_EVERY_S 1
#define REPORT_EVERY_S 10
#define MAINTAIN_EVERY_S 20
#define USUAL_PORT 4040

struct server_options {
	const char *listen;
	const char *data;
	const char *store;
	const char *library;
	const char *retention;
	uint64_t keep_bytes;
	uint64_t memory_bytes;
	const char *tls_cert;
	const char *tls_key;
	const char *token_file;
	uint64_t max_body_bytes;
	uint64_t max_decoded_bytes;
	uint64_t max_connections;
	uint64_t request_timeout_ns;
	uint64_t requests_per_second;
	uint64_t burst_hosts;
	uint64_t burst_interval_ns;
	const char *statsd;
	uint64_t symbol_bytes;
	struct option_list debug_folders;
	struct option_list debuginfod_urls;
};

/* "30d": the unit may be m, h, d, w or y. */
static bool parse_age(const char *text, size_t n, uint64_t *ret_s)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}, {'y', 31536000}};
	char number[24];
	size_t i;

	if (n < 2 || n > sizeof(number))
		return false;
	memcpy(number, text, n - 1);
	number[n - 1] = '\0';
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == text[n - 1] && number_parse_u64(number, ret_s) == 0 &&
		    *ret_s > 0 && *ret_s < UINT32_MAX / units[i].seconds) {
			*ret_s *= units[i].seconds;
			return true;
		}
	return false;
}

/* "30d,5m:1y": everything for 30 days, then 5-minute sums until they are a year old. */
static bool parse_retention(const char *text, struct server_config *config)
{
	const char *comma = strchr(text, ',');
	size_t n = comma ? (size_t)(comma - text) : strlen(text);

	if (!parse_age(text, n, &config->keep_full_s))
		return false;
	config->keep_merged_s = config->keep_full_s;
	if (!comma)
		return true;
	comma++;
	if (strncmp(comma, "5m:", 3) == 0)
		comma += 3;
	return parse_age(comma, strlen(comma), &config->keep_merged_s) &&
	       config->keep_merged_s >= config->keep_full_s;
}

static void print_line(void *self, const char *line)
{
	const struct command_context *context = self;

	(void)fprintf(context->err, "%s\n", line); /* a log without a reader is no failure */
	(void)fflush(context->err);
}

/* Waits for signals; SIGTERM and SIGINT end it. */
static void serve(struct server *server, const sigset_t *signals)
{
	const struct timespec wait = {.tv_sec = TIDY_EVERY_S};
	uint64_t maintain_ns = clock_monotonic_ns() + MAINTAIN_EVERY_S * NS_PER_SEC;
	uint64_t report_ns = clock_monotonic_ns() + REPORT_EVERY_S * NS_PER_SEC;
	int signal;

	do {
		struct error err;

		signal = sigtimedwait(signals, NULL, &wait);
		if (signal == SIGHUP)
			(void)server_reload(server, &err); /* it logs what is wrong */
		if (signal < 0 && clock_monotonic_ns() >= maintain_ns) {
			server_maintain(server);
			maintain_ns = clock_monotonic_ns() + MAINTAIN_EVERY_S * NS_PER_SEC;
		}
		if (signal >= 0 || clock_monotonic_ns() >= report_ns) {
			server_report(server);
			report_ns = clock_monotonic_ns() + REPORT_EVERY_S * NS_PER_SEC;
		}
		server_tidy(server);
	} while (signal != SIGTERM && signal != SIGINT);
}

static int run(const struct command_context *context, const struct server_config *config)
{
	struct server *server;
	struct error err = {0};
	char url[SERVICE_URL_MAX];
	sigset_t signals;

	service_hold_signals(&signals);
	if (server_open(config, &server, &err) < 0)
		return command_failed(context, &err);
	service_url(config->tls_cert_path != NULL, config->address, server_port(server), url);
	(void)fprintf(context->out, "listening on %s, data in %s\n", url, config->folder);
	(void)fflush(context->out); /* whoever started us waits for this line */
	serve(server, &signals);
	server_close(server);
	return COMMAND_DONE;
}

static int run_server(const struct command_context *context, void *values, int argc, char **argv)
{
	const struct server_options *options = values;
	struct server_config config = SERVER_CONFIG_DEFAULT;
	char address[128];
	char folder[4096];
	struct error err = {0};

	config.port = USUAL_PORT;
	if (listen_option_parse(options->listen, address, sizeof(address), &config.port) < 0)
		return command_misused(context, "--listen %s: expected ADDRESS:PORT",
				       options->listen);
	if (!parse_retention(options->retention, &config))
		return command_misused(context,
				       "--retention %s: expected AGE or AGE,5m:AGE, like "
				       "30d,5m:1y",
				       options->retention);
	if (data_folder(options->data, folder, sizeof(folder), &err) < 0)
		return command_failed(context, &err);
	config.address = address;
	config.folder = folder;
	config.store_url = options->store;
	config.store_user = getenv("WICK_CLICKHOUSE_USER");
	config.store_password = getenv("WICK_CLICKHOUSE_PASSWORD");
	config.library = options->library;
	config.tls_cert_path = options->tls_cert;
	config.tls_key_path = options->tls_key;
	config.token_path = options->token_file;
	config.keep_bytes = options->keep_bytes;
	config.memory_bytes = options->memory_bytes;
	config.max_body_bytes = options->max_body_bytes;
	config.max_decoded_bytes = options->max_decoded_bytes;
	config.max_connections = (unsigned int)options->max_connections;
	config.request_timeout_s = (unsigned int)(options->request_timeout_ns / NS_PER_SEC);
	config.requests_per_second = (double)options->requests_per_second;
	config.statsd = options->statsd;
	config.burst_hosts = (unsigned int)options->burst_hosts;
	config.burst_interval_s = options->burst_interval_ns / NS_PER_SEC;
	config.symbol_bytes = options->symbol_bytes;
	config.debug_folders = options->debug_folders.items;
	config.debug_folder_count = options->debug_folders.count;
	config.debuginfod_urls = options->debuginfod_urls.items;
	config.debuginfod_count = options->debuginfod_urls.count;
	config.log = print_line;
	config.log_self = (void *)(uintptr_t)context;
	return run(context, &config);
}

static const struct option_spec limit_table[] = {
	{"max-body", 0, OPTION_SIZE(struct server_options, max_body_bytes), .argument = "SIZE",
	 .min = 1024, .max = 1 << 30, .key = "server.max_body",
	 .help = "refuse larger request bodies"},
	{"max-decoded", 0, OPTION_SIZE(struct server_options, max_decoded_bytes),
	 .argument = "SIZE", .min = 1024, .max = 1 << 30, .key = "server.max_decoded",
	 .help = "refuse bodies that decompress to more"},
	{"max-connections", 0, OPTION_U64(struct server_options, max_connections), .argument = "N",
	 .min = 1, .max = 10000, .key = "server.max_connections", .help = "connections at once"},
	{"request-timeout", 0, OPTION_DURATION(struct server_options, request_timeout_ns),
	 .argument = "TIME", .min = 1e9, .max = 3600e9, .key = "server.request_timeout",
	 .help = "end connections whose client takes longer to send a request, or to read an "
		 "answer"},
	{"max-rate", 0, OPTION_U64(struct server_options, requests_per_second), .argument = "N",
	 .max = 100000, .off = "off", .key = "server.max_rate",
	 .help = "requests of one client or token in a second"},
	{"burst-hosts", 0, OPTION_U64(struct server_options, burst_hosts), .argument = "N",
	 .max = 1000, .key = "server.burst_hosts",
	 .help = "hosts that may run a burst (wick burst) at the same time"},
	{"burst-interval", 0, OPTION_DURATION(struct server_options, burst_interval_ns),
	 .argument = "TIME", .key = "server.burst_interval",
	 .help = "shortest time between two bursts of a service"},
	OPTION_END,
};

static const struct option_spec symbol_table[] = {
	{"debug-dir", 0, OPTION_LIST(struct server_options, debug_folders), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "server.debug_dirs",
	 .help = "look for debug files below DIR/.build-id, before /usr/lib/debug"},
	{"debuginfod", 0, OPTION_LIST(struct server_options, debuginfod_urls), .argument = "URL",
	 .key = "server.debuginfod",
	 .help = "ask this debuginfod server for debug files that are found nowhere else; the URL "
		 "DEBUGINFOD_URLS means the servers in that environment variable"},
	{"symbols-size", 0, OPTION_SIZE(struct server_options, symbol_bytes), .argument = "SIZE",
	 .min = 1 << 20, .max = 1099511627776.0, .key = "server.symbols_size",
	 .help = "remove the oldest uploaded and fetched symbols above this size"},
	OPTION_END,
};

static const struct option_spec table[] = {
	{"listen", 0, OPTION_STRING(struct server_options, listen), .argument = "ADDRESS:PORT",
	 .key = "server.listen",
	 .help = "where to listen; addresses other than loopback need TLS and tokens"},
	{"data", 0, OPTION_STRING(struct server_options, data), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "server.data",
	 .help = "directory of the store, the tokens and the audit log (default: /var/lib/wick for "
		 "root, else ~/.local/share/wick)"},
	{"store", 0, OPTION_STRING(struct server_options, store), .argument = "URL",
	 .key = "server.store",
	 .help = "store profiles in ClickHouse: clickhouse://HOST:PORT/DATABASE, with one "
		 "HOST:PORT "
		 "for each shard, separated by commas (default: embedded, in DIR)"},
	{"retention", 0, OPTION_STRING(struct server_options, retention), .argument = "AGES",
	 .key = "server.retention",
	 .help = "how long to keep data: 30d,5m:1y keeps everything for 30 days, then "
		 "only sums over 5 minutes, until they are a year old"},
	{"keep-size", 0, OPTION_SIZE(struct server_options, keep_bytes), .argument = "SIZE",
	 .key = "server.keep_size", .off = "off",
	 .help = "remove the oldest data above this size on disk"},
	{"memory", 0, OPTION_SIZE(struct server_options, memory_bytes), .argument = "SIZE",
	 .key = "server.memory", .default_help = "chosen by the store",
	 .help = "memory limit of the database"},
	{"duckdb", 0, OPTION_STRING(struct server_options, library), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.duckdb",
	 .help = "path of libduckdb.so (default: searched for)"},
	{"tls-cert", 0, OPTION_STRING(struct server_options, tls_cert), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.tls_cert", .help = "certificate chain, PEM"},
	{"tls-key", 0, OPTION_STRING(struct server_options, tls_key), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.tls_key", .help = "its private key, PEM"},
	{"token-file", 0, OPTION_STRING(struct server_options, token_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "server.token_file",
	 .help = "hashes of the tokens (default: DIR/tokens)"},
	{"statsd", 0, OPTION_STRING(struct server_options, statsd), .argument = "HOST:PORT",
	 .key = "server.statsd",
	 .help = "also send the metrics of /metrics to this StatsD server every 10 seconds, over "
		 "UDP"},
	/* Without an offset: its options are members of the same struct. */
	{.kind = OPTION_KIND_GROUP, .table = symbol_table, .help = "Symbols"},
	{.kind = OPTION_KIND_GROUP, .table = limit_table, .help = "Limits"},
	OPTION_END,
};

const struct command command_server = {
	.name = "server",
	.summary = "receive profiles from agents, store them and answer queries",
	.synopsis = "[OPTIONS]",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct server_options),
	.is_service = true,
	.defaults = &(const struct server_options){.listen = "127.0.0.1:4040",
						   .retention = "30d,5m:1y",
						   .max_body_bytes = 32u << 20,
						   .max_decoded_bytes = 256u << 20,
						   .max_connections = 1000,
						   .request_timeout_ns = 120 * NS_PER_SEC,
						   .requests_per_second = 200,
						   .burst_hosts = 10,
						   .burst_interval_ns = 600 * NS_PER_SEC,
						   .symbol_bytes = 1ull << 30},
	.run = run_server,
};
