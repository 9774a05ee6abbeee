/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_PYTHON_EVENT_RECORDS_H
#define WICK_PYTHON_EVENT_RECORDS_H

/*
 * event_records: events as Python gets them: bytes objects with records in the struct format
 * "<QQQIBBH".
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

/* Events hold 56 bits of an address, and not 0. Tracked blocks may have any address. */
static inline uint64_t event_record_address(uint64_t address)
{
	address &= UINT64_MAX >> 8;
	return address > 0 ? address : 1;
}

/* Returns (records, next position, lost) from a position on, or NULL with an exception set. */
PyObject *event_records_read(uint64_t position, size_t events_max);

/* Returns the time spent in the hooks, estimated from the calls that were timed. */
uint64_t event_records_hook_ns(void);

#endif
