/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_VIEW_TOP_TOP_MODEL_H
#define WICK_VIEW_TOP_TOP_MODEL_H

/*
 * top_model: the numbers behind the live view: functions, threads, and the boxes of a flame graph
 * that fits its area on the screen.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/id_index.h"
#include "base/vec.h"

struct profile;
struct top_state;

struct top_function {
	uint32_t function;
	uint32_t counted; /* private: the last entry that counted it; ID_NONE: none yet */
	int64_t self;
	int64_t total;
};

struct top_thread {
	uint32_t thread;
	int64_t value;
};

/* A stack on its way up the flame graph. */
struct top_climb {
	int64_t value;
	uint32_t first; /* index of its functions in top_model.climbed */
	uint32_t count;
	uint32_t box; /* the box reached so far */
};

/* A box of the flame graph; the first one covers everything shown. */
struct top_box {
	uint32_t parent;
	uint32_t function; /* ID_NONE: all; in the first box: the function that all stacks pass
			      through */
	uint32_t depth;    /* 0 for the first box */
	uint32_t column;
	uint32_t width; /* 0: too small to be seen */
	int64_t total;
};

struct top_model {
	const struct profile *profile;      /* borrowed */
	uint32_t value;                     /* the value type that is shown */
	int64_t all;                        /* total of the profile */
	int64_t whole;                      /* total of what is shown: a thread, a function */
	VEC(struct top_function) functions; /* sorted, only those that match the filter */
	VEC(struct top_thread) threads;     /* the largest first */
	VEC(struct top_box) boxes;          /* parents first, from left to right */

	/* private */
	struct id_index box_index;
	VEC(struct top_function) sums; /* by function */
	VEC(uint32_t) path;            /* functions of a stack, the innermost first */
	VEC(struct top_climb) climbs;  /* stacks whose box is visible */
	VEC(uint32_t) climbed;         /* their functions, starting at the first one shown */
	VEC(uint32_t) common;          /* functions that all of them start with */
	VEC(int64_t) thread_sums;      /* by thread */
	VEC(struct top_box) grown;     /* boxes before they are placed */
	VEC(uint32_t) order;           /* of the visible boxes */
};

/* The size of the flame graph; 0 rows: none. */
struct top_size {
	uint32_t columns;
	uint32_t rows;
};

/*
 * Fills a model, which starts as zeros, for a profile; keeps its memory for the next call. 0 or
 * -ENOMEM.
 */
int top_model_make(struct top_model *model, const struct profile *profile,
		   const struct top_state *state, struct top_size flame);
void top_model_fini(struct top_model *model);

/* The name of a box's function, "all" for the first one. */
const char *top_model_box_name(const struct top_model *model, const struct top_box *box);

/* A number that distinguishes functions of the same name, the same in each profile. */
uint64_t top_model_home(const struct profile *profile, uint32_t function);

/* A number for the functions from the first box to this one, the same in each profile. */
uint64_t top_model_path(const struct top_model *model, size_t box);

/* The box that the state remembers, else the first. Requires at least one box. */
size_t top_model_chosen_box(const struct top_model *model, const struct top_state *state);

#endif
