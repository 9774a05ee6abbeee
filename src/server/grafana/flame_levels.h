/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_SERVER_GRAFANA_FLAME_LEVELS_H
#define WICK_SERVER_GRAFANA_FLAME_LEVELS_H

/*
 * flame_levels: a profile as the rows of boxes that Pyroscope's clients draw.
 *
 * A row is a list of numbers, four for each box: the distance from the end of the box before it,
 * total, self, and the index of the name. In a comparison there are seven: the first three for each
 * side. Small boxes beyond the limit are merged into one called "other".
 */

#include <stdint.h>

#include <jansson.h>

struct profile;

/* {names, levels, total, maxSelf}; NULL if out of memory. */
json_t *flame_levels(const struct profile *profile, uint32_t value, uint64_t max_nodes);

/* The same for two values of one profile, with leftTicks and rightTicks. */
json_t *flame_levels_pair(const struct profile *profile, const uint32_t values[2],
			  uint64_t max_nodes);

#endif
