/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_HEAP_LEAK_REACH_SHAPE_H
#define WICK_HEAP_LEAK_REACH_SHAPE_H

/*
 * reach_shape: blocks that programs usually know by a pointer into them, and by no other.
 *
 * memcheck takes these for reachable by default (--leak-check-heuristics=all), and so do we: arrays
 * of C++ objects behind their number, texts of old std::string behind length, capacity and number
 * of users, blocks behind their length, and objects seen as their second base class. An array of
 * no objects is known by the address behind its number, which is where the block ends: that is
 * ours alone, and LeakSanitizer's.
 */

#include <stdbool.h>
#include <stdint.h>

struct reach_block;
struct reach_config;

/* Whether a pointer that far into a block is as good as one to its beginning. */
bool reach_shape_explains(const struct reach_config *config, const struct reach_block *block,
			  uint32_t offset);

#endif
