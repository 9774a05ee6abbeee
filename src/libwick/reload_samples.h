/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_RELOAD_SAMPLES_H
#define WICK_LIBWICK_RELOAD_SAMPLES_H

/*
 * reload_samples: from which file a profile was loaded, and how, for what it does not keep: its
 * samples one by one. They are many, and only few formats want them.
 *
 * It does not change: any number of threads may use one.
 */

#include <stdbool.h>

struct error;
struct profile;
struct reload;
struct wick_load_options;

/* Whether a file can be read a second time. */
bool reload_is_possible(const char *path);

/* Copies what it needs. NULL without memory, or when the file is gone. */
struct reload *reload_new(const char *path, const struct wick_load_options *options);
void reload_free(struct reload *reload); /* NULL is fine */

/*
 * Loads the profile once more, with its samples in the order of time; the caller releases *ret.
 * Returns 1, 0 when the file is gone or is not what it was, or a negative errno.
 */
int reload_in_order(const struct reload *reload, struct profile **ret, struct error *err);

#endif
