/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_LANGUAGE_ROWS_H
#define WICK_VIEW_REPORT_LANGUAGE_ROWS_H

/* language_rows: the cost of each programming language, and of the kernel. */

struct report;
struct rows;

/* Makes a row for each, the largest self first. The caller frees them even on failure. */
int language_rows(const struct report *report, struct rows *rows);

#endif
