/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VIEW_H
#define WICK_VIEW_VIEW_H

/* view: the views of wick report by name: those of report.h and those of plug-ins. */

#include "view/report/report.h"

struct view_ops {
	const char *name;    /* what the user types */
	const char *summary; /* one line of help */
	enum report_by by;

	/* For a plug-in, instead of by: its name, and the first argument of write_of(). */
	const char *plugin;
	const void *origin;
	int (*write_of)(const void *origin, const struct profile *profile,
			const struct report_options *options, struct bytes *out, struct error *err);
};

/* All views, NULL last. */
extern const struct view_ops *const views[];

/* Finds a view by name; NULL: none. */
const struct view_ops *view_find(const char *name);

/* Appends the profile to out. Ignores options->by. */
int view_write(const struct view_ops *view, const struct profile *profile,
	       const struct report_options *options, struct bytes *out, struct error *err);

#endif
