/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names_bench: how long it takes to index the symbols of a file, and how many
 * lookups of random addresses a second the index answers. The best of ROUNDS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "elf/elf.h"
#include "symbol/elf_symbols.h"

#define ROUNDS 15
#define LOOKUPS 1000000u
#define ADDRESSES 10000u

/* Random addresses inside random symbols. */
static void pick(const struct elf_symbols *symbols, uint64_t *addresses)
{
	uint32_t count = elf_symbols_count(symbols);

	srandom(1);
	for (size_t i = 0; i < ADDRESSES; i++) {
		struct elf_symbol symbol = elf_symbols_at(symbols, (uint32_t)random() % count);

		addresses[i] = symbol.start + (uint64_t)random() % symbol.size;
	}
}

static uint64_t look_up(const struct elf_symbols *symbols, const uint64_t *addresses)
{
	uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint32_t found = 0;

	for (size_t i = 0; i < LOOKUPS; i++)
		found += elf_symbols_find(symbols, addresses[i % ADDRESSES]) != ELF_SYMBOL_NONE;
	if (found != LOOKUPS)
		(void)fprintf(stderr, "only %" PRIu32 " were found\n", found);
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
}

int main(int argc, char **argv)
{
	uint64_t index_ns = UINT64_MAX;
	uint64_t lookup_ns = UINT64_MAX;
	uint64_t addresses[ADDRESSES];
	struct error err = {0};
	uint32_t count = 0;

	if (argc != 2) {
		(void)fprintf(stderr, "usage: names_bench FILE\n");
		return 2;
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct elf_symbols *symbols;
		struct elf_file *elf;
		uint64_t start_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		uint64_t took_ns;

		if (elf_open(argv[1], &elf, &err) < 0 ||
		    elf_symbols_read(elf, &symbols, &err) < 0 || elf_symbols_count(symbols) == 0) {
			(void)fprintf(stderr, "names_bench: %s\n", err.text);
			return 1;
		}
		took_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start_ns;
		index_ns = took_ns < index_ns ? took_ns : index_ns;
		count = elf_symbols_count(symbols);
		pick(symbols, addresses);
		took_ns = look_up(symbols, addresses);
		lookup_ns = took_ns < lookup_ns ? took_ns : lookup_ns;
		elf_symbols_free(symbols);
		elf_close(elf);
	}
	printf("%" PRIu32 " symbols indexed in %.2f ms, %.1f million lookups a second\n", count,
	       (double)index_ns / NS_PER_MS, 1e3 * LOOKUPS / (double)lookup_ns);
	return 0;
}
