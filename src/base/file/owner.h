/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OWNER_H
#define WICK_BASE_FILE_OWNER_H

/*
 * owner: for whom this runs. Under sudo that is its caller as well as root.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Who called sudo. False when nobody did. */
bool owner_find_caller(uint64_t *ret_uid, uint64_t *ret_gid);

/* Who results belong to: the caller of sudo, or who runs this. */
uid_t owner_uid(void);

bool owner_is_ours(uid_t uid);

/* The user's own group, which most systems give to nobody else, or root's. */
bool owner_is_our_group(gid_t gid);

#endif
