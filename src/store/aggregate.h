/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_STORE_AGGREGATE_H
#define WICK_STORE_AGGREGATE_H

/*
 * aggregate: sums of rows, by stack, by time or by a label.
 *
 * Levels (gauges) are not summed over time but averaged. The mean of a stack is its sum divided by
 * the number of times at which its series had levels at all, because a stack that is missing at one
 * of them had none. Each such time has a row with the stack STACK_MARK, whose samples say how many
 * times it stands for: more than one when rows were merged. The means of series are then added.
 */

#include <stdbool.h>
#include <stdint.h>

struct answer;
struct error;
struct selection;

struct aggregate_question {
	bool by_stack;
	uint32_t step_s;       /* 0: not by time */
	const char *group_by;  /* a label; NULL: none */
	const char *condition; /* for the rows, in SQL; NULL: none */
};

enum aggregate_column {
	SUM_STACK,   /* uint32_t; 0 unless by stack */
	SUM_TIME,    /* uint32_t; 0 unless by time */
	SUM_LABEL,   /* text; "" unless grouped */
	SUM_SAMPLES, /* uint64_t */
	SUM_VALUE,   /* int64_t */
};

/* Sorted by time and label. After success always call answer_end(). */
int aggregate(struct selection *selection, const struct aggregate_question *question,
	      struct answer *ret, struct error *err);

/* Sums that are limited to the range of the result's type, because they may exceed it. */
#define SQL_SAMPLES_SUM "least(sum(samples), 9223372036854775807)::UBIGINT"
#define SQL_VALUE_SUM                                                                              \
	"greatest(least(sum(value), 9223372036854775807), -9223372036854775808)::BIGINT"

/* The sums of each series in an hour, from its sums at each time, which come from rows. */
#define HOUR_SUMS_SQL                                                                              \
	"SELECT series, least(sum(samples), 9223372036854775807)::UBIGINT AS samples, "            \
	"greatest(least(sum(value), 9223372036854775807), -9223372036854775808)::BIGINT AS "       \
	"value, "                                                                                  \
	"sum(marks)::UINTEGER AS marks, min(time)::UINTEGER AS from_s, "                           \
	"max(time)::UINTEGER AS to_s"
#define HOUR_TIMES_SQL                                                                             \
	"SELECT series, time, coalesce(sum(samples) FILTER (stack <> 4294967295), 0) AS samples, " \
	"sum(value) AS value, coalesce(max(samples) FILTER (stack = 4294967295), 0) AS marks"

#endif
