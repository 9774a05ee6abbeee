/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_ANNOTATE_ANNOTATION_H
#define WICK_VIEW_ANNOTATE_ANNOTATION_H

/* annotation: what lines and instructions of an annotated function have in common. */

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
	bool assembly; /* asked for, or all that can be shown */
	uint32_t value;
	struct line_row sum;
	struct report report; /* for shares and colours: the total is the function's */
	struct report_options report_options;
	struct json json;
	VEC(char *) notes;
};

/* Adds a note that is shown at the end, once. A lack of memory shows in the output. */
void annotation_note(struct annotation *annotation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A bar as long as the share is large; nothing but on a terminal. */
void annotation_put_bar(const struct annotation *annotation, int64_t part);

/* Each writes its part, as text or as the keys of JSON. 0 or -ENOMEM. */
int annotation_put_lines(struct annotation *annotation);
int annotation_put_instructions(struct annotation *annotation);

#endif
