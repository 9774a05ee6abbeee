/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_STATE_H
#define WICK_VIEW_TOP_TOP_STATE_H

/*
 * top_state: what the user has chosen to see in the live view, and how keys change it.
 *
 * Functions and threads are remembered by name and number, because profiles are replaced.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_model;

enum top_pane { TOP_FUNCTIONS, TOP_THREADS, TOP_FLAME, TOP_PANES };
enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_SORTS };

/* Keys that are not characters. */
enum top_key {
	TOP_KEY_UP = 0x110000,
	TOP_KEY_DOWN,
	TOP_KEY_LEFT,
	TOP_KEY_RIGHT,
	TOP_KEY_PAGE_UP,
	TOP_KEY_PAGE_DOWN,
	TOP_KEY_HOME,
	TOP_KEY_END,
	TOP_KEY_ENTER,
	TOP_KEY_BACKSPACE,
	TOP_KEY_ESCAPE,
	TOP_KEY_TAB,
};

#define TOP_NAME_BYTES 512 /* limit for a remembered function name; longer names are cut */
#define TOP_FOCUS_MAX 8    /* limit for nested zooms */
#define TOP_FILTER_BYTES 64

struct top_state {
	enum top_pane pane;
	enum top_sort sort;
	bool since_start; /* else the last seconds */
	bool paused;      /* the display is frozen */
	bool help;
	bool typing; /* a filter */
	char filter[TOP_FILTER_BYTES];
	char old_filter[TOP_FILTER_BYTES]; /* what it was before typing */
	/* Functions zoomed into; the last one applies, Escape goes back. */
	char focus[TOP_FOCUS_MAX][TOP_NAME_BYTES];
	uint32_t focus_count;
	uint32_t thread; /* tid of the only thread shown; 0: all */
	/* The selected row, and the name by which it is found again when rows move. */
	size_t selected;
	size_t first; /* first visible row */
	char selected_name[TOP_NAME_BYTES];
	uint64_t selected_home; /* distinguishes functions of this name: see top_model_home() */
	bool follows;           /* the row was chosen: the selection follows its function */
	/* The box of the flame graph: "" is the lowest. */
	uint32_t box_depth;
	char box_name[TOP_NAME_BYTES];
	uint64_t box_path; /* distinguishes boxes of this name: see top_model_path() */
	/* For the caller: */
	bool quit;
	bool restart;
};

/* Handles a key. The model is what is on the screen; page is the number of rows on a page. */
void top_state_key(struct top_state *state, const struct top_model *model, uint32_t key,
		   size_t page);

/* Finds the selected function in a new model. */
void top_state_follow(struct top_state *state, const struct top_model *model);

/* Whether the name contains the filter, ignoring case. */
bool top_state_matches(const struct top_state *state, const char *name);

/* The name of the zoomed function; NULL: none. */
const char *top_state_focus(const struct top_state *state);

/* Copies a name, cut if it is too long. */
void top_state_remember(char *place, const char *name);

/* Whether a name is the remembered one. */
bool top_state_is(const char *remembered, const char *name);

#endif
