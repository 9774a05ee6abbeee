/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LANGUAGE_COPIED_PARTS_H
#define WICK_LANGUAGE_COPIED_PARTS_H

/*
 * copied_parts: reads copied parts of a process's memory by their original addresses: an object,
 * and what it refers to.
 */

#include <stdbool.h>
#include <stdint.h>

#define COPIED_PARTS 4u

struct copied_part {
	uint64_t address;
	uint32_t bytes;
	const uint8_t *copy;
};

struct copied_parts {
	struct copied_part items[COPIED_PARTS];
};

/* A python_read_fn. Returns false unless one part contains all bytes. */
bool copied_parts_read(void *parts, uint64_t address, void *ret, uint32_t size);

#endif
