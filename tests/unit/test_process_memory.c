/* SPDX-License-Identifier: BSD-2-Clause */
#include "proc/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"

#define KIB 1024u
#define MIB (1024u * 1024u)

static const char *const own[] = {"/wick-session-", NULL};

static void parse(const char *text, struct process_memory *ret)
{
	process_memory_parse_smaps(text, strlen(text), own, ret);
}

static void each_mapping_goes_to_its_part(void **state)
{
	struct process_memory memory;

	(void)state;
	parse("aaaa00000000-aaaa00001000 r-xp 00000000 fe:00 7   /bin/app\n"
	      "Size:      4 kB\nRss:       4 kB\nVmFlags: rd ex mr\n"
	      "aaaa00001000-aaaa00002000 rw-p 00000000 fe:00 7   /bin/app\nRss: 8 kB\n"
	      /* its variables without a value go on behind it */
	      "aaaa00002000-aaaa00003000 rw-p 00000000 00:00 0 \nRss: 16 kB\n"
	      "aaaa01000000-aaaa01100000 rw-p 00000000 00:00 0   [heap]\nRss: 512 kB\n"
	      /* an arena: it is not above a guard, though one follows */
	      "ffff78000000-ffff78021000 rw-p 00000000 00:00 0 \nRss: 100 kB\n"
	      "ffff78021000-ffff7c000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	      "ffff7c100000-ffff7c110000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	      "ffff7c110000-ffff7c910000 rw-p 00000000 00:00 0 \nRss: 204 kB\n"
	      "ffff7c920000-ffff7c930000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	      "ffff7c930000-ffff7c970000 rw-p 00000000 00:00 0 \nRss: 248 kB\n"
	      "VmFlags: rd wr mr mw me rr nr wf dd \n"
	      /* what lies above the guard of our own is no stack */
	      "ffff7c970000-ffff7c980000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	      "VmFlags: mr mw me nr \n"
	      "ffff7c980000-ffff7c990000 rw-p 00000000 00:00 0 \nRss: 32 kB\n"
	      "ffff80000000-ffff80100000 rw-s 00000000 00:1d 9   "
	      "/dev/shm/wick-session-x/1.2.0\nRss: 40 kB\n"
	      "ffff90000000-ffff90100000 rw-s 00000000 00:01 9   /dev/zero (deleted)\nRss: 20 kB\n"
	      "ffffd0000000-ffffd0021000 rw-p 00000000 00:00 0   [stack]\nRss: 16 kB\n",
	      &memory);
	assert_int_equal(memory.split.file_bytes, (4 + 8 + 16 + 20) * KIB);
	assert_int_equal(memory.split.heap_bytes, 512 * KIB);
	assert_int_equal(memory.split.heap_size_bytes, MIB);
	assert_int_equal(memory.split.stack_bytes, (204 + 16) * KIB);
	assert_int_equal(memory.split.own_bytes, (248 + 40) * KIB);
	assert_int_equal(memory.split.rest_bytes, 0);
	assert_int_equal(memory.region_count, 2);
	assert_int_equal(memory.regions[1].resident_bytes, 32 * KIB);
	assert_int_equal(memory.regions[0].start, 0xffff78000000);
	assert_int_equal(memory.regions[0].size_bytes, 0x21000);
	assert_int_equal(memory.regions[0].resident_bytes, 100 * KIB);
	assert_int_equal(memory.resident_bytes,
			 (4 + 8 + 16 + 512 + 100 + 32 + 204 + 248 + 40 + 20 + 16) * KIB);
}

static void a_full_arena_below_another_is_no_guard(void **state)
{
	struct process_memory memory;

	(void)state;
	parse("ffff74000000-ffff77ff0000 rw-p 00000000 00:00 0 \nRss: 10 kB\n"
	      "ffff77ff0000-ffff78000000 ---p 00000000 00:00 0 \nRss: 0 kB\n"
	      "ffff78000000-ffff78021000 rw-p 00000000 00:00 0 \nRss: 100 kB\n",
	      &memory);
	assert_int_equal(memory.split.stack_bytes, 0);
	assert_int_equal(memory.region_count, 2);
}

static void only_the_largest_regions_are_kept(void **state)
{
	struct bytes text = {0};
	struct process_memory memory;
	uint64_t kept = 0;
	unsigned int count = 2 * MEMORY_MAX_REGIONS;

	(void)state;
	for (unsigned int i = 1; i <= count; i++)
		bytes_printf(&text, "%x0000-%x8000 rw-p 00000000 00:00 0 \nRss: %u kB\n", i, i, i);
	process_memory_parse_smaps((const char *)text.data, text.size, NULL, &memory);
	bytes_fini(&text);
	assert_int_equal(memory.region_count, MEMORY_MAX_REGIONS);
	for (size_t i = 0; i < memory.region_count; i++) {
		assert_true(i == 0 || memory.regions[i].start > memory.regions[i - 1].start);
		assert_true(memory.regions[i].resident_bytes > MEMORY_MAX_REGIONS * KIB);
		kept += memory.regions[i].resident_bytes;
	}
	assert_int_equal(kept + memory.split.rest_bytes, memory.resident_bytes);
	assert_int_equal(memory.resident_bytes, count * (count + 1) / 2 * KIB);
}

static void nonsense_is_passed_over(void **state)
{
	struct process_memory memory;

	(void)state;
	parse("Rss: 4 kB\nnothing\n\n1000-2000 rw-p 0 0:0 0 \nRss: much kB\nRss:\n"
	      "0500-0600 rw-p 0 0:0 0 \n9-1\nRss: 99999999999999999999999 kB",
	      &memory);
	assert_int_equal(memory.split.stack_bytes + memory.split.file_bytes, 0);
	assert_true(memory.region_count <= 1);
	parse("", &memory);
	assert_int_equal(memory.resident_bytes, 0);
}

static void statm_is_in_pages(void **state)
{
	struct process_memory memory = {0};

	(void)state;
	assert_int_equal(process_memory_parse_statm("100 50 20 1 0 30 0\n", 4096, &memory), 0);
	assert_int_equal(memory.resident_bytes, 50 * 4096);
	assert_int_equal(memory.shared_bytes, 20 * 4096);
	assert_int_equal(process_memory_parse_statm("0 0 0 0 0 0 0\n", 4096, &memory), -ESRCH);
	assert_int_equal(process_memory_parse_statm("what", 4096, &memory), -EINVAL);
}

/* Both tell the same of a real process, and memory that is touched shows. */
static void a_real_process_is_told_of(void **state)
{
	int folder = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct process_memory before;
	struct process_memory after;
	struct process_memory sum = {0};
	char *block;

	(void)state;
	assert_true(folder >= 0);
	assert_int_equal(process_memory_split(folder, NULL, &before), 0);
	block = mmap(NULL, 8 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(block, MAP_FAILED);
	memset(block, 1, 8 * MIB);
	assert_int_equal(process_memory_split(folder, NULL, &after), 0);
	assert_int_equal(process_memory_sum(folder, &sum), 0);
	assert_true(after.resident_bytes >= before.resident_bytes + 8 * MIB);
	/* Counts of pages are kept for each CPU and added up now and then. */
	assert_true(sum.resident_bytes > after.resident_bytes / 2 &&
		    sum.resident_bytes < after.resident_bytes * 2);
	assert_true(after.split.stack_bytes > 0 && after.split.file_bytes > 0);
	(void)munmap(block, 8 * MIB);
	(void)close(folder);
	assert_true(process_memory_sum(-1, &sum) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mapping_goes_to_its_part),
		cmocka_unit_test(a_full_arena_below_another_is_no_guard),
		cmocka_unit_test(only_the_largest_regions_are_kept),
		cmocka_unit_test(nonsense_is_passed_over),
		cmocka_unit_test(statm_is_in_pages),
		cmocka_unit_test(a_real_process_is_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
