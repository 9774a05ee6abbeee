/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LEAK_SUITES_SUITE_H
#define LEAK_SUITES_SUITE_H

/*
 * suite: programs that hold and lose blocks in known ways, several cases each.
 *
 * Arguments name the cases to run, in this order; without any, all run that come back. A case
 * says what a leak check should find of it (expect()), and the program prints that as JSON before
 * it ends: {"case": {"class": [bytes, blocks]}}. Blocks belong to the case whose function, or a
 * function named "<case>__<part>", is in the stack that allocated them.
 *
 * Standard output is written without stdio, which would have blocks of its own.
 */

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __cplusplus
#include <initializer_list>
#endif

#define NOINLINE __attribute__((noinline))
/* Functions that allocate are frames of their own. */
#define CASE NOINLINE static void
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

enum leak_kind { DEFINITE, INDIRECT, POSSIBLE, REACHABLE, KIND_COUNT };

struct suite_case {
	const char *name;
	void (*run)(void);
	int ends; /* the program with it, or takes something that others need: run by name only */
};

struct suite_amount {
	size_t bytes;
	size_t blocks;
};

static struct {
	const char *name;
	struct suite_amount amounts[KIND_COUNT];
} suite_truth[64];
static size_t suite_count;

/* What a leak check should find of the case that runs. */
__attribute__((unused)) static void expect(enum leak_kind kind, size_t bytes, size_t blocks)
{
	suite_truth[suite_count - 1].amounts[kind].bytes += bytes;
	suite_truth[suite_count - 1].amounts[kind].blocks += blocks;
}

/* A failure of the program itself: the test sees its status. */
__attribute__((unused)) static void check(int holds, const char *what)
{
	if (holds)
		return;
	dprintf(STDERR_FILENO, "failed: %s\n", what);
	_exit(99);
}

static void suite_print(void)
{
	static const char *const kinds[] = {"definite", "indirect", "possible", "reachable"};

	dprintf(STDOUT_FILENO, "{");
	for (size_t i = 0; i < suite_count; i++) {
		dprintf(STDOUT_FILENO, "%s\"%s\": {", i ? ", " : "", suite_truth[i].name);
		for (size_t k = 0; k < KIND_COUNT; k++)
			dprintf(STDOUT_FILENO, "%s\"%s\": [%zu, %zu]", k ? ", " : "", kinds[k],
				suite_truth[i].amounts[k].bytes, suite_truth[i].amounts[k].blocks);
		dprintf(STDOUT_FILENO, "}");
	}
	dprintf(STDOUT_FILENO, "}\n");
}

/* Compilers leave out what is written to memory that nobody reads. */
__attribute__((unused)) static inline void kept(void *block)
{
	__asm__ volatile("" : : "r"(block) : "memory");
}

/* Filled, so that no word of it is a pointer by chance. Does not come back without memory. */
__attribute__((unused)) NOINLINE static void *fill(void *p, size_t size)
{
	check(p != NULL, "memory for a block");
	memset(p, 0x11, size);
	kept(p);
	return p;
}

/* Overwrites what calls left below on the stack, and registers that belong to nobody. */
__attribute__((unused)) NOINLINE static void scrub(void)
{
	volatile char room[16384];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0;
}

static void suite_run(const struct suite_case *suite_case)
{
	suite_truth[suite_count++].name = suite_case->name;
	suite_case->run();
	scrub();
}

/* Runs what the arguments name. */
static int suite_main(const struct suite_case *cases, size_t count, int argc, char **argv)
{
	for (size_t k = 0; k < count && argc < 2; k++)
		if (!cases[k].ends)
			suite_run(&cases[k]);
	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		while (k < count && strcmp(argv[i], cases[k].name) != 0)
			k++;
		check(k < count, "a case of this name");
		suite_run(&cases[k]);
	}
	if (suite_count > 0)
		suite_print();
	return 0;
}

#endif
