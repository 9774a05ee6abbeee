/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_REPORT_ANALYSER_H
#define WICK_VIEW_REPORT_ANALYSER_H

/*
 * analyser: looks at a profile and reports what is worth knowing, one line for each finding.
 *
 * JSON: analysers (names of those that ran), findings [{severity, analyser, text}], left_out
 * (findings beyond the limit).
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct bytes;
struct error;
struct profile;

enum finding_severity { FINDING_NOTE = 0, FINDING_WARNING = 1, FINDING_ERROR = 2 };

struct finding {
	enum finding_severity severity;
	const char *analyser;
	const char *text; /* one line */
};

#define FINDINGS_MAX 1000u
#define FINDING_MAX_BYTES 1000u /* limit for its text; the rest is cut off */

/* Starts as zeros. */
struct findings {
	VEC(struct finding) items;
	VEC(const char *) asked; /* analysers that ran */
	uint64_t left_out;       /* beyond FINDINGS_MAX */
	struct arena arena;      /* owns texts */
};

struct analyser_ops {
	const char *name;    /* what the user types */
	const char *summary; /* one line of help */
	int (*analyse)(const struct profile *profile, struct findings *findings, struct error *err);

	/* For a plug-in, instead of analyse(): its name, and the first argument of analyse_of(). */
	const char *plugin;
	const void *origin;
	int (*analyse_of)(const void *origin, const struct profile *profile,
			  struct findings *findings, struct error *err);
};

/* What the user types to run all of them; not the name of an analyser. */
#define ANALYSERS_ALL "all"

/* All analysers, NULL last. */
extern const struct analyser_ops *const analysers[];

/* Finds an analyser by name; NULL: none. */
const struct analyser_ops *analyser_find(const char *name);

/* Runs an analyser on a profile and adds its findings. */
int analyser_run(const struct analyser_ops *analyser, const struct profile *profile,
		 struct findings *findings, struct error *err);

/* For analysers: adds a finding of the one that is running. 0 or -ENOMEM. */
int findings_add(struct findings *findings, enum finding_severity severity, const char *text);

void findings_fini(struct findings *findings);

/* One line each: "warning  missing: …". */
void findings_put_text(const struct findings *findings, struct bytes *out);
void findings_put_json(const struct findings *findings, struct bytes *out);

#endif
