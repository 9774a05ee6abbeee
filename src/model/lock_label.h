/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef WICK_MODEL_LOCK_LABEL_H
#define WICK_MODEL_LOCK_LABEL_H

/* lock_label: the labels of a sample of a thread that waits for a lock. */

#define LOCK_LABEL "lock"           /* where it lies, see engine/ebpf/offcpu_locks.h */
#define LOCK_NAME_LABEL "lock_name" /* its symbol, of profiles alone */

#endif
