/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_TEST_RECORDING_FIXTURE_H
#define WICK_TEST_RECORDING_FIXTURE_H

/*
 * A small recording with something of everything, always the same.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/sink.h"
#include "recording/writer.h"

#define FIXTURE_ROUNDS 6u
#define FIXTURE_BATCH 24u
#define FIXTURE_SAMPLES ((uint64_t)FIXTURE_ROUNDS * FIXTURE_BATCH)
#define FIXTURE_START_NS 5000000000ull

struct fixture_ids {
	uint32_t schemas[2];
	uint32_t modules[3];
	uint32_t processes[2];
	uint32_t threads[3];
	uint32_t labels[3];
};

/* Begins a recording in fd, which it takes. fixture_finish() ends it, in any case but failure. */
static inline int fixture_begin(int fd, uint64_t epoch_bytes, struct recording_writer **ret,
				struct error *err)
{
	int r = recording_writer_open(fd, "fixture", ret, err);

	if (r < 0)
		return r;
	recording_writer_set_epoch_bytes(*ret, epoch_bytes);
	recording_writer_info(*ret, "command", "shop --open");
	return 0;
}

/* r is what came before. */
static inline int fixture_finish(struct recording_writer *writer, int r, struct error *err)
{
	if (r == 0)
		r = recording_writer_finish(writer, err);
	recording_writer_free(writer);
	return r;
}

static inline uint64_t fixture_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static inline int fixture_name_things(const struct sink *sink, struct fixture_ids *ids)
{
	const struct schema schemas[] = {{"cpu-clock", "cpu", "nanoseconds", 1000000},
					 {"page-faults", "faults", "count", 1}};
	const struct process processes[] = {{100, 1, 0, 0, "shop", "/usr/bin/shop"},
					    {200, 100, 4000000000, 1, "worker", ""}};
	struct module modules[] = {
		{.kind = MODULE_FILE, .path = "/usr/bin/shop", .build_id = {4, {1, 2, 3, 4}}},
		{.kind = MODULE_KERNEL, .path = "[kernel]"},
		{.kind = MODULE_ANONYMOUS, .path = "//anon", .inode = 9},
	};
	const struct label labels[] = {{"tier", "web"}, {"endpoint", "/buy"}};
	int r = 0;

	for (int i = 0; i < 2; i++) {
		r |= sink_schema(sink, &schemas[i], &ids->schemas[i]);
		r |= sink_process(sink, &processes[i], &ids->processes[i]);
	}
	modules[2].owner = ids->processes[1];
	for (int i = 0; i < 3; i++) {
		struct thread thread = {ids->processes[i / 2], 100 + (uint32_t)i,
					i ? "pool" : "main"};

		r |= sink_module(sink, &modules[i], &ids->modules[i]);
		r |= sink_thread(sink, &thread, &ids->threads[i]);
		r |= sink_labels(sink, labels, (size_t)i, &ids->labels[i]);
	}
	return r;
}

static inline uint32_t fixture_stack(const struct sink *sink, const struct fixture_ids *ids,
				     uint64_t *random)
{
	size_t n = fixture_random(random) % 6;
	struct frame frames[8];
	uint32_t id = 0;

	for (size_t i = 0; i < n; i++)
		frames[i] = (struct frame){FRAME_NATIVE, ids->modules[i % 2 ? 2 : 0],
					   0x1000 + 4 * (fixture_random(random) % 5)};
	if (n == 3)
		frames[n++] = (struct frame){FRAME_NATIVE, MODULE_NONE,
					     0x7fff0000 + fixture_random(random) % 3};
	if (n == 5)
		frames[n++] = (struct frame){FRAME_KERNEL, ids->modules[1], 0xffffffff81000000};
	if (n == 2)
		frames[0] = (struct frame){.kind = FRAME_TRUNCATED};
	return sink_stack(sink, frames, n, &id) < 0 ? 0 : id;
}

static inline int fixture_batch(const struct sink *sink, const struct fixture_ids *ids,
				uint32_t round, uint64_t *random, struct error *err)
{
	uint32_t stack[FIXTURE_BATCH];
	uint32_t thread[FIXTURE_BATCH];
	uint32_t cpu[FIXTURE_BATCH];
	uint32_t labels[FIXTURE_BATCH];
	uint64_t time_ns[FIXTURE_BATCH];
	uint64_t weight[FIXTURE_BATCH];

	for (uint32_t i = 0; i < FIXTURE_BATCH; i++) {
		stack[i] = fixture_stack(sink, ids, random);
		thread[i] = ids->threads[fixture_random(random) % 3];
		cpu[i] = (uint32_t)(fixture_random(random) % 3);
		labels[i] = ids->labels[fixture_random(random) % 3];
		time_ns[i] = FIXTURE_START_NS + (round * FIXTURE_BATCH + i) * 1000000ull +
			     fixture_random(random) % 300 * 1000;
		weight[i] = 1000000 + (fixture_random(random) % 4 == 0 ? i : 0);
	}
	return sink_batch(sink,
			  &(struct sample_batch){ids->schemas[round % 2], FIXTURE_BATCH, stack,
						 thread, cpu, labels, time_ns, weight},
			  err);
}

/* Maps: the program, then code that is replaced in each round. */
static inline int fixture_maps(const struct sink *sink, const struct fixture_ids *ids,
			       uint32_t round, struct error *err)
{
	const struct map_event program = {ids->processes[0], ids->modules[0], FIXTURE_START_NS,
					  0x555500001000,    0x555500009000,  0x1000,
					  0x555500000000};
	struct map_event code = {ids->processes[1],
				 ids->modules[2],
				 FIXTURE_START_NS + round,
				 0x7f0000000000,
				 0x7f0000001000,
				 0,
				 0};
	int r = round == 0 ? sink_map(sink, &program, err) : 0;

	if (round == FIXTURE_ROUNDS - 1)
		code.module = MODULE_NONE;
	return r | sink_map(sink, &code, err);
}

/* Writes the recording to fd, which it takes. */
static inline int fixture_write(int fd, uint64_t epoch_bytes, struct error *err)
{
	struct recording_writer *writer;
	struct fixture_ids ids;
	const struct sink *sink;
	uint64_t random = 42;
	int r = fixture_begin(fd, epoch_bytes, &writer, err);

	if (r < 0)
		return r;
	sink = recording_writer_sink(writer);
	recording_writer_info(writer, "host", "example");
	recording_writer_clock(writer, FIXTURE_START_NS, 1700000000000000000);
	r = fixture_name_things(sink, &ids);
	for (uint32_t round = 0; round < FIXTURE_ROUNDS && r == 0; round++) {
		r = fixture_maps(sink, &ids, round, err);
		r |= fixture_batch(sink, &ids, round, &random, err);
		r |= sink_loss(sink, round % LOSS_REASONS, FIXTURE_START_NS + round, round + 1);
		recording_writer_kernel_symbol(writer, 0xffffffff81000000 + round, 1, "do_it",
					       "[kernel]");
		r |= recording_writer_flush(writer, err);
	}
	return fixture_finish(writer, r, err);
}

#endif
