/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_SCRIPT_LINE_H
#define WICK_IMPORT_PERF_SCRIPT_LINE_H

/*
 * perf_script_line: the lines that perf script prints, taken apart. Spans point into the
 * line. Nothing is kept.
 *
 *	V8 WorkerThread 24636/25607 [000] 94564.109216:     100 cycles:u:
 *	        7f3f41e2a0c1 operator delete(void*)+0x11 (/usr/lib/libstdc++.so.6)
 *	        7f3f41e2a0c1 push_back (inlined)
 *
 * Of the first line the process id, the CPU, the time and the period may be missing; the
 * comm may have spaces and numbers; a tracepoint's text, or the one frame of a sample
 * without a chain, may follow the event.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct script_span {
	const char *text;
	size_t size;
};

struct script_event {
	struct script_span comm;
	uint32_t pid; /* 0: not told */
	uint32_t tid;
	bool has_time;
	uint64_t time_ns;
	bool has_period;
	uint64_t period;
	struct script_span event;
	struct script_span rest; /* behind the event */
};

struct script_frame {
	uint64_t address;
	struct script_span what;   /* all behind the address: the same for the same function */
	struct script_span symbol; /* without "+0x…"; empty: it has none */
	struct script_span module; /* empty: not known */
	bool is_inlined;           /* into the frame that follows */
};

/* Each returns false when the line is none of its kind. */
bool script_event_parse(struct script_span line, struct script_event *ret);
bool script_frame_parse(struct script_span line, struct script_frame *ret);

#endif
