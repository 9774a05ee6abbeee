/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_WIRE_SESSION_CODE_H
#define WICK_WIRE_SESSION_CODE_H

/* session_code: records of code objects, for the names of Python calls. */

#include <stdint.h>

#include "wire/session.h"

/*
 * Copies of a code object and of its name, file and line table, one after the other, each filled up
 * to whole words, with the addresses that they had.
 */
#define SESSION_CODE_PARTS 4u
struct session_code {
	struct session_record record;
	uint64_t addresses[SESSION_CODE_PARTS];
	uint32_t bytes[SESSION_CODE_PARTS];
	uint64_t words[];
};

#endif
