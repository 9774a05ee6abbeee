/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool enabled(void)
{
	static int state = -1; /* read once; the environment does not change under us */

	if (state < 0) {
		const char *level = getenv("WICK_LOG");

		state = level && strcmp(level, "debug") == 0;
	}
	return state == 1;
}

void log_debug(const char *format, ...)
{
	va_list args;

	if (!enabled())
		return;
	(void)fputs("wick: debug: ", stderr); /* nowhere to report a broken stderr */
	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
}
