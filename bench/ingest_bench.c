/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Sends windows to a server as many agents would, and says what was acknowledged and when.
 *
 *	ingest_bench URL AGENTS SECONDS WINDOWS ROWS
 *
 * Each agent is a host that sends WINDOWS windows, one every SECONDS, spread evenly. All are made
 * before the first is sent. A window is 10 s of a busy host: 8 of 40 services, stacks of 12 to 35
 * frames, of which half are among the 150 hottest of a service and the others among 1,500. Two
 * different ones of each host take turns. Their times are right because the agent's clock, which
 * it tells the server, stands still: the server moves the times.
 *
 * What the server does not take is sent again after a second, as an agent does. The latency is
 * counted from when a window was due, not from when this program came to send it.
 *
 * Output: "name number…" in lines, and "host NAME SAMPLES VALUE" of what was acknowledged. CPU time
 *is that of sending alone.
 */

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "model/entity.h"
#include "model/profile.h"
#include "model/sink.h"
#include "net/http_client.h"
#include "recording/writer.h"

#define FLEET_SERVICES 40u
#define HOST_SERVICES 8u
#define HOT_STACKS 150u
#define STACKS 1500u
#define VARIANTS 2u
#define WINDOW_NS (10 * (uint64_t)NS_PER_SEC)
#define PERIOD_NS 10000000u
#define FRAMES_MAX 40u
#define THREAD_STACK_BYTES (256u << 10)

struct window {
	uint8_t *data;
	size_t size;
	uint64_t samples;
	uint64_t value;
};

struct fleet;

struct agent {
	const struct fleet *fleet;
	pthread_t thread;
	uint32_t number;
	char host[16];
	struct window windows[VARIANTS];
	uint64_t samples; /* acknowledged */
	uint64_t value;
	uint64_t acknowledged;
	uint64_t again;
	uint64_t refused;
	uint64_t *latencies_ns;
	uint64_t *late_ns; /* how late they were sent */
	char problem[200];
};

struct fleet {
	const char *url;
	char *push_url;
	uint64_t agents;
	uint64_t every_ns;
	uint64_t windows;
	uint64_t rows;     /* of a window */
	uint64_t clock_ns; /* of all agents, since 1970: the end of their windows */
	uint64_t start_ns;
	double cpu_s; /* of sending */
	struct agent *items;
};

static void check(int r, const char *what, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "ingest_bench: %s: %s\n", what, err ? err->text : strerror(-r));
	exit(1);
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32) % below;
}

/* Callers are shared: a level has few functions near the root and many near the leaf. So a window
 * has about 3,000 frames. */
static uint32_t choices_of(uint32_t level)
{
	return level < 6 ? 1 : level < 12 ? 3 : level < 20 ? 15 : 40;
}

static struct place place_of(uint32_t service, uint32_t level, uint32_t stack, uint32_t module,
			     char *name, size_t size)
{
	uint32_t choices = choices_of(level);

	(void)snprintf(name, size, "service%u::component%u::handle_request_%u(Context const&, int)",
		       service, level, stack % choices);
	return (struct place){.name = name,
			      .file = "src/service/handler.cc",
			      .line = level * 10 + stack % choices,
			      .module = module,
			      .origin = ORIGIN_PROGRAM,
			      .outer = PLACE_NONE};
}

static uint32_t put_stack(struct sink *sink, uint32_t service, uint32_t stack, uint32_t module)
{
	struct frame frames[FRAMES_MAX];
	uint32_t depth = 12 + stack % 24;
	uint32_t id = 0;
	char name[100];

	for (uint32_t level = 0; level < depth; level++) {
		/* Sinks have frames root first. */
		struct place place = place_of(service, level, stack, module, name, sizeof(name));

		frames[level] =
			(struct frame){.kind = FRAME_CUSTOM,
				       .b = 0x1000 * (uint64_t)level + stack % choices_of(level)};
		check(sink_place(sink, &place, &frames[level].a), "place", NULL);
	}
	check(sink_stack(sink, frames, depth, &id), "stack", NULL);
	return id;
}

/* What a row refers to besides its stack. */
struct process_ids {
	uint32_t service;
	uint32_t module;
	uint32_t thread;
	uint32_t labels;
};

static struct process_ids put_process(struct sink *sink, uint32_t service)
{
	struct process_ids ids = {.service = service};
	char text[32];
	char release[16];
	struct module module = {.kind = MODULE_FILE, .path = text, .inode = service + 1};
	struct process process = {
		.pid = 1000 + service, .start_ns = 1, .comm = text, .executable = text};
	struct thread thread = {.tid = process.pid, .comm = text};
	struct label labels[] = {{"service", text}, {"release", release}, {"unit", "app.service"}};

	(void)snprintf(text, sizeof(text), "service%u", service);
	(void)snprintf(release, sizeof(release), "1.%u", service % 5);
	check(sink_module(sink, &module, &ids.module), "module", NULL);
	check(sink_process(sink, &process, &thread.process), "process", NULL);
	check(sink_thread(sink, &thread, &ids.thread), "thread", NULL);
	check(sink_labels(sink, labels, 3, &ids.labels), "labels", NULL);
	return ids;
}

static void put_facts(struct recording_writer *writer, const struct agent *agent)
{
	uint64_t end_ns = agent->fleet->clock_ns;
	char text[32];

	recording_writer_info(writer, "agent.host", agent->host);
	recording_writer_info(writer, "agent.version", "bench");
	(void)snprintf(text, sizeof(text), "%" PRIu64, end_ns - WINDOW_NS);
	recording_writer_info(writer, "window.start", text);
	(void)snprintf(text, sizeof(text), "%" PRIu64, end_ns);
	recording_writer_info(writer, "window.end", text);
	recording_writer_info(writer, "window.bucket", "10");
	recording_writer_info(writer, "rate.asked", "100");
	(void)snprintf(text, sizeof(text), "%" PRIu64, (uint64_t)NS_PER_SEC);
	recording_writer_info(writer, "start_monotonic_ns", text);
	recording_writer_clock(writer, NS_PER_SEC, end_ns - WINDOW_NS);
}

static void put_rows(struct agent *agent, struct sink *sink, uint64_t seed, struct window *window)
{
	static const struct schema cpu = {
		.event = "cpu-clock", .value = "cpu", .unit = "nanoseconds", .period = PERIOD_NS};
	struct process_ids processes[HOST_SERVICES];
	uint64_t time_ns = NS_PER_SEC;
	uint32_t cpu_number = 0;
	struct sample_batch batch = {.count = 1, .cpu = &cpu_number, .time_ns = &time_ns};

	check(sink_schema(sink, &cpu, &batch.schema), "schema", NULL);
	for (uint32_t i = 0; i < HOST_SERVICES; i++)
		processes[i] = put_process(sink, (agent->number + 5 * i) % FLEET_SERVICES);
	for (uint64_t i = 0; i < agent->fleet->rows; i++) {
		const struct process_ids *of = &processes[i % HOST_SERVICES];
		bool is_hot = i / HOST_SERVICES % 2 == 0;
		uint32_t number = draw(&seed, is_hot ? HOT_STACKS : STACKS);
		uint32_t stack = put_stack(sink, of->service, number, of->module);
		uint64_t times = is_hot ? 1 + draw(&seed, 9) : 1;
		uint64_t weight = times * PERIOD_NS;

		batch.stack = &stack;
		batch.thread = &of->thread;
		batch.labels = &of->labels;
		batch.weight = &weight;
		batch.times = &times;
		check(sink_batch(sink, &batch, NULL), "batch", NULL);
		window->samples += times;
		window->value += weight;
	}
}

static void make_window(struct agent *agent, uint64_t seed, struct window *window)
{
	int fd = memfd_create("window", MFD_CLOEXEC);
	int kept = fd < 0 ? -1 : dup(fd);
	struct recording_writer *writer = NULL;
	struct error err = {0};
	struct stat info;

	check(kept < 0 ? -errno : 0, "memfd", NULL);
	check(recording_writer_open(fd, "a window", &writer, &err), "window", &err);
	put_facts(writer, agent);
	put_rows(agent, recording_writer_sink(writer), seed, window);
	check(recording_writer_finish(writer, &err), "window", &err);
	recording_writer_free(writer);
	check(fstat(kept, &info) < 0 ? -errno : 0, "memfd", NULL);
	window->size = (size_t)info.st_size;
	window->data = malloc(window->size);
	if (!window->data || pread(kept, window->data, window->size, 0) != info.st_size)
		check(-ENOMEM, "window", NULL);
	(void)close(kept); /* only read from */
}

static void sleep_until(uint64_t at_ns)
{
	struct timespec at = {.tv_sec = (time_t)(at_ns / NS_PER_SEC),
			      .tv_nsec = (long)(at_ns % NS_PER_SEC)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR)
		;
}

static bool may_come_again(int r, int status)
{
	return r < 0 || status == 429 || status >= 500;
}

static void send_window(struct agent *agent, struct http_client *client, uint64_t index)
{
	const struct fleet *fleet = agent->fleet;
	const struct window *window = &agent->windows[index % VARIANTS];
	char id[64];
	char now[64];
	const char *const headers[] = {id, now, NULL};
	struct http_request request = {.method = "POST",
				       .url = fleet->push_url,
				       .headers = headers,
				       .body = window->data,
				       .body_bytes = window->size};
	uint64_t due_ns = fleet->start_ns + index * fleet->every_ns +
			  agent->number * fleet->every_ns / fleet->agents;
	bool again;

	(void)snprintf(id, sizeof(id), "X-Wick-Window: %s-%" PRIu64, agent->host, index);
	(void)snprintf(now, sizeof(now), "X-Wick-Now: %" PRIu64, fleet->clock_ns);
	sleep_until(due_ns);
	agent->late_ns[index] = clock_monotonic_ns() - due_ns;
	do {
		struct http_answer answer = {0};
		struct error err = {0};
		int r = http_client_send(client, &request, &answer, &err);

		again = may_come_again(r, answer.status);
		if (r == 0 && answer.status == 200) {
			agent->latencies_ns[agent->acknowledged++] = clock_monotonic_ns() - due_ns;
			agent->samples += window->samples;
			agent->value += window->value;
		} else {
			(void)snprintf(agent->problem, sizeof(agent->problem), "%d %.150s",
				       answer.status,
				       r < 0 ? err.text : (const char *)answer.body.data);
			if (again)
				agent->again++;
			else
				agent->refused++;
		}
		http_answer_fini(&answer);
		if (again)
			sleep_until(clock_monotonic_ns() + NS_PER_SEC);
	} while (again);
}

static void *run_agent(void *data)
{
	struct agent *agent = data;
	struct http_client_config config = {0};
	struct http_client *client = NULL;
	struct error err = {0};

	check(http_client_new(&config, &client, &err), "client", &err);
	for (uint64_t i = 0; i < agent->fleet->windows; i++)
		send_window(agent, client, i);
	http_client_free(client);
	return NULL;
}

static void prepare(struct fleet *fleet)
{
	size_t size = fleet->windows * sizeof(uint64_t);

	fleet->clock_ns = clock_realtime_ns() / WINDOW_NS * WINDOW_NS;
	fleet->items = calloc(fleet->agents, sizeof(*fleet->items));
	if (!fleet->items || asprintf(&fleet->push_url, "%s/api/push", fleet->url) < 0)
		check(-ENOMEM, "memory", NULL);
	for (uint32_t i = 0; i < fleet->agents; i++) {
		struct agent *agent = &fleet->items[i];

		agent->fleet = fleet;
		agent->number = i;
		(void)snprintf(agent->host, sizeof(agent->host), "host%u", i);
		agent->latencies_ns = malloc(size);
		agent->late_ns = malloc(size);
		if (!agent->latencies_ns || !agent->late_ns)
			check(-ENOMEM, "memory", NULL);
		for (uint32_t variant = 0; variant < VARIANTS; variant++)
			make_window(agent, 1 + i * (uint64_t)VARIANTS + variant,
				    &agent->windows[variant]);
	}
}

static double cpu_s(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void run(struct fleet *fleet)
{
	pthread_attr_t attributes;
	double before_s = cpu_s();

	/* Neither can fail with these arguments. */
	(void)pthread_attr_init(&attributes);
	(void)pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
	fleet->start_ns = clock_monotonic_ns() + NS_PER_SEC;
	for (uint64_t i = 0; i < fleet->agents; i++)
		check(-pthread_create(&fleet->items[i].thread, &attributes, run_agent,
				      &fleet->items[i]),
		      "thread", NULL);
	for (uint64_t i = 0; i < fleet->agents; i++)
		(void)pthread_join(fleet->items[i].thread, NULL); /* it was created above */
	(void)pthread_attr_destroy(&attributes);
	fleet->cpu_s = cpu_s() - before_s;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a;
	const uint64_t *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void print_spread(const char *name, uint64_t *items, size_t count)
{
	size_t middle = count / 2;
	size_t high = count * 99 / 100;

	qsort(items, count, sizeof(*items), by_number);
	if (count > 0)
		(void)printf("%s %.1f %.1f %.1f\n", name, (double)items[middle] / 1e6,
			     (double)items[high] / 1e6, (double)items[count - 1] / 1e6);
	else
		(void)printf("%s 0 0 0\n", name);
}

static void print_times(const struct fleet *fleet)
{
	uint64_t most = fleet->agents * fleet->windows;
	uint64_t *latencies = calloc(most + 1, sizeof(*latencies));
	uint64_t *late = calloc(most + 1, sizeof(*late));
	size_t count = 0;

	if (!latencies || !late)
		check(-ENOMEM, "memory", NULL);
	for (uint64_t i = 0; i < fleet->agents; i++) {
		const struct agent *agent = &fleet->items[i];

		memcpy(latencies + count, agent->latencies_ns,
		       agent->acknowledged * sizeof(*latencies));
		memcpy(late + i * fleet->windows, agent->late_ns, fleet->windows * sizeof(*late));
		count += agent->acknowledged;
	}
	print_spread("latency-ms", latencies, count);
	print_spread("sent-late-ms", late, most);
	free(latencies);
	free(late);
}

static void print_all(const struct fleet *fleet)
{
	const struct agent *problem = NULL; /* one is enough */
	uint64_t acknowledged = 0;
	uint64_t again = 0;
	uint64_t refused = 0;

	for (uint64_t i = 0; i < fleet->agents; i++) {
		const struct agent *agent = &fleet->items[i];

		acknowledged += agent->acknowledged;
		again += agent->again;
		refused += agent->refused;
		if (agent->problem[0] && !problem)
			problem = agent;
		(void)printf("host %s %" PRIu64 " %" PRIu64 "\n", agent->host, agent->samples,
			     agent->value);
	}
	(void)printf("acknowledged %" PRIu64 "\nagain %" PRIu64 "\nrefused %" PRIu64 "\n",
		     acknowledged, again, refused);
	if (problem)
		(void)fprintf(stderr, "%s: %s\n", problem->host, problem->problem);
	(void)printf("bytes-of-a-window %zu\n", fleet->items[0].windows[0].size);
	(void)printf("cpu-s %.2f\n", fleet->cpu_s);
	print_times(fleet);
}

static uint64_t number_of(const char *text, const char *name)
{
	uint64_t number;

	if (number_parse_u64(text, &number) < 0 || number == 0 || number > 1000000) {
		(void)fprintf(stderr, "ingest_bench: %s must be a number from 1 to a million\n",
			      name);
		exit(2);
	}
	return number;
}

int main(int argc, char **argv)
{
	struct fleet fleet = {0};

	if (argc != 6) {
		(void)fprintf(stderr, "usage: ingest_bench URL AGENTS SECONDS WINDOWS ROWS\n");
		return 2;
	}
	fleet.url = argv[1];
	fleet.agents = number_of(argv[2], "AGENTS");
	fleet.every_ns = number_of(argv[3], "SECONDS") * NS_PER_SEC;
	fleet.windows = number_of(argv[4], "WINDOWS");
	fleet.rows = number_of(argv[5], "ROWS");
	prepare(&fleet);
	/* The driver starts to count the server's CPU time here. */
	(void)printf("ready\n");
	(void)fflush(stdout); /* a lost line is noticed by the reader */
	run(&fleet);
	print_all(&fleet);
	for (uint64_t i = 0; i < fleet.agents; i++) {
		for (uint32_t variant = 0; variant < VARIANTS; variant++)
			free(fleet.items[i].windows[variant].data);
		free(fleet.items[i].latencies_ns);
		free(fleet.items[i].late_ns);
	}
	free(fleet.items);
	free(fleet.push_url);
	return 0;
}
