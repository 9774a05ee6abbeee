/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_PROFILE_HANDLE_H
#define WICK_LIBWICK_PROFILE_HANDLE_H

/* profile_handle: the implementation of struct wick_profile, for the files in this folder. */

#include "load/load.h"

struct error;
struct profile;
struct reload;
struct wick_load_options;

struct wick_profile {
	const struct profile *profile;
	struct profile *owned; /* NULL: owned by someone else */
	struct reload *reload; /* NULL: single samples are already loaded, or not available */
};

/* Internal load options made from the caller's, with storage for their arrays. */
struct load_request {
	struct load_options options;
	const char *only[1];
	const char *ignore[1];
};

/* Fills the request. It must not move while its options are in use. */
int load_request_init(struct load_request *request, const struct wick_load_options *given,
		      struct error *err);

/* Takes ownership of the profile, even on failure. */
int wick_profile_wrap(struct profile *profile, struct wick_profile **ret, struct error *err);

#endif
