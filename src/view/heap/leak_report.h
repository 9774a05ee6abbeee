/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_LEAK_REPORT_H
#define WICK_VIEW_HEAP_LEAK_REPORT_H

/*
 * leak_report: the leaks of a heap, as text for a terminal, as JSON, or as suppression rules. The
 * JSON keys are in docs/reference/json.md.
 */

#include <stdbool.h>
#include <stdint.h>

#include "heap/leak/leak_rows.h"

struct bytes;
struct error;
struct heap_profile;
struct json;

enum leak_form { LEAK_TEXT, LEAK_TREE, LEAK_JSON, LEAK_RULES, LEAK_VALGRIND_RULES };

struct leak_report_options {
	enum leak_form form;
	bool all;         /* include indirect and reachable blocks in text and rules */
	bool color;       /* of text */
	bool killed;      /* the program was killed before the scan at its end */
	uint32_t limit;   /* rows of text and JSON; 0: all */
	uint64_t from_ns; /* as in struct site_report_options */
	struct leak_filter filter;
};

/* What gates check. */
struct leak_verdict {
	bool has_scan;
	struct leak_amount sums[LEAK_KINDS]; /* after suppressions and filters */
	uint64_t lost_bytes; /* definite and probable, including the blocks they point to */
	struct leak_amount
		unscanned; /* of processes that were not scanned; after the same filters */
	uint64_t growing;  /* rows of any kind that grow without bound */
};

/*
 * Appends the report of a heap to out; ret_verdict is optional. Without a scan the report says so,
 * and lists what grows and what was not freed.
 */
int leak_report_print(const struct heap_profile *heap, const struct leak_report_options *options,
		      struct bytes *out, struct leak_verdict *ret_verdict, struct error *err);

/* Parts of the report, for callers that have the rows. */
void leak_report_put_text(const struct heap_profile *heap, const struct leak_rows *rows,
			  const struct leak_report_options *options, struct bytes *out);
void leak_report_put_rules(const struct heap_profile *heap, const struct leak_rows *rows,
			   const struct leak_report_options *options, struct bytes *out);

/* Appends one line if the recording is too short for growth analysis; else nothing. */
void leak_report_put_short(const struct heap_profile *heap, struct bytes *out);

void leak_report_judge(const struct leak_rows *rows, struct leak_verdict *ret);

/* Members "scans", "sums", "leaks", "more", "suppressions" … of an object. */
void leak_report_put_json(const struct heap_profile *heap, const struct leak_rows *rows,
			  const struct leak_report_options *options, struct json *json);

/* Whether text shows a row without the option all. */
static inline bool leak_row_is_shown(const struct leak_row *row)
{
	return row->kind != LEAK_INDIRECT && row->kind != LEAK_REACHABLE;
}

#endif
