/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "engine/signal/process_file.h"
#include "language/copied_parts.h"
#include "wire/session_code.h"

#define RING_WORDS 64u
#define SLOTS 2u
#define RINGS_OFFSET 4096u
#define NAME "7.100.0"

/* A file as a program would write it: one head, two slots, two rings. */
struct written {
	union {
		struct session_process head;
		uint8_t bytes[RINGS_OFFSET];
	};
	uint64_t rings[SLOTS][RING_WORDS];
};

struct fixture {
	char folder[32];
	char path[64];
	struct written *written;
	struct process_file *file;
	unsigned int samples;
	unsigned int threads;
	struct process_sample last;
	uint64_t pcs[8];
	char texts[128];
	uint64_t codes;
};

static struct session_slot *slot_of(struct written *written, size_t index)
{
	return (struct session_slot *)(written->bytes + written->head.slots_offset) + index;
}

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/wick-process-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	(void)snprintf(fixture->path, sizeof(fixture->path), "%s/" NAME, fixture->folder);
	fixture->written = calloc(1, sizeof(*fixture->written));
	assert_non_null(fixture->written);
	fixture->written->head = (struct session_process){
		.magic = SESSION_MAGIC,
		.version = SESSION_VERSION,
		.pid = 7,
		.slot_count = SLOTS,
		.ring_words = RING_WORDS,
		.slots_offset = sizeof(struct session_process),
		.rings_offset = RINGS_OFFSET,
		.rings = SLOTS,
	};
	*slot_of(fixture->written, 0) =
		(struct session_slot){.state = SESSION_SLOT_TAKEN, .tid = 70, .comm = "worker"};
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	process_file_close(fixture->file);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(rmdir(fixture->folder), 0);
	free(fixture->written);
	free(fixture);
	return 0;
}

static void write_file(struct fixture *fixture, size_t size)
{
	int fd = open(fixture->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, fixture->written, size), size);
	(void)close(fd);
}

static int open_file(struct fixture *fixture)
{
	write_file(fixture, sizeof(*fixture->written));
	return process_file_open(fixture->folder, NAME, &fixture->file);
}

static int on_sample(void *self, struct process_file *file, const struct process_sample *sample)
{
	struct fixture *fixture = self;

	(void)file;
	fixture->samples++;
	fixture->last = *sample;
	assert_true(sample->count <= 1024);
	for (uint32_t i = 0; i < sample->count && i < 8; i++)
		fixture->pcs[i] = sample->pcs[i];
	if (sample->texts && sample->text_bytes > 0) {
		assert_true(sample->text_bytes < sizeof(fixture->texts));
		assert_int_equal(sample->texts[sample->text_bytes - 1], 0);
		memcpy(fixture->texts, sample->texts, sample->text_bytes);
	}
	return 0;
}

static void on_thread(void *self, struct process_file *file, uint32_t tid, const char *comm,
		      bool ended)
{
	struct fixture *fixture = self;

	(void)file, (void)tid, (void)ended;
	assert_true(strlen(comm) <= 16);
	fixture->threads++;
}

static void on_code(void *self, struct process_file *file, struct copied_parts *parts)
{
	struct fixture *fixture = self;
	uint64_t word;

	(void)file;
	fixture->codes++;
	assert_true(copied_parts_read(parts, 0x5008, &word, sizeof(word)));
	assert_int_equal(word, 8);
	assert_true(copied_parts_read(parts, 0x9000, &word, 4));
	assert_false(copied_parts_read(parts, 0x9000, &word, 5)); /* beyond the copy */
	assert_false(copied_parts_read(parts, 0x4fff, &word, 1));
}

/* Opens, reads all, and returns what was lost by that. */
static uint64_t drain(struct fixture *fixture)
{
	struct process_reader reader = {
		.sample = on_sample, .thread = on_thread, .code = on_code, .self = fixture};

	if (!fixture->file)
		assert_int_equal(open_file(fixture), 0);
	assert_int_equal(process_file_drain(fixture->file, &reader), 0);
	return process_file_take_lost(fixture->file);
}

static void put_record(struct fixture *fixture, uint64_t at, struct session_record record)
{
	memcpy(&fixture->written->rings[0][at], &record, sizeof(record));
}

/* Puts a sample at a word of the first ring; it ends at the word that is returned. */
static uint64_t put_sample(struct fixture *fixture, uint64_t at, uint16_t fresh, uint16_t kept)
{
	struct session_sample *sample = (struct session_sample *)&fixture->written->rings[0][at];
	uint32_t words = (uint32_t)(sizeof(*sample) / 8) + fresh;

	sample->record = (struct session_record){SESSION_SAMPLE, UNWIND_ROOT, words};
	sample->weight_ns = 5;
	sample->fresh = fresh;
	sample->kept = kept;
	for (uint16_t i = 0; i < fresh; i++)
		sample->pcs[i] = 0x1000 + i;
	slot_of(fixture->written, 0)->head = at + words;
	return at + words;
}

/* Puts a code object of 16 bytes, with a name of 4, at the start of the first ring. */
static struct session_code *put_code(struct fixture *fixture)
{
	struct session_code *code = (struct session_code *)fixture->written->rings[0];
	uint32_t words = (uint32_t)(sizeof(*code) / 8) + 3;

	*code = (struct session_code){.record = {SESSION_CODE, 0, words},
				      .addresses = {0x5000, 0x9000},
				      .bytes = {16, 4}};
	code->words[0] = 7;
	code->words[1] = 8;
	code->words[2] = 9;
	slot_of(fixture->written, 0)->head = words;
	return code;
}

static void copies_of_code_are_at_their_addresses(void **state)
{
	struct fixture *fixture = *state;

	(void)put_code(fixture);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->codes, 1);
}

static void copies_that_are_longer_than_their_record_are_refused(void **state)
{
	struct fixture *fixture = *state;

	put_code(fixture)->bytes[3] = 1;
	assert_int_equal(drain(fixture), 1);
	assert_int_equal(fixture->codes, 0);
}

static void a_record_too_short_for_a_copy_is_refused(void **state)
{
	struct fixture *fixture = *state;

	put_code(fixture)->record.words = 2;
	slot_of(fixture->written, 0)->head = 2;
	assert_int_equal(drain(fixture), 1);
	assert_int_equal(fixture->codes, 0);
}

static void calls_that_no_thread_could_write_down_are_told_once(void **state)
{
	struct fixture *fixture = *state;

	fixture->written->head.counts[SESSION_HEAP_MISSED] = 5;
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(process_file_take_missed(fixture->file), 5);
	assert_int_equal(process_file_take_missed(fixture->file), 0);
	fixture->written->head.counts[SESSION_HEAP_MISSED] = 7;
	write_file(fixture, sizeof(*fixture->written));
	assert_true(process_file_look(fixture->file));
	assert_int_equal(process_file_take_missed(fixture->file), 2);
}

static void samples_are_read_and_stacks_joined(void **state)
{
	struct fixture *fixture = *state;

	(void)put_sample(fixture, put_sample(fixture, 0, 3, 0), 1, 2);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 2);
	assert_int_equal(fixture->last.tid, 70);
	assert_int_equal(fixture->last.count, 3);
	assert_int_equal(fixture->pcs[0], 0x1000);
	assert_int_equal(fixture->pcs[1], 0x1001);
	/* What was read is not read again, whatever the program says of it. */
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 2);
}

static void a_thread_may_use_but_a_part_of_its_ring(void **state)
{
	struct fixture *fixture = *state;
	struct session_slot *slot = slot_of(fixture->written, 0);

	slot->ring_words = RING_WORDS / 2;
	put_record(fixture, 0, (struct session_record){SESSION_PAD, 0, RING_WORDS / 2});
	slot->head = RING_WORDS / 2;
	assert_int_equal(drain(fixture), 0);
	/* The next one is at the beginning again. */
	slot->head = RING_WORDS / 2 + put_sample(fixture, 0, 3, 0);
	write_file(fixture, sizeof(*fixture->written));
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
}

static void heads_that_make_no_sense_are_refused(void **state)
{
	static const struct {
		size_t offset;
		size_t size;
		uint64_t value;
		int result;
	} cases[] = {
#define CASE(member, value, result)                                                                \
	{offsetof(struct session_process, member), sizeof(((struct session_process *)0)->member),  \
	 value, result}
		CASE(magic, 0, -EAGAIN),
		CASE(magic, 1, -EINVAL),
		CASE(version, SESSION_VERSION + 1, -EINVAL),
		CASE(version, 0, -EINVAL),
		CASE(pid, 0, -EINVAL),
		CASE(pid, 0xffffffff, -EINVAL),
		CASE(slot_count, 0, -EINVAL),
		CASE(slot_count, SESSION_SLOTS + 1, -EINVAL),
		CASE(slot_count, 0xffffffff, -EINVAL),
		CASE(ring_words, 0, -EINVAL),
		CASE(ring_words, 65, -EINVAL),
		CASE(ring_words, 1u << 31, -EINVAL),
		CASE(slots_offset, 0, -EINVAL),
		CASE(slots_offset, UINT64_MAX - 7, -EINVAL),
		CASE(slots_offset, RINGS_OFFSET - 8, -EINVAL),
		CASE(slots_offset, sizeof(struct session_process) + 1, -EINVAL),
		CASE(rings_offset, 0, -EINVAL),
		CASE(rings_offset, UINT64_MAX - 4095, -EINVAL),
		CASE(rings_offset, 1 << 24, -EINVAL),
		CASE(rings_offset, RINGS_OFFSET + 8, -EINVAL),
#undef CASE
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct written before = *fixture->written;

		memcpy(fixture->written->bytes + cases[i].offset, &cases[i].value, cases[i].size);
		if (open_file(fixture) != cases[i].result)
			fail_msg("case %zu", i);
		*fixture->written = before;
	}
}

static void files_that_are_too_short_are_not_ready_or_refused(void **state)
{
	struct fixture *fixture = *state;

	write_file(fixture, 0);
	assert_int_equal(process_file_open(fixture->folder, NAME, &fixture->file), -EAGAIN);
	write_file(fixture, sizeof(struct session_process) - 1);
	assert_int_equal(process_file_open(fixture->folder, NAME, &fixture->file), -EAGAIN);
	write_file(fixture, RINGS_OFFSET + 8);
	assert_int_equal(process_file_open(fixture->folder, NAME, &fixture->file), -EINVAL);
}

static void a_file_that_is_cut_under_us_harms_nobody(void **state)
{
	static const off_t sizes[] = {RINGS_OFFSET + 8, RINGS_OFFSET - 1, 8, 0};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		(void)put_sample(fixture, 0, 3, 0);
		assert_int_equal(open_file(fixture), 0);
		assert_int_equal(truncate(fixture->path, sizes[i]), 0);
		process_file_publish(fixture->file, 8, 1);
		assert_int_equal(truncate(fixture->path, sizes[i]), 0);
		assert_int_equal(drain(fixture), 1);
		assert_int_equal(drain(fixture), 0); /* counted once */
		assert_int_equal(fixture->samples, 0);
		process_file_close(fixture->file);
		fixture->file = NULL;
	}
}

static void heads_and_sizes_out_of_range_end_the_ring(void **state)
{
	static const struct {
		uint64_t head;
		uint32_t words;
	} cases[] = {
		{RING_WORDS + 1, 4},
		{UINT64_MAX, 4},
		{7, 8},
		{7, 0},
		{7, UINT32_MAX},
		{7, 0x80000000u},
		{1ull << 63, 7},
		{RING_WORDS, RING_WORDS + 1},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		(void)put_sample(fixture, 0, 3, 0);
		slot_of(fixture->written, 0)->head = cases[i].head;
		put_record(fixture, 0,
			   (struct session_record){SESSION_SAMPLE, UNWIND_ROOT, cases[i].words});
		if (drain(fixture) != 1 || fixture->samples != 0)
			fail_msg("case %zu: %u samples", i, fixture->samples);
		process_file_close(fixture->file);
		fixture->file = NULL;
	}
}

static void stacks_that_cannot_be_are_damage(void **state)
{
	static const struct {
		uint16_t fresh;
		uint16_t kept;
		uint16_t flags;
	} cases[] = {
		{4, 0, UNWIND_ROOT},                           /* beyond its record */
		{0xffff, 0, UNWIND_ROOT}, {3, 1, UNWIND_ROOT}, /* of no stack before it */
		{3, 0xffff, UNWIND_ROOT}, {3, 0, UNWIND_ENDS}, {3, 0, 0},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct session_sample *sample = (struct session_sample *)fixture->written->rings[0];

		(void)put_sample(fixture, 0, 3, 0);
		sample->fresh = cases[i].fresh;
		sample->kept = cases[i].kept;
		sample->record.flags = cases[i].flags;
		if (drain(fixture) != 1 || fixture->samples != 0)
			fail_msg("case %zu: %u samples", i, fixture->samples);
		process_file_close(fixture->file);
		fixture->file = NULL;
	}
}

/* An event whose texts fill the words behind its one address. */
static void put_event(struct fixture *fixture, const char *texts, size_t size)
{
	struct session_sample *sample = (struct session_sample *)fixture->written->rings[0];
	uint64_t words = put_sample(fixture, 0, 1, 0);

	sample->record.kind = SESSION_EVENT;
	sample->pcs[(size + 7) / 8] = 0; /* the last word is filled up */
	memcpy(sample->pcs + 1, texts, size);
	sample->record.words = (uint32_t)(words + (size + 7) / 8);
	slot_of(fixture->written, 0)->head = sample->record.words;
}

static void texts_of_events_end_at_their_mark(void **state)
{
	static const char good[] = "query\0count\0" SESSION_TEXT_END;
	size_t bytes = sizeof(good) - sizeof(SESSION_TEXT_END);
	struct fixture *fixture = *state;

	put_event(fixture, good, sizeof(good));
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->last.text_bytes, bytes);
	assert_memory_equal(fixture->texts, good, bytes);
}

static void empty_texts_are_texts(void **state)
{
	static const char empty[] = "rows\0\0tenant\0\0" SESSION_TEXT_END;
	size_t bytes = sizeof(empty) - sizeof(SESSION_TEXT_END);
	struct fixture *fixture = *state;

	put_event(fixture, empty, sizeof(empty));
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->last.text_bytes, bytes);
	assert_memory_equal(fixture->texts, empty, bytes);
}

static void texts_without_an_end_are_none(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} cases[] = {{"no end at all...", 16},
		     {"no mark", 8},
		     {SESSION_TEXT_END, 2},
		     {"not alone" SESSION_TEXT_END, 11},
		     {"", 1}};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		put_event(fixture, cases[i].bytes, cases[i].size);
		assert_int_equal(drain(fixture), 0);
		assert_int_equal(fixture->samples, i + 1);
		assert_non_null(fixture->last.texts);
		assert_int_equal(fixture->last.text_bytes, 0);
		process_file_close(fixture->file);
		fixture->file = NULL;
	}
}

static void labels_without_an_end_or_of_no_words_are_none(void **state)
{
	struct fixture *fixture = *state;

	put_record(fixture, 0, (struct session_record){SESSION_LABELS, 0, 1});
	put_record(fixture, 1, (struct session_record){SESSION_LABELS, 0, 2});
	memcpy(&fixture->written->rings[0][2], "key=valu", 8);
	(void)put_sample(fixture, 3, 2, 0);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
	assert_int_equal(fixture->last.label_bytes, 0);
}

static void records_of_unknown_kinds_are_passed_over(void **state)
{
	struct fixture *fixture = *state;

	put_record(fixture, 0, (struct session_record){99, 0, 5});
	(void)put_sample(fixture, 5, 2, 0);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
}

/* Nothing of it is looked for behind the end of the ring. */
/* Who writes says where the head is with the next record, and what was there is read. */
static void a_head_that_cannot_be_is_looked_at_again(void **state)
{
	struct fixture *fixture = *state;
	uint64_t head = put_sample(fixture, 0, 3, 0);

	slot_of(fixture->written, 0)->head = 1ull << 40;
	assert_int_equal(drain(fixture), 1);
	assert_int_equal(fixture->samples, 0);
	slot_of(fixture->written, 0)->head = head;
	slot_of(fixture->written, 0)->tail = 1ull << 50;
	write_file(fixture, sizeof(*fixture->written));
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
}

static void a_record_too_short_for_its_kind_is_lost(void **state)
{
	struct fixture *fixture = *state;

	put_record(fixture, 0, (struct session_record){99, 0, RING_WORDS - 1});
	put_record(fixture, RING_WORDS - 1, (struct session_record){SESSION_SAMPLE, 1, 1});
	slot_of(fixture->written, 0)->head = RING_WORDS;
	assert_int_equal(drain(fixture), 1);
	assert_int_equal(fixture->samples, 0);
}

static void more_rings_than_slots_are_not_read(void **state)
{
	struct fixture *fixture = *state;

	fixture->written->head.rings = UINT32_MAX;
	(void)put_sample(fixture, 0, 3, 0);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
}

static void what_is_lost_never_goes_back(void **state)
{
	struct fixture *fixture = *state;
	struct session_slot *slot = slot_of(fixture->written, 0);

	slot->lost = 10;
	assert_int_equal(drain(fixture), 10);
	slot->lost = 4;
	write_file(fixture, sizeof(*fixture->written));
	assert_int_equal(drain(fixture), 0);
}

static void a_thread_that_has_ended_leaves_its_slot(void **state)
{
	struct fixture *fixture = *state;
	struct session_slot slot;
	int fd;

	(void)put_sample(fixture, 0, 3, 0);
	slot_of(fixture->written, 0)->state = SESSION_SLOT_LEFT;
	memset(slot_of(fixture->written, 0)->comm, 'x', 16); /* no NUL */
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->samples, 1);
	assert_int_equal(fixture->threads, 2); /* its name, and its end */
	fd = open(fixture->path, O_RDONLY);
	assert_int_equal(pread(fd, &slot, sizeof(slot), sizeof(struct session_process)),
			 sizeof(slot));
	(void)close(fd);
	assert_int_equal(slot.state, SESSION_SLOT_FREE);
	assert_int_equal(slot.tail, slot.head);
}

static void a_link_or_a_pipe_is_no_file_of_a_program(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(symlink("/dev/zero", fixture->path), 0);
	assert_int_equal(process_file_open(fixture->folder, NAME, &fixture->file), -ELOOP);
	assert_int_equal(unlink(fixture->path), 0);
	assert_int_equal(mkfifo(fixture->path, 0600), 0);
	assert_true(process_file_open(fixture->folder, NAME, &fixture->file) < 0);
}

static void the_name_of_a_file_that_is_gone_may_be_that_of_a_later_one(void **state)
{
	struct fixture *fixture = *state;
	struct process_file *first;

	/* The first is read and gone when a process becomes a third program. */
	fixture->written->head.created_ticks = 20;
	assert_int_equal(open_file(fixture), 0);
	first = fixture->file;
	assert_int_equal(unlink(fixture->path), 0);
	fixture->written->head.created_ticks = 30;
	assert_int_equal(open_file(fixture), 0);
	assert_true(process_file_is_later(fixture->file, first));
	assert_false(process_file_is_later(first, fixture->file));
	fixture->file->pid++;
	assert_false(process_file_is_later(fixture->file, first));
	process_file_close(first);
}

/* The recorder may go on to wait for the very program that waits for it. */
static void a_program_whose_file_is_closed_does_not_wait_for_a_scan(void **state)
{
	struct fixture *fixture = *state;
	struct session_process head;
	int fd;

	fixture->written->head.scan_asked = 1;
	assert_int_equal(open_file(fixture), 0);
	process_file_close(fixture->file);
	fixture->file = NULL;
	fd = open(fixture->path, O_RDONLY);
	assert_int_equal(read(fd, &head, sizeof(head)), sizeof(head));
	assert_int_equal(head.scan_done, 1);
	(void)close(fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(samples_are_read_and_stacks_joined),
		TEST(copies_of_code_are_at_their_addresses),
		TEST(copies_that_are_longer_than_their_record_are_refused),
		TEST(a_record_too_short_for_a_copy_is_refused),
		TEST(calls_that_no_thread_could_write_down_are_told_once),
		TEST(a_thread_may_use_but_a_part_of_its_ring),
		TEST(heads_that_make_no_sense_are_refused),
		TEST(files_that_are_too_short_are_not_ready_or_refused),
		TEST(a_file_that_is_cut_under_us_harms_nobody),
		TEST(heads_and_sizes_out_of_range_end_the_ring),
		TEST(stacks_that_cannot_be_are_damage),
		TEST(texts_of_events_end_at_their_mark),
		TEST(empty_texts_are_texts),
		TEST(texts_without_an_end_are_none),
		TEST(labels_without_an_end_or_of_no_words_are_none),
		TEST(records_of_unknown_kinds_are_passed_over),
		TEST(a_head_that_cannot_be_is_looked_at_again),
		TEST(a_record_too_short_for_its_kind_is_lost),
		TEST(more_rings_than_slots_are_not_read),
		TEST(what_is_lost_never_goes_back),
		TEST(a_thread_that_has_ended_leaves_its_slot),
		TEST(a_link_or_a_pipe_is_no_file_of_a_program),
		TEST(a_program_whose_file_is_closed_does_not_wait_for_a_scan),
		TEST(the_name_of_a_file_that_is_gone_may_be_that_of_a_later_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
