/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_FINDINGS_H
#define WICK_HEAP_TIMELINE_FINDINGS_H

/*
 * findings: what stands out in the timeline of a heap, and which sites explain it.
 *
 *	plateau   what is live stays within a twentieth of the peak for a while, and does not change
 *	          as evenly and as fast as before or after it: that is a piece of a slope
 *	step      from one plateau to another, in a short time; the first begins with nothing
 *	spike     more than a tenth of the peak above the plateaus before and after it
 *	growth    upwards for longer than the shortest plateau: to the next one, or to the end
 *
 * Where nothing is level there is no plateau: what is live at the end counts as one, and nothing
 * at the begin.
 *
 * Sites explain the difference between what they held at two moments.
 */

#include <stdint.h>

#include "base/vec.h"
#include "heap/timeline/history.h"

struct heap_report;

enum heap_finding_kind { HEAP_PLATEAU, HEAP_STEP, HEAP_SPIKE, HEAP_GROWTH };

/* What it is called. */
const char *heap_finding_name(enum heap_finding_kind kind);

#define HEAP_CAUSES 3u

struct heap_cause {
	uint32_t group; /* of sites */
	double bytes;   /* more than before; less where the step goes down */
};

struct heap_finding {
	enum heap_finding_kind kind;
	uint32_t cause_count;
	uint64_t from_ns;
	uint64_t to_ns;
	double level_bytes;  /* of a plateau, the one after a step, the top of a spike */
	double change_bytes; /* from the plateau before it; 0 of a plateau */
	struct heap_cause causes[HEAP_CAUSES]; /* the largest first; of plateaus none */
};

/* How a site grows over all of the time. */
struct heap_growth {
	uint32_t site;
	double live_bytes; /* at the end */
	struct heap_trend trend;
};

struct heap_findings {
	VEC(struct heap_finding) items;  /* in order of time; at most HEAP_FINDINGS_MAX */
	VEC(struct heap_growth) growths; /* of the sites that hold most, the steepest first */
};

#define HEAP_FINDINGS_MAX 64u
#define HEAP_GROWTHS_MAX 64u

/* Which sites explain something together: many stacks may end in one line. */
struct heap_groups {
	const uint32_t *of_site; /* a number below count; ID_NONE: not to be named */
	size_t count;
};

/*
 * Each site is its own group without groups (NULL). The caller releases *ret with
 * heap_findings_fini(), in any case. 0 or -ENOMEM.
 */
int heap_findings_make(const struct heap_report *report, const struct heap_groups *groups,
		       struct heap_findings *ret);
void heap_findings_fini(struct heap_findings *findings);

#endif
