/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * jit_names map|append|dump|reuse|link|other|none [MS [NAME]]: makes two functions in anonymous
 *memory and burns MS of CPU time, 70 % in NAME ("jit_hot") and 30 % in "jit cool()".
 *
 *	map     lists them in /tmp/perf-PID.map, under wrong names first
 *	append  as map; after half of the time jit_second takes the place of NAME
 *	dump    lists them in jit-PID.dump of the current folder; jit_hot was moved there
 *	reuse   as dump, with lines 7 and 9 of made.js; after half of the time jit_second
 *	        of later.js takes the place of NAME
 *	link    as map, but /tmp/perf-PID.map is a symbolic link
 *	other   as map, but the file belongs to another user (needs root)
 *	none    tells nobody
 */

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define COOL_OFFSET 256u
#define PLACE_BYTES 4096u

#if defined(__aarch64__)
/* 1: subs x0, x0, #1; b.ne 1b; ret */
static const uint32_t code[] = {0xf1000400, 0x54ffffe1, 0xd65f03c0};
#define SECOND_OFFSET 4u
#define MACHINE EM_AARCH64
#else
/* 1: dec %rdi; jne 1b; ret */
static const uint8_t code[] = {0x48, 0xff, 0xcf, 0x75, 0xfb, 0xc3};
#define SECOND_OFFSET 3u
#define MACHINE EM_X86_64
#endif

typedef void made_function(uint64_t rounds);

static void write_map(const char *path, const uint8_t *place, const char *name)
{
	FILE *file = fopen(path, "w");

	if (!file)
		abort();
	fprintf(file, "%lx %x thrown_away\n", (unsigned long)place, PLACE_BYTES);
	fprintf(file, "%lx %zx %s\n", (unsigned long)place, sizeof(code), name);
	fprintf(file, "%lx %zx jit cool()\n", (unsigned long)place + COOL_OFFSET, sizeof(code));
	fprintf(file, "%lx %zx unfinished", (unsigned long)place, sizeof(code));
	if (fclose(file) != 0)
		abort();
}

static void put_u32(FILE *file, uint32_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_u64(FILE *file, uint64_t value)
{
	fwrite(&value, sizeof(value), 1, file);
}

static void put_load(FILE *file, uint64_t address, uint64_t index, const char *name)
{
	put_u32(file, 0);
	put_u32(file, (uint32_t)(16 + 40 + strlen(name) + 1 + sizeof(code)));
	put_u64(file, clock_now_ns(CLOCK_MONOTONIC));
	put_u32(file, (uint32_t)getpid());
	put_u32(file, (uint32_t)getpid());
	put_u64(file, address);
	put_u64(file, address);
	put_u64(file, sizeof(code));
	put_u64(file, index);
	fwrite(name, 1, strlen(name) + 1, file);
	fwrite(code, 1, sizeof(code), file);
}

static void put_move(FILE *file, uint64_t from, uint64_t to, uint64_t index)
{
	put_u32(file, 1);
	put_u32(file, 16 + 48);
	put_u64(file, clock_now_ns(CLOCK_MONOTONIC));
	put_u32(file, (uint32_t)getpid());
	put_u32(file, (uint32_t)getpid());
	put_u64(file, to);
	put_u64(file, from);
	put_u64(file, to);
	put_u64(file, sizeof(code));
	put_u64(file, index);
}

/* Lines 7 and 9 of a file for the code that is loaded next. */
static void put_lines(FILE *file, uint64_t address, const char *name)
{
	put_u32(file, 2);
	put_u32(file, (uint32_t)(16 + 16 + 2 * 16 + strlen(name) + 1 + 2));
	put_u64(file, clock_now_ns(CLOCK_MONOTONIC));
	put_u64(file, address);
	put_u64(file, 2);
	put_u64(file, address);
	put_u32(file, 7);
	put_u32(file, 0);
	fwrite(name, 1, strlen(name) + 1, file);
	put_u64(file, address + SECOND_OFFSET);
	put_u32(file, 9);
	put_u32(file, 0);
	fwrite("\xff", 1, 2, file);
}

/* Says that other code took the place. */
static void reuse(FILE *file, const uint8_t *place)
{
	put_lines(file, (uint64_t)(uintptr_t)place, "later.js");
	put_load(file, (uint64_t)(uintptr_t)place, 4, "jit_second");
	fflush(file);
}

static FILE *write_dump(const uint8_t *place, const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "jit-%d.dump", (int)getpid());
	file = fopen(path, "w+");
	if (!file)
		abort();
	put_u32(file, 0x4a695444);
	put_u32(file, 1);
	put_u32(file, 40);
	put_u32(file, MACHINE);
	put_u32(file, 0);
	put_u32(file, (uint32_t)getpid());
	put_u64(file, clock_now_ns(CLOCK_MONOTONIC));
	put_u64(file, 0);
	put_lines(file, 0x1000, "made.js");
	put_load(file, 0x1000, 1, name);
	put_load(file, (uint64_t)(uintptr_t)place, 2, "thrown_away");
	put_load(file, (uint64_t)(uintptr_t)place + COOL_OFFSET, 3, "jit cool()");
	put_move(file, 0x1000, (uint64_t)(uintptr_t)place, 1);
	fflush(file);
	/* So profilers find it: a mapping with its name. */
	if (mmap(NULL, PLACE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0) ==
	    MAP_FAILED)
		abort();
	return file;
}

/* The same in the map, whose last line is not finished. */
static void append(const uint8_t *place)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "a");
	if (!file)
		abort();
	fprintf(file, " and thrown away\n%lx %zx jit_second\n", (unsigned long)place, sizeof(code));
	if (fclose(file) != 0)
		abort();
}

/* Returns the dump when there is one. */
static FILE *tell(const char *mode, const uint8_t *place, const char *name)
{
	FILE *dump = NULL;
	char path[64];
	char elsewhere[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	if (strcmp(mode, "dump") == 0 || strcmp(mode, "reuse") == 0) {
		dump = write_dump(place, name);
	} else if (strcmp(mode, "link") == 0) {
		snprintf(elsewhere, sizeof(elsewhere), "perf-%d.elsewhere", (int)getpid());
		write_map(elsewhere, place, name);
		snprintf(elsewhere, sizeof(elsewhere), "/proc/%d/cwd/perf-%d.elsewhere",
			 (int)getpid(), (int)getpid());
		if (symlink(elsewhere, path) != 0)
			abort();
	} else if (strcmp(mode, "none") != 0) {
		write_map(path, place, name);
	}
	if (strcmp(mode, "other") == 0 && chown(path, 65534, 65534) != 0)
		abort();
	return dump;
}

int main(int argc, char **argv)
{
	uint64_t total_ns = argument(argc, argv, 2, 500) * NS_PER_MS;
	uint8_t *place = mmap(NULL, PLACE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool is_appended = argc > 1 && strcmp(argv[1], "append") == 0;
	bool is_reused = !is_appended && (argc < 2 || strcmp(argv[1], "reuse") != 0);
	uint64_t end_ns;
	FILE *dump;

	if (argc < 2 || place == MAP_FAILED)
		return 1;
	memcpy(place, code, sizeof(code));
	memcpy(place + COOL_OFFSET, code, sizeof(code));
	__builtin___clear_cache((char *)place, (char *)place + PLACE_BYTES);
	dump = tell(argv[1], place, argc > 3 ? argv[3] : "jit_hot");
	end_ns = clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) + total_ns;
	while (clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns) {
		((made_function *)(uintptr_t)place)(700000);
		((made_function *)(uintptr_t)(place + COOL_OFFSET))(300000);
		if (!is_reused && clock_now_ns(CLOCK_PROCESS_CPUTIME_ID) > end_ns - total_ns / 2) {
			if (is_appended)
				append(place);
			else
				reuse(dump, place);
			is_reused = true;
		}
	}
	printf("{\"pid\": %d}\n", (int)getpid());
	return 0;
}
