/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_LOAD_NAMES_LOCK_NAME_H
#define WICK_LOAD_NAMES_LOCK_NAME_H

/*
 * lock_name: what the program calls a lock that a thread has waited for. A recording tells where
 * the lock lies, in a label (engine/ebpf/offcpu_locks.h): the symbol that a file has there is its
 * name, as "table_lock" or, inside something larger, "shards+0x40".
 */

#include <stdbool.h>
#include <stddef.h>

#include "model/lock_label.h"

struct bytes;
struct label;
struct loader;

/* Writes the name of the lock among n labels, with its NUL. False: there is none, or no name. */
bool lock_name_find(struct loader *loader, const struct label *labels, size_t n, struct bytes *ret);

#endif
