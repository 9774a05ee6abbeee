/* SPDX-License-Identifier: BSD-2-Clause */
#include "heap/leak/leak_confidence.h"

#include <math.h>
#include <stdio.h>

#include "base/quantity.h"
#include "base/vec.h"
#include "heap/leak/leak_rows.h"

#define MOST_WITH_LOSS 0.9 /* upper limit, however few calls were lost */
#define YOUNG_SHARE 100    /* share of the run: younger blocks may still be in transit */

/* The confidence from the class alone. */
static double of_class(const struct leak_row *row)
{
	switch (row->kind) {
	case LEAK_DEFINITE:
		return 0.98;
	case LEAK_INDIRECT:
		return 0.95;
	case LEAK_PROBABLE:
		/*
		 * Freed memory keeps its old contents; an unused part of a stack may be used again.
		 */
		if (row->evidence & LEAK_FROM_PADDING)
			return 0.6;
		return row->evidence & LEAK_FROM_DEAD_STACK ? 0.7 : 0.8;
	case LEAK_POSSIBLE:
		return 0.4;
	case LEAK_REACHABLE:
		return row->is_lifetime ? 0.02 : 0.1;
	default:
		return 0.3; /* not scanned */
	}
}

double leak_confidence(const struct leak_row *row, const struct leak_scan *scan, uint64_t run_ns)
{
	double confidence = of_class(row);

	/* A lost call may have freed it. */
	if (row->kind != LEAK_REACHABLE && row->lost_calls > 0)
		confidence = fmin(confidence, MOST_WITH_LOSS) * row->kept_share;
	if (row->kind == LEAK_GROWTH)
		return row->growth.confidence * row->kept_share;
	/* Unread memory may point to it. */
	if (scan && row->kind != LEAK_REACHABLE && (scan->unread_bytes || scan->unread_threads)) {
		double all = (double)scan->read_bytes + (double)scan->unread_bytes;

		confidence *= all > 0 ? (double)scan->read_bytes / all : 0;
		confidence = fmin(confidence, scan->unread_threads ? 0.6 : 0.9);
	}
	if (row->age_ns < run_ns / YOUNG_SHARE)
		confidence *= 0.8;
	if (row->growth.confidence >= GROWTH_SURE)
		confidence += (1 - confidence) * row->growth.confidence / 2;
	return confidence;
}

/* What points to it, by evidence. */
static void tell_pointers(const struct leak_row *row, leak_words_fn *tell, void *self)
{
	static const struct {
		uint32_t bit;
		const char *words;
	} sources[] = {
		{LEAK_FROM_GLOBAL, "a pointer is in static data of a program or library"},
		{LEAK_FROM_STACK, "a pointer is on a stack"},
		{LEAK_FROM_REGISTER, "a pointer is in a register"},
		{LEAK_FROM_TLS, "a pointer is in thread-local data"},
		{LEAK_FROM_MAPPING, "a pointer is in memory that the program mapped itself"},
		{LEAK_FROM_BLOCK, "a pointer is in another block"},
		{LEAK_FROM_FREED, "a pointer is in freed memory"},
		{LEAK_FROM_DEAD_STACK, "a pointer is in an unused part of a stack"},
		{LEAK_FROM_PADDING, "a pointer is in the unused end of a block"},
	};

	uint32_t evidence = row->evidence;

	/* For blocks in use, other pointers are not interesting. */
	if (row->kind == LEAK_REACHABLE || row->kind == LEAK_GROWTH)
		evidence &= (uint32_t)(LEAK_FROM_FREED - 1);
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		if (evidence & sources[i].bit)
			tell(self, sources[i].words);
	if (evidence & LEAK_INSIDE)
		tell(self, row->kind == LEAK_POSSIBLE ? "none leads to its start"
						      : "other pointers lead into it");
	if (evidence & LEAK_IN_CYCLE)
		tell(self, "its blocks point to each other");
}

static void tell_class(const struct leak_row *row, leak_words_fn *tell, void *self)
{
	switch (row->kind) {
	case LEAK_DEFINITE:
		tell(self, row->evidence & LEAK_IN_CYCLE ? "nothing outside points to it"
							 : "nothing points to it");
		break;
	case LEAK_INDIRECT:
		tell(self, "only lost blocks point to it");
		break;
	case LEAK_PROBABLE:
		tell(self, "only memory that is no longer in use points to it");
		break;
	case LEAK_REACHABLE:
		if (row->is_lifetime)
			tell(self, "allocated in the first fifth of the run");
		break;
	case LEAK_UNSCANNED:
		tell(self, "not freed when the recording ended");
		break;
	default:
		break;
	}
	if (row->scan != LEAK_NO_SCAN)
		tell_pointers(row, tell, self);
}

static struct quantity rate_of(double bytes_per_second)
{
	return quantity_of((int64_t)llround(fmax(-0x1p62, fmin(bytes_per_second, 0x1p62))),
			   "bytes");
}

static struct quantity time_of(uint64_t ns)
{
	return quantity_of((int64_t)ns, "nanoseconds");
}

static void tell_growth(const struct growth *growth, leak_words_fn *tell, void *self)
{
	char words[200];

	if (growth->kind == GROWTH_UNBOUNDED) {
		(void)snprintf(words, sizeof(words),
			       "grows by %s per second from %s to %s without levelling off",
			       rate_of(growth->bytes_per_second).text,
			       time_of(growth->from_ns).text, time_of(growth->to_ns).text);
		tell(self, words);
	} else if (growth->kind == GROWTH_SLOWS) {
		tell(self, "growth is slowing down");
	} else if (growth->kind == GROWTH_LEVELLED) {
		tell(self, "grew and levelled off, as a cache does");
	}
	if (growth->change_ns > 0) {
		(void)snprintf(words, sizeof(words),
			       "after %s its rate changed from %s to %s per second",
			       time_of(growth->change_ns).text,
			       rate_of(growth->before_bytes_per_second).text,
			       rate_of(growth->after_bytes_per_second).text);
		tell(self, words);
	}
}

void leak_evidence_words(const struct leak_row *row, const struct leak_scan *scan,
			 leak_words_fn *tell, void *self)
{
	char words[128];

	if (row->kind == LEAK_GROWTH)
		tell_growth(&row->growth, tell, self);
	if (row->is_freed)
		tell(self, "freed when the program ended");
	tell_class(row, tell, self);
	if (row->kind != LEAK_GROWTH)
		tell_growth(&row->growth, tell, self);
	if (row->kind != LEAK_REACHABLE && row->lost_calls > 0) {
		(void)snprintf(words, sizeof(words),
			       "%s allocator call%s %s lost and may have freed it",
			       quantity_count(row->lost_calls).text, quantity_s(row->lost_calls),
			       row->lost_calls == 1 ? "was" : "were");
		tell(self, words);
	}
	if (scan && scan->unread_threads > 0) {
		(void)snprintf(words, sizeof(words), "the stacks of %u threads could not be read",
			       scan->unread_threads);
		tell(self, words);
	} else if (scan && scan->unread_bytes > 0) {
		(void)snprintf(words, sizeof(words), "%s of memory could not be read",
			       rate_of((double)scan->unread_bytes).text);
		tell(self, words);
	}
}

const char *leak_trigger_name(uint32_t trigger)
{
	static const char *const names[] = {
		[LEAK_AT_EXIT] = "at exit",
		[LEAK_AT_SIGNAL] = "at a signal",
		[LEAK_AT_INTERVAL] = "at an interval",
		[LEAK_ON_DEMAND] = "on demand",
	};

	return trigger < ARRAY_SIZE(names) ? names[trigger] : "at an unknown time";
}

const char *leak_method(const struct leak_row *row, const struct leak_scan *scan)
{
	static const char *const methods[] = {
		[LEAK_AT_EXIT] = "scan at exit",
		[LEAK_AT_SIGNAL] = "scan at a signal",
		[LEAK_AT_INTERVAL] = "scan at an interval",
		[LEAK_ON_DEMAND] = "scan on demand",
	};

	if (row->kind == LEAK_GROWTH)
		return "growth over time";
	if (!scan)
		return "not freed at the end";
	return scan->trigger < ARRAY_SIZE(methods) ? methods[scan->trigger] : "scan";
}

const char *leak_advice(const struct leak_row *row)
{
	static const char *const advice[] = {
		[LEAK_DEFINITE] = "The last pointer was overwritten or went out of scope. Free "
				  "the block before that, or keep the pointer.",
		[LEAK_INDIRECT] = "A lost block points to it: free both, this one first.",
		[LEAK_PROBABLE] = "Its owner was freed or has returned. Free what the owner holds "
				  "at that point.",
		[LEAK_POSSIBLE] =
			"All pointers lead into the block, as with an array with a header or a "
			"second base class. Check that the code frees it by its start address.",
		[LEAK_REACHABLE] = "It is still in use, or held by a list that is never cleared. "
				   "Worth a look if it is large.",
		[LEAK_GROWTH] = "It keeps growing. Look for a list, map or cache that is never "
				"bounded or cleared.",
		[LEAK_UNSCANNED] = "Start the program with wick heap --leaks to find out what "
				   "still points to it.",
	};

	return row->is_lifetime ? "Allocated at the start and kept: usually intended. Add a "
				  "suppression rule to leave it out of reports."
				: advice[row->kind];
}
