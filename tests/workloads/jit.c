/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * jit [MS] [MAPPINGS]: burns about MS in code that was written at run time and has
 * no tables, called from call_jit(); after making so many executable mappings.
 */

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

/* A leaf that counts its argument down to zero. */
#if defined(__aarch64__)
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0}; /* subs, b.ne, ret */
#elif defined(__x86_64__)
static const uint8_t code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3}; /* dec rdi, jne, ret */
#else
#error "no code for this CPU"
#endif

typedef void (*count_function)(uint64_t count);

static void *make_code(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *place = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (place == MAP_FAILED)
		abort();
	memcpy(place, code, sizeof(code));
	__builtin___clear_cache(place, place + sizeof(code));
	if (mprotect(place, page, PROT_READ | PROT_EXEC) != 0)
		abort();
	return place;
}

/* Mappings that the kernel cannot join: every second page is of another protection. */
static void make_mappings(uint64_t count)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (uint64_t i = 0; i < count; i++) {
		char *place = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (place == MAP_FAILED ||
		    mmap(place, page, PROT_READ | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			abort();
	}
}

static NOINLINE void call_jit(count_function count, uint64_t cpu_ns)
{
	uint64_t start_ns = clock_now_ns(CLOCK_THREAD_CPUTIME_ID);

	while (clock_now_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns < cpu_ns)
		count(200000);
}

int main(int argc, char **argv)
{
	uint64_t cpu_ns = argument(argc, argv, 1, 500) * NS_PER_MS;
	void *place = make_code();
	count_function count;

	make_mappings(argument(argc, argv, 2, 0));
	memcpy(&count, &place, sizeof(count));
	call_jit(count, cpu_ns);
	printf("{\"cpu_ns\": %llu}\n", (unsigned long long)cpu_ns);
	return 0;
}
