/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A toy interpreter that records its own heap: its functions have no machine code, so only it
 * knows who allocates. Then lists what is live:
 *
 *	cc own_heap.c -o own_heap $(pkg-config --cflags --libs libwick)
 *	./own_heap app.wick
 *	wick report --by site app.wick
 */

#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <wick/heap_writer.h>
#include <wick/live_blocks.h>

#define ROUNDS 1000u

enum { SITE_PARSE, SITE_CACHE };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Defines a site: a function that main calls, in the only thread. */
static int define(struct wick_heap_writer *writer, uint32_t number, const char *function,
		  struct wick_error *err)
{
	struct wick_heap_frame root = {.function = "main", .file = "shop.toy", .line = 3};
	struct wick_heap_frame leaf = {
		.function = function, .file = "shop.toy", .line = 10 + number};
	uint32_t frames[2];
	struct wick_heap_stack stack = {.size = sizeof(stack), .frames = frames, .frame_count = 2};
	struct wick_heap_site site = {.number = number};
	int r = wick_heap_writer_frame(writer, &root, &frames[0], err);

	if (r == 0)
		r = wick_heap_writer_frame(writer, &leaf, &frames[1], err);
	if (r == 0)
		r = wick_heap_writer_stack(writer, &stack, &site.stack, err);
	if (r == 0)
		r = wick_heap_writer_thread(writer, (uint32_t)getpid(), "toy", &site.thread, err);
	return r < 0 ? r : wick_heap_writer_site(writer, &site, err);
}

/* parse() allocates 100 bytes and frees them; cache() keeps 16 bytes each time. */
static int run(struct wick_heap_writer *writer, struct wick_error *err)
{
	int r = 0;

	for (uint32_t i = 0; i < ROUNDS && r == 0; i++) {
		struct wick_heap_event events[] = {
			{.time_ns = now_ns(),
			 .address = 0x1000,
			 .size = 100,
			 .site = SITE_PARSE,
			 .op = WICK_HEAP_ALLOC},
			{.time_ns = now_ns(),
			 .address = 0x10000 + i * 16,
			 .size = 16,
			 .site = SITE_CACHE,
			 .op = WICK_HEAP_ALLOC},
			{.time_ns = now_ns(),
			 .address = 0x1000,
			 .site = SITE_PARSE,
			 .op = WICK_HEAP_FREE},
		};

		r = wick_heap_writer_add(writer, events, 3, err);
		if (r == 0 && i == ROUNDS / 2)
			r = wick_heap_writer_flush(writer, err); /* readers see it from here on */
	}
	return r;
}

static int record(const char *path, struct wick_error *err)
{
	struct wick_heap_options options = {.size = sizeof(options), .title = "shop.toy"};
	struct wick_heap_writer *writer;
	int r = wick_heap_writer_open(path, &options, &writer, err);

	if (r < 0)
		return r;
	r = define(writer, SITE_PARSE, "parse", err);
	if (r == 0)
		r = define(writer, SITE_CACHE, "cache", err);
	if (r == 0)
		r = run(writer, err);
	if (r == 0)
		r = wick_heap_writer_finish(writer, err);
	wick_heap_writer_close(writer);
	return r;
}

static int list(const char *path, struct wick_error *err)
{
	struct wick_live_site site = {.size = sizeof(site)};
	struct wick_live_blocks *blocks;
	struct wick_live_block block;
	uint64_t bytes = 0;
	size_t count;
	int r = wick_live_blocks_load(path, NULL, &blocks, err);

	if (r < 0)
		return r;
	count = wick_live_blocks_count(blocks);
	for (size_t i = 0; wick_live_blocks_get(blocks, i, 1, &block) == 1; i++)
		bytes += block.size;
	if (count > 0 && wick_live_blocks_site(blocks, block.site, &site) == 0)
		printf("%zu blocks are live, %" PRIu64 " bytes, the last one of %s\n", count, bytes,
		       site.frames[site.frame_count - 1].function);
	wick_live_blocks_free(blocks);
	return 0;
}

int main(int argc, char **argv)
{
	struct wick_error err;

	if (argc != 2) {
		fprintf(stderr, "usage: %s RECORDING\n", argv[0]);
		return 2;
	}
	if (record(argv[1], &err) < 0 || list(argv[1], &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.text, err.remedy);
		return 1;
	}
	return 0;
}
