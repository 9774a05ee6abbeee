/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_TIMELINE_FINDINGS_H
#define WICK_HEAP_TIMELINE_FINDINGS_H

/*
 * findings: notable events in the timeline of a heap, and the sites that cause them.
 *
 *	plateau   the live bytes stay within a twentieth of the peak for a while, and do not change
 *	          as evenly and as fast as before or after: that would be part of a slope
 *	step      from one plateau to another in a short time; the first starts from zero
 *	spike     more than a tenth of the peak above the plateaus before and after it
 *	growth    upwards for longer than the shortest plateau: to the next plateau, or to the end
 *
 * If nothing is level, there is no plateau: then the live bytes at the end count as one, and zero
 * at the start.
 *
 * Causes are the sites with the largest difference between two moments.
 */

#include <stdint.h>

#include "base/vec.h"
#include "heap/timeline/history.h"

struct heap_report;

enum heap_finding_kind { HEAP_PLATEAU, HEAP_STEP, HEAP_SPIKE, HEAP_GROWTH };

/* The name of a kind. */
const char *heap_finding_name(enum heap_finding_kind kind);

#define HEAP_CAUSES 3u

struct heap_cause {
	uint32_t group; /* group of sites */
	double bytes;   /* change; negative for a step down */
};

struct heap_finding {
	enum heap_finding_kind kind;
	uint32_t cause_count;
	uint64_t from_ns;
	uint64_t to_ns;
	double level_bytes; /* of the plateau, of the plateau after a step, or the top of a spike */
	double change_bytes;                   /* from the previous plateau; 0 for a plateau */
	struct heap_cause causes[HEAP_CAUSES]; /* largest first; none for plateaus */
};

/* The growth of a site over the whole time. */
struct heap_growth {
	uint32_t site;
	double live_bytes; /* at the end */
	struct heap_trend trend;
};

struct heap_findings {
	VEC(struct heap_finding) items;  /* in time order; at most HEAP_FINDINGS_MAX */
	VEC(struct heap_growth) growths; /* of the largest sites, steepest first */
};

#define HEAP_FINDINGS_MAX 64u
#define HEAP_GROWTHS_MAX 64u

/* Which sites count as one cause: many stacks may end in one line. */
struct heap_groups {
	const uint32_t *of_site; /* a number below count; ID_NONE: not to be listed */
	size_t count;
};

/*
 * Without groups (NULL) each site is its own group. The caller releases *ret with
 * heap_findings_fini(), even on failure. 0 or -ENOMEM.
 */
int heap_findings_make(const struct heap_report *report, const struct heap_groups *groups,
		       struct heap_findings *ret);
void heap_findings_fini(struct heap_findings *findings);

#endif
