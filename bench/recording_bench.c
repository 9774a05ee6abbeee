/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Measures writing and reading recordings: samples of 50,000 stacks of 40
 * frames that share their callers, chosen by Zipf's law, on 8 threads and 2
 * CPUs at jittered times.
 *
 *	recording_bench write|read [FILE [SAMPLES]]
 */

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/id_index.h"
#include "base/number.h"
#include "model/sink.h"
#include "proc/process_info.h"
#include "recording/reader.h"
#include "recording/writer.h"

#define STACKS 50000u
#define DEPTH 40u
#define THREADS 8u
#define CPUS 2u
#define BATCH 1024u
#define WINDOW 32u /* raw stacks that are looked up together */
#define PERIOD_NS 1000000u
#define ROUNDS 5

struct columns {
	uint32_t *which; /* stack of each sample */
	uint32_t *stack; /* its id in the recording */
	uint32_t *thread;
	uint32_t *cpu;
	uint64_t *time_ns;
	uint64_t *weight;
};

static uint64_t random_state = 1;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void *allocate(size_t count, size_t bytes)
{
	void *place = calloc(count, bytes);

	if (!place) {
		(void)fprintf(stderr, "recording_bench: out of memory\n");
		exit(1);
	}
	return place;
}

/* Each stack shares some of its callers with an earlier one. */
static uint64_t (*make_stacks(void))[DEPTH]
{
	uint64_t(*stacks)[DEPTH] = allocate(STACKS, sizeof(*stacks));

	for (size_t i = 0; i < STACKS; i++) {
		size_t shared = i == 0 ? 0 : DEPTH - 1 - (size_t)(next_random() % 12);

		if (shared > 0)
			memcpy(stacks[i], stacks[next_random() % i], shared * sizeof(uint64_t));
		for (size_t k = shared; k < DEPTH; k++)
			stacks[i][k] = 0x400000 + next_random() % 20000 * 4;
	}
	return stacks;
}

static struct columns make_samples(size_t n)
{
	struct columns columns = {
		.which = allocate(n, sizeof(uint32_t)),
		.stack = allocate(n, sizeof(uint32_t)),
		.thread = allocate(n, sizeof(uint32_t)),
		.cpu = allocate(n, sizeof(uint32_t)),
		.time_ns = allocate(n, sizeof(uint64_t)),
		.weight = allocate(n, sizeof(uint64_t)),
	};
	double *sums = allocate(STACKS, sizeof(double));
	uint32_t running[CPUS] = {0};
	double sum = 0;

	for (size_t i = 0; i < STACKS; i++)
		sums[i] = sum += 1.0 / (double)(i + 1);
	for (size_t i = 0; i < n; i++) {
		double want = (double)(next_random() >> 11) / 9007199254740992.0 * sum;
		uint32_t low = 0;
		uint32_t high = STACKS - 1;

		while (low < high) {
			uint32_t middle = (low + high) / 2;

			if (sums[middle] < want)
				low = middle + 1;
			else
				high = middle;
		}
		columns.which[i] = low;
		columns.cpu[i] = (uint32_t)(i % CPUS);
		if (next_random() % 4 == 0)
			running[i % CPUS] = (uint32_t)(next_random() % THREADS);
		columns.thread[i] = running[i % CPUS];
		columns.time_ns[i] = 1000000000 + i / CPUS * PERIOD_NS + next_random() % 20000;
		columns.weight[i] = PERIOD_NS;
	}
	free(sums);
	return columns;
}

/* What an engine keeps: raw stacks by content, with their ids in the sink. */
struct raw_cache {
	struct id_index index;
	uint32_t ids[STACKS];
	uint64_t (*stacks)[DEPTH];
};

static uint32_t intern(struct sink *sink, uint32_t module, const uint64_t *addresses)
{
	struct frame frames[DEPTH];
	uint32_t id = 0;

	for (size_t k = 0; k < DEPTH; k++)
		frames[k] = (struct frame){FRAME_NATIVE, module, addresses[k]};
	if (sink_stack(sink, frames, DEPTH, &id) < 0)
		exit(1);
	return id;
}

static uint32_t add_to_cache(struct raw_cache *cache, struct sink *sink, uint32_t module,
			     const uint64_t *raw, uint64_t hash)
{
	uint32_t at = cache->index.count;

	memcpy(cache->stacks[at], raw, sizeof(cache->stacks[at]));
	cache->ids[at] = intern(sink, module, raw);
	if (id_index_add(&cache->index, hash, at) < 0)
		exit(1);
	return at;
}

/*
 * The ids of n raw stacks. Some at a time, so that the cache lines of all of
 * them are on their way before the first is looked at.
 */
static void look_up(struct raw_cache *cache, struct sink *sink, uint32_t module,
		    uint64_t (*raw)[DEPTH], size_t n, uint32_t *ids)
{
	struct id_probe probes[WINDOW];
	uint64_t hashes[WINDOW];
	uint32_t found[WINDOW];

	for (size_t i = 0; i < n; i++) {
		hashes[i] = XXH3_64bits(raw[i], sizeof(raw[i]));
		probes[i] = id_index_probe(&cache->index, hashes[i]);
		if (cache->index.slots)
			__builtin_prefetch(&cache->index.slots[probes[i].at]);
	}
	for (size_t i = 0; i < n; i++) {
		found[i] = id_probe_next(&cache->index, &probes[i]);
		for (size_t k = 0; found[i] != ID_NONE && k < DEPTH; k += 8)
			__builtin_prefetch(&cache->stacks[found[i]][k]);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t at = found[i];

		if (at == ID_NONE) { /* maybe added since, and the index may have moved */
			probes[i] = id_index_probe(&cache->index, hashes[i]);
			at = id_probe_next(&cache->index, &probes[i]);
		}
		while (at != ID_NONE && memcmp(cache->stacks[at], raw[i], sizeof(raw[i])) != 0)
			at = id_probe_next(&cache->index, &probes[i]);
		if (at == ID_NONE)
			at = add_to_cache(cache, sink, module, raw[i], hashes[i]);
		ids[i] = cache->ids[at];
	}
}

static double seconds_since(uint64_t start_ns)
{
	return (double)(clock_monotonic_ns() - start_ns) / 1e9;
}

static void check(int r, const struct error *err)
{
	if (r >= 0)
		return;
	(void)fprintf(stderr, "recording_bench: %s\n", err->text);
	exit(1);
}

/* Writes all samples; returns seconds. With raw_lookup stacks come as addresses. */
static double write_all(const char *path, struct columns *columns, size_t n,
			uint64_t (*stacks)[DEPTH], bool raw_lookup, double *ret_bytes)
{
	static uint64_t ring[BATCH][DEPTH];
	struct raw_cache *cache = allocate(1, sizeof(*cache));
	struct recording_writer *writer;
	struct error err = {0};
	struct sink *sink;
	uint32_t threads[THREADS];
	uint32_t process;
	uint32_t module;
	uint32_t schema;
	double seconds = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		exit(1);
	cache->stacks = allocate(STACKS, sizeof(*cache->stacks));
	check(recording_writer_open(fd, path, &writer, &err), &err);
	sink = recording_writer_sink(writer);
	check(sink->ops->schema(writer,
				&(struct schema){"cpu-clock", "cpu", "nanoseconds", PERIOD_NS},
				&schema),
	      &err);
	check(sink->ops->process(writer, &(struct process){.pid = 1, .comm = "bench"}, &process),
	      &err);
	check(sink->ops->module(writer, &(struct module){.path = "/bin/bench"}, &module), &err);
	for (uint32_t i = 0; i < THREADS; i++)
		check(sink->ops->thread(writer, &(struct thread){process, i + 1, "bench"},
					&threads[i]),
		      &err);
	for (size_t i = 0; i < n; i++)
		columns->thread[i] = threads[columns->thread[i]];
	for (size_t i = 0; i < n; i += BATCH) {
		struct sample_batch batch = {
			.schema = schema,
			.count = n - i < BATCH ? n - i : BATCH,
			.stack = columns->stack + i,
			.thread = columns->thread + i,
			.cpu = columns->cpu + i,
			.time_ns = columns->time_ns + i,
			.weight = columns->weight + i,
		};
		uint64_t start_ns;

		for (size_t k = 0; k < batch.count; k++)
			memcpy(ring[k], stacks[columns->which[i + k]], sizeof(ring[k]));
		start_ns = clock_monotonic_ns();
		for (size_t k = 0; k < batch.count; k += WINDOW)
			look_up(cache, sink, module, ring + k,
				batch.count - k < WINDOW ? batch.count - k : WINDOW,
				columns->stack + i + k);
		if (!raw_lookup)
			start_ns = clock_monotonic_ns();
		check(sink->ops->batch(writer, &batch, &err), &err);
		seconds += seconds_since(start_ns);
	}
	check(recording_writer_finish(writer, &err), &err);
	*ret_bytes = (double)recording_writer_bytes(writer) / (double)n;
	recording_writer_free(writer);
	id_index_fini(&cache->index);
	free(cache->stacks);
	free(cache);
	return seconds;
}

static int sum_weights(void *self, const struct sample_batch *batch)
{
	uint64_t *sum = self;

	for (size_t i = 0; i < batch->count; i++)
		*sum += batch->weight[i];
	return 0;
}

static double read_all(const char *path, size_t n)
{
	uint64_t sum = 0;
	struct recording_visitor visitor = {.self = &sum, .samples = sum_weights};
	struct recording_reader *reader;
	struct error err = {0};
	uint64_t start_ns = clock_monotonic_ns();
	double seconds;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	check(fd < 0 ? -1 : recording_reader_open(fd, path, &reader, &err), &err);
	check(recording_reader_run(reader, &visitor, &err), &err);
	seconds = seconds_since(start_ns);
	if (recording_reader_damage(reader).samples != n || sum != (uint64_t)n * PERIOD_NS)
		(void)fprintf(stderr, "recording_bench: samples are missing\n");
	recording_reader_free(reader);
	return seconds;
}

static long peak_kib(void)
{
	return (long)(process_peak_bytes() / 1024);
}

/* Reading in a process of its own shows what a reader alone needs. */
static void read_only(const char *path, size_t n)
{
	double best = INFINITY;

	for (int i = 0; i < ROUNDS; i++)
		best = fmin(best, read_all(path, n));
	printf("read:              %6.2f M samples/s, peak %ld KiB\n", (double)n / best / 1e6,
	       peak_kib());
}

static void write_only(const char *path, size_t n)
{
	uint64_t(*stacks)[DEPTH] = make_stacks();
	struct columns columns = make_samples(n);

	for (int raw = 0; raw < 2; raw++) {
		double best = INFINITY;
		double bytes = 0;

		for (int i = 0; i < ROUNDS; i++)
			best = fmin(best, write_all(path, &columns, n, stacks, raw, &bytes));
		printf("write, %s %6.2f M samples/s, %.3f bytes a sample\n",
		       raw ? "raw stacks:" : "ids:       ", (double)n / best / 1e6, bytes);
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	const char *path = argc > 2 ? argv[2] : "/tmp/recording_bench.wick";
	uint64_t n = 10000000;

	if (argc > 3 && number_parse_u64(argv[3], &n) < 0)
		mode = "";
	if (strcmp(mode, "write") == 0)
		write_only(path, n);
	else if (strcmp(mode, "read") == 0)
		read_only(path, n);
	else
		(void)fprintf(stderr, "usage: recording_bench write|read [FILE [SAMPLES]]\n");
	return 0;
}
