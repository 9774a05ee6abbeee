/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LIBWICK_PROFILE_HANDLE_H
#define WICK_LIBWICK_PROFILE_HANDLE_H

/* profile_handle: what is behind the handle of a profile, for the files of this folder. */

#include "load/load.h"

struct error;
struct profile;
struct reload;
struct wick_load_options;

struct wick_profile {
	const struct profile *profile;
	struct profile *owned; /* NULL: somebody else's */
	struct reload *reload; /* NULL: it has its samples, or there are none to be had */
};

/* Ours of a caller's, with the memory that the arrays in it need. */
struct load_request {
	struct load_options options;
	const char *only[1];
	const char *ignore[1];
};

/* Fills the request, which must stay where it is while its options are used. */
int load_request_init(struct load_request *request, const struct wick_load_options *given,
		      struct error *err);

/* Takes over the profile, also on failure. */
int wick_profile_wrap(struct profile *profile, struct wick_profile **ret, struct error *err);

#endif
