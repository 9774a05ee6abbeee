/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Measures the store: a day of 20 services on 10 hosts, in buckets of 30 s. Each has 2,000 stacks
 *of 30 frames; a bucket has the 100 hottest, whose counts fall as 1/n, and 100 rare ones.
 *
 *	store_bench fill FOLDER [MILLIONS OF ROWS [SECONDS OF A BATCH [START]]]
 *	store_bench ask FOLDER
 *	store_bench dump samples|stacks|calls [MILLIONS [SECONDS]]
 *
 * 115.2 million rows are the whole day, fewer its first hours. A batch is 60 s of one host: 8,000
 * rows. START is when the day begins, in seconds since 1970: a whole hour; a wick server shows a
 *day that ends now.
 *
 * Each line is "name seconds-of-wall seconds-of-CPU", or "name number". dump writes the same rows
 *for another database: samples in the format RowBinary of ClickHouse, the rest as text.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/number.h"
#include "base/vec.h"
#include "model/profile.h"
#include "store/store.h"

#define SERVICES 20u
#define HOSTS 10u
#define STACKS 2000u /* of a service */
#define DEPTH 30u
#define HOT 100u
#define RARE 100u
#define BUCKET_S 30u
#define HOUR_S 3600u
#define START_S (490000u * HOUR_S)
#define PERIOD_NS 10000000
#define ROUNDS 5

static uint64_t random_state = 1;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

static double cpu_s(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage); /* cannot fail */
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void check(int r, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "store_bench: %s\n  %s\n", err->text, err->remedy);
	exit(1);
}

static uint32_t location_of(struct profile *profile, uint32_t service, uint32_t number)
{
	struct profile_line line = {.line = number % 300};
	char name[64];
	char module[32];

	(void)snprintf(module, sizeof(module), "/usr/bin/service%u", service);
	(void)snprintf(name, sizeof(name), "service%u::module%u::function%u(int)", service,
		       number % 40, number);
	line.function = profile_function(profile, name, "code.cc", module, ORIGIN_PROGRAM);
	return profile_location(profile, module, number, &line, 1);
}

/* Stacks share their callers: the first frames are of few functions. */
static struct profile *make_profile(uint32_t *stacks)
{
	static const struct value_type types[] = {{"samples", "count"}};
	struct profile *profile = NULL;
	uint32_t i;

	check(profile_new(types, 1, &profile), &(struct error){.text = "out of memory"});
	for (i = 0; i < SERVICES * STACKS; i++) {
		uint32_t service = i / STACKS;
		uint32_t node = 0;

		for (uint32_t depth = 0; depth < DEPTH; depth++) {
			uint32_t choices = depth < 10 ? 1 : depth < 20 ? 4 : 150;

			node = stack_tree_child(
				&profile->stacks, node,
				location_of(profile, service, depth * 100 + draw(choices)));
		}
		stacks[i] = node;
	}
	return profile;
}

struct day {
	struct store *store;
	struct profile *profile;
	uint32_t stacks[SERVICES * STACKS];
	struct store_series series[HOSTS][SERVICES];
	char texts[HOSTS + SERVICES][16];
	uint32_t window_s; /* of a batch */
	struct store_row *rows;
	uint64_t row_count;
	double append_s; /* of wall */
	double append_cpu_s;
	double slowest_s;
	double costliest_s; /* of CPU */
	double maintain_s;
	double maintain_cpu_s;
};

static void make_series(struct day *day)
{
	for (uint32_t i = 0; i < HOSTS + SERVICES; i++)
		(void)snprintf(day->texts[i], sizeof(day->texts[i]), "%s%u",
			       i < HOSTS ? "host" : "service", i < HOSTS ? i : i - HOSTS);
	for (uint32_t host = 0; host < HOSTS; host++)
		for (uint32_t service = 0; service < SERVICES; service++)
			day->series[host][service] = (struct store_series){
				.service = day->texts[HOSTS + service],
				.type = "cpu",
				.unit = "nanoseconds",
				.host = day->texts[host],
				.release = host < HOSTS / 2 ? "1.0" : "2.0",
			};
}

/* How often one of the hot stacks was seen in a bucket. */
static uint32_t count_of(uint32_t rank)
{
	uint32_t mean = 600 / (rank + 1);

	return 1 + (mean > 0 ? mean / 2 + draw(mean + 1) : draw(3));
}

static size_t make_window(struct day *day, uint32_t start_s)
{
	size_t n = 0;

	for (uint32_t time_s = start_s; time_s < start_s + day->window_s; time_s += BUCKET_S)
		for (uint32_t service = 0; service < SERVICES; service++)
			for (uint32_t i = 0; i < HOT + RARE; i++) {
				uint32_t rank = i < HOT ? i : HOT + draw(STACKS - HOT);
				uint32_t samples = i < HOT ? count_of(i) : 1;

				day->rows[n++] = (struct store_row){
					.series = service,
					.time_s = time_s,
					.stack = day->stacks[service * STACKS + rank],
					.samples = samples,
					.value = (int64_t)samples * PERIOD_NS,
				};
			}
	return n;
}

static void append(struct day *day, uint32_t host, uint32_t start_s)
{
	char id[64];
	struct store_batch batch = {.id = id,
				    .profile = day->profile,
				    .series = day->series[host],
				    .series_count = SERVICES,
				    .rows = day->rows,
				    .row_count = make_window(day, start_s)};
	struct error err = {0};
	double cpu = cpu_s();
	uint64_t begin_ns = clock_monotonic_ns();
	double took_s;

	(void)snprintf(id, sizeof(id), "host %u, %u", host, start_s);
	check(store_append(day->store, &batch, &err), &err);
	took_s = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
	day->append_s += took_s;
	cpu = cpu_s() - cpu;
	day->append_cpu_s += cpu;
	if (took_s > day->slowest_s)
		day->slowest_s = took_s;
	if (cpu > day->costliest_s)
		day->costliest_s = cpu;
	day->row_count += batch.row_count;
}

static void maintain(struct day *day, uint64_t now_s)
{
	struct error err = {0};
	double cpu = cpu_s();
	uint64_t begin_ns = clock_monotonic_ns();

	check(store_maintain(day->store, now_s, &err), &err);
	day->maintain_s += (double)(clock_monotonic_ns() - begin_ns) / 1e9;
	day->maintain_cpu_s += cpu_s() - cpu;
}

static struct day *make_day(uint32_t window_s)
{
	struct day *day = calloc(1, sizeof(*day));

	check(day ? 0 : -ENOMEM, &(struct error){.text = "out of memory"});
	day->window_s = window_s - window_s % BUCKET_S;
	day->rows = calloc(SERVICES * (window_s / BUCKET_S) * (HOT + RARE), sizeof(*day->rows));
	check(day->rows ? 0 : -ENOMEM, &(struct error){.text = "out of memory"});
	day->profile = make_profile(day->stacks);
	make_series(day);
	return day;
}

static void free_day(struct day *day)
{
	profile_free(day->profile);
	free(day->rows);
	free(day);
}

static void put(const void *data, size_t size)
{
	if (fwrite(data, size, 1, stdout) != 1)
		check(-EIO, &(struct error){.text = "cannot write"});
}

/* A row of (service, series, time, stack, samples, value), of 2, 4, 4, 4, 4 and 8 bytes. */
static void dump_row(const struct store_row *row, uint32_t host)
{
	uint16_t service = (uint16_t)row->series;
	uint32_t numbers[] = {host * SERVICES + row->series, row->time_s, row->stack,
			      (uint32_t)row->samples};

	put(&service, sizeof(service));
	put(numbers, sizeof(numbers));
	put(&row->value, sizeof(row->value));
}

static void dump_samples(struct day *day, double millions)
{
	uint32_t time_s;

	for (time_s = START_S; (double)day->row_count < millions * 1e6; time_s += day->window_s)
		for (uint32_t host = 0; host < HOSTS; host++) {
			size_t n = make_window(day, time_s);

			for (size_t i = 0; i < n; i++)
				dump_row(&day->rows[i], host);
			day->row_count += n;
		}
}

static const char *function_of(const struct profile *profile, uint32_t node)
{
	const struct profile_location *location =
		&profile->locations.items[profile->stacks.nodes.items[node].frame];
	uint32_t function = profile->lines.items[location->first_line].function;

	return profile_text(profile, profile->functions.items[function].name);
}

/* The functions of each stack, leaf first: in one line, or each in its own. */
static void dump_names(const struct day *day, bool is_calls)
{
	const struct stack_node *nodes = day->profile->stacks.nodes.items;

	for (uint32_t i = 0; i < SERVICES * STACKS; i++) {
		uint32_t stack = day->stacks[i];

		if (!is_calls)
			(void)printf("%u\t", stack); /* a failure shows at the end */
		for (uint32_t node = stack; node != 0; node = nodes[node].parent) {
			if (is_calls)
				(void)printf("%s\t%u\t%d\n", function_of(day->profile, node), stack,
					     node == stack);
			else
				(void)printf("%s;", function_of(day->profile, node));
		}
		if (!is_calls)
			(void)printf("\n");
	}
}

static int dump(const char *what, double millions, uint32_t window_s)
{
	struct day *day = make_day(window_s);

	if (strcmp(what, "samples") == 0)
		dump_samples(day, millions);
	else
		dump_names(day, strcmp(what, "calls") == 0);
	free_day(day);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}

static void fill(struct store *store, double millions, uint32_t window_s, uint32_t start_s)
{
	struct day *day = make_day(window_s);
	struct store_stats stats;
	uint32_t time_s;

	day->store = store;
	for (time_s = start_s; (double)day->row_count < millions * 1e6; time_s += day->window_s) {
		if (time_s % HOUR_S == 0)
			maintain(day, time_s + 700);
		for (uint32_t host = 0; host < HOSTS; host++)
			append(day, host, time_s);
	}
	maintain(day, time_s + 2 * HOUR_S);
	store_stats(store, &stats);
	(void)printf("rows %" PRIu64 "\n", stats.rows);
	(void)printf("append %.3f %.3f\n", day->append_s, day->append_cpu_s);
	(void)printf("append-rows-per-second %.0f\n", (double)day->row_count / day->append_s);
	(void)printf("append-slowest %.3f %.3f\n", day->slowest_s, day->costliest_s);
	(void)printf("sort %.3f %.3f\n", day->maintain_s, day->maintain_cpu_s);
	(void)printf("bytes-per-row %.3f\n", (double)stats.file_bytes / (double)stats.rows);
	(void)printf("bytes-of-names %.0f\n", (double)(stats.bytes - stats.file_bytes));
	free_day(day);
}

struct question {
	const char *name;
	uint32_t hours;
	const char *service; /* NULL: all */
	const char *host;
	const char *release;
	const char *function; /* over time */
	bool is_top;
	bool is_values;
};

static bool count_item(void *self, const struct store_item *item)
{
	(void)item;
	++*(size_t *)self;
	return true;
}

static size_t ask(struct store *store, const struct question *question, const char *release)
{
	struct store_match matches[3];
	struct store_selector selector = {
		.matches = matches, .from_s = START_S, .to_s = START_S + question->hours * HOUR_S};
	struct profile *profile = NULL;
	struct error err = {0};
	size_t count = 0;

	if (question->service)
		matches[selector.match_count++] =
			(struct store_match){"service", question->service, MATCH_EQUAL};
	if (question->host)
		matches[selector.match_count++] =
			(struct store_match){"host", question->host, MATCH_EQUAL};
	if (release)
		matches[selector.match_count++] =
			(struct store_match){"release", release, MATCH_EQUAL};
	if (question->is_values) {
		check(store_values(store, &selector, "service", count_item, &count, &err), &err);
	} else if (question->is_top) {
		check(store_top(store, &selector, 50, count_item, &count, &err), &err);
	} else if (question->function) {
		struct store_over_time what = {.function = question->function, .step_s = 300};

		check(store_over_time(store, &selector, &what, count_item, &count, &err), &err);
	} else {
		check(store_profile(store, &selector, &profile, &err), &err);
		count = profile->entries.count;
		profile_free(profile);
	}
	return count;
}

static void measure(struct store *store, const struct question *question)
{
	double best_s = 1e9;
	double best_cpu_s = 1e9;
	size_t count = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		double cpu = cpu_s();
		uint64_t begin_ns = clock_monotonic_ns();
		double took_s;

		count = ask(store, question, question->release);
		if (question->release)
			count += ask(store, question, "1.0");
		took_s = (double)(clock_monotonic_ns() - begin_ns) / 1e9;
		cpu = cpu_s() - cpu;
		best_s = took_s < best_s ? took_s : best_s;
		best_cpu_s = cpu < best_cpu_s ? cpu : best_cpu_s;
	}
	(void)printf("%s %.3f %.3f # %zu\n", question->name, best_s, best_cpu_s, count);
}

static void ask_all(struct store *store)
{
	static const char function[] = "service7::module5::function2005(int)";
	static const struct question questions[] = {
		{.name = "flame-1h", .hours = 1, .service = "service7"},
		{.name = "flame-24h", .hours = 24, .service = "service7"},
		{.name = "flame-1h-all", .hours = 1},
		{.name = "flame-24h-host", .hours = 24, .service = "service7", .host = "host3"},
		{.name = "diff-24h", .hours = 24, .service = "service7", .release = "2.0"},
		{.name = "top-24h", .hours = 24, .service = "service7", .is_top = true},
		{.name = "function-24h", .hours = 24, .service = "service7", .function = function},
		{.name = "services-24h", .hours = 24, .is_values = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(questions); i++)
		measure(store, &questions[i]);
}

int main(int argc, char **argv)
{
	struct store_config config = {.folder = argc > 2 ? argv[2] : NULL};
	struct store *store = NULL;
	struct error err = {0};
	double millions = 115.2;
	double window_s = 60;
	double start_s = START_S;
	uint64_t begin_ns = clock_monotonic_ns();

	if (argc < 3 || (argc > 3 && number_parse_double(argv[3], &millions) < 0) ||
	    (argc > 4 && number_parse_double(argv[4], &window_s) < 0) ||
	    (argc > 5 && number_parse_double(argv[5], &start_s) < 0) || window_s < BUCKET_S ||
	    window_s > HOUR_S || start_s < 0 || start_s > UINT32_MAX - 7.0 * 86400) {
		(void)fprintf(stderr,
			      "usage: store_bench fill|ask FOLDER [MILLIONS [SECONDS [START]]]\n");
		return 2;
	}
	if (strcmp(argv[1], "dump") == 0)
		return dump(argv[2], millions, (uint32_t)window_s);
	check(store_open(&config, &store, &err), &err);
	(void)printf("open %.3f 0\n", (double)(clock_monotonic_ns() - begin_ns) / 1e9);
	if (strcmp(argv[1], "fill") == 0)
		fill(store, millions, (uint32_t)window_s, (uint32_t)start_s);
	else
		ask_all(store);
	store_close(store);
	return 0;
}
