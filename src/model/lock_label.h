/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LOCK_LABEL_H
#define WICK_MODEL_LOCK_LABEL_H

/* lock_label: the labels of a sample of a thread that waits for a lock. */

#define LOCK_LABEL "lock"           /* its place, see engine/ebpf/offcpu_locks.h */
#define LOCK_NAME_LABEL "lock_name" /* its symbol; only in profiles */

#endif
