/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/heap/leak_report.h"

#include <errno.h>

#include <jansson.h>

#include <wick/leaks.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/id_index.h"
#include "golden.h"
#include "heap/heap_profile.h"
#include "heap/leak/leak_rows.h"
#include "heap/leak/suppressions.h"
#include "load/load.h"
#include "make_recording.h"
#include "model/heap_event.h"
#include "model/leak.h"
#include "view/heap/site_report.h"

struct world {
	struct made made;
	struct heap_profile heap;
	struct suppressions rules;
	uint32_t thread;
};

static int set_up(void **state)
{
	static struct world world;

	world = (struct world){0};
	make_begin(&world.made);
	world.thread = make_thread(&world.made, world.made.process, 100, "app");
	*state = &world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	heap_profile_fini(&world->heap);
	suppressions_fini(&world->rules);
	made_fini(&world->made);
	return 0;
}

static uint32_t stack_of(struct made *made, const struct frame *frames, size_t count)
{
	uint32_t stack;

	assert_int_equal(sink_stack(made->sink, frames, count, &stack), 0);
	return stack;
}

static void allocate(struct world *world, uint64_t time_ns, uint64_t address, uint64_t size,
		     uint32_t stack)
{
	struct heap_event event = {
		.time_ns = START_NS + time_ns, .address = address, .size = size, .stack = stack};
	struct heap_batch batch = {world->thread, 1, &event};

	assert_int_equal(sink_heap(world->made.sink, &batch, NULL), 0);
}

enum { DEEP, DEEPER, SHORT, FOREIGN, STACKS };

/* Two stacks that differ beyond the third caller, one of a function alone, one without a name. */
static void make_stacks(struct world *world, uint32_t stacks[STACKS])
{
	struct made *made = &world->made;
	struct frame main_frame = user(made, 0x1050);
	struct frame read = user(made, 0x1210);
	struct frame parse = user(made, 0x1110);
	struct frame deep[] = {main_frame, read, read, read, parse};
	struct frame deeper[] = {main_frame, main_frame, read, read, read, parse};
	struct frame brief[] = {main_frame, parse};
	struct frame foreign[] = {main_frame, read, library(made, 0x777)};

	stacks[DEEP] = stack_of(made, deep, 5);
	stacks[DEEPER] = stack_of(made, deeper, 6);
	stacks[SHORT] = stack_of(made, brief, 2);
	stacks[FOREIGN] = stack_of(made, foreign, 3);
	allocate(world, 1000, 16, 48, stacks[DEEP]);
}

#define GROUP(of, size, count, born, last, class, bits)                                            \
	{                                                                                          \
		.size_bytes = (size), .blocks = (count), .first_born_ns = START_NS + (born),       \
		.last_born_ns = START_NS + (last), .stack = stacks[of], .thread = world->thread,   \
		.evidence = (bits), .leak_class = (class)                                          \
	}

/* A scan at 8 µs that found something of everything. */
static void make(struct world *world, uint32_t unread_threads)
{
	uint32_t stacks[STACKS];
	struct leak_scan scan = {.time_ns = START_NS + 8000,
				 .process = world->made.process,
				 .live_blocks = 100,
				 .live_bytes = 5000,
				 .read_bytes = 1 << 20,
				 .unread_threads = unread_threads};

	make_stacks(world, stacks);
	{
		struct leak_group groups[] = {
			GROUP(DEEP, 48, 10, 1000, 2000, LEAK_DEFINITE, 0),
			GROUP(DEEPER, 64, 5, 3000, 4000, LEAK_DEFINITE, LEAK_IN_CYCLE),
			GROUP(SHORT, 100, 3, 2000, 2000, LEAK_POSSIBLE,
			      LEAK_INSIDE | LEAK_FROM_GLOBAL),
			GROUP(SHORT, 8, 1, 7990, 7990, LEAK_PROBABLE, LEAK_FROM_FREED),
			GROUP(FOREIGN, 400, 1, 500, 600, LEAK_REACHABLE, LEAK_FROM_STACK),
			GROUP(FOREIGN, 400, 2, 500, 6000, LEAK_REACHABLE, LEAK_FROM_STACK),
			GROUP(FOREIGN, 32, 2, 1000, 2000, LEAK_INDIRECT, LEAK_FROM_BLOCK),
		};

		groups[0].led_blocks = 2;
		groups[0].led_bytes = 64;
		scan.groups = groups;
		scan.group_count = sizeof(groups) / sizeof(groups[0]);
		assert_int_equal(sink_leaks(world->made.sink, &scan, NULL), 0);
	}
}

static void load(struct world *world)
{
	struct load_options options = LOAD_OPTIONS_DEFAULT;

	make_end(&world->made);
	assert_int_equal(load_heap(world->made.path, &options, &world->heap, NULL), 0);
}

static void parse_rules(struct world *world, const char *text, size_t size)
{
	struct error err = {0};

	if (suppressions_parse(&world->rules, "rules", text, size, NULL, &err) < 0)
		fail_msg("%s", err.text);
}

static struct leak_verdict print(struct world *world, struct leak_report_options options,
				 struct bytes *out)
{
	struct leak_verdict verdict;

	options.filter.suppressions = &world->rules;
	assert_int_equal(leak_report_print(&world->heap, &options, out, &verdict, NULL), 0);
	return verdict;
}

static void text_and_tree_are_as_they_were(void **state)
{
	static const char rules[] = "leak:nothing\nrace:x\nrule old\n thread app\n size 8\nend\n";
	struct world *world = *state;
	struct bytes out = {0};

	make(world, 0);
	load(world);
	parse_rules(world, rules, strlen(rules));
	print(world, (struct leak_report_options){.form = LEAK_TEXT, .limit = 1}, &out);
	print(world, (struct leak_report_options){.form = LEAK_TREE, .all = true, .color = true},
	      &out);
	assert_golden(&out, "leaks.txt");
	bytes_fini(&out);
}

/* 21 blocks seem lost: as many calls again may have freed half of all. */
static void calls_that_were_lost_make_all_less_certain(void **state)
{
	struct world *world = *state;
	struct leak_filter filter = {0};
	struct leak_rows rows;

	make(world, 0);
	assert_int_equal(sink_loss(world->made.sink, LOSS_NO_MEMORY, START_NS + 100, 21), 0);
	load(world);
	assert_int_equal(leak_rows_init(&world->heap, &filter, &rows), 0);
	assert_int_equal(rows.lost_calls, 21);
	for (size_t i = 0; i < rows.items.count; i++)
		if (rows.items.items[i].kind != LEAK_REACHABLE)
			assert_true(rows.items.items[i].confidence <= 0.5);
	leak_rows_fini(&rows);
}

static void gates_see_what_is_lost(void **state)
{
	struct world *world = *state;
	struct bytes out = {0};
	struct leak_verdict verdict;

	make(world, 0);
	load(world);
	verdict = print(world, (struct leak_report_options){0}, &out);
	assert_true(verdict.has_scan);
	assert_int_equal(verdict.sums[LEAK_DEFINITE].blocks, 15);
	assert_int_equal(verdict.sums[LEAK_DEFINITE].bytes, 800);
	assert_int_equal(verdict.sums[LEAK_PROBABLE].bytes, 8);
	assert_int_equal(verdict.lost_bytes, 800 + 64 + 8);
	assert_int_equal(verdict.growing, 0);
	bytes_fini(&out);
}

/* Of each class, with what is asked for; the caller releases it. */
static json_t *document(struct world *world, struct leak_filter filter)
{
	const struct leak_report_options options = {.form = LEAK_JSON, .filter = filter};
	struct bytes out = {0};
	json_t *root;

	assert_int_equal(leak_report_print(&world->heap, &options, &out, NULL, NULL), 0);
	root = json_loadb((const char *)out.data, out.size, 0, NULL);
	assert_non_null(root);
	bytes_fini(&out);
	return root;
}

static json_t *leak_of(json_t *root, const char *class)
{
	json_t *leaks = json_object_get(root, "leaks");

	for (size_t i = 0; i < json_array_size(leaks); i++) {
		json_t *leak = json_array_get(leaks, i);

		if (strcmp(json_string_value(json_object_get(leak, "class")), class) == 0)
			return leak;
	}
	return NULL;
}

static json_int_t number(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double confidence(json_t *root, const char *class)
{
	return json_real_value(json_object_get(leak_of(root, class), "confidence"));
}

static void similar_stacks_are_one_row_with_all_that_is_known(void **state)
{
	struct world *world = *state;
	json_t *root;
	json_t *leak;

	make(world, 0);
	load(world);
	root = document(world, (struct leak_filter){0});
	leak = leak_of(root, "definite");
	assert_int_equal(number(leak, "blocks"), 15);
	assert_int_equal(number(leak, "indirect_bytes"), 64);
	assert_int_equal(number(leak, "age_ns"), 7000);
	assert_int_equal(number(leak, "stack_count"), 2);
	assert_string_equal(json_string_value(json_object_get(leak, "method")), "scan at exit");
	assert_string_equal(json_string_value(json_object_get(leak, "function_name")), "parse");
	/* What is reachable from the start on is told apart. */
	assert_int_equal(number(leak_of(root, "lifetime"), "blocks"), 1);
	assert_int_equal(number(leak_of(root, "reachable"), "blocks"), 2);
	assert_true(confidence(root, "definite") > confidence(root, "probable"));
	assert_true(confidence(root, "probable") > confidence(root, "possible"));
	assert_true(confidence(root, "possible") > confidence(root, "reachable"));
	assert_true(confidence(root, "reachable") > confidence(root, "lifetime"));
	json_decref(root);
}

/*
 * Ten blocks that parse() lost for read(), called by read(), main(); five by a stack that was cut
 * off behind the first caller, two by one behind parse(), which comes first. With another, three
 * more for read() called by main().
 */
static void make_cut(struct world *world, bool with_another)
{
	struct made *made = &world->made;
	struct frame main_frame = user(made, 0x1050);
	struct frame read = user(made, 0x1210);
	struct frame parse = user(made, 0x1110);
	struct frame cut = {.kind = FRAME_TRUNCATED};
	struct frame bare[] = {cut, parse};
	struct frame part[] = {cut, read, parse};
	struct frame whole[] = {main_frame, read, read, parse};
	struct frame another[] = {main_frame, read, parse};
	uint32_t stacks[] = {stack_of(made, bare, 2), stack_of(made, part, 3),
			     stack_of(made, whole, 4), stack_of(made, another, 3)};
	struct leak_group groups[] = {
		GROUP(0, 48, 2, 1000, 2000, LEAK_DEFINITE, 0),
		GROUP(1, 48, 5, 1000, 2000, LEAK_DEFINITE, 0),
		GROUP(2, 48, 10, 1000, 2000, LEAK_DEFINITE, 0),
		GROUP(3, 48, 3, 1000, 2000, LEAK_DEFINITE, 0),
	};
	struct leak_scan scan = {.time_ns = START_NS + 8000,
				 .process = world->made.process,
				 .groups = groups,
				 .group_count = with_another ? 4 : 3};

	for (size_t i = 0; i < scan.group_count; i++)
		allocate(world, 1000, 16 * i + 16, 48, stacks[i]);
	assert_int_equal(sink_leaks(made->sink, &scan, NULL), 0);
	load(world);
}

static void a_stack_that_is_cut_off_is_of_the_row_that_has_its_callers(void **state)
{
	struct world *world = *state;
	struct bytes text = {0};
	json_t *root;

	make_cut(world, false);
	root = document(world, (struct leak_filter){0});
	assert_int_equal(json_array_size(json_object_get(root, "leaks")), 1);
	assert_int_equal(number(leak_of(root, "definite"), "blocks"), 17);
	assert_int_equal(number(leak_of(root, "definite"), "stack_count"), 3);
	json_decref(root);
	/* A rule for the row is one for all its stacks. */
	(void)print(world, (struct leak_report_options){.form = LEAK_RULES}, &text);
	parse_rules(world, (const char *)text.data, text.size);
	assert_int_equal(world->rules.rules.count, 1);
	root = document(world, (struct leak_filter){.suppressions = &world->rules});
	assert_int_equal(json_array_size(json_object_get(root, "leaks")), 0);
	json_decref(root);
	bytes_fini(&text);
}

static void a_stack_that_may_be_of_several_rows_has_its_own(void **state)
{
	struct world *world = *state;
	json_t *root;

	make_cut(world, true);
	root = document(world, (struct leak_filter){0});
	assert_int_equal(json_array_size(json_object_get(root, "leaks")), 4);
	json_decref(root);
}

static void less_certain_and_younger_ones_are_left_out(void **state)
{
	struct world *world = *state;
	json_t *root;

	make(world, 0);
	load(world);
	root = document(world, (struct leak_filter){.min_confidence = 0.5});
	assert_int_equal(json_array_size(json_object_get(root, "leaks")), 3);
	assert_null(leak_of(root, "possible"));
	json_decref(root);
	root = document(world, (struct leak_filter){.min_age_ns = 7000});
	assert_null(leak_of(root, "possible"));
	assert_null(leak_of(root, "probable"));
	assert_non_null(leak_of(root, "definite"));
	json_decref(root);
}

static void what_could_not_be_read_makes_less_certain(void **state)
{
	struct world *world = *state;
	json_t *root;

	make(world, 3);
	load(world);
	root = document(world, (struct leak_filter){0});
	assert_true(confidence(root, "definite") <= 0.6);
	json_decref(root);
}

/* Rules for what was found suppress all of it, and each of them something. */
static void assert_round_trip(struct world *world, enum leak_form form)
{
	const struct leak_report_options options = {.form = form, .all = true};
	struct bytes text = {0};
	struct leak_verdict verdict;
	json_t *root;

	(void)print(world, options, &text);
	suppressions_fini(&world->rules);
	parse_rules(world, (const char *)text.data, text.size);
	assert_true(world->rules.rules.count > 0);
	bytes_clear(&text);
	verdict = print(world, (struct leak_report_options){0}, &text);
	for (size_t i = 0; i < LEAK_KINDS; i++)
		assert_int_equal(verdict.sums[i].blocks, 0);
	assert_int_equal(verdict.lost_bytes, 0);
	root = document(world, (struct leak_filter){.suppressions = &world->rules});
	assert_int_equal(
		number(json_object_get(json_object_get(root, "sums"), "suppressed"), "blocks"), 24);
	json_decref(root);
	suppressions_fini(&world->rules);
	bytes_fini(&text);
}

static void rules_for_what_was_found_suppress_it(void **state)
{
	struct world *world = *state;

	make(world, 0);
	load(world);
	assert_round_trip(world, LEAK_RULES);
	assert_round_trip(world, LEAK_VALGRIND_RULES);
}

static void the_last_scan_of_a_process_counts(void **state)
{
	struct world *world = *state;
	struct leak_scan last = {.time_ns = START_NS + 9000, .process = world->made.process};
	json_t *root;

	make(world, 0);
	assert_int_equal(sink_leaks(world->made.sink, &last, NULL), 0);
	load(world);
	root = document(world, (struct leak_filter){0});
	assert_int_equal(json_array_size(json_object_get(root, "leaks")), 0);
	assert_int_equal(json_array_size(json_object_get(root, "scans")), 2);
	json_decref(root);
}

static void without_a_scan_it_is_said_and_growth_is_told(void **state)
{
	struct world *world = *state;
	struct bytes out = {0};
	uint32_t stacks[STACKS];
	struct leak_verdict verdict;
	json_t *root;

	make_stacks(world, stacks);
	for (uint64_t i = 0; i < 600; i++)
		allocate(world, 100000000 * i + 2000, 0x1000 + 64 * i, 50, stacks[SHORT]);
	assert_int_equal(sink_heap_until(world->made.sink, START_NS + 60000000000u, NULL), 0);
	load(world);
	verdict = print(world, (struct leak_report_options){0}, &out);
	bytes_put_u8(&out, 0);
	assert_non_null(strstr((const char *)out.data, "this recording has no leak scan:"));
	assert_non_null(strstr((const char *)out.data, "wick heap --leaks scans when"));
	assert_non_null(strstr((const char *)out.data, "or when recording with -p"));
	assert_null(
		strstr((const char *)out.data, "growth analysis needs")); /* it is long enough */
	out.size = 0;
	(void)print(world, (struct leak_report_options){.killed = true}, &out);
	bytes_put_u8(&out, 0);
	assert_non_null(strstr((const char *)out.data, "because the program was killed: "));
	assert_false(verdict.has_scan);
	assert_int_equal(verdict.growing, 1);
	assert_int_equal(verdict.sums[LEAK_GROWTH].bytes, 30000);
	assert_int_equal(verdict.sums[LEAK_UNSCANNED].bytes, 48);
	root = document(world, (struct leak_filter){0});
	assert_true(confidence(root, "growth") > 0.9);
	assert_string_equal(json_string_value(json_object_get(leak_of(root, "growth"), "method")),
			    "growth over time");
	json_decref(root);
	bytes_fini(&out);
}

static void release(struct world *world, uint64_t time_ns, uint64_t address, uint32_t stack)
{
	struct heap_event event = {
		.time_ns = START_NS + time_ns, .address = address, .stack = stack, .op = HEAP_FREE};
	struct heap_batch batch = {world->thread, 1, &event};

	assert_int_equal(sink_heap(world->made.sink, &batch, NULL), 0);
}

/* A block every 0.1 s for a minute, or for as much of it as there are. */
static void grow(struct world *world, uint64_t count, uint32_t stack, uint64_t address)
{
	for (uint64_t i = 0; i < count; i++)
		allocate(world, 100000000 * i + 2000, address + 64 * i, 50, stack);
}

static void scan_at_exit(struct world *world, struct leak_group *groups, size_t count)
{
	struct leak_scan scan = {.time_ns = START_NS + 60000000000u,
				 .process = world->made.process,
				 .trigger = LEAK_AT_EXIT,
				 .groups = groups,
				 .group_count = count};

	assert_int_equal(sink_heap_until(world->made.sink, START_NS + 60000000000u, NULL), 0);
	assert_int_equal(sink_leaks(world->made.sink, &scan, NULL), 0);
}

static void growth_that_is_freed_at_the_end_is_told(void **state)
{
	struct world *world = *state;
	struct bytes out = {0};
	uint32_t stacks[STACKS];
	struct leak_verdict verdict;

	make_stacks(world, stacks);
	grow(world, 590, stacks[SHORT], 0x1000);
	for (uint64_t i = 0; i < 590; i++)
		release(world, 59500000000 + i, 0x1000 + 64 * i, stacks[SHORT]);
	scan_at_exit(world, NULL, 0);
	load(world);
	verdict = print(world, (struct leak_report_options){0}, &out);
	bytes_put_u8(&out, 0);
	assert_int_equal(verdict.growing, 1);
	assert_int_equal(verdict.sums[LEAK_GROWTH].bytes, 590 * 50);
	assert_int_equal(verdict.sums[LEAK_GROWTH].blocks, 590);
	assert_int_equal(verdict.unscanned.blocks, 0); /* all was looked at */
	assert_non_null(strstr((const char *)out.data, "freed when the program ended"));
	bytes_fini(&out);
}

static void one_block_is_not_what_grows(void **state)
{
	struct world *world = *state;
	uint32_t stacks[STACKS];
	struct leak_rows rows;

	make_stacks(world, stacks);
	grow(world, 600, stacks[SHORT], 0x1000);
	{
		struct leak_group groups[] = {
			GROUP(SHORT, 50, 1, 2000, 2000, LEAK_PROBABLE, LEAK_FROM_FREED),
			GROUP(SHORT, 50, 599, 2000, 59900002000, LEAK_REACHABLE, LEAK_FROM_GLOBAL),
		};

		scan_at_exit(world, groups, 2);
	}
	load(world);
	assert_int_equal(leak_rows_init(&world->heap, &(struct leak_filter){0}, &rows), 0);
	assert_int_equal(rows.items.count, 2);
	assert_int_equal(rows.items.items[0].kind, LEAK_PROBABLE);
	assert_int_equal(rows.items.items[0].growth.kind, GROWTH_NONE);
	assert_int_equal(rows.items.items[1].kind, LEAK_GROWTH);
	assert_int_equal(rows.items.items[1].growth.kind, GROWTH_UNBOUNDED);
	assert_false(rows.items.items[1].is_freed);
	leak_rows_fini(&rows);
}

/* Both stacks allocate in the same line, and a block that lives for most of the time is freed. */
static void a_place_has_one_line_of_growth_and_no_longer_life_than_the_recording(void **state)
{
	struct world *world = *state;
	struct bytes out = {0};
	uint32_t stacks[STACKS];
	const char *line;
	json_t *root;

	make_stacks(world, stacks);
	allocate(world, 1500, 0x100, 9, stacks[FOREIGN]);
	for (uint64_t i = 0; i < 360; i++) {
		allocate(world, 100000000 * i + 2000, 0x10000 + 64 * i, 50, stacks[DEEP]);
		allocate(world, 100000000 * i + 3000, 0x80000 + 64 * i, 50, stacks[DEEPER]);
	}
	release(world, 36000000000, 0x100, stacks[FOREIGN]);
	assert_int_equal(sink_heap_until(world->made.sink, START_NS + 37000000000, NULL), 0);
	load(world);
	assert_int_equal(
		site_report_write(&world->heap, &(struct site_report_options){0}, &out, NULL), 0);
	bytes_put_u8(&out, 0);
	line = strstr((const char *)out.data, "grows steadily");
	assert_non_null(line);
	assert_null(strstr(line + 1, "grows steadily"));
	bytes_clear(&out);
	assert_int_equal(site_report_write(&world->heap,
					   &(struct site_report_options){.json = true}, &out, NULL),
			 0);
	root = json_loadb((const char *)out.data, out.size, 0, NULL);
	for (size_t i = 0; i < json_array_size(json_object_get(root, "rows")); i++)
		assert_true(json_integer_value(json_object_get(
				    json_array_get(json_object_get(root, "rows"), i),
				    "lifetime_median_ns")) <= 37000000000);
	json_decref(root);
	bytes_fini(&out);
}

static void json_tells_what_was_freed_wrongly(void **state)
{
	struct world *world = *state;
	uint32_t stacks[STACKS];
	json_t *misuse;
	json_t *root;

	make_stacks(world, stacks); /* a block of 48 bytes at 16 */
	release(world, 2000, 16, stacks[SHORT]);
	release(world, 3000, 16, stacks[DEEPER]);
	load(world);
	root = document(world, (struct leak_filter){0});
	assert_int_equal(json_array_size(json_object_get(root, "misuses")), 1);
	misuse = json_array_get(json_object_get(root, "misuses"), 0);
	assert_string_equal(json_string_value(json_object_get(misuse, "kind")), "double free");
	assert_int_equal(number(misuse, "count"), 1);
	assert_int_equal(number(misuse, "address"), 16);
	assert_int_equal(number(misuse, "size"), 48);
	assert_int_equal(json_array_size(json_object_get(misuse, "frames")), 6);
	assert_int_equal(json_array_size(json_object_get(misuse, "freed_frames")), 2);
	assert_int_equal(json_array_size(json_object_get(misuse, "allocated_frames")), 5);
	json_decref(root);
}

/* The public library tells the same, by its own structs. */

static struct wick_leaks *detect(struct world *world, const struct wick_leak_options *options)
{
	struct wick_leaks *leaks = NULL;
	struct wick_error err = {0};

	if (wick_detect_leaks(world->made.path, options, &leaks, &err) < 0)
		fail_msg("%s", err.text);
	return leaks;
}

static void the_library_tells_sums_places_and_stacks(void **state)
{
	struct world *world = *state;
	struct wick_leaks_info info = {.size = sizeof(info)};
	struct wick_leak_stack stack = {.size = sizeof(stack)};
	struct wick_leak leak = {.size = sizeof(leak)};
	struct wick_leaks *leaks;

	make(world, 0);
	make_end(&world->made);
	leaks = detect(world, NULL);
	assert_int_equal(wick_leaks_describe(leaks, &info, NULL), 0);
	assert_int_equal(info.scanned, 1);
	assert_int_equal(info.definite.bytes, 800);
	assert_int_equal(info.reachable.blocks, 3);
	assert_int_equal(info.lost_bytes, 800 + 64 + 8);
	assert_int_equal(wick_leaks_count(leaks), 3); /* without indirect and reachable ones */
	assert_int_equal(wick_leaks_get(leaks, 0, &leak), 0);
	assert_int_equal(leak.leak_class, WICK_LEAK_DEFINITE);
	assert_string_equal(leak.class_name, "definite");
	assert_string_equal(leak.function, "parse");
	assert_string_equal(leak.method, "scan at exit");
	assert_string_equal(leak.evidence,
			    "nothing outside points to it; its blocks point to each other");
	assert_int_equal(leak.indirect_bytes, 64);
	assert_int_equal(leak.age_ns, 7000);
	assert_int_equal(leak.stack_count, 2);
	assert_int_equal(wick_leaks_stack(leaks, 0, 0, &stack), 0);
	assert_int_equal(stack.bytes, 480);
	assert_string_equal(stack.frames[0].function, "main");
	assert_string_equal(stack.frames[stack.frame_count - 1].function, "parse");
	assert_int_equal(wick_leaks_stack(leaks, 0, 2, &stack), -ENOENT);
	assert_int_equal(wick_leaks_stack(leaks, 3, 0, &stack), -ENOENT);
	assert_int_equal(wick_leaks_get(leaks, 3, &leak), -ENOENT);
	wick_leaks_free(leaks);
}

static void the_library_takes_what_wick_leaks_takes(void **state)
{
	struct world *world = *state;
	char rules[] = "/tmp/wick-rules-XXXXXX";
	const char *files[] = {rules, NULL};
	struct wick_leak_options options = {.size = sizeof(options), .all = 1};
	struct wick_leaks_info info = {.size = sizeof(info)};
	struct wick_leaks *leaks;
	int fd = mkstemp(rules);

	assert_int_equal(write(fd, "leak:parse\n", 11), 11);
	assert_int_equal(close(fd), 0);
	make(world, 0);
	make_end(&world->made);
	leaks = detect(world, &options);
	assert_int_equal(wick_leaks_count(leaks), 6);
	wick_leaks_free(leaks);
	options.min_confidence = 0.5;
	leaks = detect(world, &options);
	assert_int_equal(wick_leaks_count(leaks), 3);
	wick_leaks_free(leaks);
	options.suppressions = files;
	leaks = detect(world, &options);
	assert_int_equal(wick_leaks_describe(leaks, &info, NULL), 0);
	assert_int_equal(info.definite.blocks, 0);
	assert_int_equal(info.suppressed.blocks, 19);
	wick_leaks_free(leaks);
	assert_int_equal(unlink(rules), 0);
}

static void what_the_library_cannot_do_is_said(void **state)
{
	struct world *world = *state;
	const char *files[] = {"/nowhere/rules", NULL};
	const struct {
		struct wick_leak_options options;
		int code;
		const char *words;
	} cases[] = {
		{{.size = 1}, -EINVAL, "wick_leak_options"},
		{{.size = sizeof(cases[0].options), .min_confidence = 2}, -ERANGE, "confidence"},
		{{.size = sizeof(cases[0].options), .suppressions = files}, -ENOENT, "/nowhere"},
	};
	struct wick_leaks *leaks = NULL;
	struct wick_error err;

	make_end(&world->made);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(
			wick_detect_leaks(world->made.path, &cases[i].options, &leaks, &err),
			cases[i].code);
		assert_non_null(strstr(err.text, cases[i].words));
	}
	assert_int_equal(wick_detect_leaks(world->made.path, NULL, &leaks, &err), -EINVAL);
	assert_non_null(strstr(err.text, "allocations"));
	assert_null(leaks);
	wick_leaks_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_and_tree_are_as_they_were, set_up, tear_down),
		cmocka_unit_test_setup_teardown(calls_that_were_lost_make_all_less_certain, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(gates_see_what_is_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(similar_stacks_are_one_row_with_all_that_is_known,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_stack_that_is_cut_off_is_of_the_row_that_has_its_callers, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_stack_that_may_be_of_several_rows_has_its_own,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(less_certain_and_younger_ones_are_left_out, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_could_not_be_read_makes_less_certain, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(rules_for_what_was_found_suppress_it, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_last_scan_of_a_process_counts, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(growth_that_is_freed_at_the_end_is_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(one_block_is_not_what_grows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_place_has_one_line_of_growth_and_no_longer_life_than_the_recording,
			set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_a_scan_it_is_said_and_growth_is_told,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(json_tells_what_was_freed_wrongly, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_library_tells_sums_places_and_stacks, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_library_takes_what_wick_leaks_takes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_the_library_cannot_do_is_said, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
