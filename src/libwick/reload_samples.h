/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_RELOAD_SAMPLES_H
#define WICK_LIBWICK_RELOAD_SAMPLES_H

/*
 * reload_samples: remembers how a profile was loaded, to load its single samples, or slices of
 * time, again. A profile does not keep them, because there are many and few formats need them.
 *
 * Immutable: any number of threads may use one.
 */

#include <stdbool.h>

struct error;
struct profile;
struct reload;
struct wick_load_options;

/* Whether a file can be read a second time. */
bool reload_is_possible(const char *path);

/* Copies what it needs. Returns NULL if out of memory, or if the file no longer exists. */
struct reload *reload_new(const char *path, const struct wick_load_options *options);
void reload_free(struct reload *reload); /* NULL is fine */

/*
 * Loads the profile again, with its samples in time order; the caller releases *ret. Returns 1, 0
 * if the file was removed or changed, or a negative errno.
 */
int reload_in_order(const struct reload *reload, struct profile **ret, struct error *err);

/* The same with slices of time and tracks, for a timeline. */
int reload_in_slices(const struct reload *reload, struct profile **ret, struct error *err);

#endif
