/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_IMPORT_PERF_SCRIPT_LINE_H
#define WICK_IMPORT_PERF_SCRIPT_LINE_H

/*
 * perf_script_line: parses the lines that perf script prints. Spans point into the line. Stateless.
 *
 *	V8 WorkerThread 24636/25607 [000] 94564.109216:     100 cycles:u:
 *	        7f3f41e2a0c1 operator delete(void*)+0x11 (/usr/lib/libstdc++.so.6)
 *	        7f3f41e2a0c1 push_back (inlined)
 *
 * In the first line the process id, the CPU, the time and the period may be missing; the comm may
 * contain spaces and numbers; the event may be followed by a tracepoint's text, or by the single
 * frame of a sample without a call chain.
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
	uint32_t pid; /* 0: unknown */
	uint32_t tid;
	bool has_time;
	uint64_t time_ns;
	bool has_period;
	uint64_t period;
	struct script_span event;
	struct script_span rest; /* after the event */
};

struct script_frame {
	uint64_t address;
	struct script_span what;   /* everything after the address: equal for the same function */
	struct script_span symbol; /* without "+0x…"; empty: none */
	struct script_span module; /* empty: unknown */
	bool is_inlined;           /* inlined into the next frame */
};

/* Each returns false if the line is not of its kind. */
bool script_event_parse(struct script_span line, struct script_event *ret);
bool script_frame_parse(struct script_span line, struct script_frame *ret);

#endif
