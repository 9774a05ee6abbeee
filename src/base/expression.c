/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/expression.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT 20000u /* characters, with those that are repeated */
#define DEPTH_LIMIT 64u
/* Repetitions of repetitions: what matches nothing takes time that is exponential in these. */
#define NESTED_LIMIT 4u

/* The size of an expression when everything that is repeated is written out. */
struct measure {
	uint64_t sums[DEPTH_LIMIT]; /* of the group at each depth */
	uint64_t last;              /* what a repetition would repeat */
	size_t depth;
	unsigned int nested[DEPTH_LIMIT]; /* repetitions inside each other, in that group */
	unsigned int last_nested;         /* in the last */
};

static bool is_too_large(const struct measure *measure)
{
	return measure->sums[measure->depth] > SIZE_LIMIT || measure->last > SIZE_LIMIT ||
	       measure->last_nested > NESTED_LIMIT;
}

static void note_nested(struct measure *measure, unsigned int nested)
{
	unsigned int *most = &measure->nested[measure->depth];

	measure->last_nested = nested;
	*most = nested > *most ? nested : *most;
}

static void add(struct measure *measure, uint64_t size, unsigned int nested)
{
	measure->last = size;
	measure->sums[measure->depth] += size;
	note_nested(measure, nested);
}

static void repeat(struct measure *measure, uint64_t times)
{
	note_nested(measure, measure->last_nested + 1);
	if (times < 2)
		return;
	measure->sums[measure->depth] += measure->last * (times - 1);
	measure->last *= times;
}

/* The end of "[...]"; that of the text if it has none. */
static const char *skip_set(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	while (*at && *at != ']') {
		if (at[0] == '[' && at[1] && strchr(":.=", at[1])) {
			const char ends[] = {at[1], ']', '\0'};
			const char *end = strstr(at + 2, ends);

			at = end ? end + 1 : at;
		}
		at++;
	}
	return *at ? at : at - 1;
}

/* "{2,5}" or "{3,}": how often that is written out. */
static uint64_t count_of(const char *at)
{
	char *end;
	uint64_t least = strtoul(at + 1, &end, 10);
	uint64_t most = *end == ',' ? strtoul(end + 1, NULL, 10) : least;

	/* Without an end: one copy more, for the rest. */
	if (*end == ',' && end[1] == '}')
		most = least + 1;
	return most > SIZE_LIMIT ? SIZE_LIMIT + 1 : most;
}

static bool is_modest(const char *text)
{
	struct measure measure = {0};

	for (const char *at = text; *at && !is_too_large(&measure); at++) {
		if (*at == '(') {
			if (++measure.depth == DEPTH_LIMIT)
				return false;
			measure.sums[measure.depth] = 1;
			measure.nested[measure.depth] = 0;
			measure.last = measure.last_nested = 0;
		} else if (*at == ')' && measure.depth > 0) {
			measure.depth--;
			add(&measure, measure.sums[measure.depth + 1],
			    measure.nested[measure.depth + 1]);
		} else if (*at == '+') {
			repeat(&measure, 2);
		} else if (*at == '{') {
			repeat(&measure, count_of(at));
			at += strcspn(at, "}");
			at -= *at == '\0';
		} else if (*at == '*' || *at == '?') {
			repeat(&measure, 1);
		} else {
			at = *at == '[' ? skip_set(at) : at;
			at += at[0] == '\\' && at[1];
			add(&measure, 1, 0);
		}
	}
	return !is_too_large(&measure);
}

int expression_compile(regex_t *expression, const char *text, char ret_reason[EXPRESSION_REASON])
{
	int code;

	if (!is_modest(text)) {
		(void)snprintf(ret_reason, EXPRESSION_REASON, "it repeats too much");
		return -EINVAL;
	}
	code = regcomp(expression, text, REG_EXTENDED | REG_NOSUB);
	if (code == 0)
		return 0;
	(void)regerror(code, expression, ret_reason, EXPRESSION_REASON); /* a cut text is fine */
	return -EINVAL;
}
