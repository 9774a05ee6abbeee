/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_AGENT_WINDOW_SERIES_H
#define WICK_AGENT_WINDOW_SERIES_H

/*
 * window_series: reads a window back, and divides it as servers of other projects want it: one
 * profile for each set of labels and type of value.
 */

#include <stddef.h>

struct error;
struct label;
struct profile;

struct window_series {
	const struct label
		*labels; /* without "process", which samples of one series may differ in */
	size_t label_count;
	const char *type;              /* "cpu" */
	const struct profile *profile; /* its samples; they have no labels of their own */
};

/* A negative result ends the visit with it. */
typedef int window_series_fn(void *self, const struct window_series *series, struct error *err);

/* Reads a recording in memory. The caller releases *ret with profile_free(). */
int window_load(const void *data, size_t size, struct profile **ret, struct error *err);
/* The same from a descriptor at its start, which it takes over. */
int window_load_fd(int fd, struct profile **ret, struct error *err);

/* What fn gets is valid during the call. The order depends only on the profile. */
int window_each_series(const struct profile *profile, window_series_fn *fn, void *self,
		       struct error *err);

#endif
