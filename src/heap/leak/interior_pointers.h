/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_INTERIOR_POINTERS_H
#define WICK_HEAP_LEAK_INTERIOR_POINTERS_H

/*
 * interior_pointers: blocks to which programs usually keep only an interior pointer.
 *
 * memcheck treats these as reachable by default (--leak-check-heuristics=all), and so do we: arrays
 * of C++ objects after their count, texts of the old std::string after length, capacity and
 * reference count, blocks after their length, and objects seen as their second base class. The
 * pointer to an empty array is the address after its count, which is the end of the block: only
 * LeakSanitizer and we handle that.
 */

#include <stdbool.h>
#include <stdint.h>

struct reach_block;
struct reach_config;

/* Whether a pointer at this offset into a block counts as a pointer to its start. */
bool interior_pointers_explain(const struct reach_config *config, const struct reach_block *block,
			       uint32_t offset);

#endif
