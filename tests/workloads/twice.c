/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Maps the part of its own file that holds some of its code a second time, and
 * runs there, as V8 does with its built-in functions. Says where the copy is.
 */

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define COPIED NOINLINE __attribute__((section("twice_text"), used))

extern const char __start_twice_text[];
extern const char __stop_twice_text[];

/* The copy must not begin where the program's code begins, whatever the page size. */
__asm__(".pushsection .text\n"
	".skip 131072\n"
	".popsection");

static COPIED uint64_t copied_inner(uint64_t x, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Calls by distance alone: it works in every copy that has both functions. */
static COPIED uint64_t copied_outer(uint64_t x, uint64_t count)
{
	for (int i = 0; i < 4; i++)
		x += copied_inner(x, count);
	return x;
}

/* The file offset of an address of this program. */
static uint64_t offset_of(uint64_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end) {
			(void)fclose(maps);
			return address - start + offset;
		}
	}
	abort();
}

static char *map_again(void)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t start = (uint64_t)(uintptr_t)__start_twice_text & ~(page - 1);
	uint64_t end = ((uint64_t)(uintptr_t)__stop_twice_text + page - 1) & ~(page - 1);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char *copy = mmap(NULL, end - start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			  (off_t)offset_of(start));

	if (copy == MAP_FAILED)
		abort();
	(void)close(fd);
	return copy + ((uint64_t)(uintptr_t)copied_outer - start);
}

int main(int argc, char **argv)
{
	uint64_t until_ns =
		clock_now_ns(CLOCK_THREAD_CPUTIME_ID) + argument(argc, argv, 1, 300) * NS_PER_MS;
	char *place = map_again();
	uint64_t (*copy)(uint64_t, uint64_t);
	uint64_t x = 1;

	memcpy(&copy, &place, sizeof(copy));
	printf("{\"copy\": %" PRIu64 "}\n", (uint64_t)(uintptr_t)place);
	(void)fflush(stdout);
	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		x = copy(x, 20000);
	if (argc > 2)
		(void)pause();
	return x == 0;
}
