/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * io [MS] [DIRECTORY]: for MS of time, writes, syncs and reads back a temporary
 * file and sleeps as long as that took: little CPU time, much of it in the kernel.
 */

#include <unistd.h>

#include "burn.h"

#define BLOCK 65536
#define BLOCKS 32

static char block[BLOCK];

static NOINLINE void write_file(FILE *file)
{
	rewind(file);
	for (int i = 0; i < BLOCKS; i++) {
		if (fwrite(block, 1, BLOCK, file) != BLOCK)
			abort();
	}
	if (fflush(file) != 0 || fsync(fileno(file)) != 0)
		abort();
}

static NOINLINE void read_file(FILE *file)
{
	rewind(file);
	for (int i = 0; i < BLOCKS; i++) {
		if (fread(block, 1, BLOCK, file) != BLOCK)
			abort();
	}
}

static NOINLINE void sleep_for(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000),
				.tv_nsec = (long)(ns % 1000000000)};

	(void)nanosleep(&time, NULL); /* a shorter sleep does no harm */
}

int main(int argc, char **argv)
{
	uint64_t end_ns = clock_now_ns(CLOCK_MONOTONIC) + argument(argc, argv, 1, 1000) * NS_PER_MS;
	FILE *file = tmpfile();
	uint64_t rounds = 0;
	uint64_t slept_ns = 0;

	if (!file)
		abort();
	while (clock_now_ns(CLOCK_MONOTONIC) < end_ns) {
		uint64_t start_ns = clock_now_ns(CLOCK_MONOTONIC);
		uint64_t busy_ns;

		write_file(file);
		read_file(file);
		busy_ns = clock_now_ns(CLOCK_MONOTONIC) - start_ns;
		sleep_for(busy_ns);
		slept_ns += busy_ns;
		rounds++;
	}
	(void)fclose(file); /* the file is gone with it */
	printf("{\"rounds\": %llu, \"slept_ns\": %llu, \"cpu_ns\": %llu}\n",
	       (unsigned long long)rounds, (unsigned long long)slept_ns,
	       (unsigned long long)clock_now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
