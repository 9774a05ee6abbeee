/* SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "import/perf_script_line.h"

#include "imported.h"

static struct script_span span_of(const char *text)
{
	return (struct script_span){text, strlen(text)};
}

static void assert_span(struct script_span span, const char *expected)
{
	assert_int_equal(span.size, strlen(expected));
	assert_memory_equal(span.text, expected, span.size);
}

struct event_case {
	const char *line;
	const char *comm;
	uint32_t pid;
	uint32_t tid;
	uint64_t time_ns;
	int64_t period; /* -1: none */
	const char *event;
};

static const struct event_case event_cases[] = {
	{"app 25607 4794.109216:          1 cycles:", "app", 0, 25607, 4794109216000, 1, "cycles"},
	{"app 12688 [002] 6544.708352: 235 cpu-clock: ", "app", 0, 12688, 6544708352000, 235,
	 "cpu-clock"},
	{"V8 Worker 7 24636/25607 [000] 94.109216789: 100 cycles:u:", "V8 Worker 7", 24636, 25607,
	 94109216789, 100, "cycles:u"},
	{"iperf 27409/28744 [000] 44.133575: cpu-clock: ", "iperf", 27409, 28744, 44133575000, -1,
	 "cpu-clock"},
	{"java 19983 cycles:", "java", 0, 19983, 0, -1, "cycles"},
	{"         swapper     0 [000]     1.500000: sched:sched_switch: prev_comm=a prev_pid=0",
	 "swapper", 0, 0, 1500000000, -1, "sched:sched_switch"},
	{":-1    -1 [000] 6.0: 1 cycles:", ":-1", 0, UINT32_MAX, 6000000000, 1, "cycles"},
	{"a b -1/-1 [000] 6.0: 1 cycles:", "a b", UINT32_MAX, UINT32_MAX, 6000000000, 1, "cycles"},
	{"kworker/0:1 33 [000] 1.500000: 7 cpu/mem-loads,ldlat=30/P: ", "kworker/0:1", 0, 33,
	 1500000000, 7, "cpu/mem-loads,ldlat=30/P"},
};

static void the_line_of_an_event_is_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(event_cases); i++) {
		const struct event_case *c = &event_cases[i];
		struct script_event event;

		if (!script_event_parse(span_of(c->line), &event))
			fail_msg("%s", c->line);
		assert_span(event.comm, c->comm);
		assert_span(event.event, c->event);
		assert_int_equal(event.pid, c->pid);
		assert_int_equal(event.tid, c->tid);
		assert_int_equal(event.has_time, c->time_ns > 0);
		assert_int_equal(event.time_ns, c->time_ns);
		assert_int_equal(event.has_period ? (int64_t)event.period : -1, c->period);
	}
}

static void other_lines_are_no_events(void **state)
{
	static const char *const lines[] = {
		"",
		"ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])",
		"\t          414b3b fsnotify (/lib/modules/4.1.0/build/vmlinux)",
		"12 34",
		"main.c:12",
		"app 99999999999999999999 1.5: cycles:",
		"app 1 1.5: 12",
	};
	struct script_event event;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_false(script_event_parse(span_of(lines[i]), &event));
}

static void the_line_of_a_frame_is_taken_apart(void **state)
{
	static const struct {
		const char *line;
		uint64_t address;
		const char *symbol;
		const char *module;
		bool is_inlined;
	} cases[] = {
		{"\t 414b3b vfs_read (/boot/vm linux)", 0x414b3b, "vfs_read", "/boot/vm linux",
		 false},
		{"7f1 run(void (*)(int))+0x1f (/lib/a.so)\r", 0x7f1, "run(void (*)(int))",
		 "/lib/a.so", false},
		{"0 [unknown] ([unknown])", 0, "", "", false},
		{"7f [unknown] (/lib/b.so)", 0x7f, "", "/lib/b.so", false},
		{"7f push_back (inlined)", 0x7f, "push_back", "", true},
		{"7f main", 0x7f, "main", "", false},
	};
	struct script_frame frame;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_true(script_frame_parse(span_of(cases[i].line), &frame));
		assert_int_equal(frame.address, cases[i].address);
		assert_span(frame.symbol, cases[i].symbol);
		assert_span(frame.module, cases[i].module);
		assert_int_equal(frame.is_inlined, cases[i].is_inlined);
	}
	assert_false(script_frame_parse(span_of("main.c:12"), &frame));
	assert_false(script_frame_parse(span_of("abc 12 cycles:"), &frame));
	assert_false(script_frame_parse(span_of("1234"), &frame));
}

static void stacks_become_a_profile(void **state)
{
	(void)state;
	assert_imported("# ========\n# cmdline : perf record -g\n#\n"
			"my app 10/11 [001] 5.000001:          3 cycles:u: \n"
			"\t    7f01 push (inlined)\n"
			"\t    7f01 work+0x12 (/bin/app)\n"
			"\t    7f02 main+0x1 (/bin/app)\n"
			"\n"
			"my app 10/11 [001] 5.000002:          3 cycles:u: \n"
			"\t  ffffff81 sys_read+0x1 ([kernel.kallsyms])\n"
			"\t    7f03 [unknown] (/lib/libz.so.1)\n"
			"\t    7f02 main+0x9 (/bin/app)\n"
			"  app.c:12\n"
			"\n"
			"my app 10/11 [001] 5.000003:          3 cycles:u: \n"
			"\t    55aa outer->inner (/tmp/perf-10.map)\n"
			"\t    7f02 operator->+0x9 (/bin/app)\n",
			"my app;main;[libz.so.1];sys_read_[k] 1\n"
			"my app;main;work;push_[i] 1\n"
			"my app;operator->;outer_[j];inner_[i] 1\n");
}

static void a_line_that_was_cut_is_left_out(void **state)
{
	static const char text[] = "a 1 1.000000: 1 cycles: \n"
				   "\t 7f f+0x1 (/bin/a)\n"
				   "\t 80 main+0x1 (/bin/a)\n"
				   "\n"
				   "a 1 2.000000: 1 cycles: \n"
				   "\t 7f operator delete(void*)+0x11 (/us";
	struct profile *profile = NULL;

	(void)state;
	assert_imported(text, "a;main;f 1\n");
	assert_int_equal(run(text, strlen(text), &profile, NULL), 1);
	assert_true(profile->quality.incomplete);
	profile_free(profile);
	/* Without callers a line is a sample. */
	assert_imported("a 1 1.0: 1 cycles: 7f f (/bin/a)\na 1 2.0: 1 cycles: 7f g (/bi",
			"a;f 1\n");
	/* One that ends with its last line is whole. */
	assert_int_equal(run(text, (size_t)(strstr(text, "\n\n") - text) + 1, &profile, NULL), 1);
	assert_false(profile->quality.incomplete);
	profile_free(profile);
}

static void samples_without_a_chain_have_one_frame_each(void **state)
{
	(void)state;
	assert_imported(
		"  ls  9 [000] 1.000000:  250000 cpu-clock:  7f01 main+0x4 (/bin/ls)\n"
		"  ls  9 [000] 2.000000:  250000 cpu-clock:  7f09 exit+0x4 (/lib/libc.so.6)\n",
		"ls;exit 1\nls;main 1\n");
}

static void every_event_is_kept_with_its_periods(void **state)
{
	static const char text[] = "a 1 1.000000: 100 cycles: \n\t 7f f (/bin/a)\n\n"
				   "a 1 1.500000: 40 instructions: \n\t 7f f (/bin/a)\n\n"
				   "a 1 2.000000: 100 cycles: \n\t 7f g (/bin/a)\n\n";
	struct profile *profile = NULL;

	(void)state;
	assert_int_equal(run(text, strlen(text), &profile, NULL), 1);
	assert_int_equal(sum_of(profile, "cycles", "count"), 200);
	profile_free(profile);
}

static void text_that_only_begins_alike_is_not_taken(void **state)
{
	static const char *const cases[] = {
		"note 12 heading: some words\nand more of them\n",
		"app 12 cycles:\n",
		"12 34\n",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (importer_find((const uint8_t *)cases[i], strlen(cases[i])) &&
		    strcmp(importer_find((const uint8_t *)cases[i], strlen(cases[i]))->name,
			   "perf-script") == 0)
			fail_msg("%s", cases[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_an_event_is_taken_apart),
		cmocka_unit_test(other_lines_are_no_events),
		cmocka_unit_test(the_line_of_a_frame_is_taken_apart),
		cmocka_unit_test(stacks_become_a_profile),
		cmocka_unit_test(a_line_that_was_cut_is_left_out),
		cmocka_unit_test(samples_without_a_chain_have_one_frame_each),
		cmocka_unit_test(every_event_is_kept_with_its_periods),
		cmocka_unit_test(text_that_only_begins_alike_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
