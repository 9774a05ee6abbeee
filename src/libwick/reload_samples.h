/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_RELOAD_SAMPLES_H
#define WICK_LIBWICK_RELOAD_SAMPLES_H

/*
 * reload_samples: remembers how a profile was loaded, so that its single samples, or time slices,
 * can be loaded later. A profile does not keep them, because there are many and few formats need
 * them.
 *
 * Threads: a struct reload never changes, so any number of threads may use it.
 */

#include <stdbool.h>

struct error;
struct profile;
struct reload;
struct wick_load_options;

/* Returns whether the file can be read a second time. */
bool reload_is_possible(const char *path);

/* Copies its arguments. Returns NULL if out of memory, or if the file no longer exists. */
struct reload *reload_new(const char *path, const struct wick_load_options *options);
void reload_free(struct reload *reload); /* NULL is fine */

/*
 * Loads the profile again, with its samples in time order. The caller releases *ret. Returns 1, or
 * 0 if the file was removed or changed, or a negative errno.
 */
int reload_in_order(const struct reload *reload, struct profile **ret, struct error *err);

/* The same, but with time slices and tracks, for a timeline. */
int reload_in_slices(const struct reload *reload, struct profile **ret, struct error *err);

#endif
