/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_REPORT_FOCUS_H
#define WICK_VIEW_REPORT_REPORT_FOCUS_H

/* report_focus: the callers and callees of the functions of report_options.focus. */

struct json;
struct report;

/* Appends the text or, with json, the key functions. 0 or -ENOMEM. */
int report_focus(const struct report *report, struct json *json);

#endif
