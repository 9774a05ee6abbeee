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

/* (records, next position, lost) from a position on, or NULL with an exception. */
PyObject *event_records_read(uint64_t position, size_t events_max);

#endif
