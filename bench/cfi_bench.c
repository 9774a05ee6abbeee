/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * How long does it take to compile an unwind table, and how large is it? Prints a
 * line for each ELF file that is named, or for well-known large ones. The goals on
 * aarch64: libc 5 ms, libLLVM-14 60 ms and 4 MB.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/vec.h"
#include "cfi/compile.h"
#include "elf/elf.h"

enum { ROUNDS = 7 };

static const char *const usual_files[] = {
	"/usr/lib/aarch64-linux-gnu/libc.so.6",
	"/usr/lib/aarch64-linux-gnu/libpython3.11.so.1.0",
	"/usr/lib/aarch64-linux-gnu/libLLVM-14.so.1",
	"/usr/lib/aarch64-linux-gnu/libclang-cpp.so.14",
	"/usr/lib/x86_64-linux-gnu/libc.so.6",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/lib/x86_64-linux-gnu/libclang-cpp.so.14",
	"/usr/x86_64-linux-gnu/lib/libc.so.6",
	"/usr/bin/node",
};

static int compile_once(const char *path, struct cfi_table *ret, struct cfi_stats *ret_stats,
			uint64_t *ret_ns)
{
	struct elf_file *elf = NULL;
	uint64_t began_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	int r = elf_open(path, &elf, NULL);

	if (r == 0)
		r = cfi_compile(elf, ret, ret_stats, NULL);
	elf_close(elf);
	*ret_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began_ns;
	return r;
}

static void bench(const char *path)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < ROUNDS; i++) {
		struct cfi_table table;
		struct cfi_stats stats;
		uint64_t took_ns;

		if (compile_once(path, &table, &stats, &took_ns) < 0)
			return; /* not on this machine */
		best_ns = took_ns < best_ns ? took_ns : best_ns;
		if (i + 1 == ROUNDS)
			printf("%-50s %7.2f ms %7u functions %8u raw %8u rows %4u rules %6.2f MB "
			       "%7u repaired\n",
			       path, (double)best_ns / NS_PER_MS, stats.fdes, stats.raw_rows,
			       table.table.row_count, table.table.rule_count,
			       (double)(table.table.row_count * sizeof(struct unwind_row) +
					table.table.rule_count * sizeof(struct unwind_rule)) /
				       1e6,
			       stats.repaired_rows);
		cfi_table_fini(&table);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		bench(argv[i]);
	for (size_t i = 0; argc == 1 && i < ARRAY_SIZE(usual_files); i++)
		bench(usual_files[i]);
	return EXIT_SUCCESS;
}
