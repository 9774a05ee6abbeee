/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>
#include <sys/sysmacros.h>

#include <cmocka.h>

#include "base/vec.h"
#include "perf_records.h"
#include "perf_records/perf_record.h"

static struct {
	struct perf_record_layout clock;
	struct perf_record_layout period;
	struct perf_record_layout raw;
	struct perf_record_layout copy;
	struct perf_record_layout group;
} layouts;

static int make_layouts(void **state)
{
	(void)state;
	layouts.clock = layout_with(PERF_SAMPLE_CALLCHAIN, 0);
	layouts.period = layout_with(PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN, 0);
	layouts.raw = layout_with(PERF_SAMPLE_RAW, 0);
	layouts.copy = layout_with(
		PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 1);
	layouts.group = layout_with(PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, 0);
	layouts.group.read_format = PERF_FORMAT_GROUP;
	return 0;
}

/* Runs a parser on every shorter form of a record: all are refused, none is overrun. */
#define assert_refused_when_shorter(b, call)                                                       \
	do {                                                                                       \
		size_t whole_ = (b)->size;                                                         \
		while ((b)->size > 8) {                                                            \
			struct perf_event_header *header;                                          \
			uint8_t *copy_;                                                            \
			(b)->size -= 8;                                                            \
			(void)record_end(b);                                                       \
			copy_ = malloc((b)->size);                                                 \
			assert_non_null(copy_);                                                    \
			memcpy(copy_, (b)->data, (b)->size);                                       \
			header = (void *)copy_;                                                    \
			assert_false(call);                                                        \
			free(copy_);                                                               \
		}                                                                                  \
		(b)->size = whole_;                                                                \
	} while (0)

static void a_sample_of_a_clock_has_its_chain_and_no_period(void **state)
{
	static const uint64_t chain[] = {PERF_CONTEXT_USER, 0x1000, 0x2000};
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	assert_true(
		perf_record_sample(&layouts.clock, make_sample(&b, 77, 123, 5, chain, 3), &sample));
	assert_int_equal(sample.pid, 77);
	assert_int_equal(sample.tid, 77);
	assert_int_equal(sample.time_ns, 123);
	assert_int_equal(sample.cpu, 5);
	assert_int_equal(sample.period, 0);
	assert_int_equal(sample.count, 3);
	assert_memory_equal(sample.chain, chain, sizeof(chain));
	assert_int_equal(perf_record_time_ns(&layouts.clock, record_end(&b)), 123);
	assert_refused_when_shorter(&b, perf_record_sample(&layouts.clock, header, &sample));
}

static void a_sample_with_a_period_tells_it(void **state)
{
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	record_begin(&b, PERF_RECORD_SAMPLE, 0);
	put_u32(&b, 1);
	put_u32(&b, 2);
	put_u64(&b, 99);
	put_u64(&b, 3);
	put_u64(&b, 4096); /* period */
	put_u64(&b, 1);
	put_u64(&b, 0xabc);
	assert_true(perf_record_sample(&layouts.period, record_end(&b), &sample));
	assert_int_equal(sample.tid, 2);
	assert_int_equal(sample.period, 4096);
	assert_int_equal(sample.chain[0], 0xabc);
	assert_refused_when_shorter(&b, perf_record_sample(&layouts.period, header, &sample));
}

static void a_chain_longer_than_its_record_is_refused(void **state)
{
	static const uint64_t counts[] = {2, 1000, UINT64_MAX, UINT64_MAX / 8 + 1};
	struct record_builder b;
	struct sample_record sample;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		(void)make_sample(&b, 1, 1, 0, &(uint64_t){5}, 1);
		memcpy(b.data + 8 + 24, &counts[i], 8);
		assert_false(perf_record_sample(&layouts.clock, record_end(&b), &sample));
	}
}

static void put_origin(struct record_builder *b)
{
	record_begin(b, PERF_RECORD_SAMPLE, 0);
	put_u32(b, 77);
	put_u32(b, 78);
	put_u64(b, 123);
	put_u64(b, 5);
}

static void a_sample_of_a_group_has_its_values_before_the_chain(void **state)
{
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	put_origin(&b);
	put_u64(&b, 2);
	put_u64(&b, 1000);
	put_u64(&b, 7);
	put_u64(&b, 1);
	put_u64(&b, 0xabc);
	assert_true(perf_record_sample(&layouts.group, record_end(&b), &sample));
	assert_int_equal(sample.value_count, 2);
	assert_int_equal(sample.values[1], 7);
	assert_int_equal(sample.count, 1);
	assert_int_equal(sample.chain[0], 0xabc);
	assert_refused_when_shorter(&b, perf_record_sample(&layouts.group, header, &sample));
	memcpy(b.data + 8 + 24, &(uint64_t){UINT64_MAX}, 8);
	assert_false(perf_record_sample(&layouts.group, record_end(&b), &sample));
}

static void a_group_alone_is_told_from_what_a_bpf_program_wrote(void **state)
{
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	put_origin(&b);
	put_u64(&b, 2);
	put_u64(&b, 1000);
	put_u64(&b, 7);
	assert_true(perf_record_group(record_end(&b), &sample));
	assert_int_equal(sample.tid, 78);
	assert_int_equal(sample.value_count, 2);
	assert_refused_when_shorter(&b, perf_record_group(header, &sample));
	put_origin(&b);
	put_u32(&b, 12);
	put_u32(&b, 1); /* the kind of the record */
	put_u64(&b, 9);
	assert_false(perf_record_group(record_end(&b), &sample));
}

static void what_a_bpf_program_wrote_is_found_behind_the_ids(void **state)
{
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	record_begin(&b, PERF_RECORD_SAMPLE, 0);
	put_u32(&b, 77);
	put_u32(&b, 78);
	put_u64(&b, 123);
	put_u32(&b, 5);
	put_u32(&b, 0);
	put_u32(&b, 12); /* and no multiple of 8 follows the size */
	put_u64(&b, 0x1122334455667788);
	put_u32(&b, 9);
	assert_true(perf_record_sample(&layouts.raw, record_end(&b), &sample));
	assert_int_equal(sample.pid, 77);
	assert_int_equal(sample.tid, 78);
	assert_int_equal(sample.time_ns, 123);
	assert_int_equal(sample.cpu, 5);
	assert_int_equal(sample.raw_bytes, 12);
	assert_int_equal(sample.raw[0], 0x88);
	assert_int_equal(sample.count, 0);
	assert_refused_when_shorter(&b, perf_record_sample(&layouts.raw, header, &sample));
	memcpy(b.data + 8 + 24, &(uint32_t){UINT32_MAX}, 4);
	assert_false(perf_record_sample(&layouts.raw, record_end(&b), &sample));
}

static void a_fork_tells_who_made_whom_and_when(void **state)
{
	struct record_builder b;
	struct task_record task;

	(void)state;
	record_begin(&b, PERF_RECORD_FORK, 0);
	put_u32(&b, 20);  /* pid */
	put_u32(&b, 10);  /* parent pid */
	put_u32(&b, 21);  /* tid */
	put_u32(&b, 11);  /* parent tid */
	put_u64(&b, 555); /* time */
	put_trailer(&b, 10, 11, 556, 3);
	assert_true(perf_record_task(&layouts.clock, record_end(&b), &task));
	assert_int_equal(task.pid, 20);
	assert_int_equal(task.tid, 21);
	assert_int_equal(task.parent_pid, 10);
	assert_int_equal(task.parent_tid, 11);
	assert_int_equal(perf_record_time_ns(&layouts.clock, record_end(&b)), 556);
	assert_refused_when_shorter(&b, perf_record_task(&layouts.clock, header, &task));
}

static void a_name_that_comes_with_an_exec_says_so(void **state)
{
	struct record_builder b;
	struct comm_record comm;

	(void)state;
	record_begin(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
	put_u32(&b, 20);
	put_u32(&b, 21);
	put_name(&b, "a.out");
	put_trailer(&b, 20, 21, 777, 0);
	assert_true(perf_record_comm(&layouts.clock, record_end(&b), &comm));
	assert_int_equal(comm.pid, 20);
	assert_int_equal(comm.tid, 21);
	assert_string_equal(comm.comm, "a.out");
	assert_true(comm.exec);
	assert_int_equal(perf_record_time_ns(&layouts.clock, record_end(&b)), 777);
	assert_refused_when_shorter(&b, perf_record_comm(&layouts.clock, header, &comm));
}

static void a_name_without_an_end_is_refused(void **state)
{
	struct record_builder b;
	struct comm_record comm;

	(void)state;
	record_begin(&b, PERF_RECORD_COMM, 0);
	put_u32(&b, 20);
	put_u32(&b, 21);
	put_raw(&b, "12345678", 8);
	put_trailer(&b, 20, 21, 777, 0);
	assert_false(perf_record_comm(&layouts.clock, record_end(&b), &comm));
}

static void put_map(struct record_builder *b, uint16_t misc, uint32_t protection, const char *name)
{
	record_begin(b, PERF_RECORD_MMAP2, misc);
	put_u32(b, 20);
	put_u32(b, 21);
	put_u64(b, 0x7f0000001000);
	put_u64(b, 0x2000);
	put_u64(b, 0x3000);
	if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		uint8_t id[24] = {20, 0, 0, 0, 0xaa, 0xbb};

		put_raw(b, id, sizeof(id));
	} else {
		put_u32(b, 8);
		put_u32(b, 1);
		put_u64(b, 4711);
		put_u64(b, 0);
	}
	put_u32(b, protection);
	put_u32(b, MAP_PRIVATE);
	put_name(b, name);
	put_trailer(b, 20, 21, 888, 0);
}

static void a_mapping_tells_its_place_and_file(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, 0, PROT_READ | PROT_EXEC, "/usr/lib/libx.so");
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.pid, 20);
	assert_int_equal(map.region.start, 0x7f0000001000);
	assert_int_equal(map.region.end, 0x7f0000003000);
	assert_int_equal(map.region.file_offset, 0x3000);
	assert_int_equal(map.region.device, makedev(8, 1));
	assert_int_equal(map.region.inode, 4711);
	assert_int_equal(map.region.kind, REGION_FILE);
	assert_string_equal(map.region.path, "/usr/lib/libx.so");
	assert_int_equal(map.build_id.size, 0);
	assert_refused_when_shorter(&b, perf_record_map(&layouts.clock, header, &map));
}

static void a_mapping_with_a_build_id_tells_it_instead_of_the_inode(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, PERF_RECORD_MISC_MMAP_BUILD_ID, PROT_EXEC, "/usr/lib/libx.so");
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.build_id.size, 20);
	assert_int_equal(map.build_id.bytes[0], 0xaa);
	assert_int_equal(map.build_id.bytes[1], 0xbb);
	assert_int_equal(map.region.inode, 0);
}

static void a_build_id_longer_than_its_field_is_cut(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, PERF_RECORD_MISC_MMAP_BUILD_ID, PROT_EXEC, "/x");
	b.data[8 + 32] = 255;
	layouts.clock.has_build_ids = true;
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	layouts.clock.has_build_ids = false;
	assert_int_equal(map.build_id.size, 20);
}

static void the_mark_of_a_build_id_that_nobody_asked_for_is_not_believed(void **state)
{
	const uint32_t device[2] = {8, 1};
	const uint64_t inode = 4711;
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, PERF_RECORD_MISC_MMAP_BUILD_ID, PROT_EXEC, "/x");
	memcpy(b.data + 8 + 32, device, sizeof(device));
	memcpy(b.data + 8 + 32 + sizeof(device), &inode, sizeof(inode));
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.build_id.size, 0);
	assert_int_equal(map.region.device, makedev(8, 1));
	assert_int_equal(map.region.inode, 4711);
}

static void memory_without_a_file_is_anonymous(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, 0, PROT_EXEC, "//anon");
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.region.kind, REGION_ANONYMOUS);
	assert_string_equal(map.region.path, "");
}

static void a_deleted_file_keeps_its_name_without_the_mark(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, 0, PROT_EXEC, "/tmp/old.so (deleted)");
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.region.kind, REGION_DELETED);
	assert_string_equal(map.region.path, "/tmp/old.so");
}

static void a_mapping_that_holds_no_code_or_wraps_around_is_left_out(void **state)
{
	static const uint64_t endless = UINT64_MAX;
	struct record_builder b;
	struct map_record map;

	(void)state;
	put_map(&b, 0, PROT_READ, "/x");
	assert_false(perf_record_map(&layouts.clock, record_end(&b), &map));
	put_map(&b, 0, PROT_EXEC, "/x");
	memcpy(b.data + 8 + 16, &endless, 8);
	assert_false(perf_record_map(&layouts.clock, record_end(&b), &map));
}

static void lost_records_are_counted_and_a_short_record_counts_none(void **state)
{
	struct record_builder b;

	(void)state;
	record_begin(&b, PERF_RECORD_LOST, 0);
	assert_int_equal(perf_record_lost(record_end(&b)), 0);
	assert_int_equal(perf_record_time_ns(&layouts.clock, record_end(&b)), 0);
	put_u64(&b, 1);
	put_u64(&b, 12);
	put_trailer(&b, 1, 1, 1, 1);
	assert_int_equal(perf_record_lost(record_end(&b)), 12);
}

static void every_part_of_a_sample_is_found_behind_those_before_it(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			       PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
			       PERF_SAMPLE_STACK_USER,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX,
		.sample_regs_user = 5,
		.sample_id_all = 1,
	};
	struct perf_record_layout layout;
	struct record_builder b;
	struct sample_record sample;
	uint64_t id;

	(void)state;
	perf_record_layout_init(&layout, &attr);
	record_begin(&b, PERF_RECORD_SAMPLE, 0);
	put_u64(&b, 42);     /* identifier */
	put_u64(&b, 0x1000); /* ip */
	put_u32(&b, 7);
	put_u32(&b, 8);
	put_u64(&b, 99); /* time */
	put_u64(&b, 0);  /* address */
	put_u64(&b, 43); /* id */
	put_u64(&b, 0);  /* stream */
	put_u32(&b, 3);  /* cpu */
	put_u32(&b, 0);
	put_u64(&b, 250); /* period */
	put_u64(&b, 1);   /* counters of a group of one: time, value, id */
	put_u64(&b, 5);
	put_u64(&b, 6);
	put_u64(&b, 42);
	put_u64(&b, 1); /* chain */
	put_u64(&b, 0xabc);
	put_u32(&b, 4); /* raw */
	put_u32(&b, 0x55);
	put_u64(&b, 1); /* branches, with their index */
	put_u64(&b, 0);
	put_u64(&b, 1);
	put_u64(&b, 2);
	put_u64(&b, 3);
	put_u64(&b, PERF_SAMPLE_REGS_ABI_64);
	put_u64(&b, 11);
	put_u64(&b, 12);
	put_u64(&b, 8); /* stack */
	put_u64(&b, 0x77);
	put_u64(&b, 4);
	assert_true(perf_record_sample(&layout, record_end(&b), &sample));
	assert_int_equal(sample.ip, 0x1000);
	assert_int_equal(sample.tid, 8);
	assert_int_equal(sample.cpu, 3);
	assert_int_equal(sample.period, 250);
	assert_int_equal(sample.chain[0], 0xabc);
	assert_int_equal(sample.raw[0], 0x55);
	assert_int_equal(((const uint64_t *)sample.registers)[1], 12);
	assert_int_equal(sample.stack[0], 0x77);
	assert_int_equal(sample.stack_bytes, 4);
	assert_int_equal(perf_record_time_ns(&layout, record_end(&b)), 99);
	assert_true(perf_record_id(&layout, record_end(&b), &id));
	assert_int_equal(id, 42);
	assert_refused_when_shorter(&b, perf_record_sample(&layout, header, &sample));
}

static void a_record_that_is_no_sample_tells_time_and_event_at_its_end(void **state)
{
	struct perf_event_attr attr = {
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
	};
	struct perf_record_layout layout;
	struct record_builder b;
	uint64_t id;

	(void)state;
	perf_record_layout_init(&layout, &attr);
	record_begin(&b, PERF_RECORD_LOST, 0);
	put_u64(&b, 1);
	put_u64(&b, 12);
	put_u64(&b, 0);  /* pid, tid */
	put_u64(&b, 99); /* time */
	put_u64(&b, 42); /* id */
	put_u64(&b, 0);  /* cpu */
	assert_int_equal(perf_record_time_ns(&layout, record_end(&b)), 99);
	assert_true(perf_record_id(&layout, record_end(&b), &id));
	assert_int_equal(id, 42);
	attr.sample_id_all = 0;
	perf_record_layout_init(&layout, &attr);
	assert_int_equal(perf_record_time_ns(&layout, record_end(&b)), 0);
	assert_false(perf_record_id(&layout, record_end(&b), &id));
}

static void an_old_mapping_record_has_a_name_alone(void **state)
{
	struct record_builder b;
	struct map_record map;

	(void)state;
	record_begin(&b, PERF_RECORD_MMAP, 0);
	put_u32(&b, 7);
	put_u32(&b, 7);
	put_u64(&b, 0x1000);
	put_u64(&b, 0x2000);
	put_u64(&b, 0x500);
	put_name(&b, "/bin/x");
	put_trailer(&b, 7, 7, 5, 0);
	assert_true(perf_record_map(&layouts.clock, record_end(&b), &map));
	assert_int_equal(map.region.end, 0x3000);
	assert_int_equal(map.region.inode, 0);
	assert_string_equal(map.name, "/bin/x");
	assert_refused_when_shorter(&b, perf_record_map(&layouts.clock, header, &map));
}

/* Behind the chain: abi, registers, size of the copy, the copy, what was copied of it. */
static void a_copied_stack_says_which_kind_of_program_it_is_of(void **state)
{
	const uint64_t abis[] = {PERF_SAMPLE_REGS_ABI_NONE, PERF_SAMPLE_REGS_ABI_32,
				 PERF_SAMPLE_REGS_ABI_64};
	struct record_builder b;
	struct sample_record sample;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(abis); i++) {
		(void)make_sample(&b, 1, 1, 0, NULL, 0);
		put_u64(&b, abis[i]);
		if (abis[i] != PERF_SAMPLE_REGS_ABI_NONE)
			put_u64(&b, 0x1234);
		put_u64(&b, 0);
		const struct perf_event_header *header = record_end(&b);

		assert_true(perf_record_sample(&layouts.copy, header, &sample));
		assert_int_equal(sample.registers != NULL, abis[i] != PERF_SAMPLE_REGS_ABI_NONE);
		assert_int_equal(sample.is_32_bit, abis[i] == PERF_SAMPLE_REGS_ABI_32);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sample_of_a_clock_has_its_chain_and_no_period),
		cmocka_unit_test(a_sample_with_a_period_tells_it),
		cmocka_unit_test(a_chain_longer_than_its_record_is_refused),
		cmocka_unit_test(a_sample_of_a_group_has_its_values_before_the_chain),
		cmocka_unit_test(a_group_alone_is_told_from_what_a_bpf_program_wrote),
		cmocka_unit_test(what_a_bpf_program_wrote_is_found_behind_the_ids),
		cmocka_unit_test(a_fork_tells_who_made_whom_and_when),
		cmocka_unit_test(a_name_that_comes_with_an_exec_says_so),
		cmocka_unit_test(a_name_without_an_end_is_refused),
		cmocka_unit_test(a_mapping_tells_its_place_and_file),
		cmocka_unit_test(a_mapping_with_a_build_id_tells_it_instead_of_the_inode),
		cmocka_unit_test(a_build_id_longer_than_its_field_is_cut),
		cmocka_unit_test(the_mark_of_a_build_id_that_nobody_asked_for_is_not_believed),
		cmocka_unit_test(memory_without_a_file_is_anonymous),
		cmocka_unit_test(a_deleted_file_keeps_its_name_without_the_mark),
		cmocka_unit_test(a_mapping_that_holds_no_code_or_wraps_around_is_left_out),
		cmocka_unit_test(lost_records_are_counted_and_a_short_record_counts_none),
		cmocka_unit_test(every_part_of_a_sample_is_found_behind_those_before_it),
		cmocka_unit_test(a_record_that_is_no_sample_tells_time_and_event_at_its_end),
		cmocka_unit_test(an_old_mapping_record_has_a_name_alone),
		cmocka_unit_test(a_copied_stack_says_which_kind_of_program_it_is_of),
	};

	return cmocka_run_group_tests(tests, make_layouts, NULL);
}
