/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_VIEW_H
#define WICK_VIEW_TOP_TOP_VIEW_H

/*
 * top_view: puts a live view on a screen of any size.
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

/* What is known besides the profile. */
struct top_facts {
	const char *title;
	const char *engine;
	uint32_t rate_hz;
	bool at_switches;  /* samples come when threads leave CPUs, not at a rate */
	uint32_t window_s; /* of the last seconds */
	int64_t forgotten; /* part of the sum since the start that has no stacks any more */
	const char *note;  /* what a person should know now; "": nothing */
	bool plain;        /* to be printed: no keys, no selection */
};

/* How large the flame graph is, for top_model_make(). */
struct top_size top_view_flame(const struct top_state *state, uint32_t columns, uint32_t rows);

/* Rows of a table that fit, for paging. */
size_t top_view_page(const struct top_state *state, uint32_t rows);

/* Puts it on the screen, which has been cleared. Corrects what the state selects. */
void top_view_put(struct top_screen *screen, const struct top_model *model, struct top_state *state,
		  const struct top_facts *facts);

#endif
