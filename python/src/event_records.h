/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_EVENT_RECORDS_H
#define WICK_PYTHON_EVENT_RECORDS_H

/*
 * event_records: events as Python sees them: bytes with records of the struct format "<QQQIBBH".
 */

#include "version.h"

struct event_record {
	uint64_t time_ns;
	uint64_t address;
	uint64_t size;
	uint32_t site;
	uint8_t kind; /* enum trace_event_kind */
	uint8_t pad;
	uint16_t pad2;
};

#define EVENT_RECORD_BYTES 32
_Static_assert(sizeof(struct event_record) == EVENT_RECORD_BYTES, "as in the struct format");

/* Events have 56 bits of an address, and 0 is none: for blocks that are not in memory. */
static inline uint64_t event_record_address(uint64_t address)
{
	address &= UINT64_MAX >> 8;
	return address > 0 ? address : 1;
}

/* (records, next position, lost) from a position on, or NULL with an exception. */
PyObject *event_records_read(uint64_t position, size_t events_max);

/* The time spent in the hooks, estimated from those that were timed. */
uint64_t event_records_hook_ns(void);

#endif
