/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_DIFF_DIFF_GATE_H
#define WICK_VIEW_DIFF_DIFF_GATE_H

/*
 * diff_gate: a limit on how much something may grow between two profiles.
 *
 *	FUNC>+5%        the function including what it calls, 5 percent more than before
 *	self:FUNC>+5%   the function itself
 *	FUNC>+2pp       2 percentage points of the total more than before
 *	/RE/>+5%        all matching functions, as if they were one
 *	total>+3%       everything that was recorded, in its unit, not as a share
 *	rate>+3%        the same for each second of recording
 *
 * It trips if the growth is above the limit with the required confidence. Exact values need no
 * confidence.
 */

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/significance.h"

struct bytes;
struct diff;
struct error;
struct json;

enum gate_subject { GATE_FUNCTION, GATE_TOTAL, GATE_RATE };

struct diff_gate {
	const char *text; /* as given; borrowed */
	enum gate_subject subject;
	bool self;
	bool points;  /* limit in points of the total, else relative to before */
	double limit; /* 0.05 for 5 % and for 5 pp */
	char *name;   /* of the function, or the regular expression */
	bool is_expression;
	bool compiled;
	regex_t expression;
};

/* Parses the syntax only. -EINVAL with the right syntax as the remedy, or -ENOMEM. */
int diff_gate_parse(const char *text, struct diff_gate *ret, struct error *err);

/* The same, and compiles the regular expression. */
int diff_gate_init(struct diff_gate *gate, const char *text, struct error *err);
void diff_gate_fini(struct diff_gate *gate);

struct diff_verdict {
	const struct diff_gate *gate;
	bool tripped;
	bool absolute;     /* before and after are amounts, else shares */
	bool exact;        /* there is no noise */
	const char *unit;  /* of amounts */
	double wanted;     /* required confidence */
	double confidence; /* confidence that the limit is exceeded */
	struct estimate before;
	struct estimate after;
	size_t functions; /* matches in either profile */
	char names[160];  /* the first of them, to print */
};

/* Checks whether the growth exceeds the limit with the wanted confidence (0.99). */
int diff_gate_check(const struct diff_gate *gate, const struct diff *diff, double wanted,
		    struct diff_verdict *ret, struct error *err);

/* Whether the gate could be checked: false if no function of either profile matches. */
bool diff_verdict_is_judged(const struct diff_verdict *verdict);

/* Appends one line for a terminal, without a newline. */
void diff_verdict_put(const struct diff_verdict *verdict, struct bytes *out);

/* {gate, tripped, before, after, change_percent, confidence, functions} */
void diff_verdict_json(const struct diff_verdict *verdict, struct json *json);

#endif
