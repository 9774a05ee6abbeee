/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * How fast are the library map's parser and resolver? Prints one figure a line.
 * The goals: 10 million resolutions a second and 10 ms to read a map, with
 * 2,000 libraries of five regions each.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/scope.h"
#include "proc/address_space.h"
#include "proc/maps.h"

enum { LIBRARIES = 2000, PARTS = 5, ADDRESSES = 1 << 16, ROUNDS = 5 };

#define LIBRARY_STEP 0x200000ull
#define PART_BYTES 0x40000ull
#define FIRST_ADDRESS 0x7f0000000000ull

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static void write_maps(struct bytes *text)
{
	static const char *const protections[PARTS] = {"r--p", "r-xp", "r--p", "r--p", "rw-p"};

	for (unsigned int i = 0; i < LIBRARIES * PARTS; i++) {
		uint64_t start = FIRST_ADDRESS + i / PARTS * LIBRARY_STEP + i % PARTS * PART_BYTES;

		bytes_printf(text,
			     "%llx-%llx %s %08llx fd:01 %u%20s/usr/lib/some/where/lib%u.so.1\n",
			     (unsigned long long)start, (unsigned long long)(start + PART_BYTES),
			     protections[i % PARTS], (unsigned long long)(i % PARTS * PART_BYTES),
			     100000 + i / PARTS, "", i / PARTS);
	}
}

static double best_parse_ms(const struct bytes *text, unsigned int options)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < ROUNDS * 4; i++) {
		struct maps maps = {0};
		uint64_t began_ns = clock_monotonic_ns();

		if (maps_parse(&maps, (const char *)text->data, text->size, options) < 0)
			exit(EXIT_FAILURE);
		uint64_t took_ns = clock_monotonic_ns() - began_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
		maps_fini(&maps);
	}
	return (double)best_ns / NS_PER_MS;
}

/* Reads a real map of this process, blown up to 10,000 regions of one file. */
static void bench_read(void)
{
	char path[] = "/tmp/wick-maps-bench-XXXXXX";
	uint64_t best_ns = UINT64_MAX;
	size_t regions = 0;

	SCOPED(fd) int fd = mkstemp(path);
	if (fd < 0 || ftruncate(fd, 4 << 16) < 0)
		exit(EXIT_FAILURE);
	for (int i = 0; i < LIBRARIES * PARTS; i++)
		/* A different protection from that of the neighbour keeps them apart. */
		if (mmap(NULL, 1 << 16, i & 1 ? PROT_READ : PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			 0) == MAP_FAILED)
			exit(EXIT_FAILURE);
	for (int i = 0; i < ROUNDS; i++) {
		struct maps maps = {0};
		uint64_t began_ns = clock_monotonic_ns();

		if (maps_read(&maps, 0, 0, NULL) < 0)
			exit(EXIT_FAILURE);
		uint64_t took_ns = clock_monotonic_ns() - began_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
		regions = maps.count;
		maps_fini(&maps);
	}
	(void)unlink(path); /* a temporary file left behind harms nobody */
	printf("read and parse %zu regions from /proc  %8.2f ms\n", regions,
	       (double)best_ns / NS_PER_MS);
}

static void fill_space(struct address_space *space, unsigned int parts)
{
	for (unsigned int i = 0; i < LIBRARIES * parts; i++) {
		uint64_t start = FIRST_ADDRESS + i / parts * LIBRARY_STEP + i % parts * PART_BYTES;
		struct address_mapping mapping = {
			.start = start,
			.end = start + PART_BYTES,
			.bias = FIRST_ADDRESS + i / parts * LIBRARY_STEP,
			.file_offset = i % parts * PART_BYTES,
			.module = i / parts,
		};

		if (address_space_map(space, 0, &mapping) < 0)
			exit(EXIT_FAILURE);
	}
}

static void bench_single(const struct address_space *space, const uint64_t *addresses,
			 uint64_t time_ns, const char *title)
{
	uint64_t best_ns = UINT64_MAX;
	uint64_t sum = 0;

	for (int round = 0; round < ROUNDS * 4; round++) {
		uint64_t began_ns = clock_monotonic_ns();

		for (size_t i = 0; i < ADDRESSES; i++) {
			struct address_hit hit;

			(void)address_space_resolve(space, time_ns, addresses[i], &hit);
			sum += hit.vaddr;
		}
		uint64_t took_ns = clock_monotonic_ns() - began_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	printf("%-38s %8.1f M/s (sum %llx)\n", title, ADDRESSES * 1e3 / (double)best_ns,
	       (unsigned long long)(sum & 0xff));
}

static void bench_batch(const struct address_space *space, const uint64_t *addresses,
			uint64_t time_ns, const char *title)
{
	enum { DEPTH = 64 };
	uint64_t best_ns = UINT64_MAX;

	for (int round = 0; round < ROUNDS * 4; round++) {
		uint64_t began_ns = clock_monotonic_ns();

		for (size_t i = 0; i < ADDRESSES; i += DEPTH) {
			struct address_hit hits[DEPTH];

			(void)address_space_resolve_batch(space, time_ns, addresses + i, DEPTH,
							  hits);
		}
		uint64_t took_ns = clock_monotonic_ns() - began_ns;
		best_ns = took_ns < best_ns ? took_ns : best_ns;
	}
	printf("%-38s %8.1f M/s\n", title, ADDRESSES * 1e3 / (double)best_ns);
}

/* Loads and unloads libraries at random; times are 1, 2, 3 … */
static void churn(struct address_space *space, unsigned int changes)
{
	uint64_t seed = 5;
	uint64_t began_ns = clock_monotonic_ns();

	for (unsigned int i = 1; i <= changes; i++) {
		uint64_t start = FIRST_ADDRESS + next_random(&seed) % LIBRARIES * LIBRARY_STEP;
		struct address_mapping mapping = {
			.start = start, .end = start + PART_BYTES, .bias = start, .module = i};
		int r = i & 1 ? address_space_unmap(space, i, start, start + PART_BYTES)
			      : address_space_map(space, i, &mapping);

		if (r < 0)
			exit(EXIT_FAILURE);
	}
	uint64_t took_ns = clock_monotonic_ns() - began_ns;
	printf("%-38s %8.2f us, %.0f bytes\n", "one change, 2,000 regions",
	       (double)took_ns / 1e3 / changes,
	       (double)address_space_memory_bytes(space) / changes);
}

static void bench_resolve(unsigned int parts, const char *title)
{
	static uint64_t addresses[ADDRESSES];
	static uint64_t stacks[ADDRESSES];
	struct address_space *space = address_space_new();
	uint64_t seed = 1;

	if (!space)
		exit(EXIT_FAILURE);
	fill_space(space, parts);
	for (size_t i = 0; i < ADDRESSES; i++) {
		/* Runs of five frames of one library, as stacks have. */
		uint64_t library = next_random(&seed) % LIBRARIES;

		addresses[i] = FIRST_ADDRESS + library * LIBRARY_STEP +
			       next_random(&seed) % (parts * PART_BYTES);
		stacks[i] = i % 5 ? stacks[i - 1] + 64 : addresses[i];
	}
	puts(title);
	bench_single(space, addresses, ADDRESS_SPACE_NOW, "  one by one, random");
	bench_batch(space, addresses, ADDRESS_SPACE_NOW, "  batches of 64, random");
	bench_batch(space, stacks, ADDRESS_SPACE_NOW, "  batches of 64, like stacks");
	if (parts == 1) {
		churn(space, 10000);
		bench_single(space, addresses, ADDRESS_SPACE_NOW, "  now, after 10,000 changes");
		bench_single(space, addresses, 5000, "  one by one, 5,000 changes ago");
		bench_batch(space, addresses, 5000, "  batches of 64, 5,000 changes ago");
	}
	address_space_free(space);
}

int main(void)
{
	struct bytes text = {0};

	write_maps(&text);
	if (text.failed)
		return EXIT_FAILURE;
	printf("parse %d lines (%zu KiB)              %8.2f ms\n", LIBRARIES * PARTS,
	       text.size >> 10, best_parse_ms(&text, 0));
	printf("parse, executable regions only         %8.2f ms\n",
	       best_parse_ms(&text, MAPS_EXECUTABLE_ONLY));
	bytes_fini(&text);
	bench_read();
	bench_resolve(1, "resolve, 2,000 executable regions");
	bench_resolve(PARTS, "resolve, all 10,000 regions");
	return EXIT_SUCCESS;
}
