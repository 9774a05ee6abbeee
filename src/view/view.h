/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_VIEW_H
#define WICK_VIEW_VIEW_H

/* view: the ways in which wick report shows a profile, by name: those of report.h, and more. */

#include "view/report/report.h"

struct view_ops {
	const char *name;    /* what the user types */
	const char *summary; /* one line of help */
	enum report_by by;

	/* Of a plug-in, in place of by: its name, and what write_of() is given. */
	const char *plugin;
	const void *origin;
	int (*write_of)(const void *origin, const struct profile *profile,
			const struct report_options *options, struct bytes *out, struct error *err);
};

/* All of them, NULL last. */
extern const struct view_ops *const views[];

/* The view of a name, NULL when there is none. */
const struct view_ops *view_find(const char *name);

/* Appends the profile to out. options->by is the view's. */
int view_write(const struct view_ops *view, const struct profile *profile,
	       const struct report_options *options, struct bytes *out, struct error *err);

#endif
