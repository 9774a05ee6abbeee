/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_LOCK_NAME_H
#define WICK_LOAD_NAMES_LOCK_NAME_H

/*
 * lock_name: finds the name of a lock that a thread waited for. A recording has the address of the
 * lock in a label (engine/ebpf/offcpu_locks.h). The data symbol at that address is the name:
 * "table_lock" or, inside a larger object, "shards+0x40".
 */

#include <stdbool.h>
#include <stddef.h>

#include "model/lock_label.h"

struct bytes;
struct label;
struct loader;

/*
 * Writes the name of the lock in n labels, with its NUL. Returns false if there is no lock or no
 * name.
 */
bool lock_name_find(struct loader *loader, const struct label *labels, size_t n, struct bytes *ret);

#endif
