/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_VIEW_H
#define WICK_VIEW_TOP_TOP_VIEW_H

/*
 * top_view: draws the live view on a screen of any size.
 *
 *	title and window
 *	CPU, samples, rate, what narrows the view
 *	functions or threads         above, and where there is room
 *	flame graph, the root first  below
 *	keys
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/top/top_model.h"

struct top_screen;
struct top_state;

/* Facts that are not in the profile. */
struct top_facts {
	const char *title;
	const char *engine;
	uint32_t rate_hz;
	bool at_switches;  /* samples are taken when threads leave CPUs, not at a rate */
	uint32_t window_s; /* length of the window of the last seconds */
	int64_t forgotten; /* part of the sum since the start whose stacks were dropped */
	const char *note;  /* a message for the user; "": none */
	bool plain;        /* for printing: no keys, no selection */
};

/* The size of the flame graph, for top_model_make(). */
struct top_size top_view_flame(const struct top_state *state, uint32_t columns, uint32_t rows);

/* Number of table rows that fit, for paging. */
size_t top_view_page(const struct top_state *state, uint32_t rows);

/* Draws the view on a cleared screen. Corrects the selection in state. */
void top_view_put(struct top_screen *screen, const struct top_model *model, struct top_state *state,
		  const struct top_facts *facts);

#endif
