/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_HEAP_SITE_REPORT_H
#define WICK_VIEW_HEAP_SITE_REPORT_H

/*
 * site_report: a heap by allocation site, as text for a terminal or as JSON; its keys are in
 * docs/reference/json.md.
 */

#include <stdbool.h>
#include <stdint.h>

struct bytes;
struct error;
struct heap_profile;

struct site_report_options {
	bool json;
	uint32_t limit;   /* rows; 0: all */
	uint64_t from_ns; /* start of the part shown, since the start of the recording */
};

/* Appends the report to out. */
int site_report_write(const struct heap_profile *heap, const struct site_report_options *options,
		      struct bytes *out, struct error *err);

#endif
