/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine/signal/remark.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "wire/session.h"

void remark(struct engine_stats *stats, const char *format, ...)
{
	size_t length = strlen(stats->remark);
	va_list arguments;

	if (length > 0 && length + 2 < sizeof(stats->remark)) {
		memcpy(stats->remark + length, "; ", 3);
		length += 2;
	}
	va_start(arguments, format);
	(void)vsnprintf(stats->remark + length, sizeof(stats->remark) - length, format, arguments);
	va_end(arguments);
}

void remark_heap(struct engine_stats *stats, const uint64_t *counts)
{
	if (counts[SESSION_HEAP_STALLS] > 0)
		remark(stats,
		       "%llu times the recorder did not get to run for a second: what "
		       "programs did meanwhile is lost in part",
		       (unsigned long long)counts[SESSION_HEAP_STALLS]);
	if (counts[SESSION_HEAP_MISSED] > 0)
		remark(stats,
		       "%llu calls of the allocator were not seen: by threads that began "
		       "without the C library, or in the midst of another",
		       (unsigned long long)counts[SESSION_HEAP_MISSED]);
	if (counts[SESSION_HEAP_BYPASSED] > 0 && stats->heap_events > 0) /* else: absence */
		remark(stats,
		       "%llu programs have a malloc() of their own, which others call instead of "
		       "the library's: what it gives them is not seen; link the allocator "
		       "dynamically",
		       (unsigned long long)counts[SESSION_HEAP_BYPASSED]);
	if (counts[SESSION_HEAP_DAMAGED] > 0)
		remark(stats, "%llu entries of our tables were written over by the program",
		       (unsigned long long)counts[SESSION_HEAP_DAMAGED]);
}
