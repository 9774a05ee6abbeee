/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/table.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/agent_metrics.h"
#include "agent/delivery.h"
#include "agent/pull.h"
#include "agent/side_windows.h"
#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file/outfile.h"
#include "cli/command.h"
#include "cli/options/data_folder.h"
#include "cli/options/listen_option.h"
#include "cli/options/load_options.h"
#include "cli/options/sender.h"
#include "cli/text/agent.h"
#include "load/load.h"
#include "net/statsd.h"

#define USUAL_PORT 4041
#define ROOT_SPOOL "/var/lib/wick/spool"
#define USER_SPOOL ".local/state/wick/spool"
#define RATE_HZ 99 /* not a divisor of a second: no lock-step with timers */

enum agent_symbolize { SYMBOLIZE_AGENT, SYMBOLIZE_SERVER };

struct agent_options {
	const char *server;
	enum push_format push_as;
	const char *listen;
	const char *listen_tokens;
	const char *tls_cert;
	const char *tls_key;
	struct option_list offcpu;
	struct option_list heap;
	uint64_t heap_sample_bytes;
	const char *token_file;
	const char *ca_file;
	const char *metrics;
	const char *statsd;
	const char *spool;
	uint64_t spool_bytes;
	uint64_t spool_age_ns;
	const char *engine;
	uint64_t frequency_hz;
	uint64_t window_ns;
	uint64_t once_ns;
	const char *output;
	double overhead_percent;
	double breaker_percent;
	uint64_t memory_bytes;
	enum agent_symbolize symbolize;
	uint64_t symbol_rate_bytes;
	uint64_t depth;
	bool kernel;
	enum engine_python python;
	struct option_list rules;
	struct option_list labels;
	const char *release;
	struct symbol_options symbols;
};

struct agent_command {
	const struct command_context *context;
	const struct agent_options *options;
	struct load_options load;
	char host[HOST_NAME_MAX + 1];
	char spool[PATH_MAX];
	char token[SENDER_TOKEN_MAX];
	struct delivery *delivery;
	struct pull *pull;         /* NULL: nothing can be fetched */
	struct side_windows *side; /* NULL: only CPUs are sampled */
	char listen_address[128];
	char token_folder[PATH_MAX];
	char token_path[PATH_MAX + 8];
	pthread_mutex_t stats_lock;
	struct agent_stats stats;       /* with the lock */
	struct statsd *statsd;          /* NULL: none */
	bool metrics_failed;            /* that was said */
	struct command_values reloaded; /* on SIGHUP; borrowed by the agent */
	int window_fd; /* a copy of the descriptor of the window being written; -1: none */
};

static void note(void *self, const char *text)
{
	struct agent_command *command = self;

	command_note(command->context, "%s", text);
}

/* --once: the window is written in memory first, so that the file is complete or untouched. */
static int begin_file(void *self, const char *id, struct error *err)
{
	struct agent_command *command = self;
	int fd = memfd_create(id, MFD_CLOEXEC);

	if (fd < 0)
		return error_errno(err, -errno, "cannot keep a window in memory");
	command->window_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (command->window_fd < 0) {
		int r = -errno;

		(void)close(fd); /* nothing was written */
		return error_errno(err, r, "cannot keep a window in memory");
	}
	return fd;
}

static int copy_file(struct agent_command *command, struct error *err)
{
	struct stat status;
	void *data;
	int r;

	if (fstat(command->window_fd, &status) < 0)
		return error_errno(err, -errno, "cannot read the window of --once");
	data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, command->window_fd, 0);
	if (data == MAP_FAILED)
		return error_errno(err, -errno, "cannot read the window of --once");
	r = outfile_write(command->options->output, "-o FILE", data, (size_t)status.st_size, err);
	(void)munmap(data, (size_t)status.st_size); /* cannot fail */
	return r;
}

static int end_file(void *self, const struct window_totals *totals, struct error *err)
{
	struct agent_command *command = self;
	int r = totals ? copy_file(command, err) : 0;

	(void)close(command->window_fd); /* it is in memory */
	command->window_fd = -1;
	if (r == 0 && totals)
		command_note(command->context, "%llu samples written to %s",
			     (unsigned long long)totals->samples, command->options->output);
	return r;
}

/*
 * Memory that is needed for a moment, such as the symbols of a large program, must go back to the
 * system: the allocator would keep it after the second time.
 */
static void give_memory_back(void)
{
	/* Each returns 1; if not, the agent is larger. */
	(void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
	(void)mallopt(M_TRIM_THRESHOLD, 512 << 10);
	(void)mallopt(M_ARENA_MAX, 1);
}

/* What is wrong with the combination of options; NULL if nothing is. */
static const char *conflict(const struct agent_options *options)
{
	if (options->once_ns > 0 && !options->output)
		return "--once needs -o FILE";
	if (options->once_ns == 0 && options->output)
		return "-o FILE needs --once TIME";
	if (options->once_ns == 0 && !options->server && !options->spool)
		return "nowhere to send to: give --server URL, or --once TIME and -o FILE";
	if (options->push_as != PUSH_AS_WICK && options->symbolize == SYMBOLIZE_SERVER)
		return "--symbolize server works with --push-as wick only";
	if (options->once_ns > 0 && options->listen)
		return "--listen and --once cannot be combined";
	if (options->once_ns > 0 && (options->offcpu.count > 0 || options->heap.count > 0))
		return "--once samples CPUs only: it cannot be combined with --offcpu or --heap";
	return NULL;
}

/* What the command line says stays. */
static struct services_config services_of(const struct agent_command *command,
					  const struct agent_options *options)
{
	const struct option_set *set = command->context->set;
	const struct agent_options *given = command->options;
	bool keeps_rules = option_source_of(set, &given->rules) == OPTION_FROM_COMMAND_LINE;
	bool keeps_labels = option_source_of(set, &given->labels) == OPTION_FROM_COMMAND_LINE;
	bool keeps_release = option_source_of(set, &given->release) == OPTION_FROM_COMMAND_LINE;

	return (struct services_config){
		.rules = keeps_rules ? given->rules.items : options->rules.items,
		.rule_count = keeps_rules ? given->rules.count : options->rules.count,
		.labels = keeps_labels ? given->labels.items : options->labels.items,
		.label_count = keeps_labels ? given->labels.count : options->labels.count,
		.release = keeps_release ? given->release : options->release,
	};
}

static void set_config(struct agent_command *command, struct agent_config *ret)
{
	const struct agent_options *options = command->options;

	*ret = (struct agent_config){
		.engine = options->engine,
		.sampling = {.event = "cpu-clock",
			     .may_fall_back = strcmp(options->engine, "auto") == 0,
			     .frequency_hz = (uint32_t)options->frequency_hz,
			     .depth = (uint32_t)options->depth,
			     .stack_bytes = ENGINE_STACK_BYTES,
			     .kernel = options->kernel,
			     .untitled = true,
			     .python = options->python},
		.load = &command->load,
		.services = services_of(command, options),
		.host = command->host,
		.window_ns = options->once_ns > 0 ? options->once_ns : options->window_ns,
		.once = options->once_ns > 0,
		.by_address = options->symbolize == SYMBOLIZE_SERVER,
		.budget = options->overhead_percent / 100,
		.breaker = options->breaker_percent / 100,
		.memory_bytes = options->memory_bytes,
		.notice = note,
		.self = command,
	};
}

/* SIGHUP: rules, labels, the release and the tokens of --listen are read again. */
static void reload(void *self, struct agent *agent)
{
	struct agent_command *command = self;
	struct command_values fresh;
	struct services_config services;
	struct error err = {0};
	int r = command_values_init(&fresh, command->context->command, &err);

	if (r == 0) {
		r = command_configure(command->context, &fresh.set, &err);
		services = services_of(command, fresh.options);
		if (r == 0 && command->pull)
			r = pull_reload(command->pull, services.rules, services.rule_count, &err);
		if (r == 0)
			r = agent_reload(agent, &services, &err);
		if (r < 0)
			command_values_fini(&fresh);
	}
	if (r < 0) {
		command_note(command->context, "the old configuration is kept: %s\n      %s",
			     err.text, err.remedy);
		return;
	}
	if (command->side)
		side_windows_reload(command->side, &services);
	if (command->reloaded.options)
		command_values_fini(&command->reloaded);
	command->reloaded = fresh;
	command_note(command->context, "configuration read again: rules, labels and release");
}

/* Any thread. */
static void put_metrics(void *self, struct bytes *out)
{
	struct agent_command *command = self;
	struct agent_stats stats;
	struct spool_stats spool;
	struct pusher_stats pusher;

	(void)pthread_mutex_lock(&command->stats_lock);
	stats = command->stats;
	(void)pthread_mutex_unlock(&command->stats_lock);
	delivery_stats(command->delivery, &spool, &pusher);
	agent_metrics_put(out, &stats, &spool, &pusher);
}

static void write_metrics(struct agent_command *command, const struct bytes *text)
{
	struct error err = {0};
	int r = outfile_write(command->options->metrics, "--metrics FILE", text->data, text->size,
			      &err);

	if (r < 0 && !command->metrics_failed)
		command_note(command->context, "%s\n      %s", err.text, err.remedy);
	command->metrics_failed = r < 0;
}

static void publish_metrics(struct agent_command *command)
{
	struct bytes text = {0};

	if (!command->options->metrics && !command->statsd)
		return;
	put_metrics(command, &text);
	if (command->options->metrics && !text.failed)
		write_metrics(command, &text);
	bytes_put_u8(&text, '\0');
	if (!text.failed)
		statsd_send(command->statsd, (const char *)text.data);
	bytes_fini(&text);
}

static void take_stats(void *self, const struct agent_stats *stats)
{
	struct agent_command *command = self;

	(void)pthread_mutex_lock(&command->stats_lock);
	command->stats = *stats;
	(void)pthread_mutex_unlock(&command->stats_lock);
	if (command->side)
		side_windows_pause(command->side, stats->paused != 0);
	pull_pause(command->pull, stats->paused != 0);
	publish_metrics(command);
}

static void tidy(void *self)
{
	struct agent_command *command = self;

	pull_tidy(command->pull);
}

static int deliver(void *self, const char *id, const void *data, size_t size, struct error *err)
{
	struct agent_command *command = self;

	return delivery_add(command->delivery, id, data, size, err);
}

/* --offcpu and --heap: more windows, of the services that they name. */
static int start_side(struct agent_command *command, const struct agent_config *agent,
		      struct error *err)
{
	const struct agent_options *options = command->options;
	struct side_config config = {
		.offcpu = options->offcpu.items,
		.offcpu_count = options->offcpu.count,
		.heap = options->heap.items,
		.heap_count = options->heap.count,
		.heap_sample_bytes = options->heap_sample_bytes,
		.services = agent->services,
		.host = command->host,
		.window_ns = options->window_ns,
		.overhead = options->overhead_percent,
		.breaker = options->breaker_percent,
		.deliver = deliver,
		.notice = note,
		.self = command,
	};

	if (config.offcpu_count == 0 && config.heap_count == 0)
		return 0;
	return side_windows_start(&config, &command->side, err);
}

static int find_tokens(struct agent_command *command, struct error *err)
{
	const char *wanted = command->options->listen_tokens;
	int r = data_folder(NULL, command->token_folder, sizeof(command->token_folder), err);

	if (wanted)
		(void)snprintf(command->token_path, sizeof(command->token_path), "%s", wanted);
	else if (r == 0)
		(void)snprintf(command->token_path, sizeof(command->token_path), "%s/tokens",
			       command->token_folder);
	return wanted ? 0 : r;
}

/* --listen: what can be fetched from the agent. */
static int open_pull(struct agent_command *command, const struct agent_config *agent,
		     struct error *err)
{
	const struct agent_options *options = command->options;
	struct pull_config config = {
		.access = {.address = command->listen_address,
			   .tls_cert_path = options->tls_cert,
			   .tls_key_path = options->tls_key,
			   .token_path = command->token_path,
			   .token_folder = command->token_folder,
			   .always = true},
		.port = USUAL_PORT,
		.rules = agent->services.rules,
		.rule_count = agent->services.rule_count,
		.rate_hz = (uint32_t)options->frequency_hz,
		.overhead = options->overhead_percent,
		.breaker = options->breaker_percent,
		.heap = options->heap.items,
		.heap_count = options->heap.count,
		.heap_sample_bytes = options->heap_sample_bytes,
		.metrics = put_metrics,
		.self = command,
	};
	int r;

	if (!options->listen)
		return 0;
	if (listen_option_parse(options->listen, command->listen_address,
				sizeof(command->listen_address), &config.port) < 0) {
		(void)error_set(err, -EINVAL, "--listen %s: expected ADDRESS:PORT",
				options->listen);
		error_remedy(err, "write --listen 127.0.0.1:%d", USUAL_PORT);
		return -EINVAL;
	}
	r = find_tokens(command, err);
	if (r == 0)
		r = pull_open(&config, &command->pull, err);
	if (r == 0)
		command_note(command->context, "listening on %s, port %u", command->listen_address,
			     pull_port(command->pull));
	return r;
}

static int run_once(struct agent_command *command, struct agent_config *config, struct error *err)
{
	config->output =
		(struct agent_output){.begin = begin_file, .end = end_file, .self = command};
	return agent_run(config, err);
}

static int run_on(struct agent_command *command, struct agent_config *config, struct error *err)
{
	const struct agent_options *options = command->options;
	struct delivery_config to = {
		.spool = {.folder = command->spool,
			  .max_bytes = options->spool_bytes,
			  .max_age_s = options->spool_age_ns / NS_PER_SEC,
			  .notice = note,
			  .self = command},
		.url = options->server,
		.format = options->push_as,
		.host = command->host,
		.ca_file = options->ca_file,
		.sends_symbols = options->symbolize == SYMBOLIZE_SERVER,
		.symbol_paths = command->load.symbol_paths,
		.symbol_path_count = command->load.symbol_path_count,
		.symbol_bytes_per_minute = options->symbol_rate_bytes,
	};
	struct agent_signals signals;
	int r = sender_spool(options->spool, "spool", command->spool, sizeof(command->spool), err);

	if (r == 0)
		r = sender_token(options->token_file, command->token, err);
	if (command->token[0])
		to.token = command->token;
	if (r == 0 && options->statsd)
		r = statsd_open(options->statsd, command->host, &command->statsd, err);
	if (r == 0)
		r = delivery_open(&to, &command->delivery, err);
	if (r < 0) {
		statsd_close(command->statsd);
		return r;
	}
	config->output = delivery_output(command->delivery);
	config->reload = reload;
	config->changed = take_stats;
	config->tick = tidy;
	agent_signals_hold(&signals); /* who reads that it listens may end it at once */
	r = open_pull(command, config, err);
	if (r == 0)
		r = start_side(command, config, err);
	if (r == 0)
		r = agent_run(config, err);
	agent_signals_release(&signals);
	side_windows_stop(command->side);
	pull_close(command->pull);
	delivery_close(command->delivery);
	statsd_close(command->statsd);
	if (command->reloaded.options)
		command_values_fini(&command->reloaded);
	return r;
}

static int run_agent(const struct command_context *context, void *values, int argc, char **argv)
{
	struct agent_command command = {.context = context,
					.options = values,
					.stats_lock = PTHREAD_MUTEX_INITIALIZER,
					.window_fd = -1};
	const char *wrong = conflict(command.options);
	struct agent_config config;
	struct error err = {0};
	int r;

	(void)argc;
	(void)argv;
	if (wrong)
		return command_misused(context, "%s", wrong);
	if (gethostname(command.host, sizeof(command.host) - 1) < 0)
		(void)snprintf(command.host, sizeof(command.host), "unknown");
	command.load = (struct load_options)LOAD_OPTIONS_DEFAULT;
	cli_load_set_symbols(context, &command.options->symbols, NULL, &command.load);
	command.load.tables_on_disk = true;
	set_config(&command, &config);
	give_memory_back();
	r = config.once ? run_once(&command, &config, &err) : run_on(&command, &config, &err);
	if (r == -EINVAL || r == -E2BIG)
		return command_refused(context, &err);
	return r < 0 ? command_failed(context, &err) : COMMAND_DONE;
}

static const struct option_spec pull_table[] = {
	{"listen", 0, OPTION_STRING(struct agent_options, listen), .argument = "ADDRESS:PORT",
	 .key = "agent.listen",
	 .help = "answer /debug/pprof/profile, /debug/pprof/heap and /metrics here, to whoever has "
		 "a "
		 "token (wick token add read); addresses other than loopback need TLS"},
	{"listen-tokens", 0, OPTION_STRING(struct agent_options, listen_tokens), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.listen_tokens",
	 .help = "hashes of the tokens for --listen (default: the file that wick token uses)"},
	{"tls-cert", 0, OPTION_STRING(struct agent_options, tls_cert), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.tls_cert",
	 .help = "certificate chain for --listen, PEM"},
	{"tls-key", 0, OPTION_STRING(struct agent_options, tls_key), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.tls_key", .help = "its private key, PEM"},
	OPTION_END,
};

static const struct option_spec side_table[] = {
	{"offcpu", 0, OPTION_LIST(struct agent_options, offcpu), .argument = "SERVICE",
	 .key = "agent.offcpu",
	 .help = "also record where the threads of this service wait, as the type off-cpu"},
	{"heap", 0, OPTION_LIST(struct agent_options, heap), .argument = "SERVICE",
	 .key = "agent.heap",
	 .help = "also record what this service allocates (types alloc_space, alloc_objects, "
		 "inuse_space and inuse_objects), and allow /debug/pprof/heap for it; one "
		 "process of the service is probed at a time, and allocator calls in that "
		 "process take about a microsecond longer"},
	{"heap-sample", 0, OPTION_SIZE(struct agent_options, heap_sample_bytes), .argument = "SIZE",
	 .min = 1024, .max = 1 << 30, .key = "agent.heap_sample",
	 .help = "record about one block for every SIZE bytes allocated"},
	OPTION_END,
};

static const struct option_spec table[] = {
	{"server", 0, OPTION_STRING(struct agent_options, server), .argument = "URL",
	 .key = "agent.server",
	 .help = "where to send windows: http://HOST:PORT or https://HOST:PORT; the token is read "
		 "from WICK_TOKEN or --token-file"},
	{"push-as", 0,
	 OPTION_ENUM(struct agent_options, push_as, "wick", "pyroscope", "pyroscope-ingest",
		     "otlp"),
	 .key = "agent.push_as",
	 .help = "the protocol of the server: wick server, Pyroscope (its push service, or the "
		 "older /ingest), or OpenTelemetry profiles (v1development) over HTTP"},
	{"token-file", 0, OPTION_STRING(struct agent_options, token_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.token_file",
	 .help = "a file whose first line is the token, unless WICK_TOKEN is set"},
	{"ca", 0, OPTION_STRING(struct agent_options, ca_file), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.ca_file",
	 .help = "certificates of authorities to trust instead of those of the system"},
	{"metrics", 0, OPTION_STRING(struct agent_options, metrics), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .key = "agent.metrics",
	 .help = "write the state of the agent to this file after each window, for the textfile "
		 "collector of Prometheus' node exporter"},
	{"statsd", 0, OPTION_STRING(struct agent_options, statsd), .argument = "HOST:PORT",
	 .key = "agent.statsd",
	 .help = "also send the state of the agent to this StatsD server after each window, over "
		 "UDP"},
	{"spool", 0, OPTION_STRING(struct agent_options, spool), .argument = "DIR",
	 .offer = OPTION_OFFER_DIRECTORY, .key = "agent.spool",
	 .help = "where windows are kept until the server has them (default: " ROOT_SPOOL
		 ", or ~/" USER_SPOOL
		 " for users other than root); without --server they stay there"},
	{"spool-size", 0, OPTION_SIZE(struct agent_options, spool_bytes), .argument = "SIZE",
	 .min = 1 << 20, .max = 1099511627776.0, .key = "agent.spool_size",
	 .help = "remove the oldest windows when the spool is larger than this"},
	{"spool-age", 0, OPTION_DURATION(struct agent_options, spool_age_ns), .argument = "TIME",
	 .min = 60e9, .max = 31622400e9, .key = "agent.spool_age",
	 .help = "remove windows that are older than this"},
	{"frequency", 'F', OPTION_U64(struct agent_options, frequency_hz), .argument = "HZ",
	 .min = 1, .max = 1000, .key = "agent.frequency_hz",
	 .help = "samples per second on each busy CPU; --overhead may lower it"},
	{"window", 0, OPTION_DURATION(struct agent_options, window_ns), .argument = "TIME",
	 .min = 10e9, .max = 60e9, .key = "agent.window",
	 .help = "length of a window; if it is longer than 30s, counts are kept for each half of "
		 "it"},
	{"once", 0, OPTION_DURATION(struct agent_options, once_ns), .argument = "TIME", .min = 1e9,
	 .max = 3600e9, .default_help = "",
	 .help = "write one window of this length to the file of -o, then exit"},
	{"output", 'o', OPTION_STRING(struct agent_options, output), .argument = "FILE",
	 .offer = OPTION_OFFER_FILE, .help = "where --once writes; - is standard output"},
	{"overhead", 0, OPTION_DOUBLE(struct agent_options, overhead_percent),
	 .argument = "PERCENT", .min = 0.1, .max = 50, .off = "off",
	 .key = "agent.overhead_percent",
	 .help = "share of one CPU that the agent and its sampling may use; the rate drops if the "
		 "cost is higher, but not below 1 Hz, and rises again later"},
	{"breaker", 0, OPTION_DOUBLE(struct agent_options, breaker_percent), .argument = "PERCENT",
	 .min = 10, .max = 100, .off = "off", .key = "agent.breaker_percent",
	 .help = "pause while the CPUs of the host are busier than this"},
	{"max-memory", 0, OPTION_SIZE(struct agent_options, memory_bytes), .argument = "SIZE",
	 .min = 32 << 20, .max = 4294967296.0, .off = "off", .key = "agent.max_memory",
	 .help = "memory that the agent may use; above it, small services lose their stacks, then "
		 "all stacks lose their outer frames; above 125 % of it, sampling pauses for a "
		 "minute"},
	{"symbolize", 0, OPTION_ENUM(struct agent_options, symbolize, "agent", "server"),
	 .key = "agent.symbolize",
	 .help = "agent: send names of functions; server: send build IDs and addresses, which "
		 "cost the host less; the server looks up the names, and asks for the symbol "
		 "tables that it does not have"},
	{"symbol-rate", 0, OPTION_SIZE(struct agent_options, symbol_rate_bytes), .argument = "SIZE",
	 .min = 4096, .max = 1 << 30, .key = "agent.symbol_rate",
	 .help = "with --symbolize server: send symbol tables of at most this size in a minute"},
	{"rule", 0, OPTION_LIST(struct agent_options, rules), .argument = "RULE",
	 .key = "agent.rules",
	 .help = "how to name services: SOURCE, SOURCE=PATTERN or SOURCE=PATTERN:NAME, where "
		 "SOURCE "
		 "is env, unit, container, cgroup or comm; the first rule that applies counts "
		 "(default: env, unit, comm)"},
	{"label", 0, OPTION_PAIRS(struct agent_options, labels), .argument = "KEY=VALUE",
	 .key = "agent.labels", .help = "add this label to everything"},
	{"release", 0, OPTION_STRING(struct agent_options, release), .argument = "NAME",
	 .key = "agent.release",
	 .help = "the release of all processes (default: WICK_RELEASE in the environment of a "
		 "process, or the build ID of its program)"},
	{"engine", 0, OPTION_WORD(struct agent_options, engine, "auto", "ebpf", "perf"),
	 .key = "agent.engine",
	 .help = "how to sample; wick list engines shows what each engine can do"},
	{"depth", 0, OPTION_U64(struct agent_options, depth), .argument = "N", .min = 1,
	 .max = 1024, .key = "agent.depth", .help = "how many frames of a stack to keep"},
	{"python", 0, OPTION_ENUM(struct agent_options, python, "auto", "off", "only"),
	 .key = "agent.python",
	 .help = "how to show Python code: auto: Python calls among native frames; only: Python "
		 "calls without native frames; off: the functions of the interpreter"},
	{"kernel", 0, OPTION_TOGGLE(struct agent_options, kernel), .key = "agent.kernel",
	 .help = "also sample kernel frames"},
	{.kind = OPTION_KIND_GROUP, .table = side_table, .help = "Waits and heaps"},
	{.kind = OPTION_KIND_GROUP, .table = pull_table, .help = "Fetching from the agent"},
	{OPTION_GROUP(struct agent_options, symbols, symbol_option_table), .help = "Symbols"},
	OPTION_END,
};

const struct command command_agent = {
	.name = "agent",
	.summary = "profile the whole host all the time, and send the profiles to a server",
	.synopsis = "[OPTIONS] --server URL\n[OPTIONS] --once TIME -o FILE",
	.description = help_description,
	.examples = help_examples,
	.options = table,
	.options_size = sizeof(struct agent_options),
	.is_service = true,
	.defaults =
		&(const struct agent_options){.engine = "auto",
					      .frequency_hz = RATE_HZ,
					      .spool_bytes = 256u << 20,
					      .spool_age_ns = 24 * 3600 * NS_PER_SEC,
					      .window_ns = 60 * NS_PER_SEC,
					      .overhead_percent = 1,
					      .breaker_percent = 90,
					      .memory_bytes = 64u << 20,
					      .heap_sample_bytes = 512u << 10,
					      .symbol_rate_bytes = 4u << 20,
					      .depth = 128,
					      .kernel = true,
					      .symbols = {.demangle = true,
							  .detail = SYMBOLS_NAMES,
							  .files = SYMBOL_FILE_OPTIONS_DEFAULT}},
	.run = run_agent,
};
