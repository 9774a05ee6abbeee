/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_STATE_H
#define WICK_VIEW_TOP_TOP_STATE_H

/*
 * top_state: what a person has chosen to see in a live view, and what keys make of it.
 *
 * Functions and threads are remembered by names and numbers: profiles come and go.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct top_model;

enum top_pane { TOP_FUNCTIONS, TOP_THREADS, TOP_FLAME, TOP_PANES };
enum top_sort { TOP_BY_SELF, TOP_BY_TOTAL, TOP_BY_NAME, TOP_SORTS };

/* Keys that are no characters. */
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

#define TOP_NAME_BYTES 512 /* of a function that is remembered; longer ones are cut */
#define TOP_FOCUS_MAX 8    /* how often one can zoom in */
#define TOP_FILTER_BYTES 64

struct top_state {
	enum top_pane pane;
	enum top_sort sort;
	bool since_start; /* else the last seconds */
	bool paused;      /* what is shown stays as it is */
	bool help;
	bool typing; /* a filter */
	char filter[TOP_FILTER_BYTES];
	char old_filter[TOP_FILTER_BYTES]; /* what it was before typing */
	/* Functions zoomed into; the last one counts, Escape goes back. */
	char focus[TOP_FOCUS_MAX][TOP_NAME_BYTES];
	uint32_t focus_count;
	uint32_t thread; /* tid of the only one that is shown; 0: all */
	/* The row that keys act on, and who is there, by which it is found when rows move. */
	size_t selected;
	size_t first; /* row on the screen */
	char selected_name[TOP_NAME_BYTES];
	uint64_t selected_home; /* others may have that name: see top_model_home() */
	bool follows;           /* the row was chosen: it goes where its function goes */
	/* The box of the flame graph: "" is the lowest. */
	uint32_t box_depth;
	char box_name[TOP_NAME_BYTES];
	uint64_t box_path; /* others may have that name: see top_model_path() */
	/* For whoever called: */
	bool quit;
	bool restart;
};

/* What a key changes. The model is of what is on the screen; rows fit on a page. */
void top_state_key(struct top_state *state, const struct top_model *model, uint32_t key,
		   size_t page);

/* Finds the chosen function where it is in another model. */
void top_state_follow(struct top_state *state, const struct top_model *model);

/* Whether the name contains the filter, whatever the case of letters. */
bool top_state_matches(const struct top_state *state, const char *name);

/* The name of the function that is zoomed into; NULL: none. */
const char *top_state_focus(const struct top_state *state);

/* Remembers a name, cut where it is too long. */
void top_state_remember(char *place, const char *name);

/* Whether a name is the one that was remembered. */
bool top_state_is(const char *remembered, const char *name);

#endif
