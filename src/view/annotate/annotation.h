/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_ANNOTATION_H
#define WICK_VIEW_ANNOTATE_ANNOTATION_H

/* annotation: what the lines and instructions of an annotated function share. */

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/vec.h"
#include "view/report/line_rows.h"
#include "view/report/report.h"
#include "view/report/report_text.h"

struct annotate_options;

struct annotation {
	const struct profile *profile;
	const struct annotate_options *options;
	const uint8_t *wanted;
	bool assembly; /* requested, or the only thing that can be shown */
	uint32_t value;
	struct line_row sum;
	struct report report; /* for shares and colours: its total is the function's */
	struct report_options report_options;
	struct json json;
	VEC(char *) notes;
};

/* Adds a note that is shown once, at the end. If memory runs out, out fails. */
void annotation_note(struct annotation *annotation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Draws a bar in proportion to the share; only on a terminal. */
void annotation_put_bar(const struct annotation *annotation, int64_t part);

/* Each appends its part, as text or as JSON keys. 0 or -ENOMEM. */
int annotation_put_lines(struct annotation *annotation);
int annotation_put_instructions(struct annotation *annotation);

#endif
