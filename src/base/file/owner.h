/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_BASE_FILE_OWNER_H
#define WICK_BASE_FILE_OWNER_H

/* owner: the user this process runs for. Under sudo, that is both the caller of sudo and root. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The user who called sudo. False when nobody did. */
bool owner_find_caller(uint64_t *ret_uid, uint64_t *ret_gid);

/* The user who owns results: the caller of sudo, else the user who runs this process. */
uid_t owner_uid(void);

bool owner_is_ours(uid_t uid);

/* The user's own group, which most systems share with nobody else, or root's. */
bool owner_is_our_group(gid_t gid);

#endif
